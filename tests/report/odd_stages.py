"""Stages for runs in which something goes wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from curate.document import Document
from curate.stage import RuleStage


@dataclass(frozen=True, kw_only=True)
class Brittle(RuleStage):
    """Fails on texts that hold `word`; else measures their letters."""

    word: str = "boom"

    measures: ClassVar[Mapping[str, pa.DataType]] = {"letters": pa.int64()}

    def measure(self, doc: Document) -> dict[str, Any]:
        if self.word in doc.text:
            raise ValueError(f"met {self.word}")
        return {"letters": len(doc.text)}

    def judge(self, measures: Mapping[str, Any]) -> None:
        return None

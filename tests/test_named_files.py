"""Options that name files: a file that has changed makes another run of it, whatever the stage."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, ClassVar

import pytest
from pydantic import Field

from curate.document import Document
from curate.errors import UserError
from curate.plug_ins.named_files import files_of
from curate.plug_ins.registry import installed, stage_class
from curate.stage import FileName
from tests.engine import run_it, settings, text, write_jsonl


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A stage of one's own that reads files."""

    one: FileName | None = None
    many: tuple[FileName, ...] = ()
    by_language: Annotated[Mapping[str, FileName], Field(max_length=9)] | None = None
    word: str = "no file"
    adds: ClassVar[dict[str, object]] = {}
    reasons: ClassVar[tuple[str, ...]] = ()

    def apply(self, doc: Document) -> Document:
        return doc


def test_files_are_found_by_their_type() -> None:
    assert files_of(Reading()) == {"one": [], "many": [], "by_language": []}
    stage = Reading(one="a", many=("b", "c"), by_language={"en": "d", "de": "e"})
    assert files_of(stage) == {"one": ["a"], "many": ["b", "c"], "by_language": ["d", "e"]}


@pytest.mark.parametrize(
    "options", [{"one": "list.txt"}, {"many": ["list.txt"]}, {"by_language": {"en": "list.txt"}}], ids=str
)
def test_a_changed_file_is_another_run(
    options: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", [text(number) for number in range(3)])
    (tmp_path / "list.txt").write_text("one")
    config = settings("a.jsonl", tmp_path / "out", stages=[{"tests.test_named_files:Reading": options}])
    run_it(config)
    assert run_it(config).ready
    (tmp_path / "list.txt").write_text("two")
    with pytest.raises(UserError, match=r"the file list\.txt has changed"):
        run_it(config)


@pytest.mark.parametrize("name", installed())
def test_no_stage_hides_a_file(name: str) -> None:
    """An option that the docs call a path or that is named a file or a model is typed as one."""
    cls = stage_class(name)
    hints = {field.name: str(field.type) for field in fields(cls)}
    named = [
        option for option in hints if option.endswith(("_file", "_files")) or option in ("model", "models", "tokenizer")
    ]
    assert all("NamedFile" in hints[option] for option in named), hints


@pytest.mark.parametrize("name", installed())
def test_no_list_of_files_is_kept_by_hand(name: str) -> None:
    assert not hasattr(stage_class(name), "files")

"""What could tell who somebody is: e-mail and IP addresses, telephone, account and card numbers, masked or counted.

Forms and check digits only, no models: names and postal addresses are not looked for.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import Rule, RuleStage
from stages.personal.found import KINDS, Kind, found, kind_mark, masked, value_mark

RULES: tuple[Rule, ...] = (Rule("too_many_pii_spans", "pii_spans", "max_spans"),)
_COUNTS = {"email": "pii_emails", "ip": "pii_ips", "phone": "pii_phones", "iban": "pii_ibans", "card": "pii_cards"}


@dataclass(frozen=True, kw_only=True)
class Pii(RuleStage):
    """Masks what is personal, and drops pages that hold too much of it. Counts are columns of the shards."""

    kinds: tuple[Kind, ...] = KINDS
    """what is looked for"""
    mask: bool = True
    """each place is replaced by a mark; false leaves the text as it is"""
    replace: Literal["kind", "hash"] = "kind"
    """the mark: `<EMAIL>`, or `<EMAIL:1f2e3d4c5b>` with a hash of the value, equal for equal values"""
    salt: str = ""
    """a secret that goes into the hash, so that numbers can't be found by trying them all"""
    max_spans: Annotated[int, Field(ge=0)] | None = None
    """most places of all kinds that a page may hold; 0 drops each page with one"""

    adds: ClassVar[Mapping[str, pa.DataType]] = dict.fromkeys((*_COUNTS.values(), "pii_spans"), pa.int64())
    measures: ClassVar[Mapping[str, pa.DataType]] = adds
    rules: ClassVar[tuple[Rule, ...]] = RULES
    absent: ClassVar[Mapping[str, str]] = dict.fromkeys(_COUNTS.values(), "the kind is not looked for")

    def __post_init__(self) -> None:
        if not self.kinds:
            raise ValueError(f"kinds is empty; give some of {', '.join(KINDS)}")
        if self.salt and self.replace != "hash":
            raise ValueError("salt goes into hashes only; write replace: hash beside it")

    def clean(self, doc: Document) -> Document:
        spans = found(doc.text, self.kinds)
        counts = Counter(span.kind for span in spans)
        noted = {name: counts[kind] if kind in self.kinds else None for kind, name in _COUNTS.items()}
        if spans and self.mask:
            mark = kind_mark if self.replace == "kind" else lambda span: value_mark(span, self.salt)
            doc = doc.with_text(masked(doc.text, spans, mark))
        return doc.annotate(**noted, pii_spans=len(spans))

    def measure(self, doc: Document) -> dict[str, Any]:
        """How many of each kind there were, as `clean` noted it."""
        return {name: doc.attributes.get(name) for name in self.measures}

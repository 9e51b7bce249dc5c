"""Edits of the text: built-in ones by name, and patterns with replacements on an engine of linear time."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import Rule, RuleStage
from stages.rewriting.built_in import EDITS, long_words, repeated_sentences
from stages.rewriting.patterns import NoPattern, check, replaced

BuiltIn = Literal["links", "copyright_heads", "bibliographies", "long_words", "repeated_sentences", "white_space"]
MOST_PATTERNS = 200


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """A pattern of RE2, what stands in place of each match, and the name that it is counted under."""

    pattern: str
    replace: str = ""
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Rewrite(RuleStage):
    """Edits the text, first by the edits of `use`, then by the patterns, each in its order and over the whole text."""

    use: tuple[BuiltIn, ...] = ()
    """edits that are built in, in the order in which they are made"""
    patterns: tuple[Replacement, ...] = ()
    """patterns in RE2's syntax, each with what stands in place of a match (nothing, if not given) and a name"""
    max_word_length: Annotated[int, Field(ge=1)] = 128
    """`long_words` takes words of more characters"""
    min_sentence_length: Annotated[int, Field(ge=1)] = 20
    """`repeated_sentences` leaves sentences of fewer letters and digits"""
    max_removed_ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    """largest share of a page's characters by which its text may become shorter"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {
        "rewrites": pa.int64(),
        "rewrites_by_rule": pa.string(),
        "removed_ratio": pa.float64(),
    }
    measures: ClassVar[Mapping[str, pa.DataType]] = adds
    rules: ClassVar[tuple[Rule, ...]] = (Rule("too_much_removed", "removed_ratio", "max_removed_ratio"),)
    absent: ClassVar[Mapping[str, str]] = {"rewrites_by_rule": "no rule found anything"}

    def __post_init__(self) -> None:
        if not self.use and not self.patterns:
            raise ValueError("edits nothing; give use: [links, ...], or patterns")
        if len(self.patterns) > MOST_PATTERNS:
            raise ValueError(f"patterns has {len(self.patterns)} items, at most {MOST_PATTERNS} are taken")
        for number, one in enumerate(self.patterns, 1):
            try:
                check(one.pattern, one.replace)
            except NoPattern as error:
                raise ValueError(f"patterns: number {number} ({one.pattern}): {error}") from None
        names = [name for name, _ in self._edits()]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two edits are called '{twice}'; give each pattern a name of its own")

    def _edits(self) -> list[tuple[str, Callable[[str], tuple[str, int]]]]:
        """Every edit by the name that it is counted under."""
        sized: dict[str, Callable[[str], tuple[str, int]]] = {
            "long_words": lambda text: long_words(text, self.max_word_length),
            "repeated_sentences": lambda text: repeated_sentences(text, self.min_sentence_length),
        }
        found = [(str(name), sized[name] if name in sized else EDITS[name]) for name in self.use]
        for number, one in enumerate(self.patterns, 1):
            found.append((one.name or f"pattern {number}", _replacing(one)))
        return found

    def clean(self, doc: Document) -> Document:
        text, counts = doc.text, {}
        for name, edit in self._edits():
            text, count = edit(text)
            if count:
                counts[name] = count
        removed = max(0, len(doc.text) - len(text)) / max(len(doc.text), 1)
        counts_json = json.dumps(counts, ensure_ascii=False) if counts else None
        return (doc.with_text(text) if text != doc.text else doc).annotate(
            rewrites=sum(counts.values()), rewrites_by_rule=counts_json, removed_ratio=removed
        )

    def measure(self, doc: Document) -> dict[str, Any]:
        """How often each edit was made, and what share of the text went, as `clean` noted it."""
        return {name: doc.attributes.get(name) for name in self.measures}


def _replacing(one: Replacement) -> Callable[[str], tuple[str, int]]:
    return lambda text: replaced(text, one.pattern, one.replace)

"""Pages that hold words of a list: C4's rule (Raffel et al. 2020, section 2.2), with a list for each language.

No list is built in: give your own, or the one that C4 took ("List of Dirty, Naughty, Obscene, and Otherwise Bad
Words"), one entry a line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pyarrow as pa
import xxhash
from pydantic import Field

from curate.document import Document, Drop
from curate.stage import FileName, Measures, Rule, RuleStage
from stages.rules.word_lists import UNSPACED, met, met_anywhere, word_list

ANY = "*"
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, kw_only=True)
class BadWords(RuleStage):
    """Drops pages by the entries of a list that they hold as whole words, in any case."""

    lists: Mapping[str, FileName]
    """paths of lists, one entry a line, by the `language` that they are for; `*` is for pages of any other"""
    max_bad_words: Annotated[int, Field(ge=0)] | None = 0
    """how many entries a page may hold, each counted as often as it stands there"""
    max_bad_word_ratio: Share | None = None
    """largest share of a page's words that may be entries"""
    keep_fraction: Share = 0.0
    """share of the pages with bad words that are kept all the same, drawn by a hash of the text (mC4 keeps 0.001)"""
    unspaced: tuple[str, ...] = UNSPACED
    """languages written without spaces: entries count wherever they stand"""

    measures: ClassVar[Mapping[str, pa.DataType]] = {
        "bad_words": pa.int64(),
        "bad_word_ratio": pa.float64(),
        "bad_word": pa.string(),
        "draw": pa.float64(),
    }
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("too_many_bad_words", "bad_words", "max_bad_words"),
        Rule("too_large_share_of_bad_words", "bad_word_ratio", "max_bad_word_ratio"),
    )
    absent: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("bad_words", "bad_word_ratio"), "no list is for its language"),
        **dict.fromkeys(("bad_word", "draw"), "no entry of the list was met"),
    }

    def check(self, before: object, after: object) -> None:
        """Raises ValueError where a list can't be read, or there is none."""
        if not self.lists:
            raise ValueError("lists is empty; give a list for a language, such as lists: {en: bad_words/en.txt}")
        for path in self.lists.values():
            word_list(path)

    def measure(self, doc: Document) -> dict[str, Any]:
        """Number and share of the entries met, the alphabet's first of them, and a number in 0 ... 1 to draw by."""
        language = doc.attributes.get("language")
        path = self.lists.get(language or ANY, self.lists.get(ANY))
        if path is None:
            return dict.fromkeys(self.measures)
        text = doc.text.casefold()
        found = list(met_anywhere(text, path) if language in self.unspaced else met(text, word_list(path)))
        return {
            "bad_words": len(found),
            "bad_word_ratio": len(found) / max(len(doc.words), 1),
            "bad_word": min(found, default=None),
            "draw": xxhash.xxh3_64_intdigest(doc.text.encode("utf-8", "surrogatepass")) / 2**64 if found else None,
        }

    def judge(self, measures: Measures) -> Drop | None:
        drop = super().judge(measures)
        kept = measures["draw"] is not None and measures["draw"] < self.keep_fraction
        return None if kept or drop is None else Drop(drop.reason, drop.value, drop.limit, measures["bad_word"] or "")

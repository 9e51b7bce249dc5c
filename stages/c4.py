"""C4's rules: lines that are no sentences go, pages with few sentences too (Raffel et al. 2020, 2.2).

Order and details as in the code that made C4, since the paper leaves them open; sentences are counted by a
rule of our own. FineWeb uses the stage with `require_end_mark: false`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import FileName, Rule, RuleStage
from stages.rules.evidence import marked
from stages.rules.scope import in_scope
from stages.rules.word_lists import met, word_list

Count = Annotated[int, Field(ge=0)]

END_MARKS = (".", "?", "!", '"', "'")
POLICY_PHRASES = (
    "terms of use",
    "privacy policy",
    "cookie policy",
    "uses cookies",
    "use of cookies",
    "use cookies",
)

_CITATION = re.compile(r"\[\d*\]|\[edit\]|\[citation needed\]")
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[^\sa-z])")
_NO_SENTENCE_END = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|e\.g|i\.e|Fig|Vol|pp|cf|al|Inc|Ltd|Co)\.$"
)


def sentences(line: str) -> int:
    """Number of sentences in a line of text, at least 1.

    One ends at an end mark before white space and what can start another, not after initials and
    abbreviations.
    """
    breaks = _SENTENCE_BREAK.finditer(line)
    return 1 + sum(not _NO_SENTENCE_END.search(line, max(0, found.start() - 8), found.start()) for found in breaks)


@dataclass(frozen=True, kw_only=True)
class C4(RuleStage):
    """Edits lines out of the text and drops pages by what is left. Null or false turns a rule off.

    Lines with `lorem ipsum` or `{` stay, for the page to be dropped by.
    """

    languages: tuple[str, ...] | None = ("en",)
    """whom the rules are for; pages whose `language` is another pass unedited and unmeasured (null: none does)"""
    require_end_mark: bool = True
    """lines go that do not end in `.`, `?`, `!` or a quote, or that end in `...`"""
    min_line_words: Count | None = 3
    """lines of fewer words go"""
    max_word_length: Count | None = 1_000
    """lines with a word of more characters go"""
    remove_citations: bool = True
    """marks such as `[2]`, `[edit]`, `[citation needed]` go from within lines"""
    remove_javascript_lines: bool = True
    """lines that mention JavaScript go"""
    remove_policy_lines: bool = True
    """lines that hold a phrase of cookie banners, such as "terms of use", go"""
    bad_words_file: FileName | None = None
    """path of a list of words and phrases, one a line, that `max_bad_words` counts"""
    max_lorem_ipsum: Count | None = 0
    """how often "lorem ipsum" may stand in the edited text"""
    max_curly_brackets: Count | None = 0
    """how many `{` the edited text may hold"""
    max_bad_words: Count | None = 0
    """how many words of the list the edited text may hold"""
    min_sentences: Count | None = 5
    """fewest sentences of the edited text"""

    measures: ClassVar[Mapping[str, pa.DataType]] = {
        "lorem_ipsum": pa.int64(),
        "curly_brackets": pa.int64(),
        "bad_words": pa.int64(),
        "sentences": pa.int64(),
    }
    evidence = staticmethod(marked)
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("lorem_ipsum", "lorem_ipsum", "max_lorem_ipsum"),
        Rule("curly_bracket", "curly_brackets", "max_curly_brackets"),
        Rule("bad_word", "bad_words", "max_bad_words"),
        Rule("too_few_sentences", "sentences", "min_sentences"),
    )
    absent: ClassVar[Mapping[str, str]] = {"bad_words": "no bad_words_file was given"}

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the list can't be read, before a page is."""
        if self.bad_words_file is not None:
            word_list(self.bad_words_file)

    def clean(self, doc: Document) -> Document:
        if not in_scope(self.languages, doc):
            return doc
        lines = map(self._line, doc.text.splitlines())
        text = "\n".join(line for line in lines if line)
        return doc if text == doc.text else doc.with_text(text)

    def _line(self, line: str) -> str:
        """A line as it stays, empty where it goes."""
        line = line.strip()
        words = line.split()
        longest = self.max_word_length
        if longest is not None and len(line) > longest and max(map(len, words)) > longest:
            return ""
        if self.remove_citations and "[" in line:
            line = _CITATION.sub("", line).strip()
        if self.require_end_mark and (not line.endswith(END_MARKS) or line.endswith("...")):
            return ""
        if self.min_line_words is not None and len(words) < self.min_line_words:
            return ""
        lower = line.lower()
        if "lorem ipsum" in lower:
            return line
        if self.remove_javascript_lines and "javascript" in lower:
            return ""
        if self.remove_policy_lines and "{" not in line and any(phrase in lower for phrase in POLICY_PHRASES):
            return ""
        return line

    def measure(self, doc: Document) -> dict[str, Any]:
        if not in_scope(self.languages, doc):
            return dict.fromkeys(self.measures)
        lower = doc.text.casefold()
        found = None if self.bad_words_file is None else sum(1 for _ in met(lower, word_list(self.bad_words_file)))
        return {
            "lorem_ipsum": lower.count("lorem ipsum"),
            "curly_brackets": lower.count("{"),
            "bad_words": found,
            "sentences": sum(map(sentences, filter(None, doc.text.split("\n")))),
        }

"""Edits that have a name: links, copyright heads, bibliographies, long words, repeated sentences, white space.

What Data-Juicer's mappers of those names do, by rules of our own (the differences: `docs/stages/rewrite.md`).
"""

import re
from collections.abc import Callable, Iterator, Mapping

from stages.rewriting.patterns import replaced

Edit = Callable[[str], tuple[str, int]]

# A link ends before the marks that close a sentence or a bracket around it.
LINK = (
    r"(?i)(?:\b(?:https?|ftp)://|\bwww\d{0,3}\.)[^\s<>\"\x{300c}\x{300d}\x{ff08}\x{ff09}]*[^\s<>\"'.,;:!?()\[\]{}\pP]/?"
)
_BLOCK_COMMENT = re.compile(r"\s*/\*.*?\*/\s*", re.DOTALL)
_LINE_COMMENTS = re.compile(r"\s*(?:(?://|#|--|%|;)[^\n]*(?:\n|$))+")
_RIGHTS = re.compile(r"copyright|all rights reserved|licensed under|spdx-license|©", re.IGNORECASE)
_LATEX_END = re.compile(r"\\(?:appendix|begin\{(?:references|thebibliography)\}|bibliography\{)", re.IGNORECASE)
_HEADING = re.compile(
    r"^[#* \t]*(?:references|bibliography|works cited|literature cited|literatur|literaturverzeichnis|bibliographie|"
    r"bibliografía|bibliografia|参考文献)[:* \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?:\s+|$)|[。！？]+[\"'”’)」』]*\s*")  # not within e.g. and 3.14
_NO_LETTERS = re.compile(r"[\W_]+")
_LINE_FEED = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_BLANKS = re.compile(r"[^\S\n]+")  # every white space but the line feed
_EDGES = re.compile(r" ?\n ?")
_EMPTY_LINES = re.compile(r"\n{3,}")
_INVISIBLE = re.compile("[\u200b\u2060\ufeff]")


def links(text: str) -> tuple[str, int]:
    """Without links: what begins with http://, https://, ftp:// or www."""
    return replaced(text, LINK, "") if "://" in text or "www" in text.lower() else (text, 0)


def copyright_heads(text: str) -> tuple[str, int]:
    """Without the comment that a text begins with, if it speaks of rights."""
    found = _BLOCK_COMMENT.match(text) or _LINE_COMMENTS.match(text)
    return (text[found.end() :], 1) if found and _RIGHTS.search(found[0]) else (text, 0)


def bibliographies(text: str) -> tuple[str, int]:
    """Without what follows the start of a LaTeX bibliography, or a heading "References" in the text's second half."""
    found = _LATEX_END.search(text) or _HEADING.search(text, len(text) // 2)
    return (text[: found.start()].rstrip(), 1) if found else (text, 0)


def long_words(text: str, most: int) -> tuple[str, int]:
    """Without words of more characters."""
    if max(map(len, text.split()), default=0) <= most:
        return text, 0
    return re.subn(rf"\S{{{most + 1},}}[^\S\n]?", "", text)


def _sentences(line: str) -> Iterator[str]:
    """The sentences of a line with the white space behind each."""
    start = 0
    for end in _SENTENCE_END.finditer(line):
        yield line[start : end.end()]
        start = end.end()
    if start < len(line):
        yield line[start:]


def repeated_sentences(text: str, least: int) -> tuple[str, int]:
    """Without sentences that stood before; case, punctuation and white space do not count.

    Sentences of fewer than `least` letters and digits stay: many are no sentences ("e.g.", "No.").
    """
    seen, kept, gone = set[str](), list[str](), 0
    for line in text.split("\n"):
        parts = []
        for sentence in _sentences(line):
            key = _NO_LETTERS.sub("", sentence.casefold())
            if len(key) >= least and key in seen:
                gone += 1
                continue
            seen.add(key)
            parts.append(sentence)
        if parts or not line:
            kept.append("".join(parts))
    return ("\n".join(kept), gone) if gone else (text, 0)


def white_space(text: str) -> tuple[str, int]:
    """With one blank for a run of them, none at the ends of lines, at most one empty line, nothing invisible."""
    tidy = _BLANKS.sub(" ", _INVISIBLE.sub("", _LINE_FEED.sub("\n", text)))
    tidy = _EDGES.sub("\n", tidy).strip()
    tidy = _EMPTY_LINES.sub("\n\n", tidy)
    return tidy, int(tidy != text)


EDITS: Mapping[str, Edit] = {
    "links": links,
    "copyright_heads": copyright_heads,
    "bibliographies": bibliographies,
    "white_space": white_space,
}

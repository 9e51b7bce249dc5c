"""Words as contamination is looked for: lower case, without punctuation (Brown et al. 2020, appendix C); and where
they stand."""

import re

from stages.spans.windows import TOKEN, tokens_of

_MARKS = re.compile(r"[^\w\s]|_")
_ASCII_MARKS = {code: None for code in range(128) if _MARKS.fullmatch(chr(code))}


def plain_words(text: str) -> list[str]:
    """The words of a text without what is no letter or digit; words of which nothing is left are none."""
    lower = text.lower()
    if text.isascii():
        return lower.translate(_ASCII_MARKS).split()
    return tokens_of(_MARKS.sub("", lower))


def plain_places(text: str) -> list[tuple[int, int]]:
    """Where each word of `plain_words` stands, in characters; marks around it go with it."""
    tokens = (match.span() for match in TOKEN.finditer(text))
    return [(start, end) for start, end in tokens if _MARKS.sub("", text[start:end].lower())]

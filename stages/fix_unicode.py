"""Mends text that was decoded wrongly, with ftfy: `sÃ³lo` becomes `sólo`. FineWeb-2 does so after its filters
(Penedo et al. 2025, appendix A)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import ftfy
import pyarrow as pa

from curate.document import Document


@lru_cache(maxsize=8)
def _config(options: "FixUnicode") -> ftfy.TextFixerConfig:
    return ftfy.TextFixerConfig(
        unescape_html=options.unescape_html if options.unescape_html == "auto" else options.unescape_html == "always",
        uncurl_quotes=options.uncurl_quotes,
        fix_latin_ligatures=options.fix_ligatures,
        fix_character_width=options.fix_width,
        fix_line_breaks=options.fix_line_breaks,
        normalization=options.normalization,
        explain=False,
    )


@dataclass(frozen=True, kw_only=True)
class FixUnicode:
    """Mends mojibake, terminal escapes and control characters, line by line, as ftfy does.

    What would force one typographic form on all texts is off, as in datatrove and FineWeb-2.
    """

    unescape_html: Literal["auto", "always", "never"] = "auto"
    """`&amp;` becomes `&`: auto where the line holds no `<`"""
    uncurl_quotes: bool = False
    """typographic quotes become straight ones"""
    fix_ligatures: bool = False
    """ligatures such as `ﬁ` become letters"""
    fix_width: bool = False
    """full-width Latin letters and half-width kana become usual ones (wrong for Chinese and Japanese punctuation)"""
    fix_line_breaks: bool = False
    """every kind of line break becomes a line feed"""
    normalization: Literal["NFC", "NFKC", "NFD", "NFKD"] | None = None
    """the Unicode form at the end; null leaves it (shards hold NFC)"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"unicode_fixed": pa.bool_()}
    reasons: ClassVar[tuple[str, ...]] = ()

    def apply(self, doc: Document) -> Document:
        text = ftfy.fix_text(doc.text, _config(self))
        fixed = text != doc.text
        return (doc.with_text(text) if fixed else doc).annotate(unicode_fixed=fixed)

"""A page's bytes as source text that any parser can read."""

from functools import lru_cache

from curate.sources.charset import decode
from stages.extraction.markup import repaired


@lru_cache(maxsize=1)
def source_text(html: bytes, charset: str | None) -> str:
    """The page decoded and repaired. The last page is kept, so that `prescreen` and `extract` share the work."""
    return repaired(decode(html, charset)[0])

"""A page's bytes as source text that any parser can read."""

from curate.sources.charset import decode
from stages.extraction.last import last
from stages.extraction.markup import repaired


@last
def decoded(html: bytes, charset: str | None) -> str:
    """The page decoded. The last page is kept, so that `prescreen` and `extract` share the work."""
    return decode(html, charset)[0]


def source_text(html: bytes, charset: str | None) -> str:
    """The page decoded and repaired; the same object as `decoded` where nothing was to be repaired."""
    return repaired(decoded(html, charset))

"""Streaming curation of web crawls into pretraining shards."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
DISTRIBUTION = "crawl-curate"  # the name on the package index, where `curate` is another program
__all__ = ["CRAWL_SAMPLE", "Verdict", "__version__", "curate"]

if TYPE_CHECKING:
    from curate.example_pages import CRAWL_SAMPLE
    from curate.library import Verdict, curate


def __getattr__(name: str) -> Any:
    """Loads the library half on demand: the command line must start without it."""
    if name in ("curate", "Verdict"):
        from curate import library

        return getattr(library, name)
    if name == "CRAWL_SAMPLE":
        from curate.example_pages import CRAWL_SAMPLE

        return CRAWL_SAMPLE
    raise AttributeError(f"module 'curate' has no attribute {name!r}")

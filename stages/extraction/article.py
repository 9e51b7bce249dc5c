"""The main text of a page by trafilatura: comments off, its process-wide deduplication never on."""

import logging
from collections.abc import Callable
from copy import copy
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple

from lxml.etree import strip_elements
from trafilatura import extract
from trafilatura.settings import Extractor

from stages.extraction.tree import AutoExtractor, parsed

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # what it warns of, the ledger says

# The versions whose functions `lean` was tested with; others run as they are, with the same text at twice the cost.
LEAN_VERSIONS = ("2.3.1",)


# `auto` is content with a text that is at least this share of what stands on the page: with it 1,171 labelled pages
# got the text of `full`, with 0.2 all but 3 (docs/stages/extract.md).
ENOUGH = 0.3


class TextOptions(NamedTuple):
    """What decides trafilatura's text. `mode`: full, fast or auto; `favor`: none, precision or recall."""

    mode: str = "full"
    favor: str = "none"
    tables: bool = True
    links: bool = False


def article_text(source: str, options: TextOptions) -> str:
    """The main text of a page, "" where none is found. The same for the same source, whatever came before."""
    return _cascade()(source, copy(_extractor(options)))


def plain_text(source: str, options: Extractor) -> str:
    """What the installed trafilatura itself makes of the page."""
    tree = parsed(source)
    if tree is None:
        return ""
    if isinstance(options, AutoExtractor):
        quick = copy(options)
        quick.fast = True
        text = extract(tree, options=quick) or ""
        page = copy(tree)
        strip_elements(page, "script", "style", with_tail=False)
        if len(text) >= options.enough * len(" ".join(page.text_content().split())):
            return text
    return extract(tree, options=options) or ""


@lru_cache(maxsize=1)
def _cascade() -> Callable[[str, Extractor], str]:
    if version("trafilatura") not in LEAN_VERSIONS:
        return plain_text
    from stages.extraction.lean import Lean

    return Lean().extract


@lru_cache(maxsize=16)
def _extractor(options: TextOptions) -> Extractor:
    fields: dict[str, Any] = {
        "fast": options.mode == "fast",
        "precision": options.favor == "precision",
        "recall": options.favor == "recall",
        "comments": False,
        "tables": options.tables,
        "links": options.links,
        "dedup": False,
    }
    return AutoExtractor(ENOUGH, **fields) if options.mode == "auto" else Extractor(**fields)

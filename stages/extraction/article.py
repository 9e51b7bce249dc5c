"""The main text of a page by trafilatura: comments off, its process-wide deduplication never on."""

import logging
from collections.abc import Callable
from copy import copy
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple

from lxml.etree import ElementDefaultClassLookup, HTMLParser, ParserError, XMLSyntaxError, strip_elements
from lxml.html import HtmlElement, document_fromstring
from trafilatura import extract
from trafilatura.settings import Extractor

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # what it warns of, the ledger says

# The versions whose functions `lean` knows; others run as they are, with the same text at twice the cost.
LEAN_VERSIONS = ("2.3.",)


# `auto` is content with a text that is at least this share of what stands on the page: with it 1,171 labelled pages
# got the text of `full`, with 0.2 all but 3 (docs/stages/extract.md).
ENOUGH = 0.3


class Options(NamedTuple):
    """What decides trafilatura's text. `mode`: full, fast or auto; `favor`: none, precision or recall."""

    mode: str = "full"
    favor: str = "none"
    tables: bool = True
    links: bool = False


class AutoExtractor(Extractor):
    """trafilatura's options for a cascade that asks its fall-backs only about a text below a share of the page."""

    __slots__ = ("enough",)

    def __init__(self, enough: float, **options: Any) -> None:
        super().__init__(**options)
        self.enough = enough


def article_text(source: str, options: Options) -> str:
    """The main text of a page, "" where none is found. The same for the same source, whatever came before."""
    return _cascade()(source, copy(_extractor(options)))


def parsed(source: str) -> HtmlElement | None:
    """The page as a tree without comments, of any depth; None where there is nothing to parse."""
    parser = HTMLParser(
        collect_ids=False, default_doctype=False, encoding="utf-8",
        remove_comments=True, remove_pis=True, huge_tree=True,
    )  # fmt: skip
    parser.set_element_class_lookup(ElementDefaultClassLookup(element=HtmlElement))  # in C; lxml.html's is Python
    try:
        return document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except (ParserError, XMLSyntaxError):
        return None


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
    if not version("trafilatura").startswith(LEAN_VERSIONS):
        return plain_text
    from stages.extraction.lean import Lean

    return Lean().extract


@lru_cache(maxsize=16)
def _extractor(options: Options) -> Extractor:
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

"""The main text of a page by trafilatura: comments off, its process-wide deduplication never on."""

import logging
from copy import copy
from functools import lru_cache
from typing import NamedTuple

from lxml.etree import ParserError, XMLSyntaxError
from lxml.html import HtmlElement, HTMLParser, document_fromstring
from trafilatura import extract
from trafilatura.settings import Extractor

logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # what it warns of, the ledger says


class Options(NamedTuple):
    """What decides trafilatura's text. `favor`: none, precision or recall."""

    fast: bool = False
    favor: str = "none"
    tables: bool = True
    links: bool = False


@lru_cache(maxsize=16)
def _extractor(options: Options) -> Extractor:
    return Extractor(
        fast=options.fast,
        precision=options.favor == "precision",
        recall=options.favor == "recall",
        comments=False,
        tables=options.tables,
        links=options.links,
        dedup=False,
    )


def parsed(source: str) -> HtmlElement | None:
    """The page as a tree without comments, of any depth; None where there is nothing to parse."""
    parser = HTMLParser(
        collect_ids=False, default_doctype=False, encoding="utf-8",
        remove_comments=True, remove_pis=True, huge_tree=True,
    )  # fmt: skip
    try:
        return document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except (ParserError, XMLSyntaxError):
        return None


def article_text(source: str, options: Options) -> str:
    """The main text of a page, "" where none is found. The same for the same source, whatever came before."""
    tree = parsed(source)
    if tree is None:
        return ""
    return extract(tree, options=copy(_extractor(options))) or ""

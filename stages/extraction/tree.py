"""A page as a tree, and the options of a cascade over it: what trafilatura and our lean form of it share."""

from typing import Any

from lxml.etree import ElementDefaultClassLookup, HTMLParser, ParserError, XMLSyntaxError
from lxml.html import HtmlElement, document_fromstring
from trafilatura.settings import Extractor


class AutoExtractor(Extractor):
    """trafilatura's options for a cascade that asks its fall-backs only about a text below a share of the page."""

    __slots__ = ("enough",)

    def __init__(self, enough: float, **options: Any) -> None:
        super().__init__(**options)
        self.enough = enough


def parsed(source: str) -> HtmlElement | None:
    """The page as a tree without comments, of any depth; None where there is nothing to parse."""
    parser = HTMLParser(
        collect_ids=False,
        default_doctype=False,
        encoding="utf-8",
        remove_comments=True,
        remove_pis=True,
        huge_tree=True,
    )
    parser.set_element_class_lookup(ElementDefaultClassLookup(element=HtmlElement))  # in C; lxml.html's is Python
    try:
        return document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except (ParserError, XMLSyntaxError):
        return None

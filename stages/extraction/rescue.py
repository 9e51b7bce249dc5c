"""trafilatura's two fall-backs, readability and justext, made to stop or to answer early; their verdicts unchanged."""

from functools import cached_property
from typing import Any

from justext.core import ParagraphMaker, PathInfo
from justext.paragraph import Paragraph
from lxml.etree import XPath, _Element
from lxml.html import HtmlElement
from trafilatura import readability_lxml
from trafilatura.settings import Extractor

from stages.extraction.attribute_tests import regular
from stages.extraction.marks import MARKS, PAGE_MARKS, Marker

LIMIT = "Limit"  # on the root: readability's text is of use only if it is longer, in characters
IFRAME_TEXT = len("VIDEO")  # what readability may add to an iframe


class OfNoUse(Exception):
    """Readability's text can't be long enough to be taken."""


_text = XPath("string()", smart_strings=False)


def length(element: _Element) -> int:
    """Characters of an element's text, white space collapsed."""
    words = _text(element).split()
    return len("".join(words)) + max(len(words) - 1, 0)


def unlikely_candidates(marker: Marker) -> XPath:
    """Readability's unlikely candidates as an expression over marks."""
    letters = []
    for name in ("unlikelyCandidatesRe", "okMaybeItsACandidateRe"):
        tests = regular(readability_lxml.REGEXES[name].pattern, str.lower)
        letters.append(marker.letter([(("class",), tests), (("id",), tests)]))
    return XPath(f".//*[contains(@{MARKS}, '{letters[0]}') and not(contains(@{MARKS}, '{letters[1]}'))]")


def least_useful(body: _Element, text: str, options: Extractor) -> int | None:
    """The length up to which readability's text would not replace `text`; None where its length is not all.

    After trafilatura's own conditions: only a text more than twice as long is preferred, unless the own one is
    empty or has no text in paragraphs or more tables than paragraphs, or recall is favoured.
    """
    if options.focus == "recall" or not text or not body.xpath(".//p//text()"):
        return None
    if len(body.findall(".//table")) > len(body.findall(".//p")):
        return None
    return 2 * len(text)


def most_text(tree: HtmlElement, unlikely: XPath) -> int:
    """A length that readability's text of a marked tree can't exceed: all text but that of unlikely candidates."""
    total = length(tree) + IFRAME_TEXT * len(tree.findall(".//iframe"))
    gone: set[_Element] = set()
    for element in unlikely(tree):  # in document order, so ancestors come first
        if element.tag in readability_lxml.FRAME_TAGS:
            continue
        if gone.isdisjoint(element.iterancestors()):
            total -= max(length(element) - 1, 0)  # the space around it may stay
            gone.add(element)
    return total


def lean_readability(unlikely: XPath) -> type[readability_lxml.Document]:
    """Readability that finds its unlikely candidates by marks and stops where its article is too short."""

    class Readability(readability_lxml.Document):
        __slots__ = ()

        def remove_unlikely_candidates(self) -> None:
            if self.doc.getroottree().getroot().get(PAGE_MARKS) is None:
                super().remove_unlikely_candidates()
                return
            for element in unlikely(self.doc):
                if element.tag not in readability_lxml.FRAME_TAGS:
                    element.drop_tree()

        def sanitize(self, node: HtmlElement, candidates: Any) -> str:
            limit = self.doc.get(LIMIT)
            if limit is not None and length(node) + IFRAME_TEXT * len(node.findall(".//iframe")) <= int(limit):
                raise OfNoUse
            return super().sanitize(node, candidates)

    return Readability


class _Path(PathInfo):  # type: ignore[misc]
    """An element's place without its XPath, which nobody reads."""

    xpath = ""


class _Paragraph(Paragraph):  # type: ignore[misc]
    """A finished paragraph, whose text is put together once."""

    @cached_property
    def text(self) -> str:
        return Paragraph.text.fget(self)  # type: ignore[no-any-return]


class LeanParagraphMaker(ParagraphMaker):  # type: ignore[misc]
    """justext's paragraphs of a tree."""

    def __init__(self) -> None:
        self.path = _Path()
        self.paragraphs: list[Paragraph] = []
        self.paragraph = None
        self.link = self.br = False
        self._start_new_pragraph()

    @classmethod
    def make_paragraphs(cls, root: _Element) -> list[Paragraph]:
        paragraphs: list[Paragraph] = super().make_paragraphs(root)
        for paragraph in paragraphs:
            paragraph.__class__ = _Paragraph
        return paragraphs

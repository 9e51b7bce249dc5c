"""trafilatura's own cascade at half the cost, with its text unchanged.

The installed trafilatura's functions run as they are, but in namespaces of their own where four things differ; the
library itself is left alone. (1) Elements get their class in C. (2) Its expressions over class names ask for marks
(see `marks`). (3) Scripts and styles leave the tree before it is copied. (4) The comparison with readability is
left out where readability can't win. Each is written up in docs/upstream-trafilatura.md.
"""

from copy import copy
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from lxml.etree import XPath, _Element, strip_elements
from lxml.html import HtmlElement
from trafilatura import core, external, htmlprocessing, main_extractor, readability_lxml
from trafilatura.settings import Extractor

from stages.extraction.article import parsed
from stages.extraction.attribute_tests import regular
from stages.extraction.marks import MARKS, PAGE_MARKS, Marker, marked

Namespace = dict[str, Any]
IFRAME_TEXT = len("VIDEO")  # what readability may add to an iframe


class Lean:
    """trafilatura's functions in their new namespaces; made once a process."""

    def __init__(self) -> None:
        self.marker = Marker()
        self.expressions: dict[int, Any] = {}
        self.unlikely = _unlikely(self.marker)
        htmlprocessing_ = self.rebound(htmlprocessing)
        baseline_ = self.rebound(import_module("trafilatura.baseline"))  # the package has a function of that name
        main_extractor_ = self.rebound(main_extractor, htmlprocessing_)
        self.external = self.rebound(
            external,
            htmlprocessing_ | main_extractor_ | baseline_,
            ReadabilityDocument=_readability(self.unlikely),
            JT_STOPLIST=frozenset(external.jt_stoplist_init()),  # a frozenset keeps its hash, a tuple does not
        )
        self.without_readability = self.rebound(
            external,
            self.external,
            try_readability=lambda tree: HtmlElement(),
            JT_STOPLIST=self.external["JT_STOPLIST"],
        )
        self.core = self.rebound(
            core,
            htmlprocessing_ | main_extractor_ | baseline_ | self.external,
            load_html=self.prepared,
            _extract_and_compare=self.extract_and_compare,
        )

    def rebound(self, module: ModuleType, others: Namespace | None = None, **replaced: Any) -> Namespace:
        """The module's names over again: its functions with these names as their globals, what the others hold
        under the same name, expressions with marks, and what is replaced."""
        names: Namespace = dict(vars(module))
        for name, value in vars(module).items():
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                function = FunctionType(value.__code__, names, name, value.__defaults__, value.__closure__)
                function.__kwdefaults__ = value.__kwdefaults__
                names[name] = function
            elif others and name in others and isinstance(value, FunctionType):
                names[name] = others[name]
            elif isinstance(value, XPath) or (isinstance(value, list) and value and isinstance(value[0], XPath)):
                names[name] = self.with_marks(value)
        names.update(replaced)
        return names

    def with_marks(self, value: Any) -> Any:
        """One expression or a list of them; the same object gives the same again."""
        if isinstance(value, list):
            return [self.with_marks(expression) for expression in value]
        if id(value) not in self.expressions:
            self.expressions[id(value)] = marked(value, self.marker)
        return self.expressions[id(value)]

    def prepared(self, source: str, max_size: int | None = None) -> HtmlElement | None:
        """The page as a marked tree of any depth, without comments, styles and scripts other than JSON-LD."""
        tree = parsed(source)
        if tree is None:
            return None
        if tree.find(".//script[@type='application/ld+json']") is None:
            strip_elements(tree, "script", "style", with_tail=False)
        else:
            for element in list(tree.iter("script")):
                if element.get("type") != "application/ld+json":
                    element.drop_tree()
            strip_elements(tree, "style", with_tail=False)
        self.marker.mark(tree)
        return tree

    def extract_and_compare(
        self, cleaned_tree: Any, cleaned_tree_backup: Any, tree: Any, options: Extractor
    ) -> tuple[_Element, str]:
        """trafilatura's `_extract_and_compare`: own extractor, then the comparison unless in fast mode."""
        body, text = self.core["extract_content"](cleaned_tree, options)
        if options.fast:
            return body, text
        loses = _readability_loses(tree, body, text, options)
        compare = (self.without_readability if loses else self.external)["compare_extraction"]
        compared: tuple[_Element, str] = compare(
            cleaned_tree_backup, tree if loses else copy(tree), body, text, options
        )
        return compared

    def extract(self, source: str, options: Extractor) -> str:
        """The main text of a page, "" where none is found."""
        return self.core["extract"](source, options=options) or ""


def _unlikely(marker: Marker) -> XPath:
    """Readability's unlikely candidates as an expression over marks."""
    letters = []
    for name in ("unlikelyCandidatesRe", "okMaybeItsACandidateRe"):
        tests = regular(readability_lxml.REGEXES[name].pattern, str.lower)
        letters.append(marker.letter([(("class",), tests), (("id",), tests)]))
    return XPath(f".//*[contains(@{MARKS}, '{letters[0]}') and not(contains(@{MARKS}, '{letters[1]}'))]")


def _readability(unlikely: XPath) -> type[readability_lxml.Document]:
    class Readability(readability_lxml.Document):
        """Readability that finds its unlikely candidates by their marks."""

        __slots__ = ()

        def remove_unlikely_candidates(self) -> None:
            if self.doc.getroottree().getroot().get(PAGE_MARKS) is None:
                super().remove_unlikely_candidates()
                return
            for element in unlikely(self.doc):
                if element.tag not in readability_lxml.FRAME_TAGS:
                    element.drop_tree()

    return Readability


def _readability_loses(tree: HtmlElement, body: _Element, text: str, options: Extractor) -> bool:
    """Whether readability's text, which is a part of the page's, would be too short to replace `text`.

    True only where each condition under which trafilatura prefers readability is ruled out.
    """
    if options.focus == "recall" or not text or not body.xpath(".//p//text()"):
        return False
    if len(body.findall(".//table")) > len(body.findall(".//p")):
        return False
    most = len(" ".join(tree.text_content().split())) + IFRAME_TEXT * len(tree.findall(".//iframe"))
    return most <= 2 * len(text)

"""trafilatura's own cascade at a fraction of the cost, with its text unchanged.

The installed trafilatura's functions run as they are, but in namespaces of their own where a few things differ; the
library itself is left alone:

1. Elements get their class in C (`tree.parsed`).
2. Expressions over class names ask for marks (`marks`, `expressions`).
3. Scripts, styles and attributes that nobody reads leave the tree before it is copied, and a copy is made only for
   who reads it.
4. Readability stops where it can't win; justext does no work that nobody reads (`rescue`).
5. A page's whole text is measured only where the answer is open.

docs/upstream-trafilatura.md says how much of a stock call each concerns.
"""

from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any
from unicodedata import normalize

from lxml.etree import XPath, _Element, strip_attributes, strip_elements
from lxml.html import HtmlElement
from trafilatura import core, external, htmlprocessing, main_extractor
from trafilatura.settings import Extractor

from curate.text import stream_safe
from stages.extraction.expressions import marked
from stages.extraction.marks import PAGE_MARKS, Marker
from stages.extraction.rescue import (
    LIMIT,
    LeanParagraphMaker,
    lean_readability,
    least_useful,
    length,
    most_text,
    unlikely_candidates,
)
from stages.extraction.tree import AutoExtractor, parsed

Namespace = dict[str, Any]
EXTRACTED = "Extracted"  # on the root: characters that the own extractor found
# Attributes that trafilatura, readability or justext read by name; of a tree's memory they are the smaller part.
READ = frozenset(
    "alttext class colspan data-preloaded display encoding id lang rend role rowspan src target type".split()
)
COMMENTS = ("COMMENTS_XPATH", "COMMENTS_DISCARD_XPATH")  # only asked when comments are wanted


def composed(text: str) -> str:
    """NFC; the same as trafilatura's, where no run of marks is longer than Unicode's Stream-Safe Text Format allows."""
    return normalize("NFC", stream_safe(text))


class Later:
    """A tree that is made when it is first looked at."""

    def __init__(self, make: Callable[[], HtmlElement]) -> None:
        self.make = make
        self.tree: HtmlElement | None = None

    def made(self) -> HtmlElement:
        """The tree."""
        if self.tree is None:
            self.tree = self.make()
        return self.tree

    def iter(self) -> Iterator[HtmlElement]:
        """Its elements in document order."""
        return iter(self.made().iter())


class Lean:
    """trafilatura's functions in their new namespaces; made once a process."""

    def __init__(self) -> None:
        self.marker = Marker()
        self.prepare_again: Callable[[], HtmlElement]  # the page in work, cleaned and converted
        self.expressions: dict[int, Any] = {}
        self.unlikely = unlikely_candidates(self.marker)
        names = self.rebound(htmlprocessing)
        test = names["link_density_test"]
        names["link_density_test"] = lambda element, precise=False: (
            (False, False) if next(element.iterdescendants("ref"), None) is None else test(element, precise)
        )
        extractor = self.rebound(main_extractor, names, deepcopy=self.copy_when_needed)
        recover = extractor["recover_wild_text"]
        extractor["recover_wild_text"] = lambda tree, *rest: recover(tree.made(), *rest)
        # The package has a function named baseline, too. A new dict: each module's own is the globals of its functions.
        names = names | extractor | self.rebound(import_module("trafilatura.baseline"))
        self.external = self.rebound(
            external,
            names,
            ReadabilityDocument=lean_readability(self.unlikely),
            ParagraphMaker=LeanParagraphMaker,
            JT_STOPLIST=frozenset(external.jt_stoplist_init()),  # a frozenset keeps its hash, a tuple does not
        )
        self.names = names = names | self.external
        rescue = self.external["justext_rescue"]
        self.external["justext_rescue"] = lambda cleaned, options: rescue(cleaned(), options)
        self.core = self.rebound(
            core,
            names,
            load_html=lambda content, max_size: content[0],  # in a list, since trafilatura copies a tree it is given
            html2txt=self.page_text,
            normalize_unicode=composed,  # NFC in linear time, where trafilatura's own is quadratic in runs of marks
            _prepare_tree=self.prepare_tree,
            _extract_and_compare=self.extract_and_compare,
        )

    def copy_when_needed(self, element: _Element) -> Any:
        """A copy of an element; of a whole page one that is made from the raw tree once somebody asks."""
        return deepcopy(element) if element.get(PAGE_MARKS) is None else Later(self.prepare_again)

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
            elif isinstance(value, XPath | list) and name not in COMMENTS:
                names[name] = self.with_marks(value)
        names.update(replaced)
        return names

    def with_marks(self, value: Any) -> Any:
        """One expression or a list of them; the same object gives the same again."""
        if isinstance(value, list):
            return [self.with_marks(item) for item in value]
        if isinstance(value, XPath) and id(value) not in self.expressions:
            self.expressions[id(value)] = marked(value, self.marker)
        return self.expressions.get(id(value), value)

    def prepared(self, source: str, links: bool) -> HtmlElement | None:
        """The page as a marked tree of any depth, without comments, styles, scripts other than JSON-LD, and
        attributes that nobody reads once the marks are there."""
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
        read = READ | {"href"} if links else READ
        strip_attributes(tree, *(name for name in self.marker.mark(tree) - read if "{" not in name and "}" not in name))
        return tree

    def prepare_tree(self, tree: HtmlElement, options: Extractor, url: str | None) -> tuple[HtmlElement, None]:
        """trafilatura's `_prepare_tree` without the copy for justext, which few pages need."""
        return self.core["convert_tags"](self.core["tree_cleaning"](copy(tree), options), options, url), None

    def extract_and_compare(self, cleaned_tree: Any, _: None, tree: Any, options: Extractor) -> tuple[_Element, str]:
        """trafilatura's `_extract_and_compare`: own extractor, then the comparison where the mode asks for it."""
        self.prepare_again = lambda: self.prepare_tree(tree, options, None)[0]
        body, text = self.core["extract_content"](cleaned_tree, options)
        tree.set(EXTRACTED, str(len(text)))
        if options.fast:
            return body, text
        least = least_useful(body, text, options)
        if isinstance(options, AutoExtractor) and least is not None and len(text) >= options.enough * length(tree):
            return body, text

        def cleaned() -> HtmlElement:
            return self.core["tree_cleaning"](copy(tree), options)

        hopeless = least is not None and most_text(tree, self.unlikely) <= least
        raw = HtmlElement() if hopeless else copy(tree)
        if least is not None:
            raw.set(LIMIT, str(least))
        result: tuple[_Element, str] = self.external["compare_extraction"](cleaned, raw, body, text, options)
        return result

    def page_text(self, tree: HtmlElement) -> str:
        """trafilatura's `html2txt`, or "" where it is too short to call the extracted text a small share of it."""
        extracted = int(tree.get(EXTRACTED, "0"))
        # Each element may part a word in two and so add a space on either side.
        if extracted >= core.ESCALATION_PAGE_SHARE * (length(tree) + 2 * tree.xpath("count(.//*)")):
            return ""
        text: str = self.names["html2txt"](tree)
        return text

    def extract(self, source: str, options: Extractor) -> str:
        """The main text of a page, "" where none is found."""
        tree = self.prepared(source, options.links)
        return "" if tree is None else self.core["extract"]([tree], options=options) or ""

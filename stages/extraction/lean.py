"""trafilatura's own cascade at a fraction of the cost, with its text unchanged.

The installed trafilatura's functions run as they are, but in namespaces of their own where a few things differ; the
library itself is left alone:

1. Elements get their class in C (`article.parsed`).
2. Expressions over class names ask for marks (`marks`).
3. Scripts and styles leave the tree before it is copied, and a copy is made only for who reads it.
4. Readability stops where it can't win; justext does no work that nobody reads (`rescue`).
5. A page's whole text is measured only where the answer is open.

docs/upstream-trafilatura.md says what each saves.
"""

from copy import copy
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from lxml.etree import XPath, _Element, strip_elements
from lxml.html import HtmlElement
from trafilatura import core, external, htmlprocessing, main_extractor
from trafilatura.settings import Extractor

from stages.extraction.article import AutoExtractor, parsed
from stages.extraction.marks import Marker, marked
from stages.extraction.rescue import (
    LIMIT,
    LeanParagraphMaker,
    lean_readability,
    least_useful,
    length,
    most_text,
    unlikely_candidates,
)

Namespace = dict[str, Any]
EXTRACTED = "Extracted"  # on the root: characters that the own extractor found
COMMENTS = ("COMMENTS_XPATH", "COMMENTS_DISCARD_XPATH")  # only asked when comments are wanted


class Lean:
    """trafilatura's functions in their new namespaces; made once a process."""

    def __init__(self) -> None:
        self.marker = Marker()
        self.expressions: dict[int, Any] = {}
        self.unlikely = unlikely_candidates(self.marker)
        names = self.rebound(htmlprocessing)
        names |= self.rebound(main_extractor, names)
        names |= self.rebound(import_module("trafilatura.baseline"))  # the package has a function of that name
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
            load_html=self.prepared,
            html2txt=self.page_text,
            _prepare_tree=self.prepare_tree,
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

    def prepare_tree(self, tree: HtmlElement, options: Extractor, url: str | None) -> tuple[HtmlElement, None]:
        """trafilatura's `_prepare_tree` without the copy for justext, which few pages need."""
        return self.core["convert_tags"](self.core["tree_cleaning"](copy(tree), options), options, url), None

    def extract_and_compare(self, cleaned_tree: Any, _: None, tree: Any, options: Extractor) -> tuple[_Element, str]:
        """trafilatura's `_extract_and_compare`: own extractor, then the comparison where the mode asks for it."""
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
        return self.core["extract"](source, options=options) or ""

"""trafilatura's XPath expressions over class names and ids, rewritten to ask for marks.

An expression asks for the letter of a test instead of the test, and returns at once where no element of the page
has it.

trafilatura puts dozens of expressions to each page, each of which reads the class and id of every element and looks
for dozens of words in them. A page has few different values, so every value is tried once (`attribute_tests.py`), an
element that holds something gets the letters of what it holds as one attribute (`marks.py`), and the expression
becomes "has letter x". What is found, and in which order, stays the same: tests/stages/extraction/test_marks.py asks
both.
"""

import re
from dataclasses import dataclass

from lxml.etree import XPath, _Element

from stages.extraction.attribute_tests import Fold, Unsupported, ValueTest, regular, translated
from stages.extraction.marks import MARKS, PAGE_MARKS, Marker, Names

TOKEN = re.compile(r"""\s*('[^']*'|"[^"]*"|\.//|::|[\[\]()|,=*@]|[\w-]+(?::(?!:)[\w-]+)?)""")


@dataclass(eq=False)
class Marked:
    """An expression that asks for marks on a tree that has them, and for the attributes themselves on others.

    `needed` are the letters without one of which on the page there can be no match; empty where that is not known.
    `first_of_parent`: of what `marked` finds below one parent only the first counts, XPath's `.//*[...][1]`.
    """

    plain: XPath
    marked: XPath
    needed: str
    first_of_parent: bool = False

    def __call__(self, tree: _Element) -> list[_Element]:
        page = tree.getroottree().getroot().get(PAGE_MARKS)
        if page is None:
            return self.plain(tree)  # type: ignore[no-any-return]
        if self.needed and not any(letter in page for letter in self.needed):
            return []
        found: list[_Element] = self.marked(tree)
        if not self.first_of_parent:
            return found
        first: dict[_Element | None, _Element] = {}
        for element in found:  # in document order
            first.setdefault(element.getparent(), element)
        return list(first.values())


def marked(expression: XPath, marker: Marker) -> "Marked | XPath":
    """The expression with its tests over attributes as marks, or itself where it lies outside the subset."""
    try:
        parser = _Parser(expression.path, marker)
        text = parser.expression()
    except Unsupported:
        return expression
    return Marked(expression, XPath(text), "".join(parser.needed) if all(parser.needed) else "", parser.first_of_parent)


class _Parser:
    """Recursive descent over the subset of XPath; gives the expression back as text, its tests as marks."""

    def __init__(self, source: str, marker: Marker) -> None:
        self.marker = marker
        self.first_of_parent = False
        self.needed: list[str] = []  # for each path a letter that it can't do without, or ""
        self.tokens: list[str] = []
        self.at = end = 0
        source = source.strip()
        while end < len(source):
            match = TOKEN.match(source, end)
            if match is None:
                raise Unsupported(source[end:])
            end = match.end()
            self.tokens.append(match[1])

    def accept(self, *words: str) -> bool:
        if self.tokens[self.at : self.at + len(words)] != list(words):
            return False
        self.at += len(words)
        return True

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise Unsupported(word)

    def take(self) -> str:
        if self.at >= len(self.tokens):
            raise Unsupported("the end")
        self.at += 1
        return self.tokens[self.at - 1]

    def string(self) -> str:
        token = self.take()
        if token[0] not in "'\"":
            raise Unsupported(token)
        return token[1:-1]

    def expression(self) -> str:
        text = self.union()
        if self.at < len(self.tokens):
            raise Unsupported(self.take())
        return text

    def union(self) -> str:
        paths = [self.path()]
        while self.accept("|"):
            paths.append(self.path())
        return "|".join(paths)

    def path(self) -> str:
        if self.accept("("):
            text = f"({self.union()})"
            self.expect(")")
            return text + _conditions(*self.predicates())
        start = self.at
        self.expect(".//")
        name = self.take()
        letter, tests = self.predicates()
        self.needed.append(letter)
        if letter and tests[-1:] == ["1"] and (start, self.at) == (0, len(self.tokens)):
            self.first_of_parent = True
            tests.pop()
        if not letter or "1" in tests:
            return f".//{name}{_conditions(letter, tests)}"
        # From the marks to their elements, since few have this one: only of these is the rest asked.
        rest = _conditions("", tests)
        return f"descendant::*/@{MARKS}[contains(., '{letter}')]/parent::{name}{rest}"

    def predicates(self) -> tuple[str, list[str]]:
        """A mark that an element needs, "" for none, and all other predicates in order."""
        needed, tests = "", []
        while self.accept("["):
            if self.accept("1"):
                tests.append("1")
            else:
                test, letter = self.either()
                if letter and test == _ask(letter) and not needed and "1" not in tests:
                    needed = letter
                else:
                    tests.append(test)
            self.expect("]")
        return needed, tests

    def either(self) -> tuple[str, str]:
        """A disjunction and the letter in it: tests over attributes become one mark, the rest stays as it is."""
        tests: list[tuple[Names, list[ValueTest]]] = []
        kept: list[str] = []
        while True:
            self.one(tests, kept)
            if not self.accept("or"):
                break
        letter = self.marker.letter(tests) if tests else ""
        if letter:
            kept.append(_ask(letter))
        return " or ".join(kept), letter

    def one(self, tests: list[tuple[Names, list[ValueTest]]], kept: list[str]) -> None:
        if self.accept("not", "("):
            kept.append(f"not({self.either()[0]})")
            self.expect(")")
        elif self.accept("self", "::"):
            kept.append(f"self::{self.take()}")
        elif self.accept(".//"):
            kept.append(f".//{self.take()}")
        else:
            tests.append(self.test())

    def test(self) -> tuple[Names, list[ValueTest]]:
        """A test over attributes. None of the subset holds for the empty string, XPath's value of an absent one."""
        for function, kind in (("re:test", "search"), ("contains", "in"), ("starts-with", "start")):
            if self.accept(function, "("):
                names, old, new = self.value()
                self.expect(",")
                text = self.string()
                fold: Fold = str
                if self.accept(","):
                    if self.string() != "i" or old:
                        raise Unsupported("flags")
                    fold = str.lower
                self.expect(")")
                if kind == "search":
                    return names, regular(text, fold)
                return names, translated(kind, text, old, new)
        names, _, _ = self.value()
        return names, [ValueTest("equal", (self.string(),)) if self.accept("=") else ValueTest("start", ("",))]

    def value(self) -> tuple[Names, str, str]:
        """Attributes of which the first is meant, and the characters that are translated, into which."""
        if self.accept("translate", "("):
            names, _, _ = self.value()
            self.expect(",")
            old = self.string()
            self.expect(",")
            new = self.string()
            self.expect(")")
            return names, old, new
        found = []
        while True:
            self.expect("@")
            found.append(self.take())
            if not self.accept("|"):
                return tuple(found), "", ""


def _ask(letter: str) -> str:
    return f"contains(@{MARKS}, '{letter}')"


def _conditions(letter: str, tests: list[str]) -> str:
    """A mark and other tests as predicates."""
    return "".join(f"[{test}]" for test in [*([_ask(letter)] if letter else []), *tests])

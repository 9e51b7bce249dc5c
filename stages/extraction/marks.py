"""XPath expressions over class names and ids made cheap: their tests are answered once a page, as marks.

`re:test` calls from libxml2 back into Python for each element, each test and each of the trees that an extractor
copies. Pages repeat their class names, and the copies repeat the page: so every test over attributes is answered
once for each distinct value, and the answers are written on the element as one more attribute, a letter a test.
The same expressions then ask for the letter, or return at once where no element of the page has it.
"""

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass, field

from lxml.etree import XPath, _Element

from stages.extraction.attribute_tests import Fold, Memo, Unsupported, ValueTest, regular, translated

Names = tuple[str, ...]
Items = list[tuple[str, str]]

# The HTML parser lower-cases names, so no page has these attributes.
MARKS = "Marks"
PAGE_MARKS = "PageMarks"  # on the root: the letters that any element has
MEMO_ENTRIES = 50_000  # values of one attribute; with more its memo starts anew
TOKEN = re.compile(r"""\s*('[^']*'|"[^"]*"|\.//|::|[\[\]()|,=*@]|[\w-]+(?::(?!:)[\w-]+)?)""")


@dataclass(eq=False)
class Marker:
    """The tests that a set of expressions asks, by attribute, and what they said so far.

    Each letter has a bit. Where a test asks the first of several attributes in source order (XPath's string value of
    `@id|@class`) it has one more, which counts only from the first attribute of the group.
    """

    letters: list[str] = field(default_factory=list)  # by bit
    memos: dict[str, Memo] = field(default_factory=dict)
    decided: dict[str, int] = field(default_factory=dict)  # by attribute: bits of the groups that it belongs to
    groups: dict[Names, int] = field(default_factory=dict)  # bits of each group
    texts: dict[int, str] = field(default_factory=dict)

    def letter(self, tests: Iterable[tuple[Names, list[ValueTest]]]) -> str:
        """The mark that an element gets where any of the tests holds."""
        letter = string.ascii_letters[len(set(self.letters))]
        bits: dict[Names, int] = {}
        for names, of_value in tests:
            group = tuple(sorted(names)) if len(names) > 1 else ()
            if group not in bits:
                bits[group] = 1 << len(self.letters)
                self.letters.append(letter)
            for name in names:
                self.memos.setdefault(name, Memo()).add(bits[group], of_value)
                self.decided[name] = self.decided.get(name, 0) | (bits[group] if group else 0)
        return letter

    def mark(self, root: _Element) -> set[str]:
        """Writes the marks on all elements below the root, and all letters that occur on the root.

        Returns the names of all attributes met.
        """
        memos, decided, texts = self.memos, self.decided, self.texts
        write = _Element.set  # lxml.html's own is a Python function
        names = set(memos)
        unknown: dict[str, dict[str, None]] = {name: {} for name in memos}
        late: list[tuple[_Element, Items]] = []  # those with a value not met before
        page = 0
        for element in root.iterdescendants("*"):
            items = element.items()
            bits = taken = 0
            for name, value in items:
                if name not in memos:
                    names.add(name)
                    continue
                known = memos[name].get(value)
                if known is None:
                    unknown[name][value] = None
                    taken = -1
                elif taken >= 0:
                    bits |= known & ~taken
                    taken |= decided[name]
            if taken < 0:
                late.append((element, items))
            elif bits:
                page |= bits
                write(element, MARKS, texts.get(bits) or self._text(bits))
        self._learn(unknown)
        for element, items in late:
            bits = self._bits(items)
            if bits:
                page |= bits
                write(element, MARKS, texts.get(bits) or self._text(bits))
        root.set(PAGE_MARKS, self._text(page))
        for memo in memos.values():
            if len(memo) > MEMO_ENTRIES:
                memo.clear()
        return names

    def _learn(self, unknown: dict[str, dict[str, None]]) -> None:
        for name, values in unknown.items():
            self.memos[name].learn(values)

    def _bits(self, items: Items) -> int:
        """The bits of an element whose values are all known."""
        bits = taken = 0
        for name, value in items:
            if name in self.memos:
                bits |= self.memos[name][value] & ~taken
                taken |= self.decided[name]
        return bits

    def _text(self, bits: int) -> str:
        text = self.texts.get(bits)
        if text is None:
            letters = sorted({letter for place, letter in enumerate(self.letters) if bits >> place & 1})
            text = self.texts[bits] = "".join(letters)
        return text


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
        text = parser.whole()
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

    def whole(self) -> str:
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
            return text + "".join(f"[{test}]" for test in self.predicates()[1])
        start = self.at
        self.expect(".//")
        name = self.take()
        letter, tests = self.predicates()
        self.needed.append(letter)
        if letter and tests[-1:] == ["1"] and (start, self.at) == (0, len(self.tokens)):
            self.first_of_parent = bool(tests.pop())
        asked = f"[{_ask(letter)}]" if letter else ""
        kept = "".join(f"[{test}]" for test in tests)
        if not letter or "1" in tests:
            return f".//{name}{asked}{kept}"
        # From the marks to their elements, since few have this one: only of these is the rest asked.
        return f"descendant::*/@{MARKS}[contains(., '{letter}')]/parent::{name}{kept}"

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

"""Tests over class names and ids, answered once a page and written on the elements as marks.

`re:test` calls from libxml2 back into Python for each element, each test and each of the trees that an extractor
copies. Pages repeat their class names, and the copies repeat the page: so every test over attributes is answered
once for each distinct value, and the answers are written on the element as one more attribute, a letter a test.
The same expressions then ask for the letter (`expressions`).
"""

import string
from collections.abc import Iterable
from dataclasses import dataclass, field

from lxml.etree import _Element

from stages.extraction.attribute_tests import ValueMemo, ValueTest

Names = tuple[str, ...]
Items = list[tuple[str, str]]

# The HTML parser lower-cases names, so no page has these attributes.
MARKS = "Marks"
PAGE_MARKS = "PageMarks"  # on the root: the letters that any element has
MEMO_ENTRIES = 50_000  # values of one attribute; with more its memo starts anew


@dataclass(eq=False)
class Marker:
    """The tests that a set of expressions asks, by attribute, and what they said so far.

    Each letter has a bit. Where a test asks the first of several attributes in source order (XPath's string value of
    `@id|@class`) it has one more, which counts only from the first attribute of the group.
    """

    letters: list[str] = field(default_factory=list)  # by bit
    memos: dict[str, ValueMemo] = field(default_factory=dict)
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
                self.memos.setdefault(name, ValueMemo()).add(bits[group], of_value)
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
            if bits := self._bits(items):
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

"""Tests on attribute values, asked of many values at once.

A pattern that stands for finitely many strings is taken apart into them: finding a substring is far cheaper than
one alternative of a pattern, and a substring that none of a page's values holds is found absent in one search.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate, product
from operator import or_
from typing import NamedTuple

MAX_STRINGS = 300  # a pattern that stands for more stays a pattern
Fold = Callable[[str], str]


class Unsupported(ValueError):
    """A pattern or expression outside the subset that is taken apart here."""


class Test(NamedTuple):
    """Holds for a value that, once folded, contains, starts with, is or matches (`kind`) any of the texts.

    `common` is a part of each of the texts: where it does not occur, none of them does.
    """

    kind: str  # "in", "start", "equal", "search"
    texts: tuple[str, ...]
    fold: Fold = str
    common: str = ""


@dataclass
class Tests:
    """The tests of one attribute that fold its value in the same way, with the bits that they set."""

    parts: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    starts: dict[int, tuple[str, ...]] = field(default_factory=dict)
    equals: dict[str, int] = field(default_factory=dict)
    searches: list[tuple[int, re.Pattern[str]]] = field(default_factory=list)

    def add(self, bit: int, test: Test) -> None:
        """The bit is set where the test holds."""
        if test.kind == "in":
            self.parts.append((bit, test.common, test.texts))
        elif test.kind == "start":
            self.starts[bit] = self.starts.get(bit, ()) + test.texts
        for text in test.texts:
            if test.kind == "equal":
                self.equals[text] = self.equals.get(text, 0) | bit
            elif test.kind == "search":
                self.searches.append((bit, re.compile(text, re.MULTILINE)))

    def answer(self, values: list[str]) -> list[int]:
        """The bits of each folded value. None has a line break, so one string can hold all."""
        bits = [0] * len(values)
        lines = "\n".join(values)
        starts = list(accumulate((len(value) + 1 for value in values), initial=0))
        for bit, common, texts in self.parts:
            if common not in lines:
                continue
            for text in texts:
                at = lines.find(text)
                while at >= 0:
                    place = bisect_right(starts, at)
                    bits[place - 1] |= bit
                    at = lines.find(text, starts[place])
        for bit, pattern in self.searches:
            if pattern.search(lines):  # each value is a line to it; a match may begin with a line break
                for place, value in enumerate(values):
                    if pattern.search(value):
                        bits[place] |= bit
        prefixes, equals = tuple(prefix for some in self.starts.values() for prefix in some), self.equals
        for place, value in enumerate(values):
            if value in equals:
                bits[place] |= equals[value]
            if value.startswith(prefixes):
                for bit, some in self.starts.items():
                    if value.startswith(some):
                        bits[place] |= bit
        return bits


class Memo(dict[str, int]):
    """What is known of the values of one attribute: the bits of the tests that hold."""

    def __init__(self) -> None:
        super().__init__()
        self.tests: dict[Fold, Tests] = {}

    def add(self, bit: int, tests: Iterable[Test]) -> None:
        """The bit is set where any of the tests holds."""
        for test in tests:
            self.tests.setdefault(test.fold, Tests()).add(bit, test)

    def learn(self, values: Iterable[str]) -> None:
        """Answers all tests for values that are new."""
        new = list(values)
        if not new:
            return
        flat = [value.replace("\n", "\t") for value in new]  # no test tells one from the other
        bits = [0] * len(new)
        for fold, tests in self.tests.items():
            bits = list(map(or_, bits, tests.answer(flat if fold is str else list(map(fold, flat)))))
        self.update(zip(new, bits))


def translated(kind: str, text: str, old: str, new: str) -> list[Test]:
    """Tests of which one holds where `kind` does on the value with the characters of `old` turned into `new`."""
    sources = []  # for each character of the text those that it can come from
    for character in text:
        sources.append([before for before, after in zip(old, new) if after == character])
        if character not in old:
            sources[-1].append(character)
    return [Test(kind, tuple("".join(choice) for choice in product(*sources)))]


def regular(pattern: str, fold: Fold = str) -> list[Test]:
    """Tests of which one holds where the pattern is found in the folded value."""
    tests, rest = [], []
    for alternative in _top_level(pattern):
        try:
            strings = _Strings(alternative).all()
        except Unsupported:
            rest.append(alternative)
            continue
        starts = tuple(text[1:] for text in strings if text.startswith("^"))
        parts = tuple(text for text in strings if not text.startswith("^"))
        tests.append(Test("start", starts, fold))
        if parts:
            tests.append(Test("in", parts, fold, _common(parts)))
    if rest:
        tests.append(Test("search", tuple(rest), fold))
    return tests


def _common(texts: tuple[str, ...]) -> str:
    """The longest start or end of the shortest text that is a part of each."""
    shortest = min(texts, key=len)
    parts = [shortest[:size] for size in range(len(shortest) + 1)] + [shortest[size:] for size in range(len(shortest))]
    return max((part for part in parts if all(part in text for text in texts)), key=len)


def _top_level(pattern: str) -> list[str]:
    """The alternatives of a pattern that stand in no bracket."""
    parts, depth = [""], 0
    for character in pattern:
        if character == "\\":
            return [pattern]  # an escape could hide a bracket
        depth += (character in "([") - (character in ")]")
        if character == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


class _Strings:
    """All strings that a pattern of characters, sets, groups, `?` and a leading `^` stands for."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def all(self) -> list[str]:
        strings = self.alternatives()
        if self.at < len(self.pattern) or any("^" in text[1:] or text in ("", "^") for text in strings):
            raise Unsupported(self.pattern)
        return strings

    def alternatives(self) -> list[str]:
        found = self.sequence()
        while self.pattern[self.at : self.at + 1] == "|":
            self.at += 1
            found = found + self.sequence()
        if len(found) > MAX_STRINGS:
            raise Unsupported(self.pattern)
        return found

    def sequence(self) -> list[str]:
        parts: list[list[str]] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            part = self.item()
            if self.pattern[self.at : self.at + 1] == "?":
                self.at += 1
                part = [*part, ""]
            parts.append(part)
        return ["".join(choice) for choice in product(*parts)]

    def item(self) -> list[str]:
        rest = self.pattern[self.at :]
        if rest.startswith("(?:"):
            self.at += 3
            inner = self.alternatives()
            if self.pattern[self.at : self.at + 1] != ")":
                raise Unsupported(self.pattern)
            self.at += 1
            return inner
        if match := re.match(r"\[(-?[\w ]+-?)\]|[\w ^-]", rest):
            self.at += match.end()
            return list(match[1]) if match[1] else [match[0]]
        raise Unsupported(self.pattern)

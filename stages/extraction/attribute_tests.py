"""Tests on attribute values, asked of many values at once.

A pattern that stands for finitely many strings is taken apart into them: finding a substring is far cheaper than
one alternative of a pattern, and a substring that none of a page's values holds is found absent in one search.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from itertools import product
from typing import NamedTuple

MAX_STRINGS = 300  # a pattern that stands for more stays a pattern
Fold = Callable[[str], str]


class Unsupported(ValueError):
    """A pattern or expression outside the subset that is taken apart here."""


class Test(NamedTuple):
    """Holds for a value that, once folded, contains, starts with, is or matches (`kind`) the text."""

    kind: str  # "in", "start", "equal", "search", "any"
    text: str = ""
    fold: Fold = str

    def holds(self, value: str) -> bool:
        """The verdict on one folded value."""
        if self.kind == "start":
            return value.startswith(self.text)
        if self.kind == "equal":
            return value == self.text
        if self.kind == "search":
            return re.search(self.text, value) is not None
        return self.text in value

    def may_hold(self, lines: str) -> bool:
        """False where it holds for none of the lines, each of which begins with a line break."""
        if self.kind == "search":
            return re.search(self.text, lines, re.MULTILINE) is not None
        return ("\n" + self.text if self.kind == "start" else self.text) in lines


class Memo(dict[str, int]):
    """What is known of the values of one attribute: the bits of the tests that hold."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: dict[Fold, list[tuple[int, str]]] = defaultdict(list)  # tests of kind "in", by far the most
        self.tests: dict[Fold, list[tuple[int, Test]]] = defaultdict(list)

    def add(self, bit: int, tests: Iterable[Test]) -> None:
        """The bit is set where any of the tests holds."""
        for test in tests:
            if test.kind == "in":
                self.parts[test.fold].append((bit, test.text))
            else:
                self.tests[test.fold].append((bit, test))

    def learn(self, values: Collection[str]) -> None:
        """Answers all tests for values that are new."""
        bits = dict.fromkeys(values, 0)
        for fold in {**self.parts, **self.tests}:
            folded = list(bits) if fold is str else list(map(fold, bits))
            lines = "\n" + "\n".join(folded)
            pairs = list(zip(bits, folded))
            for bit, text in self.parts[fold]:
                if text in lines:
                    for value, form in pairs:
                        if text in form:
                            bits[value] |= bit
            for bit, test in self.tests[fold]:
                if test.may_hold(lines):
                    for value, form in pairs:
                        if test.holds(form):
                            bits[value] |= bit
        self.update(bits)


def translated(kind: str, text: str, old: str, new: str) -> list[Test]:
    """Tests of which one holds where `kind` does on the value with the characters of `old` turned into `new`."""
    sources = []  # for each character of the text those that it can come from
    for character in text:
        sources.append([before for before, after in zip(old, new) if after == character])
        if character not in old:
            sources[-1].append(character)
    return [Test(kind, "".join(choice)) for choice in product(*sources)]


def regular(pattern: str, fold: Fold = str) -> list[Test]:
    """Tests of which one holds where the pattern is found in the folded value."""
    tests, rest = [], []
    for alternative in _top_level(pattern):
        try:
            strings = _Strings(alternative).all()
        except Unsupported:
            rest.append(alternative)
            continue
        for text in strings:
            tests.append(Test("start", text[1:], fold) if text.startswith("^") else Test("in", text, fold))
    if rest:
        tests.append(Test("search", "|".join(rest), fold))
    return tests


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

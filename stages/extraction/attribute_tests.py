"""Tests on attribute values, asked of many values at once.

A pattern that stands for finitely many strings is taken apart into them: finding a substring is far cheaper than
one alternative of a pattern, and a substring that none of a page's values holds is found absent in one search.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, product
from typing import NamedTuple

MAX_STRINGS = 300  # a pattern that stands for more stays a pattern
Fold = Callable[[str], str]


class Unsupported(ValueError):
    """A pattern or expression outside the subset that is taken apart here."""


class ValueTest(NamedTuple):
    """Holds for a value that, once folded, contains, starts with, is or matches (`kind`) any of the texts."""

    kind: str  # "in", "start", "equal", "search"
    texts: tuple[str, ...]
    fold: Fold = str


@dataclass
class Tests:
    """Tests that fold a value in the same way, with the bits that they set.

    They are asked of all values at once, as one string with a line break before and after each value. `parts` are
    bits, a common part and texts to be found; a text with a line break on its left or right is a start or an end.
    `searches` are bits, a part that each match has, and the pattern.
    """

    parts: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    searches: list[tuple[int, str, re.Pattern[str]]] = field(default_factory=list)

    def add(self, bit: int, kind: str, texts: tuple[str, ...]) -> None:
        """The bit is set where a test of this kind holds for any of the texts."""
        if kind == "search":
            # Every line begins with a line break, so that stands for no literal at all.
            self.searches += [(bit, _literal(text) or "\n", re.compile(text)) for text in texts]
            return
        left, right = {"in": ("", ""), "start": ("\n", ""), "equal": ("\n", "\n")}[kind]
        texts = tuple(f"{left}{text}{right}" for text in texts)
        self.parts.append((bit, _common(texts), texts))

    def answer(self, values: list[str], bits: list[int]) -> None:
        """Adds the bits of each folded value. No value has a line break."""
        lines = "\n" + "\n".join(values) + "\n"
        starts = list(accumulate(map(len, values), lambda start, size: start + size + 1, initial=1))
        for bit, common, texts in self.parts:
            if common in lines:
                for text in texts:
                    for place in _places(lines, text, starts):
                        bits[place] |= bit
        for bit, literal, pattern in self.searches:
            if literal in lines:
                for place in _places(lines, literal, starts):
                    if pattern.search(values[place]):
                        bits[place] |= bit


def _places(lines: str, text: str, starts: list[int]) -> Iterator[int]:
    """The lines in which the text occurs."""
    at = lines.find(text)
    while at >= 0:
        place = bisect_right(starts, at + (text[:1] == "\n"))
        if place == len(starts):
            return  # the line break at the very end
        yield place - 1
        at = lines.find(text, starts[place] - 1)


class ValueMemo(dict[str, int]):
    """What is known of the values of one attribute: the bits of the tests that hold."""

    def __init__(self) -> None:
        super().__init__()
        self.tests: dict[Fold, Tests] = {}

    def add(self, bit: int, tests: Iterable[ValueTest]) -> None:
        """The bit is set where any of the tests holds."""
        for test in tests:
            self.tests.setdefault(test.fold, Tests()).add(bit, test.kind, test.texts)

    def learn(self, values: Iterable[str]) -> None:
        """Answers all tests for values that are new."""
        new = list(values)
        if not new:
            return
        joined = "\n".join(new)
        broken = joined.count("\n") >= len(new)
        flat = [value.replace("\n", "\t") for value in new] if broken else new  # no test tells one from the other
        bits = [0] * len(new)
        for fold, tests in self.tests.items():
            tests.answer(flat if fold is str else list(map(fold, flat)), bits)
        self.update(zip(new, bits))


def translated(kind: str, text: str, old: str, new: str) -> list[ValueTest]:
    """Tests of which one holds where `kind` does on the value with the characters of `old` turned into `new`."""
    sources = []  # for each character of the text those that it can come from
    for character in text:
        sources.append([before for before, after in zip(old, new) if after == character])
        if character not in old:
            sources[-1].append(character)
    return [ValueTest(kind, tuple("".join(choice) for choice in product(*sources)))]


def regular(pattern: str, fold: Fold = str) -> list[ValueTest]:
    """Tests of which one holds where the pattern is found in the folded value."""
    tests = []
    for alternative in _top_level(pattern):
        try:
            strings = _Strings(alternative).all()
        except Unsupported:
            tests.append(ValueTest("search", (alternative,), fold))
            continue
        starts = tuple(text[1:] for text in strings if text.startswith("^"))
        parts = tuple(text for text in strings if not text.startswith("^"))
        tests += [ValueTest(kind, texts, fold) for kind, texts in (("start", starts), ("in", parts)) if texts]
    return tests


def _common(texts: tuple[str, ...]) -> str:
    """The longest start or end of the shortest text that is a part of each."""
    shortest = min(texts, key=len)
    parts = [shortest[:size] for size in range(len(shortest) + 1)] + [shortest[size:] for size in range(len(shortest))]
    return max((part for part in parts if all(part in text for text in texts)), key=len)


def _literal(pattern: str) -> str:
    """The longest text that each match of the pattern has, outside groups, sets and what may be left out; or ""."""
    outside = re.sub(r"\\.|\[[^\]]*\]|[\w -](?:[?*]|\{[^}]*\})", "\n", pattern)
    while (inner := re.sub(r"\([^()]*\)(?:[?*]|\{[^}]*\})?", "\n", outside)) != outside:
        outside = inner
    return "" if "|" in outside else max(re.findall(r"[\w -]+", outside), key=len, default="")


def _top_level(pattern: str) -> list[str]:
    """The alternatives of a pattern that stand in no bracket; `^(?:a|b)` counts as `^a|^b`."""
    group = re.fullmatch(r"\^\(\?:((?:[^()]|\([^()]*\))*)\)", pattern)
    if group:
        return [f"^{part}" for part in _top_level(group[1])]
    parts, depth, escaped = [""], 0, False
    for character in pattern:
        if not escaped:
            depth += (character in "([") - (character in ")]")
        if character == "|" and not depth and not escaped:
            parts.append("")
        else:
            parts[-1] += character
        escaped = character == "\\" and not escaped
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

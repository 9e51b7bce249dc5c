"""Reads conditions. A grammar of its own, so that a config is never a program:

    condition = all { "or" all }        all = one { "and" one }        one = "not" one | "(" condition ")" | test
    test      = name sign literal | name ["not"] "between" literal "and" literal | name ["not"] "in" "(" literals ")"
              | name ["not"] "contains" text | name "is" ["not"] "null"
    sign      = "<" | "<=" | ">" | ">=" | "=" | "!="        literal = number | text | "true" | "false"

Texts stand in single or double quotes, without escapes. Words of the grammar may be in any case.
"""

import re
from functools import lru_cache
from typing import NoReturn

from stages.conditions.logic import Condition, Joined, Literals, Not, Test, is_number

MOST_CHARACTERS, MOST_DEPTH = 10_000, 50
_WORDS = frozenset("and or not between in contains is null true false".split())
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))|(?P<word>[^\W\d]\w*)"
    r"|(?P<text>\"[^\"]*\"|'[^']*')|(?P<sign><=|>=|!=|==|[<>=(),])|(?P<end>$))"
)


class NoCondition(ValueError):
    """A text that is no condition; says where and why."""


@lru_cache(maxsize=64)
def condition(text: str) -> Condition:
    """The condition that a text says. Raises NoCondition."""
    if len(text) > MOST_CHARACTERS:
        raise NoCondition(f"is longer than {MOST_CHARACTERS:,} characters; write two stages' worth as two runs")
    return _ConditionReader(text).condition()


class _ConditionReader:
    """Goes through the tokens once, without a way back."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.depth = text, 0, 0
        self.kind, self.token, self.start, self.before = "", "", 0, 0
        self._next()

    def condition(self) -> Condition:
        read = self._any()
        if self.kind != "end":
            self._wrong("and, or, or the end")
        return read

    def _next(self) -> str:
        """Steps to the next token; gives the one before."""
        passed = self.token
        found = _TOKEN.match(self.text, self.place)
        if not found or found.lastgroup is None:
            at = len(self.text[: self.place]) + 1
            raise NoCondition(f"column {at}: {self.text[self.place :].split()[0]!r} is no part of a condition")
        self.kind, self.token = found.lastgroup, found[found.lastgroup]
        self.before, self.start, self.place = self.place, found.start(found.lastgroup), found.end()
        return passed

    def _is(self, word: str) -> bool:
        return self.kind in ("word", "sign") and self.token.lower() == word

    def _take(self, word: str) -> bool:
        taken = self._is(word)
        if taken:
            self._next()
        return taken

    def _must(self, word: str) -> None:
        if not self._take(word):
            self._wrong(f"'{word}'")

    def _wrong(self, wanted: str) -> NoReturn:
        there = f"'{self.token}'" if self.kind != "end" else "the end"
        raise NoCondition(f"column {self.start + 1}: {wanted} must stand here, not {there}")

    def _source(self, start: int) -> str:
        return " ".join(self.text[start : self.before].split())

    def _any(self) -> Condition:
        return self._joined("or")

    def _joined(self, word: str) -> Condition:
        start = self.start
        parts: list[Condition] = []
        while not parts or self._take(word):
            parts.append(self._joined("and") if word == "or" else self._one())
        return parts[0] if len(parts) == 1 else Joined(word == "and", tuple(parts), self._source(start))

    def _one(self) -> Condition:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise NoCondition(f"column {self.start + 1}: brackets and nots may stand {MOST_DEPTH} deep")
        start = self.start
        if self._take("not"):
            read: Condition = Not(self._one(), self._source(start))
        elif self._take("("):
            read = self._any()
            self._must(")")
        else:
            read = self._test()
        self.depth -= 1
        return read

    def _test(self) -> Test:
        start = self.start
        if self.kind != "word" or self.token.lower() in _WORDS:
            self._wrong("a name")
        name = self._next()
        if self._take("is"):
            negated = self._take("not")
            self._must("null")
            return Test(name, "null", "", (), negated, self._source(start))
        negated = self._take("not")
        if self._take("between"):
            low = self._literal()
            self._must("and")
            against = (low, self._literal())
            if is_number(low) != is_number(against[1]) or isinstance(low, bool):
                self._wrong("two numbers or two texts around 'and'")
            return Test(name, "between", "", against, negated, self._source(start))
        if self._take("in"):
            return Test(name, "in", "", self._list(), negated, self._source(start))
        if self._take("contains"):
            if self.kind != "text":
                self._wrong("a text in quotes")
            return Test(name, "contains", "", (self._literal(),), negated, self._source(start))
        if negated or self.kind != "sign" or self.token in "(),":
            self._wrong("between, in or contains" if negated else "<, <=, >, >=, =, !=, between, in, contains or is")
        sign = self._next().replace("==", "=")
        return Test(name, "compare", sign, (self._literal(),), False, self._source(start))

    def _list(self) -> tuple[Literals, ...]:
        self._must("(")
        found = [self._literal()]
        while self._take(","):
            found.append(self._literal())
        self._must(")")
        return tuple(found)

    def _literal(self) -> Literals:
        if self.kind == "number":
            return float(self._next())
        if self.kind == "text":
            return self._next()[1:-1]
        if self._is("true") or self._is("false"):
            return self._next().lower() == "true"
        self._wrong("a number, a text in quotes, true or false")

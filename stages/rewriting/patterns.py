"""Patterns and replacements on RE2, whose time grows with text times pattern, whatever both are.

Python's own engine goes back over what it has tried, and a pattern such as `(a+)+$` then needs longer than a crawl
lasts. RE2 (through `google-re2`) can't: no look-around, no backreferences in a pattern, and its memory is bounded.
"""

import re
from functools import lru_cache

import re2

LONGEST_PATTERN, MOST_MEMORY = 2_000, 8 << 20  # characters; bytes of one compiled pattern
_ONE_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")  # matches parts of characters
_GROUP = re.compile(r"\\(\d+)|\\g<(\w+)>")


class NoPattern(ValueError):
    """A pattern or replacement that RE2 does not take; says why."""


@lru_cache(maxsize=512)
def compiled(pattern: str) -> "re2._Regexp":
    """A pattern for UTF-8 bytes. Raises NoPattern."""
    if len(pattern) > LONGEST_PATTERN:
        raise NoPattern(f"is longer than {LONGEST_PATTERN:,} characters; write it as several")
    if _ONE_BYTE.search(pattern):
        raise NoPattern(r"\C is a single byte, which would break characters; write (?s:.) for any character")
    options = re2.Options()
    options.log_errors, options.max_mem = False, MOST_MEMORY
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        said = error.args[0]
        reason = said.decode() if isinstance(said, bytes) else str(said)
        raise NoPattern(f"{reason}; patterns are RE2's, without look-around and backreferences") from None


def replaced(text: str, pattern: str, replacement: str) -> tuple[str, int]:
    """A text with each match replaced, and how many there were; `\\1` in a replacement is a group.

    An empty match is none.
    """
    data, new = text.encode("utf-8", "surrogatepass"), replacement.encode()
    literal = b"\\" not in new
    parts, end = [], 0
    for found in compiled(pattern).finditer(data):
        if found.start() < found.end():
            parts += [data[end : found.start()], new if literal else found.expand(new)]
            end = found.end()
    if not parts:
        return text, 0
    return b"".join([*parts, data[end:]]).decode("utf-8", "surrogatepass"), len(parts) // 2


def check(pattern: str, replacement: str) -> None:
    """Raises NoPattern for a pattern that can't be compiled, or a replacement that names a group it has not."""
    found = compiled(pattern)
    for number, name in _GROUP.findall(replacement):
        if (number and int(number) > found.groups) or (name and name.encode() not in found.groupindex):
            raise NoPattern(f"the replacement names the group {number or name}, which the pattern has not")

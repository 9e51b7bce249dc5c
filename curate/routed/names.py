"""The folder of each value: `by=value`, as Hive names partitions."""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha1
from urllib.parse import quote

LONGEST_NAME = 120  # bytes; file systems allow 255, for an attribute's name and its value together
NULL = "__HIVE_DEFAULT_PARTITION__"  # the folder of rows without a value, the word that Hive and its readers have
ESCAPE_OR_CAPITAL = re.compile("%..|[A-Z_]")


def folder_name(value: str) -> str:
    """A value as a part of a folder's name: percent-encoded, or the SHA-1 of what would be too long for a disk."""
    return _short(quote(value, safe=""), value)


def folder_names(values: Iterable[str | None]) -> dict[str | None, str]:
    """The folder of each value (NULL for None), another one for each, also on disks that take `EN` and `en` for one.

    Where names differ in case alone, or a value is that word, capitals and underscores are percent-encoded, too.
    """
    names = {value: NULL if value is None else folder_name(value) for value in values}
    alike = Counter(name.lower() for name in names.values())
    for value, name in names.items():
        if value is not None and (value == NULL or alike[name.lower()] > 1):
            names[value] = _short(ESCAPE_OR_CAPITAL.sub(_escaped, name), value)
    return names


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("%") else f"%{ord(found[0]):02X}"


def _short(name: str, value: str) -> str:
    return name if len(name) <= LONGEST_NAME else sha1(value.encode()).hexdigest()

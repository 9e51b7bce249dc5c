"""Columns that JSONL files carry along: their types, known before the first document, and values that fit them.

Types are declared (`columns: {score: double, labels: string}`), or inferred from the first lines of every file of
the source, so that they depend on no order and no worker. A value that does not fit afterwards makes its line
`damaged`, with the column in the cause: nothing is altered and nothing is lost in silence.
"""

import json
import re
import sys
from contextlib import closing
from functools import lru_cache
from typing import Any

import pyarrow as pa

from curate.errors import UserError
from curate.sources.files import find_files
from curate.sources.lines import lines, text_layout
from curate.sources.reading import open_input, window_on
from curate.sources.settings import SourceConfig
from curate.text import unstorable

TYPES = {"string": pa.string(), "int64": pa.int64(), "double": pa.float64(), "bool": pa.bool_()}
ALIASES = {"str": "string", "text": "string", "int": "int64", "integer": "int64", "float": "double",
           "float64": "double", "number": "double", "boolean": "bool"}  # fmt: skip
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, as where a title was cut; no file can hold it
LARGEST_DOUBLE = int(sys.float_info.max)
HEAD_LINES = 100
HEAD_BYTES = 1 << 20


class Unfit(ValueError):
    """A line that is no document; the message is the cause."""


def column_types(config: SourceConfig) -> dict[str, pa.DataType]:
    """The columns that a JSONL source carries, with their types, in order. Raises UserError."""
    if isinstance(config.columns, dict):
        return {name: _declared(name, kind) for name, kind in config.columns.items()}
    if not config.columns:
        return {}
    return {name: TYPES[kind] for name, kind in _inferred(_Key(config)).items()}


def _declared(name: str, kind: str) -> pa.DataType:
    known = ALIASES.get(kind, kind)
    if known not in TYPES:
        raise UserError(f"columns: '{name}' can't have the type '{kind}'; known are {', '.join(TYPES)}")
    return TYPES[known]


class _Key:
    """A config as a cache's key: equal where it is written equally."""

    def __init__(self, config: SourceConfig) -> None:
        self.config = config
        self._written = repr(config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._written == other._written

    def __hash__(self) -> int:
        return len(self._written)


@lru_cache(maxsize=64)
def _inferred(key: _Key) -> dict[str, str]:
    """Name to type name, from the heads of all files of the source; of `all`, every key that is carried."""
    config = key.config
    kinds: dict[str, str | None] = dict.fromkeys(config.columns if isinstance(config.columns, tuple) else ())
    for file in find_files("columns", config):
        for value in _head(file.path, config):
            for name, item in value.items():
                if name in kinds or (config.columns == "all" and config.is_carried(name) and not unstorable(name)):
                    kinds[name] = _joined(kinds.get(name), item)
    return {name: kind or "string" for name, kind in kinds.items()}


def _head(path: str, config: SourceConfig) -> list[dict[str, Any]]:
    """The objects in the first 100 lines or 1 MiB of a file; what can't be read is met again when it is its turn."""
    found: list[dict[str, Any]] = []
    try:
        source = open_input(path, config)
    except OSError:
        return found
    with closing(source):
        window = window_on(source)
        for number, line in enumerate(lines(window, text_layout(window), 0, HEAD_BYTES)):
            if number == HEAD_LINES or line.offset > HEAD_BYTES:
                break
            try:
                value = json.loads(line.data)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                found.append(value)
    return found


def _joined(kind: str | None, value: Any) -> str | None:
    """The narrowest type for what was seen and one more value."""
    if value is None:
        return kind
    if isinstance(value, bool):
        new = "bool"
    elif isinstance(value, int):
        new = "int64" if -(1 << 63) <= value < 1 << 63 else "double"
    else:
        new = "double" if isinstance(value, float) else "string"
    if kind is None or kind == new:
        return new
    return "double" if {kind, new} == {"int64", "double"} else "string"


def fitted(name: str, kind: pa.DataType, value: Any) -> Any:
    """The value as its column's type holds it; lists and objects as JSON text. Raises Unfit."""
    if value is None:
        return None
    if kind == TYPES["string"]:
        return SURROGATE.sub("\ufffd", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == TYPES["bool"] and isinstance(value, bool):
        return value
    if kind == TYPES["double"] and number and (isinstance(value, float) or abs(value) <= LARGEST_DOUBLE):
        return float(value)
    if kind == TYPES["int64"] and number and -(1 << 63) <= value < 1 << 63 and value == int(value):
        return int(value)
    raise Unfit(f"column '{name}' holds {json.dumps(value)[:60]}, which is no {kind}; declare its type under columns")

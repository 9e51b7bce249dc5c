"""Columns that JSONL files carry along: their types, known before the first document, and values that fit them.

Types are declared (`columns: {score: double, labels: json}`), or inferred from the first lines of every file of the
source, so that they depend on no order and no worker. A value that does not fit afterwards costs itself and nothing
beside it: it is null, and counted under the name of its column; so is a key that `columns: all` meets too late.
"""

import json
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Mapping, Set
from contextlib import closing
from functools import lru_cache
from typing import Any

import pyarrow as pa

from curate.errors import UserError
from curate.sources.files import find_files
from curate.sources.members.json_values import json_values
from curate.sources.members.lines import text_layout
from curate.sources.reading import open_input, window_on
from curate.sources.settings import SourceConfig
from curate.text import unstorable

TYPES = {
    "string": pa.string(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "json": pa.large_string(),
}
# A value as JSON, whatever it is: of a text its quotes stay. Told from a string by a type that no file ends up with.
ALIASES = {
    "str": "string",
    "text": "string",
    "int": "int64",
    "integer": "int64",
    "float": "double",
    "float64": "double",
    "number": "double",
    "boolean": "bool",
}
Notes = tuple[str, ...]
UNFIT, UNSEEN = "unfit", "unseen"  # kinds of notes; the column's name follows
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, as where a title was cut; no file can hold it
LARGEST_DOUBLE = int(sys.float_info.max)
EXACT = 1 << 53  # whole numbers up to here are doubles
MOST_DIGITS = 4_000
HEAD_LINES = 100
HEAD_FILES = 10
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
    kinds: dict[str, set[str]] = {name: set() for name in config.columns} if isinstance(config.columns, tuple) else {}
    for file in find_files("columns", config):
        for value in _head(file.path, config):
            for name, item in value.items():
                if name in kinds or (config.columns == "all" and config.is_carried(name) and not unstorable(name)):
                    kinds.setdefault(name, set()).update(_kinds(item))
    return {name: _narrowest(seen) for name, seen in kinds.items()}


def _head(path: str, config: SourceConfig) -> list[dict[str, Any]]:
    """The objects in the first 100 lines or 1 MiB of a file; what can't be read is met again when it is its turn."""
    found: list[dict[str, Any]] = []
    try:
        source = open_input(path, config)
    except OSError:
        return found
    with closing(source):
        window = window_on(source)
        for number, line in enumerate(json_values(window, text_layout(window), 0, HEAD_BYTES)):
            if number == HEAD_LINES or line.offset > HEAD_BYTES:
                break
            try:
                value = loads(line.data.removeprefix(BOM_UTF8))
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                found.append(renamed(config, value))
    return found


def renamed(config: SourceConfig, value: dict[str, Any]) -> dict[str, Any]:
    """An object under the names of `rename`."""
    return {config.name_of(name, value): item for name, item in value.items()} if config.rename else value


def _kinds(value: Any) -> set[str]:
    """What a value asks of its column's type."""
    if value is None:
        return set()
    if isinstance(value, bool):
        return {"bool"}
    if isinstance(value, float):
        return {"double"}
    if not isinstance(value, int):
        return {"string"}
    found = {"int64"}
    if value < 0:
        found.add("negative")
    if abs(value) > EXACT:
        found.add("wide")
    if value >= 1 << 63:
        found.add("uint64")
    if not -(1 << 63) <= value < 1 << 64:
        found.add("string")
    return found


def _narrowest(kinds: Set[str]) -> str:
    """The narrowest type that holds every value seen exactly."""
    if "string" in kinds or ("bool" in kinds and len(kinds) > 1) or not kinds:
        return "string"
    if "bool" in kinds:
        return "bool"
    if "double" in kinds:
        return "string" if "wide" in kinds else "double"
    if "uint64" in kinds:
        return "string" if "negative" in kinds else "uint64"
    return "int64"


def held(
    config: SourceConfig, types: Mapping[str, pa.DataType], value: Mapping[str, Any]
) -> tuple[dict[str, Any], Notes]:
    """The carried columns of an object, and notes of those values that no column holds."""
    notes: list[str] = []
    found: dict[str, Any] = {}
    for name, kind in types.items():
        try:
            found[name] = fitted(name, kind, value.get(name))
        except Unfit:
            found[name] = None
            notes.append(f"{UNFIT}:{name}")
    if config.columns == "all":
        notes += [
            f"{UNSEEN}:{SURROGATE.sub(chr(0xFFFD), key)}"
            for key, cell in value.items()
            if key not in types and config.is_carried(key) and cell is not None
        ]
    return found, tuple(notes)


def fitted(name: str, kind: pa.DataType, value: Any) -> Any:
    """The value as its column's type holds it, exactly; lists and objects as JSON text. Raises Unfit."""
    if value is None:
        return None
    if kind in (TYPES["string"], TYPES["json"]):
        plain = isinstance(value, str) and kind == TYPES["string"]
        return SURROGATE.sub("\ufffd", value if plain else json.dumps(value, ensure_ascii=False))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == TYPES["bool"] and isinstance(value, bool):
        return value
    if kind == TYPES["double"] and number and (isinstance(value, float) or _exact(value)):
        return float(value)
    least, most = (0, 1 << 64) if kind == TYPES["uint64"] else (-(1 << 63), 1 << 63)
    if kind in (TYPES["int64"], TYPES["uint64"]) and number and least <= value < most and value == int(value):
        return int(value)
    raise Unfit(f"column '{name}' holds {json.dumps(value)[:60]}, which is no {kind}; declare its type under columns")


def _exact(value: int) -> bool:
    return abs(value) <= LARGEST_DOUBLE and int(float(value)) == value


def loads(data: str | bytes) -> Any:
    """A JSON value. A whole number of more digits than Python reads (4,300) is given as its digits."""
    try:
        return json.loads(data)
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        return json.loads(data, parse_int=lambda digits: digits if len(digits) > MOST_DIGITS else int(digits))


def has_text(config: SourceConfig) -> None:
    """Raises UserError where the first lines hold objects, but none of them a text under the text column: its name is
    wrong."""
    objects = _first_objects(_Key(config))
    keys = list(dict.fromkeys(key for value in objects for key in value))
    found = [value[config.text] for value in objects if value.get(config.text) is not None]
    if not objects or any(isinstance(value, str) for value in found) or (config.text in keys and not found):
        return
    kinds = f", but {type(found[0]).__name__}" if found else ""
    inside = f"; its objects stand inside, try `jq -c '.{keys[0]}[]'`" if len(keys) == 1 and not found else ""
    raise UserError(
        f"columns: no object in the first lines has a text under '{config.text}'{kinds}; "
        f"they have {', '.join(keys)[:200]}; name one with `text`{inside}"
    )


@lru_cache(maxsize=64)
def _first_objects(key: _Key) -> tuple[dict[str, Any], ...]:
    """The objects in the head of the first file that holds any; looked for in a few files."""
    for file in find_files("columns", key.config)[:HEAD_FILES]:
        found = _head(file.path, key.config)
        if any(found):
            return tuple(found)
    return ()

"""The column that shards are routed by: left out of the files, as Hive does, where the folders give each value back.

A file that held it, too, would have it twice for the readers that take columns from folders: pyarrow and pandas refuse
such a file where the types differ, and they make a dictionary of what a folder says.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from curate.routed.names import NULL, folder_name

KEY = b"curate.left_out"  # in the metadata of a file's schema


@dataclass(frozen=True)
class LeftOut:
    """A column that the files of a run do not hold."""

    name: str
    type: str  # as Arrow spells it
    place: int  # among the columns of a row

    @property
    def field(self) -> pa.Field:
        """The column as rows have it."""
        return pa.field(self.name, pa.type_for_alias(self.type))

    def schema(self, rows: pa.Schema) -> pa.Schema:
        """Of the files: without the column, and with a note of it."""
        return rows.remove(self.place).with_metadata({KEY: json.dumps(asdict(self))})

    def cut(self, rows: pa.Table) -> pa.Table:
        """Rows as the files hold them."""
        return rows.remove_column(self.place)

    def value(self, path: str) -> pa.Scalar | None:
        """What the folder of a file says; None where the file lies in no folder of this column."""
        name, equals, value = path.replace("\\", "/").rpartition("/")[0].rpartition("/")[2].partition("=")
        if name != self.name or not equals:
            return None
        return pa.scalar(None if value == NULL else unquote(value), pa.string()).cast(self.field.type)


def choose(by: str | None, folders: Mapping[str | None, str], rows: pa.Schema) -> LeftOut | None:
    """The column to leave out of files in these folders (by value); None where a folder would lose a value: its name
    is a hash, the word for rows without one, or nothing that the column's type is read back from."""
    if by is None or folder_name(by) != by:
        return None
    place = rows.get_field_index(by)
    kind = rows.field(place).type
    if not _has_alias(kind) or not all(_gives_back(value, folder, kind) for value, folder in folders.items()):
        return None
    return LeftOut(by, str(kind), place)


def noted(schema: pa.Schema) -> LeftOut | None:
    """What a file's schema says was left out of it; None also where such a note is none of ours."""
    try:
        about: Any = json.loads((schema.metadata or {}).get(KEY, b"null"))
        left = LeftOut(str(about["name"]), str(about["type"]), int(about["place"]))
        sound = left.field.name not in schema.names and 0 <= left.place <= len(schema)
    except (ValueError, TypeError, KeyError):
        return None
    return left if sound else None


def _has_alias(kind: pa.DataType) -> bool:
    try:
        return bool(pa.type_for_alias(str(kind)) == kind)
    except ValueError:
        return False


def _gives_back(value: str | None, folder: str, kind: pa.DataType) -> bool:
    if value is None:
        return True
    if value == NULL or unquote(folder) != value:
        return False
    try:
        return str(pa.scalar(value).cast(kind).as_py()) == value
    except pa.ArrowException:
        return False

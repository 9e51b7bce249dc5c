"""Cells of Arrow columns as plain values: a cell that Python can't hold costs itself and not its row group."""

from decimal import Decimal
from typing import Any

import pyarrow as pa


class BadCell(ValueError):
    """Stands for a cell that can't be had; the message is the cause."""


def is_words(kind: pa.DataType) -> bool:
    """Whether a column of this type can be a document's text: strings or bytes, in any layout, or all null."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    of_words = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_binary_view,
        pa.types.is_null,
    )
    return any(fits(kind) for fits in of_words)


def stored_type(kind: pa.DataType) -> pa.DataType:
    """The type under which a column is carried: without dictionaries, extensions and views, which no
    spill can hold or no kernel takes."""
    if isinstance(kind, pa.BaseExtensionType):
        return stored_type(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return stored_type(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(stored_type(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(stored_type(kind.key_type), stored_type(kind.item_type))
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    for fits, make in (
        (pa.types.is_list_view, pa.list_),
        (pa.types.is_large_list_view, pa.large_list),
        (pa.types.is_list, pa.list_),
        (pa.types.is_large_list, pa.large_list),
        (pa.types.is_fixed_size_list, lambda item: pa.list_(item, kind.list_size)),
    ):
        if fits(kind):
            return make(kind.value_field.with_type(stored_type(kind.value_type)))
    return kind


def values(array: pa.Array, as_words: bool = False) -> list[Any]:
    """The cells as Python values.

    Nanoseconds, for which Python has no type, are integers; for `as_words`, times cut to microseconds. Strings that
    are no UTF-8 are bytes, times beyond Python's years integers; any other cell that can't be had is an `BadCell`.
    """
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_temporal(array.type) and getattr(array.type, "unit", "") == "ns":
        array = array.cast(_in_microseconds(array.type), safe=False) if as_words else array.cast(pa.int64())
    try:
        return list(array.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException):
        return [_cell(cell) for cell in array]


def held(value: Any, kind: pa.DataType) -> Any:
    """A cell as its column's type holds it: bytes that are no UTF-8 become text with marks in their place."""
    of_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return value.decode("utf-8", "replace") if of_text and isinstance(value, bytes) else value


def as_json(value: Any) -> Any:
    """A cell as JSON has it: bytes as text, times in ISO form, decimals as numbers, maps as lists of pairs."""
    if isinstance(value, dict):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value if isinstance(value, str | int | float | None) else getattr(value, "isoformat", value.__str__)()


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.time64("us") if pa.types.is_time(kind) else pa.duration("us")


def _cell(cell: pa.Scalar) -> Any:
    if isinstance(cell, pa.DictionaryScalar):
        cell = cell.value
    try:
        return cell.as_py()
    except (ValueError, OverflowError, pa.ArrowException) as error:
        if isinstance(cell, pa.StringScalar | pa.LargeStringScalar | pa.StringViewScalar):
            return cell.as_buffer().to_pybytes()
        if pa.types.is_temporal(cell.type) and hasattr(cell, "value"):
            return cell.value
        return BadCell(f"a cell of type {cell.type}: {error}")

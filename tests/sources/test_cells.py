"""Cells of Parquet files that Python or a spill can't hold: each costs itself, and no type brings a run down."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.errors import UserError
from curate.sources import SourceConfig, reader
from curate.sources.reader import InputFile
from tests.engine import run_it, settings, table, text
from tests.sources.reading import put, read

NOON = datetime.datetime(2024, 1, 2, 12)
TEXTS = [text(number) for number in range(4)]
CARRIED: dict[str, pa.Array] = {
    "int8": pa.array([1, None, 3, 4], pa.int8()),
    "uint64": pa.array([2**64 - 1] * 4, pa.uint64()),
    "half": pa.array([1.5] * 4, pa.float16()),
    "decimal": pa.array([Decimal("1.50")] * 4),
    "time": pa.array([NOON] * 4),
    "nanoseconds": pa.array([1_700_000_000_000_000_001] * 4, pa.timestamp("ns", "UTC")),
    "far": pa.array([10**13] * 4, pa.timestamp("s")),
    "day": pa.array([NOON.date()] * 4),
    "clock": pa.array([7] * 4, pa.time64("ns")),
    "span": pa.array([7] * 4, pa.duration("ns")),
    "bool": pa.array([True, False, None, True]),
    "bytes": pa.array([b"\xff"] * 4),
    "words": pa.array(["a", "b", "a", None]).dictionary_encode(),
    "in_list": pa.array([["a"], ["b"], None, ["a"]], pa.list_(pa.string())),
    "in_struct": pa.array([{"a": "x", "b": [1]}] * 4),
    "map": pa.array([[("a", 1)]] * 4, pa.map_(pa.string(), pa.int64())),
    "uuid": pa.array([b"0123456789abcdef"] * 4, pa.uuid()),
    "null": pa.nulls(4),
}


def written(folder: Path, columns: dict[str, Any], **options: Any) -> InputFile:
    path = folder / "a.parquet"
    pq.write_table(pa.table(columns), path, **options)
    return InputFile("wiki", str(path), path.stat().st_size, "")


@pytest.mark.parametrize("name", CARRIED)
def test_a_column_of_any_type_comes_through_a_run(tmp_path: Path, name: str) -> None:
    file = written(tmp_path, {"text": TEXTS, name: CARRIED[name]})
    source = {"wiki": {"path": file.name, "columns": "all"}}
    report = run_it(settings(source, tmp_path / "out", stages=["exact_dedup"]))
    assert report.stats["kept"]["documents"] == 4
    found = pq.read_table(tmp_path / "out/shards").column(name).combine_chunks()
    given = CARRIED[name]
    if isinstance(given, pa.ExtensionArray):
        given = given.storage
    elif pa.types.is_dictionary(given.type):
        given = given.dictionary_decode()
    elif pa.types.is_timestamp(given.type) and given.type.unit == "s":  # Parquet knows no seconds
        given = given.cast(found.type)
    assert found.equals(given)


@pytest.mark.parametrize(
    "layout",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
def test_texts_in_any_layout(tmp_path: Path, layout: pa.DataType) -> None:
    spans = read(written(tmp_path, {"text": pa.array(TEXTS).cast(layout)}))
    assert [span.document and span.document.text for span in spans] == TEXTS


@pytest.mark.parametrize("column", ["text", "url", "label"])
def test_a_string_that_is_no_utf8_costs_no_other_row(tmp_path: Path, column: str) -> None:
    columns = {name: [f"QQQQ {name} {row}" for row in range(4)] for name in ("text", "url", "label")}
    file = written(tmp_path, columns, compression="none", use_dictionary=False, write_statistics=False)
    data = Path(file.name).read_bytes().replace(f"QQQQ {column} 1".encode(), b"Q\xff\xfeQ" + f" {column} 1".encode())
    spans = read(put(tmp_path, "a.parquet", data), columns=("label",))
    reasons = [span.drop and span.drop.reason for span in spans]
    assert reasons == [None, "undecodable" if column == "text" else None, None, None]
    document = spans[1].document
    assert document is not None
    if column == "url":
        assert document.url == "Q\ufffd\ufffdQ url 1"
    if column == "label":
        assert document.attributes["label"] == "Q\ufffd\ufffdQ label 1"


def test_dates_are_the_same_whatever_else_is_installed(tmp_path: Path) -> None:
    when = pa.array([1_700_000_000_000_000_001, None], pa.timestamp("ns", "UTC"))
    spans = read(written(tmp_path, {"text": TEXTS[:2], "date": when}))
    assert [span.document and span.document.date for span in spans] == ["2023-11-14T22:13:20Z", ""]


@pytest.mark.parametrize("kind", [pa.int64(), pa.list_(pa.string()), pa.bool_()], ids=str)
def test_a_column_that_is_no_text_is_refused_before_anything_is_read(tmp_path: Path, kind: pa.DataType) -> None:
    file = written(tmp_path, {"text": pa.nulls(2, kind)})
    with pytest.raises(UserError, match=r"the column 'text' is .*, no text; name another with `text`"):
        _ = reader(SourceConfig(path=file.name), file).columns


@pytest.mark.parametrize("columns", [["text", "text"], ["text", "x", "x"], ["text", "id", "id"]], ids=str)
def test_two_columns_of_one_name_are_refused(tmp_path: Path, columns: list[str]) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table([pa.array(["a"])] * len(columns), names=columns), path)
    file = InputFile("wiki", str(path), 0, "")
    with pytest.raises(UserError, match="has more than one column"):
        _ = reader(SourceConfig(path=str(path), columns="all"), file).columns


def test_views_are_carried_as_what_they_view(tmp_path: Path) -> None:
    """No kernel of Arrow's takes rows of a view, which the write phase needs."""
    view, deep = pa.array(["a", None, "c"], pa.string_view()), pa.struct([("x", pa.list_(pa.binary_view()))])
    columns = {"text": TEXTS[:3], "view": view, "deep": pa.array([{"x": [b"1"]}, None, {"x": []}], deep)}
    source = {"path": written(tmp_path, columns).name, "columns": "all"}
    run_it(settings({"web": source}, tmp_path / "out", stages=["exact_dedup"]))
    shard = table(tmp_path / "out", "shards")
    assert shard.schema.field("view").type == pa.string() and shard.column("view").to_pylist() == ["a", None, "c"]
    assert shard.column("deep").to_pylist() == [{"x": [b"1"]}, None, {"x": []}]

"""Shards routed by a column: every reader gets the column back from the folders, and so do our own commands."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from curate.compare.sample import sample
from curate.export.export import opened
from curate.inspect.opened import OpenedRun
from curate.routed.left_out import choose, noted
from curate.routed.names import NULL, folder_names
from curate.routed.routed_file import RoutedFile
from curate.tools.verify import verify
from tests.commands.calling import Calling
from tests.engine import run_it, settings, text

VALUES = ["en", "de", None, "EN", "a/b c", "50%"]


def routed(folder: Path, values: list[Any], name: str = "kind", **write: Any) -> Path:
    """The output of a run whose texts have these values, by which its shards are routed."""
    rows = [
        json.dumps({"text": text(number), "url": f"http://a.example/{number}", name: value})
        for number, value in enumerate(values)
    ]
    (folder / "a.jsonl").write_text("\n".join(rows))
    source = {"web": {"path": str(folder / "a.jsonl"), "columns": [name]}}
    run_it(settings(source, folder / "out", stages=["exact_dedup"], write={"by": name, **write}))
    return folder / "out"


def by_url(rows: list[dict[str, Any]], name: str = "kind") -> list[Any]:
    """The column of rows in the order of the input."""
    return [row[name] for row in sorted(rows, key=lambda row: str(row["url"]))]


@pytest.mark.parametrize("order", ["crawl", "shuffle"])
def test_readers_give_the_column_back(tmp_path: Path, order: str) -> None:
    shards = routed(tmp_path, VALUES, order=order) / "shards"
    assert all("kind" not in pq.read_schema(path).names for path in shards.rglob("*.parquet"))
    assert by_url(pq.read_table(shards).to_pylist()) == VALUES
    assert by_url(ds.dataset(shards, partitioning="hive").to_table().to_pylist()) == VALUES
    polars = import_module("polars")
    assert by_url(polars.read_parquet(shards).to_dicts()) == VALUES
    assert by_url(polars.scan_parquet(shards).collect().to_dicts()) == VALUES
    duckdb = import_module("duckdb")
    sql = f"FROM read_parquet('{shards}/**/*.parquet', hive_partitioning = true) SELECT kind ORDER BY url"
    assert [kind for (kind,) in duckdb.sql(sql).fetchall()] == VALUES


def test_pandas_gives_the_column_back(tmp_path: Path) -> None:
    pandas = import_module("pandas")
    values = [value for value in VALUES if value is not None]
    (tmp_path / "some").mkdir()
    shards = routed(tmp_path / "some", values) / "shards"
    assert by_url(pandas.read_parquet(shards).to_dict("records")) == values
    shards = routed(tmp_path, VALUES) / "shards"  # a null folder as a dictionary: Arrow can't unify it
    read = pandas.read_parquet(shards, partitioning=ds.partitioning(flavor="hive")).to_dict("records")
    assert [None if value != value else value for value in by_url(read)] == VALUES


@pytest.mark.parametrize(
    "values", [[1, None, 30], [0.1, float("inf"), None], [True, False, None], ["007", "", "é"]], ids=str
)
def test_our_own_reader_gives_values_and_types_back(tmp_path: Path, values: list[Any]) -> None:
    parts = sorted((routed(tmp_path, values) / "shards").rglob("*.parquet"))
    assert not any("kind" in pq.read_schema(path).names for path in parts)
    rows = []
    for path in parts:
        with RoutedFile(path) as part:
            assert part.schema_arrow.equals(part.read().schema)
            assert part.read(["kind"]).num_rows == part.metadata.num_rows
            (batch,) = part.iter_batches(100, columns=["kind", "text"], row_groups=[0])
            assert batch.schema.names == ["kind", "text"] and batch.column("kind")[0] == part.read()["kind"][0]
            rows += part.read().to_pylist()
    assert by_url(rows) == values


@pytest.mark.parametrize("values", [[NULL, None, "n"], ["x" * 400, "y"]], ids=["word", "long"])
def test_what_a_folder_would_lose_stays_in_the_files(tmp_path: Path, values: list[Any]) -> None:
    parts = sorted((routed(tmp_path, values) / "shards").rglob("*.parquet"))
    assert by_url([row for path in parts for row in pq.ParquetFile(path).read().to_pylist()]) == values


def test_a_name_that_is_quoted_stays_in_the_files() -> None:
    rows = pa.schema([("a b", pa.string())])
    assert choose("a b", folder_names(["x"]), rows) is None


def test_a_type_that_no_text_is_read_back_as_stays_in_the_files() -> None:
    for kind, value in ((pa.list_(pa.int64()), "[1]"), (pa.binary(), "b'x'"), (pa.int64(), "x")):
        assert choose("a", folder_names([value]), pa.schema([("a", kind)])) is None


def test_a_file_that_was_moved_has_the_columns_that_it_holds(tmp_path: Path) -> None:
    path = routed(tmp_path, ["en"]) / "shards/kind=en/part-00000.parquet"
    moved = path.rename(tmp_path / "part.parquet")
    assert noted(pq.read_schema(moved)) and "kind" not in RoutedFile(moved).read().column_names


@pytest.mark.parametrize(
    "note", [b"x", b"\xff", b"[]", b"7", b'{"name": "text", "type": "string", "place": 0}', b'{"name": "k"}',
             b'{"name": "k", "type": "no type", "place": 0}', b'{"name": "k", "type": "string", "place": 9}'],
)  # fmt: skip
def test_a_note_of_somebody_else_is_no_note(note: bytes, tmp_path: Path) -> None:
    assert noted(pa.schema([("text", pa.string())], {b"curate.left_out": note})) is None


def test_a_later_run_knows_the_documents_of_a_routed_one(tmp_path: Path) -> None:
    out = routed(tmp_path, VALUES, "language", index=True)
    source = {"web": {"path": str(out / "shards"), "columns": ["language"]}}
    run_it(settings(source, tmp_path / "again", stages=["exact_dedup"], against=[str(out)]))
    rows = OpenedRun.of(str(tmp_path / "again")).manifest["rows"]
    assert (rows["kept"], rows["dropped"]) == (0, len(VALUES))


def test_commands_read_a_routed_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calling = Calling(capsys)
    out = routed(tmp_path, ["en", "de", None, "de"], "language", index=True)
    assert not list(verify(OpenedRun.of(str(out))))
    assert OpenedRun.of(str(out)).read("shards", ["language", "text"]).column_names == ["language", "text"]
    stats = json.loads((out / "stats.json").read_text())
    assert {row["language"] for row in stats["kept_by"]} == {"en", "de", None}
    why = calling("why", str(out), "http://a.example/1")
    assert why.status == 0 and "language" in why.out and " de" in why.out
    for line in (
        ["why", str(out), "http://a.example/2", "--text"],
        ["stats", str(out), "--by", "language"],
        ["report", str(out)],
        ["sample", str(out)],
        ["verify", str(out)],
    ):
        assert calling(*line).status == 0, line
    assert {text.language for text in sample(str(out), 10_000, 0).texts} == {"en", "de", None}


def test_an_export_has_the_phase_of_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, to = routed(tmp_path, [1, 0, 1, 0], "phase"), tmp_path / "e"
    assert Calling(capsys)("export", out, "--format", "jsonl", "--to", to, "--validation", "0").status == 0
    assert opened(tmp_path / "e")["files"]
    parts = sorted((tmp_path / "e").rglob("*.jsonl"))
    urls = [json.loads(line)["url"] for path in parts for line in path.read_text().splitlines()]
    assert {url[-1] for url in urls[:2]} == {"1", "3"} and {url[-1] for url in urls[2:]} == {"0", "2"}


@pytest.mark.parametrize("columns", [["language"], "all", {"language": "string"}], ids=str)
def test_a_routed_run_is_an_input_with_its_column(tmp_path: Path, columns: Any) -> None:
    out = routed(tmp_path, VALUES, "language")
    source = {"web": {"path": str(out / "shards/**/*.parquet"), "columns": columns}}
    run_it(settings(source, tmp_path / "again", stages=["exact_dedup"]))
    assert by_url(pq.read_table(tmp_path / "again/shards").to_pylist(), "language") == VALUES


def test_shards_of_a_source_leave_it_to_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": text(1), "url": "http://a.example/1"}))
    source = {"web": {"path": str(tmp_path / "a.jsonl")}}
    run_it(settings(source, tmp_path / "out", stages=["exact_dedup"], write={"by": "source"}))
    assert pq.read_table(tmp_path / "out/shards").column("source").to_pylist() == ["web"]
    assert not list(verify(OpenedRun.of(str(tmp_path / "out"))))

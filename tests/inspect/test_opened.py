"""Shards open with the tools that people train from: datasets, Polars, DuckDB, pandas."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from curate.errors import UserError
from curate.inspect.opened import OpenedRun
from curate.routed.routed_file import RoutedFile
from tests.engine import crawl, run_it, settings

COLUMNS = ["text", "id", "dump", "url", "date", "file_path", "language", "language_score", "token_count"]

# Each prints the rows, the column names and the first text; in its own process, as several of these are heavy.
READERS = {
    "datasets": """
from datasets import load_dataset
rows = load_dataset("parquet", data_files=f"{shards}/**/*.parquet", split="train", cache_dir=f"{shards}/../cache")
print(json.dumps([len(rows), rows.column_names, rows[0]["text"]]))
""",
    "datasets, streamed": """
from datasets import load_dataset
rows = list(load_dataset("parquet", data_files=f"{shards}/**/*.parquet", split="train", streaming=True))
print(json.dumps([len(rows), list(rows[0]), rows[0]["text"]]))
""",
    "Polars": """
import polars
rows = polars.read_parquet(shards)
print(json.dumps([len(rows), rows.columns, rows["text"][0]]))
""",
    "DuckDB": """
import duckdb
rows = duckdb.sql(f"select * from '{shards}/**/*.parquet'")
print(json.dumps([len(rows), rows.columns, rows.fetchall()[0][0]]))
""",
    "pandas": """
import pandas
rows = pandas.read_parquet(shards)
print(json.dumps([len(rows), list(rows.columns), rows["text"].iloc[0]]))
""",
}
# At the interpreter's end a reading thread of datasets now and then aborts the process; what was read is read by then.
END = "print(end='', flush=True)\nos._exit(0)\n"


@pytest.fixture(scope="module", params=["flat", "by language"])
def output(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opening")
    write = {"shard_bytes": 4000, **({"by": "language"} if request.param == "by language" else {})}
    stages = [{"language": {"keep": "all", "min_score": None}}, "exact_dedup", "near_dedup"]
    run_it(settings(crawl(folder / "in", files=1, each=30), folder / "out", stages=stages, write=write))
    return folder / "out"


@pytest.mark.parametrize("reader", READERS)
def test_shards_open(reader: str, output: Path) -> None:
    program = f"import json, os\nshards = {str(output / 'shards')!r}\n{READERS[reader]}{END}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HOME": str(output.parent)},
    )
    assert done.returncode == 0, done.stderr
    rows, columns, first = json.loads(done.stdout)
    paths = sorted((output / "shards").rglob("*.parquet"))
    tables = []
    for path in paths:
        with RoutedFile(path) as file:
            tables.append(file.read())
    kept = pa.concat_tables(tables)
    assert len(paths) > 1
    assert rows == kept.num_rows > 15
    expected = kept.schema.names
    assert expected[:9] == COLUMNS
    if paths[0].parent.name.startswith("language="):  # told by the folder: the last column, and none of datasets
        expected = [name for name in expected if name != "language"]
        expected += [] if reader.startswith("datasets") else ["language"]
    assert columns == expected
    assert first in kept["text"].to_pylist()


def formatted(folder: Path, number: object) -> str:
    """A finished run whose manifest says another format."""
    run_it(settings(crawl(folder / "in", files=1, each=10), folder / "out", stages=["exact_dedup"]))
    path = folder / "out" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": number}))
    return str(folder / "out")


def test_an_output_of_format_1_is_read(tmp_path: Path) -> None:
    run = OpenedRun.of(formatted(tmp_path, 1))
    assert run.manifest["format"] == 1 and run.config.stages and run.parts("ledger")


@pytest.mark.parametrize("number", [3, 0, None, "2"])
def test_another_format_is_refused_in_a_sentence(number: object, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="this version of curate reads 1 to 2"):
        OpenedRun.of(formatted(tmp_path, number))

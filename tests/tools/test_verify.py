"""`curate verify` finds each kind of fault, and nothing in a whole run."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.errors import UserError
from curate.inspect.opened import OpenedRun
from curate.tools.verify import verify
from tests.engine import crawl, run_it, settings, text
from tests.report.finished import call

FIRST, SECOND = "shards/part-00000.parquet", "shards/part-00001.parquet"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    output = folder / "out"
    run_it(settings(crawl(folder / "in", files=1, each=40), output, write={"shard_bytes": 6000}))
    return output


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "out"))


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def edit(path: Path, change: Callable[[Any], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def rewrite(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    with pq.ParquetFile(path) as file:
        rows = file.read()
    pq.write_table(change(rows), path)


def faults(out: Path) -> str:
    return "\n".join(verify(OpenedRun.of(str(out))))


def test_a_whole_run_has_no_fault(out: Path) -> None:
    assert faults(out) == ""
    done = call("verify", out)
    assert done.exit_code == 0 and "Traceback" not in done.output


def test_faults_are_printed_and_the_status_says_so(out: Path) -> None:
    (out / FIRST).unlink()
    done = call("verify", out)
    assert done.exit_code == 1
    assert f"{FIRST}: is missing" in done.output


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a flipped byte": (lambda out: flip(out / FIRST, 200), f"{FIRST}: its SHA-256 is not the manifest's"),
    "a flipped byte in the footer": (lambda out: flip(out / FIRST, -1), f"{FIRST}: can't be opened as Parquet"),
    "a cut shard": (lambda out: (out / FIRST).write_bytes((out / FIRST).read_bytes()[:-50]), "can't be opened"),
    "a lost shard": (lambda out: (out / SECOND).unlink(), f"{SECOND}: is missing"),
    "a shard too many": (
        lambda out: shutil.copy(out / FIRST, out / "shards/part-99999.parquet"),
        "shards/part-99999.parquet: is not in the manifest",
    ),
    "two shards exchanged": (
        lambda out: shutil.copy(out / FIRST, out / SECOND),
        f"{SECOND}: its SHA-256 is not the manifest's",
    ),
    "rows lost": (lambda out: rewrite(out / FIRST, lambda rows: rows.slice(1)), "rows, the manifest says"),
    "a column lost": (
        lambda out: rewrite(out / SECOND, lambda rows: rows.drop_columns(["date"])),
        f"{SECOND}: its columns differ from those of {FIRST}",
    ),
    "a name that leads out": (
        lambda out: edit(out / "manifest.json", lambda content: content["shards"][0].update(name="../../etc/passwd")),
        "manifest: '../../etc/passwd' leads out of the folder",
    ),
    "an absolute name": (
        lambda out: edit(out / "manifest.json", lambda content: content["shards"][0].update(name="/etc/passwd")),
        "manifest: '/etc/passwd' leads out of the folder",
    ),
    "a cut ledger": (
        lambda out: (out / "ledger/part-00000.parquet").write_bytes(b"PAR1"),
        "ledger/part-00000.parquet: can't be opened as Parquet",
    ),
    "ledger rows lost": (
        lambda out: rewrite(out / "ledger/part-00000.parquet", lambda rows: rows.slice(2)),
        "ledger: ",
    ),
    "a ledger part lost": (lambda out: (out / "ledger/part-00000.parquet").unlink(), "ledger: 0 rows"),
    "a ledger of another make": (
        lambda out: rewrite(out / "ledger/part-00000.parquet", lambda rows: rows.drop_columns(["cause"])),
        "ledger/part-00000.parquet: its columns are not those of this version",
    ),
    "measures of another make": (
        lambda out: rewrite(out / "measures/part-00000.parquet", lambda rows: rows.drop_columns(["gopher.words"])),
        "measures/part-00000.parquet: its columns are not those of this version",
    ),
    "sums that do not close": (
        lambda out: edit(out / "manifest.json", lambda content: content["rows"].update(read=41)),
        "manifest: read 41 is not kept",
    ),
    "stats that tell another tale": (
        lambda out: edit(out / "stats.json", lambda content: content["kept"].update(documents=1)),
        "stats.json: counts other documents than the manifest",
    ),
    "torn stats": (lambda out: (out / "stats.json").write_text("{"), "stats.json: can't be read"),
    "rows that nobody wrote": (
        lambda out: edit(out / "manifest.json", lambda content: content["rows"].update(written=1)),
        "shards: ",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(fault: str, out: Path) -> None:
    harm, fault_line = FAULTS[fault]
    harm(out)
    assert fault_line in faults(out)


def test_a_torn_manifest_is_a_sentence(out: Path) -> None:
    (out / "manifest.json").write_text("{")
    with pytest.raises(UserError, match=r"manifest.json: can't be read"):
        faults(out)


def test_a_run_may_be_named_by_a_file_url(tmp_path: Path) -> None:
    run_it(settings(crawl(tmp_path / "in", files=1, each=12), tmp_path / "out"))
    assert OpenedRun.of(f"file://{tmp_path}/out").folder == tmp_path / "out"
    with pytest.raises(UserError, match=r"^s3://b/out: a run is looked into where it lies; copy it"):
        OpenedRun.of("s3://b/out")


def test_a_folder_by_value_may_be_named_like_a_shard(tmp_path: Path) -> None:
    odd = ["part-00000.parquet", "x.parquet", "a/b", "=", "%", "..", ".", "", "x" * 5000, None, ".x", "a\nb", "A", "a"]
    rows = [json.dumps({"text": text(number), "v": value}) for number, value in enumerate(odd)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    source = {"web": {"path": str(tmp_path / "a.jsonl"), "columns": ["v"]}}
    run_it(settings(source, tmp_path / "out", stages=["exact_dedup"], write={"by": "v"}))
    assert faults(tmp_path / "out") == ""
    run = OpenedRun.of(str(tmp_path / "out"))
    assert run.read("shards", ["v"]).num_rows == len(odd) == len(run.parts("shards"))
    folder = tmp_path / "out/shards/v=x.parquet"
    (folder / "part-00000.parquet").rename(folder / "part-00009.parquet")
    assert "v=x.parquet/part-00009.parquet: is not in the manifest" in faults(tmp_path / "out")

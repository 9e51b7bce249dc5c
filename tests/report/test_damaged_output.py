"""A part of an output that is missing or damaged: one sentence with the file, and where to look next."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.calling import Calling
from tests.report.finished import sample_run

KEPT = "https://site4.example/wooden-boats-near-millom"
SHARD, LEDGER = "shards/part-00000.parquet", "ledger/part-00000.parquet"
ABOUT_SHARDS = (f"why out {KEPT}", "sample out --kept", "audit out", "report out")
ABOUT_LEDGER = (f"why out {KEPT}x", "sample out", "audit out", "report out", "quarantine out -o q.warc.gz")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calling:
    """Calls `curate` beside a copy of the finished sample run."""
    shutil.copytree(sample_run().folder, tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    return Calling(capsys)


def flip(path: Path) -> None:
    """Overwrites the data pages, and leaves the footer."""
    data = path.read_bytes()
    footer = 8 + int.from_bytes(data[-8:-4], "little")
    path.write_bytes(data[:4] + bytes(len(data) - footer - 4) + data[-footer:])


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


@pytest.mark.parametrize("damage", [Path.unlink, cut, flip])
@pytest.mark.parametrize(
    ("part", "command"),
    [*((SHARD, command) for command in ABOUT_SHARDS), *((LEDGER, command) for command in ABOUT_LEDGER)],
)
def test_the_sentence_names_the_part_and_verify(
    part: str, command: str, damage: Callable[[Path], None], call: Calling
) -> None:
    damage(Path("out", part))
    ended = call(*command.split())
    assert ended.status == 2, ended
    assert ended.err.startswith(f"curate: out/{part}: {'is missing' if damage is Path.unlink else 'can'}")
    assert "run `curate verify out`" in ended.err and ended.err.count("\n") == 1


@pytest.mark.parametrize("content", ["{", "[]", "{}", json.dumps({"read": {}})])
@pytest.mark.parametrize("name", ["stats.json", "manifest.json"])
def test_a_json_file_that_is_none_of_a_run(name: str, content: str, call: Calling) -> None:
    Path("out", name).write_text(content)
    ended = call("stats", "out")
    assert ended.status == 2
    assert ended.err.startswith(f"curate: out/{name}: ") and ended.err.count("\n") == 1

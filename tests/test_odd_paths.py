"""Odd places for inputs and outputs: nothing is read twice under two names, nothing is destroyed."""

from pathlib import Path

import pytest

from curate.errors import UserError
from tests.engine import run_it, settings, texts, write_jsonl


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", texts(10))
    return tmp_path


@pytest.mark.parametrize(
    "other", ["./a.jsonl", "file://a.jsonl", "{here}/a.jsonl", "file://{here}/a.jsonl", "link.jsonl"]
)
def test_one_file_in_two_sources_is_refused_however_it_is_spelled(here: Path, other: str) -> None:
    Path("link.jsonl").symlink_to("a.jsonl")
    with pytest.raises(UserError, match=r"is read twice \(also by input.one\)"):
        run_it(settings({"one": "a.jsonl", "two": other.format(here=here)}, here / "out"))


@pytest.mark.parametrize("fresh", [False, True])
def test_shards_that_are_input_are_not_cleared_away(here: Path, fresh: bool) -> None:
    run_it(settings("a.jsonl", here / "out", stages=["exact_dedup"]))
    shard = here / "out/shards/part-00000.parquet"
    before = shard.read_bytes()
    again = settings({"own": "out/shards/*.parquet"}, here / "out", stages=["exact_dedup"])
    with pytest.raises(UserError, match=r"'out/shards/part-00000.parquet' lies in .*give another output"):
        run_it(again, fresh=fresh)
    assert shard.read_bytes() == before


def test_the_output_may_be_the_folder_of_the_inputs(here: Path) -> None:
    config = settings("a.jsonl", here, stages=["exact_dedup"])
    before = (here / "a.jsonl").read_bytes()
    first = run_it(config).stats
    assert run_it(config, fresh=True).stats == first
    assert (here / "a.jsonl").read_bytes() == before

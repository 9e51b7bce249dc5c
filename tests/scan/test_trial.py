"""Trial runs (`--limit`): each source gives in turn, what one has not the others give, whatever dies."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.executors.processes import Processes
from curate.scan import crawl as scanning
from curate.scan.trial import shares
from tests.engine import run_it, settings, table, text, tree_hash, write_jsonl
from tests.test_run import Dying, Killed, Shuffled


def sources(folder: Path, **counts: list[int]) -> dict[str, Any]:
    """A source for each name, with a file for each count, of so many pages."""
    folder.mkdir(exist_ok=True)
    for name, files in counts.items():
        for number, count in enumerate(files):
            lines = [text(1000 * number + line) for line in range(count)]
            write_jsonl(folder / f"{name}{number}.jsonl", lines)
    return {name: {"path": f"{folder}/{name}*.jsonl", "url": "url"} for name in counts}


def config_of(tmp_path: Path, **counts: list[int]) -> dict[str, Any]:
    return settings(sources(tmp_path / "in", **counts), tmp_path / "out", stages=["language"])


def read(output: Path) -> dict[str, int]:
    stats = json.loads((output / "stats.json").read_text())
    counts: Counter[str] = Counter()
    for row in stats["kept_by"] + stats["dropped"]:
        counts[row["source"]] += row["documents"]
    return dict(counts)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (9, {"a": 3, "b": 3, "c": 3}),
        (10, {"a": 4, "b": 3, "c": 3}),
        (2, {"a": 1, "b": 1}),
        (30, {"a": 13, "b": 5, "c": 12}),  # b has no more
        (60, {"a": 30, "b": 5, "c": 25}),
        (1000, {"a": 30, "b": 5, "c": 25}),
    ],
)
def test_each_source_gives_in_turn(limit: int, expected: dict[str, int], tmp_path: Path) -> None:
    config = config_of(tmp_path, a=[10, 20], b=[5], c=[25])
    report = run_it(config, limit=limit)
    assert read(tmp_path / "out") == expected
    assert report.stats["read"]["documents"] == sum(expected.values())


def test_of_each_source_these_are_the_first(tmp_path: Path) -> None:
    config = config_of(tmp_path, a=[3, 9], b=[9])
    run_it(config, limit=10)
    urls = [url.split(".example/")[1] for url in table(tmp_path / "out", "shards")["url"].to_pylist()]
    assert urls == ["a0/0", "a0/1", "a0/2", "a1/0", "a1/1", *(f"b0/{number}" for number in range(5))]


def test_the_same_bytes_however_it_is_run(tmp_path: Path) -> None:
    config = config_of(tmp_path, a=[3, 4], b=[40], c=[2])
    run_it(config, limit=20)
    expected = tree_hash(tmp_path / "out")
    assert read(tmp_path / "out") == {"a": 7, "b": 11, "c": 2}
    executor = Processes(2)
    for other in (executor, Shuffled(2)):
        run_it(config, other, limit=20, fresh=True)
        assert tree_hash(tmp_path / "out") == expected
    executor.close()


def test_killed_anywhere_it_ends_in_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "GROUP_FILES", 1)
    config = config_of(tmp_path, a=[3, 1], b=[9, 9], c=[2])
    everything = Dying(-1)
    run_it(config, everything, limit=16)
    expected, calls = tree_hash(tmp_path / "out"), len(everything.done)
    assert read(tmp_path / "out") == {"a": 4, "b": 10, "c": 2} and calls > 6
    for left in range(calls):
        with pytest.raises(Killed):
            run_it(config, Dying(left), limit=16, fresh=True)
        run_it(config, limit=16)
        assert tree_hash(tmp_path / "out") == expected


def test_nothing_of_the_files_behind_is_touched(tmp_path: Path) -> None:
    config = config_of(tmp_path, a=[5, 5, 5], b=[5])
    (tmp_path / "in" / "a2.jsonl").write_text("no JSON at all\n")
    everything = Dying(-1)
    run_it(config, everything, limit=4)
    assert sum(line.startswith("scan ") for line in everything.done) == 2
    assert read(tmp_path / "out") == {"a": 2, "b": 2}


def test_progress_counts_each_page_once(tmp_path: Path) -> None:
    seen: list[tuple[str, Mapping[str, Any]]] = []
    config = config_of(tmp_path, a=[3], b=[50])
    run_it(config, progress=lambda phase, figures: seen.append((phase, figures)), limit=30)
    assert sum(figures["documents"] for phase, figures in seen if phase == "scan") == 30
    assert (
        sum(figures["survivors"] for phase, figures in seen if phase == "scan")
        == table(tmp_path / "out", "shards").num_rows
    )


def test_a_limit_of_none_at_all_reads_nothing(tmp_path: Path) -> None:
    assert run_it(config_of(tmp_path, a=[3], b=[3]), limit=0).stats["read"]["documents"] == 0


@given(
    limit=st.integers(0, 500),
    have=st.lists(st.integers(0, 60), min_size=1, max_size=6),
)
def test_shares_are_those_of_taking_turns(limit: int, have: list[int]) -> None:
    """Filling rounds with what is known to be short ends where taking one page of each source in turn ends."""
    short: dict[int, int] = {}
    while True:
        wanted = shares(limit, len(have), short)
        found = {place: count for place, count in enumerate(have) if count < wanted[place]}
        if not found:
            break
        short |= found
    given, left = [0] * len(have), min(limit, sum(have))
    while left:
        for place, count in enumerate(have):
            if left and given[place] < count:
                given[place] += 1
                left -= 1
    assert [min(share, count) for share, count in zip(wanted, have, strict=True)] == given

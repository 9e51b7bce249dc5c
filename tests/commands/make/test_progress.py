"""What a person sees of a run on a terminal: one bar with the speed and the kept share, and nothing left of it."""

import re
from pathlib import Path

import pytest

from curate.commands.make.progress import Progress
from curate.scan.stored import Expected
from tests.commands.terminal import on_terminal

COLUMNS = 80
TASK = 400_000_000_000  # bytes of a slice: a run of terabytes has the longest numbers


@pytest.fixture
def progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Progress:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("curate.commands.make.progress.get_terminal_size", lambda: (COLUMNS, 24))
    monkeypatch.setattr("curate.commands.make.progress.POLL_SECONDS", 0.001)
    return Progress(False, tmp_path)


def scanned(progress: Progress, tasks: int, limit: int | None) -> None:
    progress("plan", {"tasks": [Expected(TASK, 0, TASK)] * 10, "limit": limit})
    progress.start -= 1_000  # seconds that it took so far
    for _ in range(tasks):
        progress("scan", {"documents": 1_000_000, "survivors": 550_000, "read": TASK})
        progress.bar.refresh()


def drawn(printed: str) -> list[str]:
    """What the bar showed, one after the other; None of them is longer than the line."""
    return [line for line in re.split(r"[\r\n]", printed) if line.startswith("scan")]


@pytest.mark.parametrize("limit", [None, 20_000_000])
def test_the_bar_tells_speed_and_kept_share_in_80_columns(
    limit: int | None, progress: Progress, capsys: pytest.CaptureFixture[str]
) -> None:
    scanned(progress, 4, limit)
    progress.close()
    lines = drawn(capsys.readouterr().err)
    assert max(map(len, lines)) <= COLUMNS - len("^C")
    assert re.search(r" [\d,]+ pages/s, 55% pass, \S+ left$", lines[-1])
    assert (" 20%" if limit else " 40%") in lines[-1]  # of the pages asked for, else of the bytes


def test_a_bar_that_was_stopped_leaves_nothing(progress: Progress, capsys: pytest.CaptureFixture[str]) -> None:
    scanned(progress, 4, None)
    progress.close()
    left = capsys.readouterr().err.split("\n")[-1].split("\r")
    assert left[-1] == "" and left[-2].isspace()


def test_a_bar_that_came_to_its_end_stays(progress: Progress, capsys: pytest.CaptureFixture[str]) -> None:
    scanned(progress, 10, None)
    progress.close()
    assert "scan 100%" in capsys.readouterr().err.rstrip("\n").split("\n")[-1]


def test_the_last_lines_of_a_run_say_where_it_lies_and_what_to_do_next(tmp_path: Path) -> None:
    (tmp_path / "page.jsonl").write_text('{"text": "A page of few words."}\n')
    (tmp_path / "run.yaml").write_text("{input: page.jsonl, output: my out, stages: [exact_dedup]}")
    printed = on_terminal(tmp_path, "run", "run.yaml", surroundings={"NO_COLOR": "1"}).splitlines()
    assert printed[-4] == "curate: 1 page kept of 1, in my out"
    assert [line.split("  ")[1] for line in printed[-3:]] == [
        "curate stats 'my out'",
        "curate report 'my out'",
        "curate why 'my out' URL",
    ]
    assert "my out" not in on_terminal(tmp_path, "run", "run.yaml", "--dry-run")

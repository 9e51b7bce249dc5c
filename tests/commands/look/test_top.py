"""`curate top` as one calls it: once, as JSON, and in place at a terminal."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from curate.commands.look import top
from curate.inspect.running import Snapshot
from tests.commands.calling import Calling
from tests.report.finished import sample_run


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Calling:
    return Calling(capsys)


def snapshot(**changes: object) -> Snapshot:
    """A run in the middle of its scan."""
    found: Snapshot = {
        "state": "running",
        "phase": "scan",
        "seconds": 200.0,
        "workers": 2,
        "share": 0.25,
        "seconds_left": 7500.0,
        "documents": 4000,
        "passed": 1000,
        "pages_per_second": 20.4,
        "stages": [
            {"stage": "extract", "pages": 4000, "dropped": 3000, "kept_share": 0.25, "most": "no_text"},
            {"stage": "near_dedup", "pages": None, "dropped": None, "kept_share": None, "most": None},
        ],
        "alarms": ["2 damaged places in the input"],
        "slowest": [{"cpu_seconds": 1.5, "file": "crawl/" + "long" * 30 + ".warc.gz", "offset": 77}],
        "at_work": [{"file": "crawl/b.warc.gz", "offset": None, "share": 0.5}],
    }
    return {**found, **changes}  # type: ignore[typeddict-item]


def test_what_is_shown_of_a_run_at_work() -> None:
    lines = list(top._lines(snapshot(), 80))
    assert lines[:2] == [
        "scan 25% after 3 min 20 s with 2 workers, about 2 h 5 min left",
        "4,000 pages read, 20 pages/s, 1,000 passed so far (25.0%)",
    ]
    assert any(re.fullmatch(r"extract +4,000 +3,000 +25.0% +no_text", line) for line in lines)
    assert any(re.fullmatch(r"near_dedup +waits", line) for line in lines)
    assert "ALARM 2 damaged places in the input" in lines and "       50%    crawl/b.warc.gz" in lines
    (slow,) = [line for line in lines if line.startswith("      1.50 s")]
    assert len(slow) <= 80 and slow.endswith("long.warc.gz:77") and "…" in slow


def test_a_stopped_run_and_one_that_begins() -> None:
    assert next(top._lines(snapshot(state="stopped"), None)).startswith("scan, stopped after 3 min 20 s; the same")
    assert next(top._lines(snapshot(share=None), None)) == "the run looks at its input"


def test_once_and_as_json(call: Calling) -> None:
    out = sample_run().folder
    shown = call("top", out)
    assert shown.status == 0 and "179 pages read" in shown.out and "75 kept (41.9%)" in shown.out
    assert "\x1b" not in shown.out
    assert call("top", out, "--once").out == shown.out
    found = json.loads(call("top", out, "--json").out)
    assert (found["state"], found["documents"], found["passed"]) == ("finished", 179, 75)


def test_a_folder_without_a_run_is_one_sentence(call: Calling, tmp_path: Path) -> None:
    ended = call("top", tmp_path)
    assert ended.status == 2 and ended.err.count("\n") == 1 and "no run is at work here" in ended.err
    assert call("top", "s3://bucket/out").status == 2  # where the work lies must be said


def test_at_a_terminal_it_ends_with_the_run_and_draws_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two looks at a run that ends between them, in a terminal of its own."""
    script = (
        "from curate.commands.look import top; from curate.inspect.running import RunningRun\n"
        "from tests.commands.look.test_top import snapshot\n"
        "looks = iter([snapshot(), snapshot(state='finished', phase='finished', stages=[])])\n"
        "RunningRun.snapshot = lambda self: next(looks)\n"
        "top.command.main(['out', '--every', '0.1'])\n"
    )
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=child, stderr=child, env={**os.environ, "COLUMNS": "80", "LINES": "40"}
    )
    os.close(child)
    data = b""
    while True:
        try:
            some = os.read(parent, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not some:
            break
        data += some
    assert process.wait() == 0, data
    first, second = data.decode().split("\x1b[J")
    up = re.search(r"\x1b\[(\d+)F$", first)
    assert up and int(up[1]) == first.count("\n") and "scan 25%" in first
    assert second.startswith("finished in 3 min 20 s") and all(len(line) < 80 for line in first.split("\r\n"))

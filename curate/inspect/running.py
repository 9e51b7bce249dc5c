"""A run at work, seen through the files that it writes: how far it is, what each stage lets pass, what is odd.

Of finished tasks the run itself tells in `live.json`, of those at work their `state.json`, which they renew every few
hundred records, and the cursor with the page that is on the belt. Nothing is asked of the run.
"""

import json
import time
from collections import deque
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from curate.errors import UserError
from curate.inspect.alarms import sentences
from curate.inspect.funnel import funnel
from curate.inspect.opened import OpenedRun
from curate.output import manifest
from curate.output.folder import Output
from curate.output.lease import Lease
from curate.scan import live
from curate.scan.guard import Mark, cursor_at
from curate.scan.live import LiveFacts
from curate.scan.stored import Expected, expected
from curate.scan.tasks import Run, ScanTask, load_run, load_tasks
from curate.sizes import numbered
from curate.stage import OPENING, READ

RUNNING, STOPPED, FINISHED = "running", "stopped", "finished"
WINDOW_SECONDS = 10.0  # that pages a second are counted over, where a run is looked at again and again
LEAST_SHARE = 0.005  # of the input that must be read before the rest can be foreseen
SILENT_SECONDS = 60.0  # without a commit from which a task is worth a look
FEWEST_PAGES, LOST_SHARE = 1_000, 0.95  # a stage that loses so much of so many pages is worth one, too


class StageRow(TypedDict):
    """What a stage let pass so far. `most` is the reason that cost most; a stage that waits has no numbers."""

    stage: str
    pages: int | None
    dropped: int | None
    kept_share: float | None
    most: str | None


class Snapshot(TypedDict):
    """A run at one moment. `passed` are pages that came through the document stages, in the end those kept."""

    state: str
    phase: str
    seconds: float
    workers: int
    share: float | None  # of the input, 0 to 1
    seconds_left: float | None
    documents: int
    passed: int
    pages_per_second: float | None
    stages: list[StageRow]
    alarms: list[str]
    slowest: list[dict[str, Any]]  # seconds of CPU, file, offset
    at_work: list[dict[str, Any]]  # file, offset, share and documents of each task, seconds since its last commit


class RunningRun:
    """The run of an output folder, at work, stopped or finished."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.history: deque[tuple[float, int]] = deque()

    @cached_property
    def shared(self) -> Run:
        """What its tasks share."""
        return load_run(str(self.output.work))

    @cached_property
    def wanted(self) -> list[Expected]:
        """What each task will read."""
        return expected(self.tasks, self.shared.files)

    @cached_property
    def tasks(self) -> list[ScanTask]:
        """Its scan tasks."""
        return load_tasks(str(self.output.work))

    def snapshot(self) -> Snapshot:
        """What can be seen now. Raises UserError where no run is, or was."""
        facts = _json(self.output.work / live.NAME)
        if (self.output.final / manifest.NAME).exists():
            return self._finished()
        held = any(Lease(path).is_held for path in self.output.leases)
        if facts is None and held:
            return _starting()
        if facts is None:
            way_out = "start `curate run`, or see that the folder is the config's output"
            raise UserError(f"{self.output.target}: no run is at work here; {way_out}")
        if facts["phase"] == "plan":
            return _starting()
        return self._of(facts, RUNNING if held else STOPPED)

    def _of(self, facts: LiveFacts, state: str) -> Snapshot:
        now = time.time() if state == RUNNING else (self.output.work / live.NAME).stat().st_mtime
        at_work = self._at_work(now) if facts["phase"] == "scan" else []
        dropped: dict[str, dict[str, int]] = {}
        live.added(dropped, facts["dropped"])
        slow = list(facts["slowest"])
        for one in at_work:
            live.added(dropped, one.pop("dropped"))
            slow += live.pages(one.pop("slowest"))
        documents = facts["documents"] + sum(one["documents"] for one in at_work)
        share = self._share(facts, at_work, documents)
        seconds = max(1e-9, now - facts["started"])
        before = facts["bytes_before"] / max(1, facts["bytes"]) if facts["limit"] is None else 0.0
        scanning = facts["phase"] == "scan"
        return {
            "state": state,
            "phase": facts["phase"],
            "seconds": seconds,
            "workers": facts["workers"],
            "share": share,
            "seconds_left": _left(seconds, share, before) if scanning else None,
            "documents": documents,
            "passed": facts["survivors"] + sum(one.pop("survivors") for one in at_work),
            "pages_per_second": self._speed(now, documents, facts) if scanning else None,
            "stages": self._stages(documents, dropped),
            "alarms": [*self._alarms(facts, dropped, documents), *_silent(at_work)],
            "slowest": [
                {
                    "cpu_seconds": page["cpu_ns"] / 1e9,
                    "file": self.shared.files[page["file"]].name,
                    "offset": page["offset"],
                }
                for page in live.slowest(slow)
            ],
            "at_work": at_work,
        }

    def _share(self, facts: LiveFacts, at_work: list[dict[str, Any]], documents: int) -> float:
        read = facts["bytes_done"] + sum(one.pop("bytes") for one in at_work)
        total, done = (facts["bytes"], read) if facts["limit"] is None else (facts["limit"], documents)
        return min(1.0, done / max(1, total))

    def _speed(self, now: float, documents: int, facts: LiveFacts) -> float:
        """Pages a second of late, or since the start where this is the first look."""
        self.history.append((now, documents))
        while len(self.history) > 2 and self.history[1][0] < now - WINDOW_SECONDS:
            self.history.popleft()
        then, number = self.history[0]
        if now - then < WINDOW_SECONDS / 2:
            then, number = facts["started"], facts["documents_before"]
        return max(0, documents - number) / max(1e-9, now - then)

    def _at_work(self, now: float) -> list[dict[str, Any]]:
        """The tasks that are begun and not done."""
        found = []
        for folder in sorted((self.output.work / "scan").glob("*.tmp")):
            state = _json(folder / "state.json") or {}
            task, wanted = self.tasks[int(folder.stem)], self.wanted[int(folder.stem)]
            page = self._page(folder, state)
            read = self._read(task, wanted, page)
            try:
                silent = now - (folder / "state.json" if state else folder).stat().st_mtime
            except OSError:
                continue  # it is done meanwhile
            found.append(
                {
                    "file": self.shared.files[task.file_index + page.file].name,
                    "offset": page.offset if page.offset >= 0 else None,
                    "bytes": read,
                    "share": read / max(1, wanted.bytes),
                    "documents": state.get("documents", 0),
                    "survivors": state.get("survivors", 0),
                    "seconds_silent": max(0.0, silent),
                    "dropped": state.get("dropped", {}),
                    "slowest": state.get("slowest", []),
                }
            )
        return found

    def _page(self, folder: Path, state: dict[str, Any]) -> Mark:
        """Where a task is: at the page on the belt, or behind the last record that it stored."""
        page, pieces = cursor_at(folder / "cursor"), state.get("pieces")
        if page.offset >= 0 or not pieces:
            return page
        return Mark(len(pieces) - 1, pieces[-1]["end"])

    def _read(self, task: ScanTask, wanted: Expected, page: Mark) -> int:
        """About how many bytes of its files a task has read."""
        if task.files == 1:
            return wanted.at(max(page.offset, wanted.start))
        sizes = [self.shared.files[number].size for number in task.file_numbers]
        return sum(sizes[: page.file]) + min(max(0, page.offset), sizes[page.file])

    def _stages(self, documents: int, dropped: dict[str, dict[str, int]]) -> list[StageRow]:
        config = self.shared.config
        names = [*OPENING, *(name for name, _ in config.document_stages)]
        rows: list[StageRow] = []
        for name in names:
            reasons = dropped.get(name, {})
            lost = sum(reasons.values())
            if lost or name not in OPENING:
                rows.append(_row(name, documents, reasons))
            documents -= lost
        return [*rows, *(_row(name, None, {}) for name, _ in config.corpus_stages)]

    def _alarms(self, facts: LiveFacts, dropped: dict[str, dict[str, int]], documents: int) -> list[str]:
        said = []
        if facts["failed"]:
            allowed = f"max_failed allows {self.shared.config.max_failed:g} of all"
            said.append(f"stages failed on {numbered(facts['failed'], 'page')} ({allowed}); first: {facts['failure']}")
        if damaged := dropped.get(READ, {}).get("damaged", 0):
            said.append(f"{numbered(damaged, 'damaged place')} in the input")
        guarded: dict[str, int] = {}
        for path in (self.output.work / "guard").glob("*-*.json"):
            reason = (_json(path) or {}).get("reason", "killed its worker")
            guarded[reason] = guarded.get(reason, 0) + 1
        said += [f"{numbered(number, 'page')} {reason.replace('_', ' ')}" for reason, number in sorted(guarded.items())]
        for row in self._stages(documents, dropped):
            pages, lost = row["pages"] or 0, row["dropped"] or 0
            if pages >= FEWEST_PAGES and lost >= LOST_SHARE * pages:
                said.append(f"{row['stage']} drops {lost / pages:.1%} of its pages, most for {row['most']}")
        return said

    def _finished(self) -> Snapshot:
        run = OpenedRun(self.output.final)
        stats, timings = run.stats, run.timings
        seconds = sum(timings["wall_seconds"].values())
        read = stats["read"]["documents"]
        rows = [
            _row(row["stage"], row["in"], {reason: lost["documents"] for reason, lost in row["reasons"].items()})
            for row in funnel(stats)
        ]
        return {
            "state": FINISHED,
            "phase": FINISHED,
            "seconds": seconds,
            "workers": timings["workers"],
            "share": 1.0,
            "seconds_left": None,
            "documents": read,
            "passed": stats["kept"]["documents"],
            "pages_per_second": read / seconds if seconds else None,
            "stages": rows,
            "alarms": [f"{name}: {said}" for name, said in sentences(stats)],
            "slowest": [],
            "at_work": [],
        }


def _left(seconds: float, share: float, before: float) -> float | None:
    """Seconds for what is not read yet, at the speed of what was; None where that is too little to tell."""
    return seconds * (1 - share) / (share - before) if share - before > LEAST_SHARE else None


def _starting() -> Snapshot:
    """A run that looks at its input yet."""
    return {
        "state": RUNNING,
        "phase": "plan",
        "seconds": 0.0,
        "workers": 0,
        "share": None,
        "seconds_left": None,
        "documents": 0,
        "passed": 0,
        "pages_per_second": None,
        "stages": [],
        "alarms": [],
        "slowest": [],
        "at_work": [],
    }


def _row(stage: str, pages: int | None, reasons: dict[str, int]) -> StageRow:
    lost = sum(reasons.values())
    most = max(reasons, key=lambda reason: (reasons[reason], reason), default=None)
    share = (pages - lost) / pages if pages else None
    return {
        "stage": stage,
        "pages": pages,
        "dropped": None if pages is None else lost,
        "kept_share": share,
        "most": most,
    }


def _silent(at_work: list[dict[str, Any]]) -> list[str]:
    return [
        f"{one['file']}: nothing new for {one['seconds_silent']:.0f} s, at {one['offset']}"
        for one in at_work
        if one["seconds_silent"] > SILENT_SECONDS and one["offset"] is not None
    ]


def _json(path: Path) -> Any:
    """A JSON file of the run, which may go at any time; None where it is not there."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None

"""What a person sees of a run: bars on a terminal, a line now and then elsewhere."""

import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from tqdm import tqdm

from curate.errors import printable
from curate.scan.guard import cursor_at
from curate.scan.stored import Expected
from curate.sizes import numbered

LINE_SECONDS = 10.0
POLL_SECONDS = 0.5
BAR = "{desc} {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{unit}{postfix}, {remaining} left"  # speed before its length


class Progress:
    """Follows a run through its phases. The bar counts bytes of the files as they lie, under --limit pages."""

    def __init__(self, quiet: bool, work: Path) -> None:
        self.quiet, self.work = quiet, work
        self.terminal = sys.stderr.isatty()
        self.pages = self.kept = self.bytes = 0
        self.total = 0  # of what the bar counts
        self.expected: list[Expected] = []
        self.limit: int | None = None  # pages of a trial run
        self.start = self.last_line = time.monotonic()
        self.bar: Any = None
        self.stop = threading.Event()
        self.poller: threading.Thread | None = None

    def __call__(self, phase: str, figures: Mapping[str, Any]) -> None:
        if phase == "plan":
            self.limit = figures["limit"]
            self.expected = figures["tasks"]
            size = sum(task.bytes for task in self.expected)
            self.total = size if self.limit is None else self.limit
            self._open_bar(len(self.expected), size)
        elif phase == "scan":
            self.pages += figures["documents"]
            self.kept += figures["survivors"]
            self.bytes += figures["read"]
            self._show()
        else:
            self.close()
            what = (
                f"decide {figures['stage']}" if phase == "decide" else f"write {numbered(figures['shards'], 'shard')}"
            )
            self.say(what)

    def say(self, sentence: str) -> None:
        """One line for a person."""
        if not self.quiet:
            tqdm.write(f"curate: {printable(sentence)}", file=sys.stderr)

    @property
    def done(self) -> int:
        """Of the total."""
        return self.bytes if self.limit is None else self.pages

    def _open_bar(self, slices: int, size: int) -> None:
        if self.quiet:
            return
        until = "" if self.limit is None else f", until {numbered(self.limit, 'page')} are read"
        self.say(f"scan {numbered(slices, 'slice')}, {size / 1e6:,.1f} MB{until}")
        if self.terminal:
            columns, rows = get_terminal_size()  # 80 × 24 where the terminal does not say
            self.bar = tqdm(
                total=self.total,
                unit="B" if self.limit is None else " pages",
                unit_scale=self.limit is None,
                desc="scan",
                bar_format=BAR,
                mininterval=POLL_SECONDS,
                file=sys.stderr,
                ncols=columns - len("^C"),  # which the terminal writes behind it: the bar must stay on its line
                nrows=rows,
            )
            self.poller = threading.Thread(target=self._poll, daemon=True)
            self.poller.start()

    def _poll(self) -> None:
        """Between finished tasks the cursors of the running ones tell how far they are."""
        while not self.stop.wait(POLL_SECONDS):
            running = 0
            for folder in (self.work / "scan").glob("*.tmp"):
                offset = cursor_at(folder / "cursor").offset
                running += self.expected[int(folder.stem)].at(offset) if offset >= 0 else 0
            if self.limit is None:
                self._move(min(self.bytes + running, self.total))

    def _move(self, done: int) -> None:
        if self.bar is not None and done > self.bar.n:
            self.bar.update(done - self.bar.n)

    def _show(self) -> None:
        seconds = max(1e-9, time.monotonic() - self.start)
        share = self.kept / self.pages if self.pages else 0
        text = f"{self.pages / seconds:,.0f} pages/s, {share:.0%} pass"
        if self.bar is not None:
            self.bar.set_postfix_str(text, refresh=False)
            self._move(min(self.done, self.total))
        elif not self.quiet and time.monotonic() - self.last_line >= LINE_SECONDS:
            self.last_line = time.monotonic()
            done = min(1.0, self.done / max(1, self.total))
            left = f", about {seconds * (1 / done - 1):,.0f} s left" if done else ""
            self.say(f"scan {done:.0%}, {numbered(self.pages, 'page')}, {text}{left}")

    def close(self) -> None:
        """Ends the bar."""
        self.stop.set()
        if self.poller is not None:
            self.poller.join()  # it moves the bar
            self.poller = None
        if self.bar is not None:
            self.bar.leave = self.bar.n >= self.total  # one that was stopped goes, for the sentence that says so
            self.bar.close()
            self.bar = None

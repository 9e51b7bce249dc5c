"""`curate top`: a run while it works."""

import time
from collections.abc import Iterator
from shutil import get_terminal_size
from typing import Any

import click

from curate.commands.completing import runs
from curate.commands.screen import colour, laid_out, show, width
from curate.inspect.running import FINISHED, RUNNING, STOPPED, RunningRun, Snapshot
from curate.inspect.tables import lines
from curate.output.folder import Output
from curate.sizes import numbered
from curate.terminal import say_json, say_styled

MOST_AT_WORK = 8
INDENT = 14  # columns before an address


@click.command("top", epilog="\b\nExample:\n  curate top out/\n  curate top out/ --json")
@click.argument("out", shell_complete=runs)
@click.option("--work", help="The folder that the run was given as --work.")
@click.option("--every", type=click.FloatRange(0.1), default=1.0, show_default=True, help="Seconds between two looks.")
@click.option("--once", is_flag=True, help="Show it once; so does an output that is no terminal.")
@click.option("--json", "as_json", is_flag=True, help="Once, as JSON.")
def command(out: str, work: str | None, every: float, once: bool, as_json: bool) -> None:
    """Watch the run that works in OUT: pages a second, what each stage lets pass, alarms, the slowest pages.

    It reads what the run writes anyway and ends with the run.
    """
    run = RunningRun(Output.at(out, work))
    found = run.snapshot()
    room = width()
    if as_json:
        say_json(found)
    elif once or room is None:
        show(_lines(found, room))
    else:
        drawn = _drawn(found, 0, room)
        while found["state"] == RUNNING:
            time.sleep(every)
            found = run.snapshot()
            drawn = _drawn(found, drawn, width() or room)


def _drawn(found: Snapshot, before: int, room: int) -> int:
    """Draws over what stood there in so many lines, as far as the terminal has room; returns its lines."""
    painted = colour()
    text = list(laid_out(_lines(found, room - 1), room - 1, painted))[: get_terminal_size().lines - 1]
    for number, line in enumerate(text):
        back = f"\x1b[{before}F\x1b[J" if before and not number else ""
        say_styled(f"{back}{line}", painted or bool(back))
    return len(text)


def _lines(found: Snapshot, width: int | None) -> Iterator[str]:
    """What is shown; of addresses the end where the width is too little."""
    yield _head(found)
    yield _pages(found)
    if found["stages"]:
        yield ""
        rows = [
            {
                **row,
                "kept_share": None if row["kept_share"] is None else f"{row['kept_share']:.1%}",
                "most": row["most"] or ("waits" if row["pages"] is None else ""),
            }
            for row in found["stages"]
        ]
        titles = {"stage": "", "kept_share": "passes", "most": "most for"}
        yield from lines(rows, ("stage", "pages", "dropped", "kept_share", "most"), titles)
    for alarm in found["alarms"]:
        yield f"ALARM {alarm}"
    if found["slowest"]:
        yield ""
        yield "slowest pages"
        yield from (f"  {page['cpu_seconds']:8.2f} s  {_place(page, width)}" for page in found["slowest"])
    if found["at_work"]:
        yield ""
        yield "at work"
        yield from (f"  {one['share']:8.0%}    {_place(one, width)}" for one in found["at_work"][:MOST_AT_WORK])


def _place(one: dict[str, Any], width: int | None) -> str:
    place = str(one["file"]) if one["offset"] is None else f"{one['file']}:{one['offset']}"
    room = None if width is None else width - INDENT
    return place if room is None or len(place) <= room else f"…{place[-room + 1 :]}"


def _head(found: Snapshot) -> str:
    took = _time(found["seconds"])
    if found["state"] == FINISHED:
        return f"finished in {took} with {numbered(found['workers'], 'worker')}"
    if found["state"] == STOPPED:
        return f"{found['phase']}, stopped after {took}; the same `curate run` goes on"
    if found["share"] is None:
        return "the run looks at its input"
    left = f", about {_time(found['seconds_left'])} left" if found["seconds_left"] is not None else ""
    share = f" {found['share']:.0%}" if found["phase"] == "scan" else ""
    return f"{found['phase']}{share} after {took} with {numbered(found['workers'], 'worker')}{left}"


def _pages(found: Snapshot) -> str:
    documents, passed = found["documents"], found["passed"]
    speed = "" if found["pages_per_second"] is None else f", {found['pages_per_second']:,.0f} pages/s"
    share = f" ({passed / documents:.1%})" if documents else ""
    kept = "kept" if found["state"] == FINISHED else "passed so far"
    return f"{numbered(documents, 'page')} read{speed}, {passed:,} {kept}{share}"


def _time(seconds: float) -> str:
    """Seconds as people say them: 12 s, 3 min 20 s, 2 h 5 min."""
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    return f"{total // 60} min {total % 60} s" if total < 3600 else f"{total // 3600} h {total // 60 % 60} min"

"""Stands by a run that works in one process: when a page takes that along, says which page it was and the way out.

A program of its own, started by path and with nothing imported but the standard library, so that it costs nothing.
"""

import json
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DONE = b"done"


@contextmanager
def standing_by(work: Path) -> Iterator[None]:
    """A bystander for the run in this process, which works in the folder `work`."""
    program = [sys.executable, "-I", __file__, str(work)]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as watching:
        try:
            yield
        finally:  # an end that Python sees has words of its own
            with suppress(BrokenPipeError):
                watching.communicate(DONE)


def pages(work: Path) -> Iterator[str]:
    """The pages that were on the belt: file and offset, by the cursors that unfinished tasks left."""
    files = json.loads((work / "run.json").read_text())["files"]
    tasks = json.loads((work / "tasks.json").read_text())
    for path in sorted(work.glob("scan/*.tmp/cursor")):
        data = path.read_bytes()
        place, offset = struct.unpack("<qq", data) if len(data) == 16 else (0, -1)
        if offset >= 0:
            name = files[tasks[int(path.parent.stem)]["file_index"] + place]["name"]
            yield "".join(c if c.isprintable() else ascii(c)[1:-1] for c in f"{name}:{offset}")


def main() -> None:
    """Waits for the end of the process that started it; silent when that had time to say `done`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.stdin.buffer.read() == DONE:
        return
    with suppress(OSError, ValueError, KeyError, IndexError):
        for page in pages(Path(sys.argv[1])):
            print(
                f"curate: {page}: the run ended while this page was on the belt; the same command tries it alone, "
                "enters it if it is to blame, and goes on (--executor processes does so by itself)",
                file=sys.stderr,
            )


if __name__ == "__main__":
    main()

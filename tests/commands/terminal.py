"""A command on a terminal of a given width, as a person has it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from pathlib import Path

STYLE = re.compile("\x1b\\[[0-9;]*m")
ASKED = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TERM")


def on_terminal(
    folder: Path, *arguments: object, columns: int = 80, surroundings: Mapping[str, str] | None = None
) -> str:
    """What `curate ARGUMENTS` writes to a terminal, standard error among it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ASKED}
    done = subprocess.Popen(
        [sys.executable, "-m", "curate", *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env={**env, "TERM": "xterm-256color", **(surroundings or {})},
    )
    os.close(theirs)
    said: list[bytes] = []
    reader = threading.Thread(target=_read, args=(ours, said))
    reader.start()
    done.wait(timeout=120)
    reader.join()
    os.close(ours)
    return b"".join(said).decode()


def _read(terminal: int, said: list[bytes]) -> None:
    try:
        while data := os.read(terminal, 1 << 16):
            said.append(data)
    except OSError:  # Linux says so where macOS gives no more bytes
        return


def plain_lines(printed: str) -> list[str]:
    """The lines without their styles, each as wide as it is on the screen."""
    return STYLE.sub("", printed).replace("\r\n", "\n").split("\n")

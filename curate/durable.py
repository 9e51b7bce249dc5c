"""Files that are there whole or not at all, work that is done once, folders that one process has at a time."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from curate.errors import UserError, cause

Stamp = tuple[int, int, int]
T = TypeVar("T")


def stamp(path: Path) -> Stamp:
    """What tells one writing of a file from another: inode, modification time in ns, size."""
    about = path.stat()
    return about.st_ino, about.st_mtime_ns, about.st_size


def write_json(path: Path, value: Any, private: bool = False) -> None:
    """A JSON file that is there whole or not at all; a private one nobody else may read."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    if private:
        temporary.touch(0o600)
    temporary.write_text(json.dumps(value))
    temporary.replace(path)


@contextmanager
def atomic(target: Path) -> Iterator[Path]:
    """A name beside the target to write to; it becomes the target when the block ends well, and goes when not.

    Raises UserError where the system does not let the target be written.
    """
    if not target.name:
        raise UserError(f"'{target}': names no file to write; give a name")
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        reason = cause(error) if target.parent.is_dir() else f"there is no folder {target.parent}"
        raise UserError(f"{target}: can't be written ({reason}); give another place") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def once(facts_path: Path, target: Path, make: Callable[[], T]) -> T:
    """What `make` returned, when it made `target` before; else makes it now and remembers."""
    with locked(facts_path.with_suffix(".lock")):
        if facts_path.exists() and target.exists():
            facts: T = json.loads(facts_path.read_text())
            return facts
        facts = make()
        write_json(facts_path, facts)
        return facts


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keeps a second process (an orphan of a killed run) out of a task's folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

"""The output folder and the work folder of a run: who may write there, what is resumed, what is refused."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

from curate import manifest
from curate.config import Config
from curate.durable import write_json
from curate.errors import UserError
from curate.fingerprint import difference, digest

OURS = (
    "shards",
    "ledger",
    "measures",
    "samples",
    "stats.json",
    "manifest.json",
    "timings.json",
    "report.html",
    "canaries.json",
    ".fingerprint.json",
)


@dataclass(frozen=True)
class Output:
    """`final` is the local folder that the files are written to: the output itself, or a copy to be uploaded."""

    target: str
    final: Path
    work: Path

    @classmethod
    def of(cls, config: Config, work: str | None) -> "Output":
        """Where a run writes. A remote output needs a work folder of its own."""
        remote = "://" in config.output and not config.output.startswith("file://")
        if remote and not work:
            raise UserError(f"output '{config.output}' is remote: give a local folder for the work with --work")
        local = Path(config.output.removeprefix("file://"))
        folder = Path(work) if work else local / ".work"
        final = folder / "out" if remote else local
        try:
            final.mkdir(parents=True, exist_ok=True)
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"output '{config.output}': can't be written ({error.strerror}); give another folder"
            ) from error
        if not os.access(final, os.W_OK):
            raise UserError(f"output '{config.output}': is not writable; give another folder")
        return cls(config.output, final.resolve(), folder.resolve())

    @property
    def remote(self) -> bool:
        return self.final == self.work / "out"

    def opened(self, parts: dict[str, Any], fresh: bool, tell: Callable[[str], None]) -> bool:
        """Prepares for a run with this fingerprint. True when it is complete already.

        Raises UserError when the folder holds (part of) a run with another fingerprint; `fresh` clears it.
        """
        if fresh:
            self._clear()
        stored = self._stored()
        if stored is not None and digest(stored) != digest(parts):
            raise UserError(
                f"{self.target} holds a run that differs: {difference(stored, parts)}; "
                "give --fresh to start anew, or another output"
            )
        if (self.final / manifest.NAME).exists() and not self.remote:
            return stored is not None
        if stored is not None:
            tell(f"going on with the run in {self.target}")
        elif any((self.final / name).exists() for name in OURS):
            raise UserError(
                f"{self.target} holds files of another run but no trace of which; give --fresh, or another output"
            )
        self.work.mkdir(parents=True, exist_ok=True)
        write_json(self.work / "fingerprint.json", parts)
        return False

    def _stored(self) -> dict[str, Any] | None:
        for path in (self.final / ".fingerprint.json", self.work / "fingerprint.json"):
            if path.exists():
                told: dict[str, Any] = json.loads(path.read_text())
                return told
        return None

    def _clear(self) -> None:
        for name in OURS:
            path = self.final / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        shutil.rmtree(self.work, ignore_errors=True)
        self.final.mkdir(parents=True, exist_ok=True)
        self.work.mkdir(parents=True, exist_ok=True)

    def stats(self) -> dict[str, Any]:
        """stats.json of the finished run."""
        told: dict[str, Any] = json.loads((self.final / "stats.json").read_text())
        return told

    def publish(self, keep_work: bool) -> None:
        """Uploads a remote output, manifest last; then the work folder goes."""
        if self.remote:
            upload(self.final, self.target)
        if not keep_work:
            shutil.rmtree(self.work, ignore_errors=True)


def upload(folder: Path, target: str) -> None:
    """Copies a folder to an fsspec URL: one PUT a file, the manifest last."""
    system, root = fsspec.core.url_to_fs(target)
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    for path in sorted(paths, key=lambda p: (p.name == manifest.NAME, p)):
        try:
            system.makedirs(f"{root.rstrip('/')}/{path.relative_to(folder).parent.as_posix()}", exist_ok=True)
            system.put_file(str(path), f"{root.rstrip('/')}/{path.relative_to(folder).as_posix()}")
        except OSError as error:
            raise UserError(f"{target}: upload of {path.name} failed ({error}); run again to go on") from error


def explained(error: OSError) -> str | None:
    """A sentence for the system errors that a person can mend, else None."""
    place = f"{error.filename}: " if error.filename else ""
    told = {
        errno.ENOSPC: "no space left on the disk; free some and run again, the run goes on where it was",
        errno.EDQUOT: "the disk quota is used up; free some and run again, the run goes on where it was",
        errno.EACCES: "permission denied; give a folder that you may write",
        errno.EROFS: "the file system is read-only; give another output",
        errno.EMFILE: "too many open files; raise `ulimit -n`",
    }.get(error.errno or 0)
    return f"{place}{told}" if told else None

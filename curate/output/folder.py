"""The output folder and the work folder of a run: who may write there, what is resumed, what is refused."""

import os
import re
import shutil
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path, PurePosixPath
from typing import cast

from curate.config.file import Config
from curate.durable import write_json
from curate.errors import UserError, cause
from curate.export.export import exported
from curate.output import card, manifest
from curate.output.facts import Manifest, Parts, Stats, loaded
from curate.output.fingerprint import difference, digest, public
from curate.output.lease import Lease
from curate.output.upload import Remote
from curate.sources import identity, mask_url

FOLDERS = ("shards", "ledger", "measures", "samples", "cuts")
EXPORT = "export"  # a folder of one folder a format
INDEX = "index"
OURS = (  # the manifest, which says that the rest is whole, goes first
    "manifest.json",
    *FOLDERS,
    EXPORT,
    INDEX,
    "stats.json",
    "timings.json",
    "report.html",
    "comparison.html",
    ".canaries.json",
    ".fingerprint.json",
)
MADE = re.compile(r"\.|(part-\d+|samples)\.parquet$")  # files of a run in its folders; and hidden ones, of the system
WORK_FILES = {
    "fingerprint.json",
    "run.json",
    "tasks.json",
    "live.json",
    "scan",
    "decide",
    "guard",
    "out",
    "uploaded.jsonl",
}
TRACELESS = "{} holds files of another run but no trace of which; give --fresh, or another output"


@dataclass(frozen=True)
class Output:
    """`final` is the local folder that the files are written to: the output itself, or a copy to be uploaded."""

    target: str
    final: Path
    work: Path
    remote: Remote | None = None

    @classmethod
    def of(cls, config: Config, work: str | None) -> "Output":
        """Where a run of a config writes; makes nothing yet."""
        return cls.at(config.output, work)

    @classmethod
    def at(cls, output: str, work: str | None) -> "Output":
        """Where a run writes that has this output. A remote one needs a work folder of its own."""
        far = "://" in output and not output.startswith("file://")
        if far and not work:
            place = mask_url(output)
            raise UserError(f"output '{place}' is remote: give a local folder for the work with --work")
        if work and "://" in work:
            raise UserError(f"--work '{mask_url(work)}': is remote; give a folder of this machine, or a mounted one")
        local = Path(output.removeprefix("file://"))
        # Named by the output, so that a folder given for work may hold other things, and the work of other runs.
        place = output if far else str(local.resolve())
        folder = Path(work, f"curate-{sha1(place.encode()).hexdigest()[:12]}") if work else local / ".work"
        remote = Remote.of(output) if far else None
        final = folder / "out" if far else local
        return cls(mask_url(output), final.resolve(), folder.resolve(), remote)

    def spare(self, inputs: Iterable[str]) -> None:
        """Raises UserError where an input lies among the files that this output replaces."""
        ours = tuple(f"{place}/" for place in (*(self.final / name for name in OURS), self.work))
        for name in inputs:
            if f"{identity(name)}/".startswith(ours):
                raise UserError(
                    f"input '{name}' lies in {self.target}, where this run would replace it; give another output"
                )

    def create(self) -> None:
        """Makes the folders. Raises UserError where that is not allowed."""
        elsewhere = f"--work '{self.work.parent}'"
        inside = f"output '{self.target}'"
        _make(self.final, elsewhere if self.remote else inside)
        _make(self.work, inside if self.work.is_relative_to(self.final) else elsewhere)

    @property
    def leases(self) -> list[Path]:
        """The lease files that a run must hold: one for the output, one for a work folder that lies elsewhere."""
        elsewhere = self.work.parent / f"{self.work.name}.lease"
        inside = self.final / ".work.lease"
        return [elsewhere] if self.remote or elsewhere == inside else [inside, elsewhere]

    def opened(self, parts: Parts, fresh: bool, tell: Callable[[str], None]) -> bool:
        """Prepares for a run with this fingerprint. True when it is complete already.

        Raises UserError when the folder holds (part of) a run with another fingerprint; `fresh` clears it.
        """
        self._spare_work()
        if fresh:
            self._clear()
        if self.complete(parts):
            return self._done()
        stored = self._stored()
        if stored is not None:
            self._compare(stored, parts)
        if stored is not None:
            tell(f"going on with the run in {self.target}")
        elif not fresh and self._holds_something():
            raise UserError(TRACELESS.format(self.target))
        self.work.mkdir(parents=True, exist_ok=True)
        write_json(self.work / "fingerprint.json", parts)
        return False

    def _holds_something(self) -> bool:
        """Whether a file or folder has a name that a run gives one."""
        near = any((self.final / name).exists() for name in OURS)
        return near or (self.remote is not None and self.remote.holds(OURS))

    def _done(self) -> bool:
        """True, and no empty work folder is left beside a finished run."""
        with suppress(OSError):
            self.work.rmdir()
        return True

    def complete(self, parts: Parts) -> bool:
        """Whether the output holds this very run, whole. Writes nothing. Raises UserError when it holds another one.

        Where nothing but the manifest tells (a remote output, a copy without dot-files) times of inputs don't count.
        """
        finished: Manifest | None
        if self.remote:
            finished = self.remote.json(manifest.NAME)
        else:
            finished = manifest.read(self.final) if (self.final / manifest.NAME).exists() else None
        if finished is None:
            return False
        stored = None if self.remote else self._stored()
        if stored is None:
            parts = public(parts)
            stored = cast(Parts, {name: finished.get(name) for name in parts})
        self._compare(stored, parts)
        return True

    def foreseen(self, parts: Parts) -> str | None:
        """What a run would find here, as a sentence; None for nothing. Writes nothing.

        Raises UserError where it could not write. A remote output is not asked.
        """
        if self.remote:
            return None
        try:
            if self.complete(parts):
                return "holds this very run, complete: nothing is left to do"
            stored = self._stored()
            if stored is not None:
                self._compare(stored, parts)
        except UserError as error:
            return str(error)
        there = next(place for place in (self.final, *self.final.parents) if place.exists())
        if not there.is_dir():
            raise UserError(f"output '{self.target}': can't be written ({there} is a file); give another folder")
        if not os.access(there, os.W_OK):
            raise UserError(f"output '{self.target}': {there} is not writable; give another folder")
        if stored is not None:
            return "holds a run that stopped, which goes on"
        return TRACELESS.format(self.target) if self._holds_something() else None

    def _compare(self, stored: Parts, parts: Parts) -> None:
        if digest(stored) != digest(parts):
            raise UserError(
                f"{self.target} holds a run that differs: {difference(stored, parts)}; "
                "give --fresh to start anew, or another output"
            )

    def _stored(self) -> Parts | None:
        for path in (self.final / ".fingerprint.json", self.work / "fingerprint.json"):
            if path.exists():
                try:
                    return loaded(Parts, path.read_text())
                except (OSError, ValueError) as error:
                    raise UserError(f"{path}: can't be read ({cause(error)}); give --fresh") from None
        return None

    def _clear(self) -> None:
        self._spare_others()
        if self.remote:
            self.remote.remove(OURS)
        try:
            for name in OURS:
                _remove(self.final / name)
            if card.is_ours(self.final):
                _remove(self.final / card.NAME)
        except OSError as error:
            raise UserError(f"output '{self.target}': can't be cleared ({cause(error)}); give another output") from None
        shutil.rmtree(self.work, ignore_errors=True)
        self.final.mkdir(parents=True, exist_ok=True)
        self.work.mkdir(parents=True, exist_ok=True)

    def _spare_work(self) -> None:
        """Raises UserError where the work folder holds what no run made: it goes when a run ends."""
        if self.work.is_dir() and (names := {path.name for path in self.work.iterdir()}) and not names & WORK_FILES:
            raise UserError(f"{self.work}: no run made this folder, and it would be removed; move it, or give --work")

    def tidy(self) -> None:
        """Removes the work folder that a run left which was killed after its last file; not while somebody works."""
        if not (self.work / "run.json").exists():
            return
        with suppress(UserError, OSError), ExitStack() as held:
            for lease in self.leases:
                held.enter_context(Lease(lease))
            shutil.rmtree(self.work)

    def _spare_others(self) -> None:
        """Raises UserError where a folder that is cleared, or a file, is none that a run made."""
        traces = (self.final / manifest.NAME, self.final / ".fingerprint.json", self.work / "fingerprint.json")
        if not self.remote and not any(path.exists() for path in traces):
            for name in ("stats.json", "timings.json", "report.html", "comparison.html"):
                if (self.final / name).exists():
                    raise UserError(
                        f"{self.final / name}: no run left a trace beside this file, and --fresh would "
                        "remove it; move it, or give another output"
                    )
        far = self.remote.files(FOLDERS) if self.remote else []
        near = [str(path) for name in FOLDERS for path in sorted((self.final / name).rglob("*")) if not path.is_dir()]
        if not (self.final / INDEX / "index.json").exists():
            near += [str(path) for path in sorted((self.final / INDEX).glob("*"))]
        near += [str(path) for path in sorted((self.final / EXPORT).glob("*")) if not exported(path)]
        for path in (*far, *near):
            if not MADE.match(PurePosixPath(path).name):
                raise UserError(
                    f"{path}: no run made this file, and --fresh would remove it; move it, or give another output"
                )

    def stats(self) -> Stats:
        """stats.json of the finished run. Raises UserError where it is missing or broken."""
        if self.remote:
            far = self.remote.json("stats.json")
            if far is None:
                raise UserError(f"{self.target}: stats.json is missing beside the manifest; give --fresh")
            found: Stats = far
            return found
        try:
            return loaded(Stats, (self.final / "stats.json").read_text())
        except (OSError, ValueError) as error:
            raise UserError(f"{self.final / 'stats.json'}: can't be read ({cause(error)}); give --fresh") from None

    def publish(self, keep_work: bool) -> None:
        """Uploads a remote output, manifest last; then the work folder goes."""
        if self.remote:
            self.remote.upload(self.final, self.work / "uploaded.jsonl", last=manifest.NAME)
        if not keep_work:
            shutil.rmtree(self.work, ignore_errors=True)


def _remove(path: Path, inside: bool = False) -> None:
    """Removes a file or a folder; empties a folder of ours that is a link. Of links inside the link alone goes."""
    if not path.is_dir() or (inside and path.is_symlink()):
        path.unlink(missing_ok=True)
    elif path.is_symlink():
        for child in path.iterdir():
            _remove(child, inside=True)
    else:
        shutil.rmtree(path)


def _make(folder: Path, place: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{place}: can't be written ({cause(error)}); give another folder") from None
    if not os.access(folder, os.W_OK):
        raise UserError(f"{place}: {folder} is not writable; give another folder")

"""Is this installation whole? What is there, what is missing, and the command that mends it."""

import importlib.util
import os
import platform
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path
from typing import Literal

from packaging.markers import Marker
from packaging.requirements import Requirement

from curate import DISTRIBUTION, __version__
from curate.errors import UserError
from curate.plug_ins.code import OURS
from curate.plug_ins.registry import installed, stage_class
from curate.sizes import physical_memory, show_size, worker_memory
from curate.stage import declared

State = Literal["ok", "optional", "missing"]
OLDEST_PYTHON = (3, 11)
FEW_FILES = 1024  # open files that a run with many shards by attribute may need
LITTLE_DISK, LITTLE_MEMORY = 1 << 30, 1 << 30
FOR_WORK_ON_IT = "test"  # the extra that no user needs
EXTRAS = {
    "remote": "s3:// and https:// inputs and outputs",
    "ray": "--executor ray",
    "tokens": "token counts by a tokenizers file",
    "onnx": "models in the ONNX format",
    "plot": "plots of `scale plan --plot` and of `curate what-if --plot`",
    "report": "charts of `curate report`",
}
"""What extras are for; one that is not here is called as the stage that needs it."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `mend` is the command that puts it right."""

    about: str
    state: State
    found: str
    mend: str = ""


def findings() -> Iterator[Finding]:
    """Everything looked at, in the order of the report."""
    yield _python()
    yield from _shadowed()
    yield from _packages()
    yield from _probes()
    yield from _stages()
    yield from _extras()
    yield from _machine()


def _python() -> Finding:
    fine = sys.version_info >= OLDEST_PYTHON
    versions = f"{platform.python_version()} at {sys.executable}, curate {__version__}"
    return Finding("python", "ok" if fine else "missing", versions, "" if fine else "install Python 3.11 or newer")


def requirements(extra: str | None = None) -> list[Requirement]:
    """What curate, or one of its extras, requires on this machine."""
    found = [Requirement(line) for line in requires(DISTRIBUTION) or []]
    if extra is None:
        return [wanted for wanted in found if wanted.marker is None or wanted.marker.evaluate({"extra": ""})]
    return [wanted for wanted in found if wanted.marker is not None and _of_extra(wanted.marker, extra)]


def _of_extra(marker: Marker, extra: str) -> bool:
    return marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""})


def package(wanted: Requirement) -> tuple[bool, str]:
    """Whether a package is there in a fitting version, and its version in words."""
    try:
        found = version(wanted.name)
    except PackageNotFoundError:
        return False, "not installed"
    fits = wanted.specifier.contains(found, prereleases=True)
    return (True, found) if fits else (False, f"{found}, but {wanted.specifier} is needed")


def _packages() -> Iterator[Finding]:
    for wanted in requirements():
        fine, state = package(wanted)
        mend = "" if fine else f"python -m pip install '{wanted.name}{wanted.specifier}'"
        yield Finding(wanted.name, "ok" if fine else "missing", state, mend)


def _shadowed() -> Iterator[Finding]:
    """Packages of ours that another folder of the same name hides, as `python -m` puts the working directory first."""
    root = Path(__file__).resolve().parents[2]
    for name in OURS:
        spec = importlib.util.find_spec(name)
        found = Path(spec.origin).resolve().parent if spec and spec.origin else None
        if found != root / name:
            hidden = f"the folder {found or Path.cwd() / name} hides the package '{name}' of curate"
            yield Finding(f"package {name}", "missing", hidden, "rename that folder, or start elsewhere")


def _probes() -> Iterator[Finding]:
    """What the installed stages look at; one that can't be imported is told under its own name."""
    for name in installed():
        try:
            probes = declared(stage_class(name)).probes
        except (UserError, AttributeError):
            continue
        for probe in probes() if probes else ():
            yield Finding(probe.about, "ok" if probe.fine else "missing", probe.found, probe.mend)


def _stages() -> Iterator[Finding]:
    loaded, mend = 0, f"python -m pip install --force-reinstall --no-deps {DISTRIBUTION}"
    for name in installed():
        try:
            stage_class(name)
            loaded += 1
        except (UserError, AttributeError) as error:
            yield Finding(f"stage {name}", "missing", str(error), mend)
    yield Finding("stages", "ok" if loaded else "missing", f"{loaded} load")


def _extras() -> Iterator[Finding]:
    for extra in metadata(DISTRIBUTION).get_all("Provides-Extra") or ():
        if extra == FOR_WORK_ON_IT:
            continue
        use = EXTRAS.get(extra, f"the stage {extra}")
        states = {wanted.name: package(wanted) for wanted in requirements(extra)}
        packages = ", ".join(f"{name} {about}" for name, (_, about) in states.items())
        fine = all(there for there, _ in states.values())
        wanted = " ".join(f"'{one.name}{one.specifier}'" for one in requirements(extra))
        mend = "" if fine else f"python -m pip install {wanted}"
        yield Finding(f"extra {extra}", "ok" if fine else "optional", f"{packages} (for {use})", mend)


def _machine() -> Iterator[Finding]:
    memory, cores = physical_memory(), os.cpu_count() or 1
    yield Finding("processors", "ok", f"{cores}")
    fine = memory / cores >= LITTLE_MEMORY
    amount = f"{show_size(memory)}, {show_size(worker_memory(cores))} a worker with {cores}"
    mend = "" if fine else f"curate run --workers {max(1, memory // LITTLE_MEMORY)}"
    yield Finding("memory", "ok" if fine else "optional", amount, mend)
    for about, folder in (("disk here", Path.cwd()), ("disk for temporary files", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(folder).free
        fine = free >= LITTLE_DISK
        mend = "" if fine else "free some space, or give another folder with --work"
        yield Finding(about, "ok" if fine else "optional", f"{show_size(free)} free at {folder}", mend)
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    fine = files == resource.RLIM_INFINITY or files >= FEW_FILES
    amount = "any number" if files == resource.RLIM_INFINITY else f"{files:,}"
    yield Finding("open files", "ok" if fine else "optional", amount, "" if fine else f"ulimit -n {FEW_FILES}")
    if importlib.util.find_spec("ray") and Path("/dev/shm").is_dir():
        free = shutil.disk_usage("/dev/shm").free
        fine = free >= LITTLE_DISK
        amount = f"{show_size(free)} free at /dev/shm"
        mend = "" if fine else "docker run --shm-size=2g (or remount /dev/shm larger)"
        yield Finding("shared memory for Ray", "ok" if fine else "optional", amount, mend)

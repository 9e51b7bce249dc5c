"""Stages by name, by import path, and from packages of other people."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from curate.config.file import parse_config
from curate.errors import UserError
from curate.plug_ins import registry
from curate.plug_ins.contract import fault_of
from curate.plug_ins.registry import installed, stage_class
from curate.stage import Declared, declared
from stages.exact_dedup import ExactDedup
from stages.near_dedup import By, NearDedup
from tests.engine import text, write_jsonl

ROOT = Path(__file__).parents[2]

PLUG_IN = '''
from dataclasses import dataclass
from curate.document import Document, Drop

@dataclass(frozen=True, kw_only=True)
class NoShouting:
    """Drops pages in capitals."""
    adds = {}
    reasons = ("shouting",)

    def apply(self, doc):
        return Drop("shouting") if doc.text.isupper() else doc
'''
INFO = "curate_no_shouting-3.2.1.dist-info"
WHEEL = {
    "no_shouting.py": PLUG_IN,
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: curate-no-shouting\nVersion: 3.2.1\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/entry_points.txt": "[curate.stages]\nno_shouting = no_shouting:NoShouting\n",
    f"{INFO}/RECORD": "",
}


def test_each_entry_point_of_ours_loads_and_is_a_stage() -> None:
    assert {"extract", "language", "gopher", "exact_dedup", "near_dedup"} <= set(installed())
    for name in installed():
        stage = stage_class(name)
        assert fault_of(stage) is None
        assert Path(inspect.getfile(stage)) == ROOT / "stages" / f"{name}.py"


def test_what_a_stage_does_not_declare_has_a_default() -> None:
    assert declared(object()) == Declared()
    near = NearDedup(keep=By(by="quality"))
    assert declared(near).needs == declared(near).needs_numbers == ("quality",)
    assert declared(near).fill == {"cluster_size": 1} and not declared(near).equal
    assert declared(ExactDedup).equal and declared(ExactDedup).sketch_all is None


def test_unknown_names_get_the_nearest_known_one() -> None:
    with pytest.raises(UserError, match="unknown stage 'gofer', did you mean 'gopher'"):
        stage_class("gofer")
    with pytest.raises(UserError, match=r"unknown stage 'xyzzy', known are .*c4, .*exact_dedup"):
        stage_class("xyzzy")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no_such_module:Stage", "can't import 'no_such_module'"),
        ("curate.text:NoSuchClass", "'curate.text' has no 'NoSuchClass'"),
        (":Stage", "stage ':Stage'"),
        ("curate.text:", "stage 'curate.text:'"),
        ("curate.errors:UserError", "is no stage"),
        ("os.path:join", "is no stage"),
    ],
)
def test_import_paths_with_a_fault_are_told_with_their_place(path: str, message: str) -> None:
    with pytest.raises(UserError, match=r"config: stages\[0\]") as caught:
        parse_config({"input": "a.jsonl", "output": "out", "stages": [path]})
    assert message in str(caught.value)


def test_a_stage_that_is_there_but_imports_what_is_not_is_not_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_much.py").write_text("import no_such_package.part\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"'needs_much' \(No module named 'no_such_package'\); install what it needs"):
        stage_class("needs_much:Stage")
    for path in ("no_such_package:Stage", "no_such_package.part:Stage", "stages.no_such:Stage"):
        with pytest.raises(UserError, match=r"is it in the working directory\?"):
            stage_class(path)


def test_an_entry_point_that_needs_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    point = EntryPoint("broken", "no_such_package.stage:Stage", registry.GROUP)
    monkeypatch.setattr(registry, "installed", lambda: {"broken": point})
    with pytest.raises(UserError, match=r"stage 'broken' can't be imported: .*install what it needs"):
        stage_class("broken")


def curate(folder: Path, *arguments: str, path: str = "") -> str:
    """Calls the command line in a folder; what it printed to standard output."""
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), path])}
    done = subprocess.run(
        [sys.executable, "-c", "from curate.cli import main; main()", *arguments],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_with(stage: str, folder: Path, path: str = "") -> str:
    write_jsonl(folder / "pages.jsonl", [text(1), text(2).upper(), text(3)])
    (folder / "run.yaml").write_text(f"input: pages.jsonl\noutput: out\nstages: [language, '{stage}']\n")
    return curate(folder, "run", "run.yaml", "--workers", "1", path=path)


def test_a_stage_of_ones_own_in_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUG_IN)
    printed = run_with("mine:NoShouting", tmp_path)
    assert re.search(r"shouting +1\b", printed)


def test_a_third_party_package_registers_its_stage(tmp_path: Path) -> None:
    site, wheel = tmp_path / "site", tmp_path / "curate_no_shouting-3.2.1-py3-none-any.whl"
    with ZipFile(wheel, "w") as file:
        for name, content in WHEEL.items():
            file.writestr(name, content)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(wheel)], check=True)
    assert "no_shouting" in curate(tmp_path, "stages", path=str(site))
    assert re.search(r"shouting +1\b", run_with("no_shouting", tmp_path, str(site)))
    assert '"curate-no-shouting": "3.2.1"' in (tmp_path / "out" / "manifest.json").read_text()


def test_the_readmes_stage_of_ones_own_runs_as_shown(tmp_path: Path) -> None:
    """The README shows a stage whole, under ten lines, after `<!-- stage: FILE.py MODULE:CLASS -->`."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- stage: (\S+) (\S+) -->\s*```python\n(.*?)```", readme, re.DOTALL)
    assert found, "README.md needs a stage of one's own after <!-- stage: my_stages.py my_stages:Name -->"
    name, stage, code = found.groups()
    assert len([line for line in code.splitlines() if line.strip() and not line.startswith(("from", "import"))]) <= 10
    (tmp_path / name).write_text(code)
    assert re.search(r"shouting +1\b", run_with(stage, tmp_path))

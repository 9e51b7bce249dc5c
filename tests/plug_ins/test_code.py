"""The files of a stage of one's own: a change in any of them is a change of the stage."""

import importlib
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from curate.errors import UserError
from curate.plug_ins import code
from curate.plug_ins.code import source_files
from tests.engine import run_it, settings, text, write_jsonl

STAGE = """
from dataclasses import dataclass
%s
@dataclass(frozen=True, kw_only=True)
class Mine:
    adds = {}
    reasons = ()
    def apply(self, doc):
        return doc
"""
FILES = {
    "mine_a.py": STAGE % "import json, mine_b\nfrom mine_c import words\nfrom curate.text import clean",
    "mine_b.py": "def late():\n    import mine_d.deep\n",
    "mine_c.py": "words = ['a']\n",
    "mine_d/__init__.py": "",
    "mine_d/deep.py": "from . import near\nfrom ..mine_c import words\n",
    "mine_d/near.py": "import mine_a\n",
    "mine_d/apart.py": "",
    "mine_e/__init__.py": "broken(",
    "mine_f/__init__.py": "from .stage import Mine\n",
    "mine_f/stage.py": STAGE % "from .lists.words import most",
    "mine_f/lists/words.py": "most = 1\n",
}
OF_A = ["mine_a.py", "mine_b.py", "mine_c.py", "mine_d/__init__.py", "mine_d/deep.py", "mine_d/near.py"]
OF_F = ["mine_f/__init__.py", "mine_f/lists/words.py", "mine_f/stage.py"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, source in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for module in [name for name in sys.modules if name.startswith("mine_")]:
        del sys.modules[module]


@pytest.mark.parametrize(("module", "files"), [("mine_a", OF_A), ("mine_f.stage", OF_F), ("mine_f", OF_F)])
def test_what_a_stage_imports_from_beside_it_belongs_to_it(folder: Path, module: str, files: list[str]) -> None:
    stage = importlib.import_module(module).Mine
    assert list(source_files(stage, ("curate",))) == files


def test_of_an_installed_stage_it_is_the_one_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "site-packages").mkdir()
    for name in ("mine_b.py", "mine_c.py"):
        (folder / name).rename(folder / "site-packages" / name)
    (folder / "mine_a.py").rename(folder / "site-packages/mine_a.py")
    monkeypatch.syspath_prepend(str(folder / "site-packages"))
    assert list(source_files(importlib.import_module("mine_a").Mine)) == ["mine_a.py"]


@pytest.mark.parametrize("name", ["mine_a.py", "mine_c.py"])
def test_a_run_is_not_gone_on_with_after_its_stage_has_changed(folder: Path, name: str) -> None:
    write_jsonl(folder / "a.jsonl", [text(number) for number in range(3)])
    config = settings("a.jsonl", folder / "out", stages=["mine_a:Mine"])
    run_it(config)
    assert run_it(config).ready
    (folder / name).write_text(FILES[name] + "# another line\n")
    message = rf"holds a run that differs: the code of mine_a:Mine \({name}\) has changed; give --fresh"
    with pytest.raises(UserError, match=message):
        run_it(config)


def test_imports_of_our_own_files_are_found_without_parsing_them() -> None:
    """What the quick search finds in our files is what Python's own parser finds, down to the top-level modules."""
    root = Path(__file__).parents[2]
    for path in (path for name in code.OURS for path in (root / name).rglob("*.py")):
        parsed, searched = set(code._imported(path, root)), set(code._written(path))
        assert parsed <= searched, path
        assert {name.partition(".")[0] for name in searched} == {name.partition(".")[0] for name in parsed}, path


def test_owners_of_modules_are_those_that_python_tells() -> None:
    packages = packages_distributions()
    for module in packages:
        if module.isidentifier():
            assert code.owners(frozenset({module})) == set(packages[module])
    assert code.owners(frozenset({"no_such_module"})) == code.owners(frozenset()) == frozenset()

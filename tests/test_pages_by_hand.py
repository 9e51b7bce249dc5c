"""Pages of docs/ that a reader follows step by step: their files are written, their commands run, in order.

`<!-- file: NAME -->` before a block makes it a file, `<!-- output -->` holds commands and what they print. A page
begins in a folder with configs/ and sample_crawl/ alone. What the entry points of its pyproject.toml name counts as
installed from there on.
"""

import re
import tomllib
from pathlib import Path

import pytest

from tests.test_readme import begun, check_commands

ROOT = Path(__file__).parents[1]
STEP = re.compile(r"<!-- (?:file: (\S+)|output) -->\n```\w*\n(.*?)```", re.DOTALL)
PAGES = ("coming-from.md", "plug-ins.md", "python.md", "tutorial.md")


def follow(page: str, folder: Path) -> None:
    """Does what a page says, in a folder. AssertionError where a command prints something else than shown."""
    surroundings = {**begun(folder), "PYTHONPATH": str(folder)}
    for step in STEP.finditer(page):
        name, content = step.groups()
        if not name:
            check_commands(step.group(), folder, surroundings)
            continue
        (folder / name).write_text(content, encoding="utf-8")
        if name == "pyproject.toml":
            installed(content, folder)


def installed(pyproject: str, folder: Path) -> None:
    """What an installer writes down of a project, beside its modules."""
    project = tomllib.loads(pyproject)["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    about = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(about, encoding="utf-8")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_followed(page: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert STEP.search(text)
    follow(text, tmp_path)


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.md)", index))
    assert linked == {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}

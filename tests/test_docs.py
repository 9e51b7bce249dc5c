"""The docs say what the code does: every file, every option, every reason."""

import dataclasses
import importlib
import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = _generator()


def stages_there() -> list[str]:
    """Names of the stage entry points whose file exists."""
    points: dict[str, str] = PROJECT["entry-points"]["curate.stages"]
    return [name for name, target in points.items() if _file(target).exists()]


def _file(target: str) -> Path:
    return ROOT / (target.split(":")[0].replace(".", "/") + ".py")


def _stage(name: str) -> Any:
    module, _, attribute = PROJECT["entry-points"]["curate.stages"][name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def named(word: str, text: str) -> bool:
    """Whether a page has the word in code type, alone or with its value: `word`, `word: 5`."""
    return re.search(rf"`{re.escape(word)}\b[^`\n]*`", text) is not None


def test_each_file_has_one_line_in_the_architecture_page() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- `((?:curate|stages|scale)/[\w/]+\.py)`", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == {str(path.relative_to(ROOT)) for path in generate.modules()}


def test_generated_parts_are_up_to_date() -> None:
    for page, text in generate.generated().items():
        assert page.read_text(encoding="utf-8") == text, "run `python docs/generate.py`"


@pytest.mark.parametrize("name", stages_there())
def test_each_stage_has_a_page_with_all_options_and_reasons(name: str) -> None:
    page = DOCS / "stages" / f"{name}.md"
    assert page.exists(), f"stage {name} needs docs/stages/{name}.md"
    text = page.read_text(encoding="utf-8")
    stage = _stage(name)
    options = [field.name for field in dataclasses.fields(stage)]
    missing = [word for word in (*options, *stage.reasons) if not named(word, text)]
    assert not missing, f"docs/stages/{name}.md does not name {missing}"


def test_each_stage_page_has_a_stage() -> None:
    pages = {page.stem for page in (DOCS / "stages").glob("*.md")}
    assert pages <= set(PROJECT["entry-points"]["curate.stages"])


def test_entry_points_are_named_like_their_files() -> None:
    for name, target in PROJECT["entry-points"]["curate.stages"].items():
        assert target.split(":")[0] == f"stages.{name}"


def test_the_tree_in_the_readme_is_the_tree() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = re.search(r"<!-- tree -->\s*```\w*\n(.*?)```", readme, re.DOTALL)
    assert tree, "README.md needs the annotated tree after <!-- tree -->"
    named_paths = [line.split()[0] for line in tree[1].splitlines() if line and not line[0].isspace()]
    assert len(named_paths) >= 8
    assert [path for path in named_paths if not (ROOT / path).exists()] == []


def test_a_word_counts_only_in_code_type() -> None:
    assert named("threshold", "the option `threshold` and")
    assert named("threshold", "write `threshold: 0.8` here")
    assert not named("threshold", "the threshold")
    assert not named("min_words", "`min_words_in_line`")


PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"

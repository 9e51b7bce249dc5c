"""Writes the generated parts of the docs: `python docs/generate.py`. `tests/test_docs.py` compares them.

The list of files in `architecture.md` is the first paragraph of each module's docstring, so that the two
can't say different things.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("curate", "stages", "scale")
BEGIN, END = "<!-- files: written by docs/generate.py -->", "<!-- end of files -->"


def summary(path: Path) -> str:
    """The first paragraph of a module's docstring, as one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not docstring:
        raise SystemExit(
            f"{path.relative_to(ROOT)} has no docstring; its first line is its entry in the docs"
        )
    return " ".join(docstring.split("\n\n")[0].split())


def modules(root: Path = ROOT) -> list[Path]:
    """All Python files of the three packages, a folder's own `__init__.py` before its files."""
    return sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))


def listing() -> str:
    """One heading a folder and one line a file."""
    folders: dict[Path, list[Path]] = {}
    for path in modules():
        folders.setdefault(path.parent.relative_to(ROOT), []).append(path)
    lines = []
    for folder in sorted(folders, key=lambda folder: (PACKAGES.index(folder.parts[0]), folder)):
        lines += ["", f"### `{folder}/`", ""]
        lines += [f"- `{path.relative_to(ROOT)}`: {summary(path)}" for path in folders[folder]]
    return "\n".join(lines).strip()


def with_listing(text: str) -> str:
    """A page with its list of files renewed."""
    part = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if len(part.findall(text)) != 1:
        raise SystemExit(f"the page needs one '{BEGIN}' and one '{END}' after it")
    return part.sub(lambda _: f"{BEGIN}\n{listing()}\n{END}", text)


def generated() -> dict[Path, str]:
    """Every page with a generated part, as it should be."""
    page = ROOT / "docs" / "architecture.md"
    return {page: with_listing(page.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    for page, text in generated().items():
        page.write_text(text, encoding="utf-8", newline="\n")

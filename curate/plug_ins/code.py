"""Which stages are plug-ins, and the source files that one is made of: its own, and those beside it that it imports."""

import ast
import inspect
import re
import sys
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path

INSTALLED = {"site-packages", "dist-packages"}
OURS = ("curate", "stages", "scale")  # packages
IMPORT = re.compile(
    r"""^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|^[ \t]*import[ \t]+([^\n#;]+)"""
    r"""|\b(?:files|find_spec|import_module)\(\s*["']([\w.]+)["']""",
    re.MULTILINE,
)
BY_NAME = {"files", "find_spec", "import_module"}  # functions that reach a module by the string they are given


def package_of(stage: object) -> str:
    """The top-level package or module that a stage's class lies in."""
    return type(stage).__module__.partition(".")[0]


def is_ours(stage: object) -> bool:
    """Whether a stage is no plug-in."""
    return package_of(stage) in OURS


def source_files(cls: type, but: Collection[str] = ()) -> dict[str, Path]:
    """The files by their names from the folder that the import begins in; without the top-level packages in `but`.

    Imports are followed as they are written, not as they ran, so the answer is the same in each process. Of an
    installed package it is the one file, as its version tells the rest. Empty for a class without a file.
    """
    path = inspect.getsourcefile(cls)
    if path is None:
        return {}
    file = Path(path).resolve()
    root = file.parents[cls.__module__.count(".") + (file.stem == "__init__")]
    if INSTALLED & set(file.parts):
        return {file.relative_to(root).as_posix(): file}
    found = {file}
    waiting = [file, *_of_module(cls.__module__, root)]
    while waiting:
        file = waiting.pop()
        found.add(file)
        names = {name for name in _imported(file, root) if name.partition(".")[0] not in but}
        waiting += {beside for name in names for beside in _of_module(name, root)} - found
    return {file.relative_to(root).as_posix(): file for file in sorted(found)}


@lru_cache(maxsize=64)
def foreign_modules(*names: str) -> frozenset[str]:
    """Top-level modules, neither ours nor Python's, that these modules of ours import, or what they import of ours."""
    root = Path(__file__).resolve().parents[2]
    waiting, seen, found = [path for name in names for path in _of_module(name, root)], set[Path](), set[str]()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for name in _written(file):
            top = name.partition(".")[0]
            if top in OURS:
                waiting += _of_module(name, root)
            elif top not in sys.stdlib_module_names:
                found.add(top)
    return frozenset(found)


@lru_cache(maxsize=8)
def owners(modules: frozenset[str]) -> frozenset[str]:
    """The installed distributions that bring these top-level modules.

    As `packages_distributions`, but the long lists of files are searched and not taken apart.
    """
    if not modules:
        return frozenset()
    listed = re.compile(
        rf"^(?:{'|'.join(map(re.escape, sorted(modules)))})(?:/|\.(?:\S+\.)?(?:py|so|pyd),)", re.MULTILINE
    )
    found = set()
    for package in distributions():
        declared = (package.read_text("top_level.txt") or "").split()
        if modules.intersection(declared) if declared else listed.search(package.read_text("RECORD") or ""):
            found.add(package.metadata["Name"])
    return frozenset(found)


def _of_module(name: str, root: Path) -> Iterator[Path]:
    """The files of a module and of the packages around it, as far as they lie under the folder."""
    place = root
    for part in name.split("."):
        place /= part
        yield from (path for path in (place.with_name(f"{part}.py"), place / "__init__.py") if path.is_file())


def _written(file: Path) -> Iterator[str]:
    """Dotted names of all that a file of ours seems to import: no less than `_imported`, in a tenth of the time."""
    for origin, names, plain, named in IMPORT.findall(file.read_text(encoding="utf-8")):
        yield from filter(None, (named,))
        yield from (part.split()[0] for part in plain.split(",") if part.strip())
        if origin:
            yield from (f"{origin}.{name}" for name in re.findall(r"\w+", names))


def _imported(file: Path, root: Path) -> Iterator[str]:
    """Dotted names of all that a file imports, wherever in the file."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:  # never imported so far, or the stage would not be here
        return
    package = file.relative_to(root).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = package[: len(package) - node.level + 1] if node.level else ()
            origin = ".".join((*around, *filter(None, [node.module])))
            yield from (f"{origin}.{alias.name}".strip(".") for alias in node.names)
        elif isinstance(node, ast.Call) and _name(node.func) in BY_NAME:
            given = (argument.value for argument in node.args if isinstance(argument, ast.Constant))
            yield from (value for value in given if isinstance(value, str))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")

"""The rules of the house that a parser can check: who imports whom, and how large things may get."""

import ast
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from curate.belt import GUARD_REASONS
from curate.caps import REASONS as CAP_REASONS
from curate.output.schema import LEDGER, shard_schema
from curate.plug_ins.registry import installed, stage_class
from curate.stage import RuleStage

ROOT = Path(__file__).parents[1]
PACKAGES = ("curate", "stages", "scale")
PATHS = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in PATHS]

PUBLIC = {
    "curate.decide.bands",
    "curate.caps",
    "curate.corpus",
    "curate.document",
    "curate.errors",
    "curate.sources.charset",
    "curate.stage",
    "curate.text",
    "curate.decide.twins",
}
"""What a stage may import of the engine; a stage of somebody else needs no more."""

GROUND_FLOOR = {"curate", "curate.errors", "curate.sizes", "curate.yaml12"}
"""What `scale` may use of the engine: its errors, its sizes and its YAML."""

ORDER = (
    "curate.shipped",
    "curate.entries",
    "curate.errors",
    "curate.text",
    "curate.sizes",
    "curate.yaml12",
    "curate.durable",
    "curate.routed",
    "curate.document",
    "curate.executors",
    "curate.export",
    "curate.corpus",
    "curate.rules",
    "curate.stage",
    "curate.plug_ins",
    "curate.caps",
    "curate.sources.members",
    "curate.sources",
    "curate.config",
    "curate.belt",
    "curate.output",
    "curate.scan",
    "curate.decide",
    "curate.write",
    "curate.run",
    "curate.example_pages",
    "curate.library",
    "curate.inspect",
    "curate.compare",
    "curate.what_if",
    "curate.report",
    "curate.tools",
    "curate.terminal",
    "curate.given",
    "curate.commands.screen",
    "curate.commands.completing",
    "curate.commands.make",
    "curate.commands.look",
    "curate.commands.know",
    "curate.commands",
    "curate.cli",
    "curate.__main__",
)
"""The rooms of the engine: nothing imports from a later one. The package itself loads its library half on demand."""

MAX_FILES = 20
MAX_FILE_LINES, MAX_FUNCTION_LINES = 300, 40
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}
BROAD = {"Exception", "BaseException"}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(path: Path) -> Iterator[str]:
    """Dotted names of all modules that a file imports, wherever in the file; relative ones made absolute."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                package = path.relative_to(ROOT).parts[: -node.level]
                origin = ".".join((*package, *filter(None, [origin])))
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def own(path: Path) -> set[str]:
    """Modules of ours among the imports, as dotted names of files that exist."""
    modules = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for p in PATHS}
    return {name for name in imported(path) if name in modules and name not in PACKAGES} | {
        name for name in imported(path) if name in PACKAGES
    }


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def files_of(package: str) -> list[Path]:
    return [path for path in PATHS if path.is_relative_to(ROOT / package)]


def test_the_three_packages_are_there() -> None:
    assert all(files_of(package) for package in PACKAGES)


@pytest.mark.parametrize("path", files_of("scale"), ids=str)
def test_scale_uses_the_ground_floor_alone(path: Path) -> None:
    assert {name for name in own(path) if within(name, "curate") or within(name, "stages")} <= GROUND_FLOOR


@pytest.mark.parametrize("path", files_of("curate"), ids=str)
def test_the_engine_knows_no_stage(path: Path) -> None:
    assert not {name for name in imported(path) if within(name, "stages")}


@pytest.mark.parametrize("path", files_of("curate"), ids=str)
def test_only_the_command_line_imports_scale(path: Path) -> None:
    if not re.fullmatch(r"curate/(cli\w*|commands/know/(scale|completion))\.py", str(path.relative_to(ROOT))):
        assert not {name for name in imported(path) if within(name, "scale")}


@pytest.mark.parametrize("path", files_of("stages"), ids=str)
def test_stages_use_the_public_names_of_the_engine(path: Path) -> None:
    engine = {name for name in own(path) if within(name, "curate")}
    assert engine <= PUBLIC


def declared_words() -> tuple[set[str], set[str], set[str]]:
    """Config names, reasons and options of the stages of this project, without the words that are free to all.

    Free are the columns that every output has, `tokens` of stats.json, the options that the engine gives to all rule
    stages, and the reasons that are the engine's own, too.
    """
    classes = {name: stage_class(name) for name, point in installed().items() if point.module.startswith("stages.")}
    columns = {*shard_schema({}).names, *LEDGER.names, "tokens"}
    names, reasons = set(classes) - columns, {reason for cls in classes.values() for reason in cls.reasons}
    options = {field.name for cls in classes.values() for field in dataclasses.fields(cls)}
    return names, reasons - {*CAP_REASONS, *GUARD_REASONS}, options - {f.name for f in dataclasses.fields(RuleStage)}


NAMES_OF_STAGES, REASONS_OF_STAGES, OPTIONS_OF_STAGES = declared_words()


def constants(node: ast.AST) -> Iterator[ast.Constant]:
    """String constants that are no docstrings: what stands alone as a statement is told to people only."""
    alone = {id(one.value) for one in ast.walk(node) if isinstance(one, ast.Expr)}
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in alone:
            yield one


def reached(node: ast.AST) -> Iterator[ast.Constant]:
    """String constants by which an attribute of a stage is asked for, or something in a mapping of options."""
    for one in ast.walk(node):
        match one:
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[place, key, *_]):
                wanted = r"stage|own|entry|cls"
            case ast.Subscript(value=place, slice=key):
                wanted = "options"
            case ast.Call(func=ast.Attribute(attr="get", value=place), args=[key, *_]):
                wanted = "options"
            case _:
                continue
        if re.search(wanted, ast.unparse(place)):
            yield from constants(ast.Module([ast.Return(key)], []))


def words_of_stages(node: ast.AST) -> list[str]:
    """What a file of the engine must not say: the line and the word."""
    known = [one for one in constants(node) if one.value in NAMES_OF_STAGES | REASONS_OF_STAGES]
    known += [one for one in reached(node) if one.value in OPTIONS_OF_STAGES]
    return [f"{one.lineno}: {one.value}" for one in known]


@pytest.mark.parametrize("path", files_of("curate"), ids=str)
def test_no_word_of_a_stage_stands_in_the_engine(path: Path) -> None:
    assert not words_of_stages(tree(path))


def room_of(name: str) -> int:
    """The place in ORDER of a module's room: the longest name that it lies in."""
    rooms = [place for place, room in enumerate(ORDER) if within(name, room)]
    return max(rooms, key=lambda place: len(ORDER[place]))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", [path for path in files_of("curate") if module_of(path) != "curate"], ids=str)
def test_nothing_imports_from_a_later_room(path: Path) -> None:
    here = room_of(module_of(path))
    assert not {name for name in own(path) - {"curate"} if within(name, "curate") and room_of(name) > here}


def test_no_file_imports_itself_by_a_detour() -> None:
    modules = {module_of(path): own(path) - {module_of(path)} - set(PACKAGES) for path in PATHS}
    while leaves := {name for name, imports in modules.items() if not imports & modules.keys()}:
        modules = {name: imports for name, imports in modules.items() if name not in leaves}
    assert not modules, f"a circle among {sorted(modules)}"


@pytest.mark.parametrize("folder", sorted({path.parent for path in files_of("curate") + files_of("scale")}), ids=str)
def test_a_folder_can_be_taken_in_at_a_glance(folder: Path) -> None:
    assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= MAX_FILES


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_names_say_something(path: Path) -> None:
    assert path.stem not in EMPTY_NAMES and path.parent.name not in EMPTY_NAMES


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_functions_are_short(path: Path) -> None:
    long = {
        node.name: (node.end_lineno or 0) - node.lineno + 1
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert not {name: lines for name, lines in long.items() if lines > MAX_FUNCTION_LINES}


def test_one_class_one_name() -> None:
    """A leading underscore makes no other name: who reads a traceback or searches the tree sees the word alone."""
    places: dict[str, list[str]] = {}
    for path, name in zip(PATHS, NAMES, strict=True):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.lstrip("_"), []).append(f"{name}:{node.lineno}")
    doubled = {name: found for name, found in places.items() if len(found) > 1}
    assert not doubled


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_no_name_that_holds_anything(path: Path) -> None:
    """Each of these stood for five and more things: a message, a reason, facts; a sum, an integer, what is complete."""
    found = {
        getattr(node, "id", getattr(node, "arg", getattr(node, "attr", "")))
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Name | ast.arg | ast.Attribute)
    }
    assert not found & {"told", "whole"}


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_no_line_hides_from_the_formatter(path: Path) -> None:
    assert not re.search(r"#\s*fmt:", path.read_text(encoding="utf-8"))


def broad_handlers(path: Path) -> list[int]:
    """Lines of `except:`, `except Exception` and `except BaseException` in a file."""
    return [
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or BROAD & {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)})
    ]


def test_there_is_one_broad_except() -> None:
    found = [f"{path.relative_to(ROOT)}:{line}" for path in PATHS for line in broad_handlers(path)]
    assert len(found) == 1, found
    assert found[0].startswith("curate/")


def test_the_rules_see_what_they_forbid(tmp_path: Path) -> None:
    guilty = tmp_path / "guilty.py"
    lines = ["def f():", " from stages import gopher", " try: pass", " except (OSError, Exception): pass"]
    guilty.write_text("\n".join([*lines, " try: pass", " except KeyError: pass", " except: pass", ""]))
    assert "stages.gopher" in set(imported(guilty))
    assert broad_handlers(guilty) == [4, 7]
    said = ast.parse('if name == "near_dedup": getattr(stage, "threshold"); options["min_words"]; x == "same_url"')
    assert words_of_stages(said) == ["1: near_dedup", "1: same_url", "1: threshold", "1: min_words"]
    free = ast.parse('"near_dedup"; row["language"]; row["tokens"]; print("as near_dedup"); getattr(stage, "annotate")')
    assert not words_of_stages(free)

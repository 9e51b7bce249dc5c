"""The fingerprint of a run: everything that can change its output. Two runs mix only when it is equal."""

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fsspec

from curate.config.file import Config
from curate.errors import UserError, cause
from curate.output.facts import Parts
from curate.plug_ins.code import OURS, foreign_modules, is_ours, owners, package_of, source_files
from curate.plug_ins.named_files import files_of
from curate.sources import mask_url, masked, reader
from curate.sources.reader import InputFile

ENGINE = "curate.run"  # the module from which all that a run executes is imported, but the stages


def fingerprint(config: Config, files: list[InputFile], limit: int | None) -> Parts:
    """The parts of the fingerprint by name, as plain JSON: config, inputs, named files, code, versions, limit."""
    return {
        "config": masked(config.canonical()),
        "inputs": [[file.source, file.name, file.size, file.version] for file in files],
        "named_files": named_files(config),
        "code": {"curate": own_code(), **stage_code(config), **reader_code(config, files)},
        "versions": versions(config),
        "limit": limit,
    }


def digest(parts: Parts) -> str:
    """SHA-256 of fingerprint parts in canonical JSON."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def public(parts: Parts) -> Parts:
    """The parts that a manifest may show: without modification times, which differ between equal copies."""
    return {**parts, "inputs": [entry[:3] for entry in parts["inputs"]]}


def named_files(config: Config) -> dict[str, str]:
    """SHA-256 of every file that a stage's options name (those of type `FileName`)."""
    found = {}
    for entry in config.stages:
        for option, paths in files_of(entry.stage).items():
            for path in paths:
                if Path(path).is_file() or "://" in path:
                    found[mask_url(path)] = _sha256(path, f"{entry.name}: {option}")
    for run in config.against:
        found[f"{run}/index/index.json"] = _sha256(f"{run}/index/index.json", "against")
    wanted = config.write.export
    if wanted is not None and wanted.tokenizer is not None:
        found[wanted.tokenizer] = _sha256(wanted.tokenizer, "write: export: tokenizer")
    return found


def _sha256(path: str, place: str) -> str:
    try:
        with fsspec.open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError, ImportError) as error:
        raise UserError(f"{place}: '{path}' can't be read ({cause(error)}); check the path") from None


@lru_cache(maxsize=1)
def own_code() -> str:
    """SHA-256 over our own source files."""
    total = hashlib.sha256()
    for name, path in own_files().items():
        total.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def own_files() -> dict[str, Path]:
    """The source files of a run by their names: all of `curate` and `stages`."""
    root = Path(__file__).resolve().parents[2]
    found = sorted(path for package in ("curate", "stages") for path in (root / package).rglob("*.py"))
    return {path.relative_to(root).as_posix(): path for path in found}


def stage_code(config: Config) -> dict[str, str]:
    """SHA-256 of the source files of every stage that is not ours."""
    found = {}
    for entry in config.stages:
        if not is_ours(entry.stage):
            for name, path in source_files(type(entry.stage), OURS).items():
                found[f"{entry.name} ({name})"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def reader_code(config: Config, files: list[InputFile]) -> dict[str, str]:
    """SHA-256 of the source file of every format in use that another package brings."""
    found = {}
    for file in files:
        cls = type(reader(config.input[file.source], file))
        if cls.__module__.partition(".")[0] not in OURS:
            for name, path in source_files(cls, OURS).items():
                found[f"format {cls.__name__} ({name})"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def versions(config: Config) -> dict[str, str]:
    """Versions of Python, and of the packages that the engine, the stages of the config and their plug-ins import."""
    modules = {type(entry.stage).__module__ for entry in config.stages if is_ours(entry.stage)}
    plug_ins = {package_of(entry.stage) for entry in config.stages} - set(OURS)
    names = owners(frozenset((OURS[0], *foreign_modules(ENGINE, *sorted(modules)), *plug_ins)))
    return {"python": platform.python_version(), **{name: version(name) for name in sorted(names)}}


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What differs between two fingerprints, in words."""
    sentences = []
    for part in dict.fromkeys([*old, *new]):
        before, after = old.get(part), new.get(part)
        if before != after:
            sentences.append(_DIFFERENCES.get(part, _part_difference)(before, after, part))
    return "; ".join(filter(None, sentences))


def _part_difference(before: Any, after: Any, part: str) -> str:
    if isinstance(before, dict) and isinstance(after, dict):
        found = changes(before, after)  # none where one has a key that the other leaves at null
        return f"{part}: {', '.join(found[:3])}" if found else ""
    return f"{part} was {_short(before)}, is {_short(after)}"


def _limit_difference(before: int | None, after: int | None, _: str) -> str:
    was, now = ("not given" if value is None else f"{value}" for value in (before, after))
    return f"--limit was {was}, is {now}"


def _content_difference(before: dict[str, str] | None, after: dict[str, str] | None, part: str) -> str:
    """Hashes are no words for people: they say of each thing only whether it changed."""
    old, new = before or {}, after or {}
    what = {"code": "the code of {}", "named_files": "the file {}"}[part]
    sentences = []
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            change = "has changed" if name in old and name in new else "is new" if name in new else "is gone"
            sentences.append(f"{what.format(name)} {change}")
    return ", ".join(sentences[:3]) + (f" and {len(sentences) - 3} more" if len(sentences) > 3 else "")


def _inputs_difference(before: list[list[Any]] | None, after: list[list[Any]] | None, _: str) -> str:
    old, new = ({tuple(e[:2]): e[2:] for e in entries or []} for entries in (before, after))
    added, gone = [k[1] for k in new if k not in old], [k[1] for k in old if k not in new]
    changed = [k[1] for k in new if k in old and list(old[k]) != list(new[k])]
    parts = [
        f"{len(names)} {word} (first: {names[0]})"
        for names, word in ((added, "added"), (gone, "gone"), (changed, "changed"))
        if names
    ]
    return "input files: " + (", ".join(parts) or "another order")


_DIFFERENCES: Mapping[str, Callable[[Any, Any, str], str]] = {
    "inputs": _inputs_difference,
    "limit": _limit_difference,
    "code": _content_difference,
    "named_files": _content_difference,
}


def changes(before: Mapping[str, Any], after: Mapping[str, Any], path: str = "") -> list[str]:
    """What differs between two nested mappings, a sentence each."""
    sentences = []
    for key in dict.fromkeys([*before, *after]):
        old, new, place = before.get(key), after.get(key), f"{path}{key}"
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            sentences += changes(old, new, f"{place}.")
        elif key == "stages" and isinstance(old, list) and isinstance(new, list):
            sentences += _stage_changes(old, new)
        else:
            sentences.append(f"{place} was {_short(old)}, is {_short(new)}")
    return sentences


def _stage_changes(old: list[Any], new: list[Any]) -> list[str]:
    names = [[next(iter(item)) for item in items] for items in (old, new)]
    if names[0] != names[1]:
        return [f"stages were {', '.join(names[0])}, are {', '.join(names[1])}"]
    return [change for before, after in zip(old, new, strict=True) for change in changes(before, after)]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."

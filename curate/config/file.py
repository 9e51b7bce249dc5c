"""The config file: what it may say, checked before anything runs, and its canonical form."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

import fsspec
from pydantic import Field, PydanticSchemaGenerationError, TypeAdapter, ValidationError

from curate import yaml12
from curate.caps import Caps
from curate.config.together import check_together
from curate.errors import UserError, cause, hint
from curate.export.settings import ExportSettings
from curate.plug_ins.contract import Blamed, fault_of
from curate.plug_ins.registry import stage_class
from curate.sources import SourceConfig
from curate.sources.files import expanded
from curate.sources.reader import as_json
from curate.stage import OPENING, CorpusStage, DocumentStage, Stage
from curate.text import unstorable

DEFAULT_SOURCE = "crawl"
Ratio = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, kw_only=True)
class Write:
    """How shards are written. Bytes are those of the texts before compression."""

    order: Literal["crawl", "shuffle"] = "crawl"
    """crawl: as read; shuffle: by a hash of seed and document"""
    seed: int | None = None
    """of the shuffle (null: the config's)"""
    by: str | None = None
    """attribute that makes a folder for each value: shards/<by>=<value>/ (docs/inside.md says who reads it back)"""
    shard_bytes: Annotated[int, Field(ge=1)] = 256 << 20
    """bytes of text, before compression, that a shard is cut at"""
    row_group_bytes: Annotated[int, Field(ge=1)] = 64 << 20
    """bytes of text of a row group"""
    row_group_rows: Annotated[int, Field(ge=1)] = 10_000
    """rows of a row group"""
    zstd_level: Annotated[int, Field(ge=1, le=22)] = 3
    """how hard shards are compressed"""
    index: bool = False
    """keep all sketches in index/, so that later runs can name this one in `against`"""
    export: ExportSettings | None = None
    """training files beside the shards, under export/<format>/ (docs/export.md)"""


@dataclass(frozen=True)
class Entry:
    """One stage of the config: its name there, and the stage itself."""

    name: str
    stage: Stage


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keys of a config that hold one plain value."""

    seed: int = 0
    """of samples, shuffles and mixtures"""
    measure_dropped: bool = True
    """later rule stages measure dropped pages too, for what-if"""
    samples: Annotated[int, Field(ge=0)] = 50
    """dropped texts that are kept of each stage and reason"""
    cpu_seconds: Annotated[float, Field(gt=0, le=1e6)] | None = 60.0
    """CPU seconds of a page before it is given up as hung (null: no limit)"""
    against: tuple[str, ...] = ()
    """outputs of earlier runs, with an index, whose documents count as seen"""
    max_failed: Ratio = 0.01
    """share of documents on which a stage may fail with an error before the run stops"""


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """A whole config. Everything here changes output, save `output` itself."""

    input: Mapping[str, SourceConfig]
    output: str
    stages: tuple[Entry, ...]
    write: Write = field(default_factory=Write)
    caps: Caps = field(default_factory=Caps)

    @property
    def document_stages(self) -> list[tuple[str, DocumentStage]]:
        return [(e.name, e.stage) for e in self.stages if not isinstance(e.stage, CorpusStage)]

    @property
    def corpus_stages(self) -> list[tuple[str, CorpusStage]]:
        return [(e.name, e.stage) for e in self.stages if isinstance(e.stage, CorpusStage)]

    def canonical(self) -> dict[str, Any]:
        """The config with every default written out, as plain JSON; without `output`."""
        return {
            "input": {name: _plain(source) for name, source in self.input.items()},
            "stages": [{entry.name: _plain(entry.stage)} for entry in self.stages],
            "seed": self.seed,
            "write": _plain(self.write),
            "caps": _plain(self.caps),
            **{f.name: as_json(getattr(self, f.name)) for f in fields(Settings)},
        }


PARTS: Mapping[str, tuple[type[Any], str]] = {
    "The config itself": (Settings, "Besides `input`, `output`, `stages`, `write` and `caps`:"),
    "input": (SourceConfig, "Of each source:"),
    "write": (Write, "How shards are written:"),
    "write: export": (ExportSettings, "Training files beside the shards, as `curate export` writes them:"),
    "caps": (Caps, "Sizes over which a page is not parsed; null turns one off:"),
}
"""The parts of a config by their names, and what people are told of each; their options are told by the classes."""

KEYS = ("input", "output", "stages", "write", "caps", *(f.name for f in fields(Settings)))


def _plain(value: Any) -> dict[str, Any]:
    return {f.name: as_json(getattr(value, f.name)) for f in fields(value) if f.init}


def read_config(path: str) -> Config:
    """The config in a file (a path or fsspec URL). Raises UserError with the place of the first fault."""
    try:
        with fsspec.open(path, "rt", encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError, ImportError) as error:
        raise UserError(f"{path}: can't be read ({cause(error)}); give the path of a config file") from None
    return parse_config(yaml12.load(text, path), path)


def parse_config(value: Any, name: str = "config") -> Config:
    """The config in a plain value (what YAML or JSON gave)."""
    if not isinstance(value, Mapping):
        raise UserError(f"{name}: must be a mapping with the keys {', '.join(KEYS[:3])}")
    if (found := unstorable(value)) is not None:
        raise UserError(f"{name}: {json.dumps(found)[:80]} holds a character that no file can store; leave it out")
    _known(value, KEYS, name)
    for key in ("input", "stages"):
        if value.get(key) in (None, "", [], {}):
            what = "is read" if key == "input" else "each document goes through"
            raise UserError(f"{name}: '{key}' is missing; it says what {what}")
    output = value.get("output")
    if not isinstance(output, str) or not output:
        fault = "is missing; it is" if output in (None, "") else "must be"
        raise UserError(f"{name}: 'output' {fault} a folder or URL, such as out/")
    settings = _build(Settings, {f.name: value[f.name] for f in fields(Settings) if f.name in value}, name)
    config = Config(
        input=_sources(value["input"], name),
        output=expanded(output),
        stages=_stages(value["stages"], name),
        write=_build(Write, _section(value, "write"), f"{name}: write"),
        caps=_build(Caps, _section(value, "caps"), f"{name}: caps"),
        **{f.name: getattr(settings, f.name) for f in fields(Settings)},
    )
    check_together([(entry.name, entry.stage) for entry in config.stages], name)
    return config


def _section(value: Mapping[str, Any], name: str) -> Any:
    """A part of the config; a name with nothing behind it leaves all as it is by itself."""
    return {} if value.get(name) is None else value[name]


def from_canonical(canonical: Mapping[str, Any], output: str) -> Config:
    """The config that `Config.canonical` described."""
    return parse_config({**canonical, "output": output}, "stored config")


def sources_of(canonical: Mapping[str, Any]) -> dict[str, SourceConfig]:
    """The sources in a canonical config's `input`, without importing any stage."""
    return _sources(canonical, "stored config")


def _known(value: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    for key in value:
        if key not in known:
            raise UserError(f"{place}: unknown option '{key}', {hint(str(key), known)}")


def _sources(value: Any, name: str) -> dict[str, SourceConfig]:
    if isinstance(value, str | list):
        value = {DEFAULT_SOURCE: value}
    if not isinstance(value, Mapping):
        raise UserError(f"{name}: 'input' must be a path, a list of paths, or a mapping of source names to them")
    known = [f.name for f in fields(SourceConfig)]
    if set(value) <= set(known) and ({"path", "paths", "cdx"} & set(value)):
        value = {DEFAULT_SOURCE: value}
    sources = {}
    for source, given in value.items():
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,99}", source):
            raise UserError(f"{name}: input: '{source}' is no name for a source; use letters, digits, '-', '_' and '.'")
        arguments = given if isinstance(given, Mapping) else {"path": given}
        sources[source] = _build(SourceConfig, arguments, f"{name}: input.{source}")
    return sources


def _stages(value: Any, name: str) -> tuple[Entry, ...]:
    if not isinstance(value, list):
        raise UserError(f"{name}: 'stages' must be a list of stage names, each with its options or without")
    entries: list[Entry] = []
    for index, item in enumerate(value):
        place = f"{name}: stages[{index}]"
        word: str
        arguments: Any
        if isinstance(item, str):
            word, arguments = item, {}
        elif isinstance(item, Mapping) and len(item) == 1:
            word, arguments = next(iter(item.items()))
        else:
            raise UserError(f"{place}: must be a stage's name, or one name with its options")
        entries.append(entry_of(word, {} if arguments is None else arguments, place))
        if any(entry.name == word for entry in entries[:-1]):
            raise UserError(f"{place} {word}: stands twice; a stage's name is its place in the ledger")
    return tuple(entries)


def entry_of(word: str, arguments: Any, place: str) -> Entry:
    """A stage by name with its options. Raises UserError with the place of a fault."""
    try:
        cls = stage_class(word)
    except UserError as error:
        raise UserError(f"{place}: {error}") from error.__cause__
    if word in OPENING:
        raise UserError(f"{place} {word}: is a stage of the ledger's own; name this one by module:Class")
    fault = fault_of(cls)
    if fault:
        raise UserError(f"{place} {word}: {fault}")
    with Blamed(f"{place} {word}", passing=(UserError,)):
        stage = _build(cls, arguments, f"{place} {word}")
    return Entry(word, stage)


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(cls: type[Any]) -> TypeAdapter[Any]:
    if cls not in _ADAPTERS:
        _ADAPTERS[cls] = TypeAdapter(cls)
    return _ADAPTERS[cls]


def _build(cls: type[Any], arguments: Any, place: str) -> Any:
    """An instance of a dataclass from plain values, or a UserError that names the option."""
    if not isinstance(arguments, Mapping):
        raise UserError(f"{place}: options must be a mapping, such as {{name: value}}")
    _known(arguments, [f.name for f in fields(cls) if f.init], place)
    try:
        built = _adapter(cls).validate_json(json.dumps(arguments), strict=True)
        _adapter(cls).validate_json(json.dumps(_plain(built)), strict=True)  # the defaults, too
        return built
    except ValidationError as error:
        first = error.errors()[0]
        inner = ("function-", "tuple[", "literal[")
        where = ".".join(str(part) for part in first["loc"] if not str(part).startswith(inner))
        message = first["msg"].removeprefix("Value error, ").replace("a valid array", "a list, such as [a, b]")
        given = "" if first["type"] in ("missing", "value_error") else f" (given: {json.dumps(first['input'])})"
        raise UserError(f"{place}{': ' + where if where else ''}: {message[0].lower() + message[1:]}{given}") from None
    except (PydanticSchemaGenerationError, TypeError) as error:
        raise UserError(f"{place}: {cls.__name__} can't be validated ({error})") from error


def json_schema() -> dict[str, Any]:
    """A JSON Schema of the config file, for editors."""
    from curate.plug_ins import options
    from curate.plug_ins.registry import installed

    stages = []
    for word in installed():
        about = options.json_schema(stage_class(word))
        stages += [
            {"const": word},
            {
                "type": "object",
                "properties": {word: about},
                "required": [word],
                "additionalProperties": False,
            },
        ]
    source = options.json_schema(SourceConfig)
    paths = [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
    settings = options.json_schema(Settings)["properties"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "curate config",
        "type": "object",
        "required": ["input", "output", "stages"],
        "additionalProperties": False,
        "properties": {
            "input": {"anyOf": [*paths, {"type": "object", "additionalProperties": {"anyOf": [*paths, source]}}]},
            "output": {"type": "string"},
            "stages": {"type": "array", "items": {"anyOf": stages}},
            "write": options.json_schema(Write),
            "caps": options.json_schema(Caps),
            **settings,
        },
    }

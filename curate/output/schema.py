"""The declared schemas of everything that a run writes. Known before the first document; equal in every file."""

import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

import pyarrow as pa

from curate.belt import SIZES, cleans, may_give_text
from curate.config.file import Config
from curate.errors import UserError, hint
from curate.plug_ins.contract import is_number
from curate.plug_ins.registry import adding
from curate.sources import mask_url, reader
from curate.sources.reader import InputFile
from curate.sources.settings import SHARD_NAMES
from curate.stage import DocumentStage, RuleStage, Stage, declared

# FineWeb's columns, in its order; then where the document lies, so that it can be reopened.
FINEWEB: dict[str, pa.DataType] = {
    "text": pa.string(),
    "id": pa.string(),
    "dump": pa.string(),
    "url": pa.string(),
    "date": pa.string(),
    "file_path": pa.string(),
    "language": pa.string(),
    "language_score": pa.float64(),
    "token_count": pa.int64(),
}
PLACE: dict[str, pa.DataType] = {"source": pa.string(), "offset": pa.int64()}

# What the scan spills of a survivor beside its attributes.
SURVIVOR: dict[str, pa.DataType] = {
    "text": pa.string(),
    "id": pa.string(),
    "url": pa.string(),
    "date": pa.string(),
    "offset": pa.int64(),
    "length": pa.int64(),
    "status": pa.int32(),
    "words": pa.int64(),
    "bytes": pa.int64(),
}

LEDGER = pa.schema(
    [
        ("source", pa.string()),
        ("file_path", pa.string()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
        ("record_id", pa.string()),
        ("url", pa.string()),
        ("domain", pa.string()),
        ("date", pa.string()),
        ("status", pa.int32()),
        ("language", pa.string()),  # null when the page was dropped before its language was looked at
        ("words", pa.int64()),
        ("bytes", pa.int64()),  # of the text; null when there was none yet
        ("stage", pa.string()),
        ("reason", pa.string()),
        ("value", pa.float64()),
        ("limit", pa.float64()),
        ("matched_file", pa.string()),
        ("matched_offset", pa.int64()),
        ("score", pa.float64()),
        ("cause", pa.string()),
    ]
)

CUTS = pa.schema(  # what corpus stages cut out of texts; start and end in characters of the text that the stage saw
    [
        ("source", pa.string()),
        ("file_path", pa.string()),
        ("offset", pa.int64()),
        ("stage", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("words", pa.int64()),
        ("matched_file", pa.string()),  # a document that holds the same
        ("matched_offset", pa.int64()),
        ("cause", pa.string()),
        ("text", pa.string()),  # its beginning
    ]
)

SAMPLES = pa.schema(
    [
        ("stage", pa.string()),
        ("reason", pa.string()),
        ("hash", pa.uint64()),
        ("source", pa.string()),
        ("file_path", pa.string()),
        ("offset", pa.int64()),
        ("url", pa.string()),
        ("value", pa.float64()),
        ("limit", pa.float64()),
        ("text", pa.string()),
    ]
)

DUMP = re.compile(r"CC-(?:MAIN|NEWS)-\d{4}(?:-\d{2,3})?")


def attributes(config: Config, files: list[InputFile]) -> dict[str, pa.DataType]:
    """Names and types of all attributes that sources and stages declare, in order of first declaration.

    Raises UserError when two declare one name with different types, or a name that shards use themselves.
    """
    found: dict[str, tuple[pa.DataType, str]] = {}

    def declare(columns: Mapping[str, pa.DataType], who: str) -> None:
        for name, kind in columns.items():
            if name in SHARD_NAMES:
                raise UserError(
                    f"{who}: the column '{name}' is one that every shard has already; rename it or leave it out"
                )
            kind_before, who_before = found.setdefault(name, (kind, who))
            if not kind_before.equals(kind):
                raise UserError(
                    f"{who}: gives '{name}' as {kind}, but {who_before} as {kind_before}; {_one(name, who)}"
                )

    for file in files:
        read = reader(config.input[file.source], file)
        declare(read.columns, f"input.{file.source}: {mask_url(file.name)}")
        if read.pages:
            _has_extractor(config, file)
    for entry in config.stages:
        for name in declared(entry.stage).needs:
            if name not in found:
                raise UserError(f"stages: {entry.name}: {_unknown(name, found, entry.stage)}")
        for name in declared(entry.stage).needs_numbers:
            if not is_number(found[name][0]):
                raise UserError(
                    f"stages: {entry.name}: the attribute '{name}' is {found[name][0]}, but must be a number"
                )
        declare(entry.stage.adds, entry.name)
        if isinstance(entry.stage, RuleStage) and entry.stage.annotate:
            declare({f"{entry.name}_reason": pa.string()}, entry.name)
    if config.write.by not in (None, "source", *found):
        raise UserError(f"write: by: {_unknown(str(config.write.by), found, None)}")
    _fits_fineweb(found)
    return {name: kind for name, (kind, _) in found.items()}


def _one(name: str, who: str) -> str:
    """How a column gets one type, or two names."""
    if not who.startswith("input."):
        return f"give the source's column another name with `rename: {{{name}: source_{name}}}`"
    return f"give one type for both, `columns: {{{name}: double}}` (string holds any), or another name with `rename`"


def _fits_fineweb(found: Mapping[str, tuple[pa.DataType, str]]) -> None:
    """Refuses an attribute that has the name of one of FineWeb's columns and another type."""
    for name in ("language", "language_score", "token_count"):
        kind, who = found.get(name, (FINEWEB[name], ""))
        if not kind.equals(FINEWEB[name]):
            raise UserError(f"{who}: '{name}' must be {FINEWEB[name]}, not {kind}; rename or cast it")


def _has_extractor(config: Config, file: InputFile) -> None:
    """Refuses web pages that no stage can turn into text."""
    if not any(may_give_text(stage) for _, stage in config.document_stages):
        raise UserError(
            f"stages: none turns the web pages of input.{file.source} ({mask_url(file.name)}) into text; put "
            f"'extract' first (or, if the file holds extracted text, write format: wet)"
        )


def _unknown(name: str, found: Collection[str], stage: Stage | None) -> str:
    """That no source and no earlier stage declares an attribute that a stage needs (None: all stages are earlier)."""
    makers = adding(name, documents=isinstance(stage, DocumentStage))
    where = "among the stages" if stage is None else "before it"
    if makers:
        way = f"put {' or '.join(f'`{maker}`' for maker in makers)} {where}, or, if the input holds it, "
        return f"nothing {where} declares the attribute '{name}'; {way}name it under the source's `columns`"
    later = adding(name, documents=False)
    if later:
        way = f"`{later[0]}` does, but it compares documents, so it stands behind all stages that look at one"
        return f"nothing before it declares the attribute '{name}'; {way}"
    known = hint(name, ["source", *found]).rstrip("?")
    return f"nothing {where} declares the attribute '{name}', {known}; a source declares what its `columns` name"


def survivor_schema(types: Mapping[str, pa.DataType]) -> pa.Schema:
    """What the scan spills: `SURVIVOR` and every attribute of sources and document stages (prefixed `@`)."""
    return pa.schema([*SURVIVOR.items(), *((f"@{name}", kind) for name, kind in types.items())])


def shard_schema(types: Mapping[str, pa.DataType]) -> pa.Schema:
    """FineWeb's columns, the place, then all other attributes as declared."""
    return pa.schema([*FINEWEB.items(), *PLACE.items(), *((n, t) for n, t in types.items() if n not in FINEWEB)])


def measure_types(config: Config) -> dict[str, pa.DataType]:
    """Every measure of every rule stage as `stage.measure`."""
    return {
        f"{name}.{measure}": kind
        for name, stage in config.document_stages
        if isinstance(stage, RuleStage)
        for measure, kind in stage.measures.items()
    }


def measures_schema(config: Config) -> pa.Schema:
    """One row a document that reached a rule stage: place, verdict (null when kept) and all measures.

    `words` and `bytes` are those of the text at the verdict; `measured` says how many rule stages measured it, the
    first ones in order. A rule stage that edits text adds the sizes before and after it, so that what-if can tell the
    size at any other verdict.
    """
    return pa.schema(
        [
            ("source", pa.string()),
            ("file_path", pa.string()),
            ("offset", pa.int64()),
            ("language", pa.string()),
            ("words", pa.int64()),
            ("bytes", pa.int64()),
            ("stage", pa.string()),
            ("reason", pa.string()),
            ("measured", pa.int32()),
            *measure_types(config).items(),
            *(
                (f"{name}.{size}", pa.int64())
                for name, stage in config.document_stages
                if isinstance(stage, RuleStage) and cleans(stage)
                for size in SIZES
            ),
        ]
    )


def domain(url: str) -> str:
    """Host of a URL in lower case, without `www.` and port; "" where there is none."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.")


def dump(file_path: str) -> str | None:
    """The Common Crawl snapshot named in a path, e.g. CC-MAIN-2024-10."""
    match = DUMP.search(file_path)
    return match.group() if match else None

"""What a run's own JSON files hold: `stats.json`, `manifest.json`, `timings.json`, and the parts of a fingerprint.

Integers unless said otherwise; `words` and `bytes` are those of texts, bytes in UTF-8.
"""

import json
from functools import lru_cache
from typing import Annotated, Any, NotRequired, TypeVar, cast

from pydantic import AfterValidator, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic wants this one below Python 3.12

T = TypeVar("T")
Options = dict[str, Any]  # of a config, of one of its sources or stages: plain JSON
StoredRow = dict[str, Any]  # of shards, ledger, measures, samples or cuts, by column


def _canonical(config: Options) -> Options:
    """The keys of a config that are looked at where no stage is imported."""
    stages = config.get("stages")
    named = isinstance(stages, list) and all(
        isinstance(entry, dict) and len(entry) == 1 and isinstance(next(iter(entry.values())), dict) for entry in stages
    )
    if not named or type(config.get("seed")) is not int or not isinstance(config.get("input"), dict):
        raise ValueError("is no config of a run")
    return config


def _input(row: list[Any]) -> list[Any]:
    if [type(cell) for cell in row[:3]] != [str, str, int]:
        raise ValueError("is no [source, name, size]")
    return row


class Read(TypedDict):
    """What the scan read; `bytes` are those of the crawl files."""

    documents: int
    bytes: int


class Records(TypedDict):
    """Records of one type that are no documents, and their bytes in the crawl files."""

    records: int
    bytes: int


class Kept(TypedDict):
    """What the shards hold. `tokens` is 0 where no one counted; `rows` are more where documents are written again."""

    documents: int
    words: int
    bytes: int
    tokens: int
    rows: int


class KeptBy(TypedDict):
    """What the shards hold of one source and language; `language` is None where it is not known."""

    source: str
    language: str | None
    documents: int
    words: int
    bytes: int
    tokens: int


class Dropped(TypedDict):
    """What one reason of a stage cost of one source and language; `crawl_bytes` are those of the crawl files."""

    stage: str
    reason: str
    source: str
    language: str | None
    documents: int
    words: int
    bytes: int
    crawl_bytes: int


class AlarmRow(TypedDict):
    """One alarm: its kind, what it is about, and two counts that the kind gives a meaning."""

    alarm: str
    name: str  # a source, a domain, a stage, or a stage and its group
    dropped: int
    of: int


class Stats(TypedDict):
    """`stats.json`. `stages` are those of the ledger: the engine's own, then those of the config."""

    stages: list[str]
    read: Read
    records: dict[str, Records]
    kept: Kept
    kept_by: list[KeptBy]
    dropped: list[Dropped]
    notes: dict[str, dict[str, int]]  # of each corpus stage
    alarms: list[AlarmRow]


class Timings(TypedDict):
    """`timings.json`: what differs between equal runs. CPU seconds are those of the scan and of its document stages."""

    finished: NotRequired[str]  # when, ISO 8601 in UTC
    recipe: NotRequired[str | None]  # name of the config file; None where the config came from no file
    wall_seconds: dict[str, float]
    workers: int
    scan_cpu_seconds: float
    stage_cpu_seconds: dict[str, float]


class Parts(TypedDict):
    """All that can change a run's output, by name. An input is [source, name, size, version]."""

    config: Annotated[Options, AfterValidator(_canonical)]
    inputs: list[Annotated[list[Any], AfterValidator(_input)]]
    named_files: dict[str, str]  # SHA-256 of what options name
    code: dict[str, str]  # SHA-256 of our own source and of that of plug-ins
    versions: dict[str, str]
    limit: int | None


class ListedFile(TypedDict):
    """A file of the output, by its name under its folder; `bytes` are those of the file."""

    name: str
    bytes: int
    sha256: str


class ListedShard(ListedFile):
    """A shard, by its name under `shards/`."""

    rows: int


class Books(TypedDict):
    """The books: read = kept + dropped; `written` counts a document as often as it was written."""

    read: int
    kept: int
    written: int
    dropped: int


class Manifest(Parts):
    """`manifest.json`. Its inputs are [source, name, size]."""

    format: int
    curate: str
    fingerprint: str
    shards: list[ListedShard]
    export: NotRequired[list[ListedFile]]
    index: NotRequired[list[ListedFile]]
    schemes: NotRequired[dict[str, int]]
    rows: Books
    documents_by_source: dict[str, int]
    tokens_by_source: dict[str, int]
    tokens_are: str
    tokens_counted: NotRequired[bool]  # whether they are more than an estimate


def loaded(kind: type[T], text: str, all_keys: bool = True) -> T:
    """One of these mappings from its JSON. Raises ValueError that names the first key of another type, or missing.

    Without `all_keys` those of other versions may be missing.
    """
    try:
        _adapter(cast(Any, kind)).validate_json(text.encode("utf-8", "replace"), strict=True)
    except ValidationError as error:
        wrong = [one for one in error.errors() if all_keys or one["type"] != "missing"]
        if wrong:
            place = ".".join(map(str, wrong[0]["loc"]))
            raise ValueError(f"{place}: {wrong[0]['msg'].lower()}" if place else wrong[0]["msg"]) from None
    return cast(T, json.loads(text))


@lru_cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)

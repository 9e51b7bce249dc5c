"""What a config may say of one source."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

Name = Annotated[str, Field(min_length=1)]
AUTO = "auto"  # the format that a file's name tells


# Names that every shard fills itself; `columns: all` leaves them out.
SHARD_NAMES = frozenset({"text", "id", "url", "date", "dump", "file_path", "source", "offset"})


@dataclass(frozen=True, kw_only=True)
class SourceConfig:
    """One source of documents: where its files are, and how they are read.

    `path` is a file, a glob or an fsspec URL, or several; `paths` a file that lists paths, one a line (such as
    Common Crawl's `warc.paths.gz`), each put behind `prefix`. The column names hold for JSONL and Parquet: `id`,
    `url` and `date` are taken from the columns of these names where there are such and no others are given;
    `columns` lists what is carried to the shards, for JSONL perhaps with types (`{score: double}`). `all` is every
    column but the document's own and those that each shard fills itself (dump, file_path, source, offset).
    """

    path: Name | tuple[Name, ...] = ()
    paths: Name | None = None
    prefix: str = ""
    format: Name = AUTO  # or a name of the table of formats: warc, wet, jsonl, parquet, ...
    text: Name = "text"
    id: Name | None = None
    url: Name | None = None
    date: Name | None = None
    columns: tuple[Name, ...] | dict[Name, Name] | Literal["all"] = ()  # carried through to the shards
    status: tuple[int, ...] = (200,)  # HTTP statuses that are pages; () takes any
    keep_truncated: bool = False  # their column `truncated` then says what is missing
    keep_date: bool = False  # the date as it was given, in the column `date_given`
    max_record_bytes: Annotated[int, Field(ge=1)] = 64 << 20  # of one record or line when inflated
    parallel_requests: Annotated[int, Field(ge=1, le=64)] = 8  # to one host, over all processes of this machine
    storage: dict[str, Any] | None = None  # options for fsspec, such as {anon: true}

    @property
    def given(self) -> tuple[str, ...]:
        """The values of `path` in order."""
        return (self.path,) if isinstance(self.path, str) else self.path

    @property
    def own(self) -> dict[str, str]:
        """Column names of the document's own parts: text, id, url, date."""
        return {"text": self.text, "id": self.id or "id", "url": self.url or "url", "date": self.date or "date"}

    def is_carried(self, name: str) -> bool:
        """Whether `columns: all` carries a column."""
        return name not in SHARD_NAMES and name not in self.own.values()

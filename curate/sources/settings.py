"""What a config may say of one source."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

Name = Annotated[str, Field(min_length=1)]
AUTO = "auto"  # the format that a file's name tells


# Names that every shard fills itself; `columns: all` leaves them out.
SHARD_NAMES = frozenset({"text", "id", "url", "date", "dump", "file_path", "source", "offset"})


@dataclass(frozen=True, kw_only=True)
class SourceConfig:
    """One source of documents: where its files are, and how they are read."""

    path: Name | tuple[Name, ...] = ()
    """a file, a folder, a glob or an fsspec URL, or a list of them; a folder stands for the files of known kinds in
    it, a WACZ for its WARC files (`a.wacz!/archive/b.warc.gz` is one of them)"""
    paths: Name | None = None
    """a file that lists paths, one a line, such as Common Crawl's `warc.paths.gz`"""
    cdx: Name | tuple[Name, ...] = ()
    """an index, or several, in place of the files: CDXJ, or Parquet as Common Crawl's; only the records of its rows are
    read, by range, from the WARC files that it names, each behind `prefix`"""
    where: dict[Name, str | tuple[str, ...]] | None = None
    """which rows of the index: its fields and the values wanted, such as {languages: [deu]}"""
    prefix: str = ""
    """put before each of `paths`, such as https://data.commoncrawl.org/"""
    format: Name = AUTO
    """what the files are: warc (ARC and WACZ, too), wet, jsonl, parquet or one that a package adds; auto: what their
    names and bytes say"""
    text: Name = "text"
    """column of the text, in JSONL and Parquet"""
    id: Name | None = None
    """column of the document's name (null: `id` where there is one, else file#offset)"""
    url: Name | None = None
    """column of the URL (null: `url` where there is one)"""
    date: Name | None = None
    """column of the date (null: `date` where there is one); in shards it is UTC, ISO 8601"""
    rename: dict[Name, Name] | None = None
    """columns of JSONL and Parquet files under the names that all else here uses, such as {content: text}; where a file
    has a column of the new name, that one stays"""
    columns: tuple[Name, ...] | dict[Name, Name] | Literal["all"] = ()
    """columns that are carried to the shards: names, names with types such as {score: double}, or all but those that
    each shard fills itself; with a type, a value that does not fit and a column that a file has not are null"""
    status: tuple[int, ...] = (200,)
    """HTTP statuses that are pages; [] takes any"""
    keep_truncated: bool = False
    """keep pages that the crawler cut; the column `truncated` then says what is missing"""
    keep_date: bool = False
    """keep the date as it was given, in the column `date_given`"""
    max_record_bytes: Annotated[int, Field(ge=1)] = 64 << 20
    """bytes of one record or line when inflated; a larger one is damaged"""
    parallel_requests: Annotated[int, Field(ge=1, le=64)] = 8
    """requests to one host at a time, over all processes of this machine"""
    storage: dict[str, Any] | None = None
    """options for fsspec, such as {anon: true}"""

    @property
    def given(self) -> tuple[str, ...]:
        """The values of `path` in order; of a source that is read by an index, those of `cdx`."""
        given = self.cdx or self.path
        return (given,) if isinstance(given, str) else given

    @property
    def kind(self) -> str:
        """The format: that of an index where there is one."""
        return "cdx" if self.cdx else self.format

    @property
    def own(self) -> dict[str, str]:
        """Column names of the document's own parts: text, id, url, date."""
        return {"text": self.text, "id": self.id or "id", "url": self.url or "url", "date": self.date or "date"}

    def name_of(self, name: str, names: Collection[str]) -> str:
        """What a column of a file is called here, by `rename`; `names` are all of the file."""
        new = (self.rename or {}).get(name, name)
        return name if new in names else new

    def is_carried(self, name: str) -> bool:
        """Whether `columns: all` carries a column."""
        return name not in SHARD_NAMES and name not in self.own.values()

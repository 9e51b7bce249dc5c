"""A finished run opened for reading: its manifest, stats and tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from curate.config.file import Config, from_canonical
from curate.errors import UserError, cause
from curate.output import manifest
from curate.output.facts import Manifest, Options, Stats, Timings, loaded
from curate.routed.routed_file import RoutedFile
from curate.sources.remote import is_url, mask_url

T = TypeVar("T")


@dataclass(frozen=True)
class OpenedRun:
    """The output folder of a finished run."""

    folder: Path

    @classmethod
    def of(cls, out: str) -> "OpenedRun":
        """Opens a run. Raises UserError where there is no finished one, or where it is not on this machine."""
        if is_url(out):
            raise UserError(f"{mask_url(out)}: a run is looked into where it lies; copy it to this machine first")
        run = cls(Path(out.removeprefix("file://")))
        manifest.read(run.folder)
        return run

    @cached_property
    def manifest(self) -> Manifest:
        """manifest.json."""
        return manifest.read(self.folder)

    @cached_property
    def stats(self) -> Stats:
        """stats.json."""
        return self._json("stats.json", Stats)

    @cached_property
    def timings(self) -> Timings:
        """timings.json."""
        return self._json("timings.json", Timings)

    @cached_property
    def config(self) -> Config:
        """The config that the run was made with."""
        return from_canonical(self.manifest["config"], str(self.folder))

    @property
    def options(self) -> dict[str, Options]:
        """Options of each stage in config order, as plain JSON, without importing any stage."""
        return {name: dict(options) for entry in self.manifest["config"]["stages"] for name, options in entry.items()}

    @property
    def files(self) -> dict[str, str]:
        """Source of each input file by its name, in crawl order."""
        return {name: source for source, name, *_ in self.manifest["inputs"]}

    @property
    def limit(self) -> int | None:
        """Pages that a trial run with --limit read at most; None for a whole run."""
        limit: int | None = self.manifest.get("limit")
        return limit

    @property
    def tokens_counted(self) -> bool:
        """Whether the tokens of what was kept are more than an estimate."""
        return self.manifest.get("tokens_counted", False)

    def tables(self, kind: str) -> list[Path]:
        """The Parquet files that lie in a folder of the run; a folder may have such a name, by a value of `by:`."""
        found = sorted((self.folder / kind).rglob("*.parquet"))
        return [path for path in found if path.is_file() and not path.name.startswith(".")]

    def parts(self, kind: str) -> list[Path]:
        """The Parquet files of the `shards`, `ledger`, `measures` or `samples`, in order."""
        folder, found = self.folder / kind, self.tables(kind)
        for name in self._listed(kind, len(found)):
            if folder / name not in found:
                raise UserError(f"{folder / name}: is missing; {self._way_out}")
        return found

    def _listed(self, kind: str, found: int) -> list[str]:
        """Files that must be there: shards by the manifest, parts of the ledger by their number."""
        if kind == "shards":
            return [shard["name"] for shard in self.manifest["shards"]]
        least = max(found, min(1, self.manifest["rows"]["dropped"])) if kind == "ledger" else 0
        return [f"part-{number:05}.parquet" for number in range(least)]

    def columns(self, kind: str) -> list[str]:
        """Names of the columns of a kind of table; empty where the run wrote none."""
        parts = self.parts(kind)
        return list(self.read_part(parts[0], None).schema.names) if parts else []

    def read(self, kind: str, columns: list[str]) -> pa.Table:
        """Some columns of all rows of a kind of table; an empty table of those columns where there are none."""
        tables = [self.read_part(path, columns) for path in self.parts(kind)]
        return pa.concat_tables(tables) if tables else pa.table({name: pa.nulls(0) for name in columns})

    def read_part(self, path: Path, columns: list[str] | None) -> pa.Table:
        """Some columns of one Parquet file of the run; no rows but the schema where `columns` is None."""
        with self.open_part(path) as file:
            return file.schema_arrow.empty_table() if columns is None else file.read(columns)

    @contextmanager
    def open_part(self, path: Path) -> Iterator[RoutedFile]:
        """One Parquet file of the run. Raises UserError where it is damaged, then or while the block reads it."""
        try:
            with RoutedFile(path) as file:
                yield file
        except (OSError, pa.ArrowException) as error:
            raise UserError(f"{path}: can't be read ({cause(error)}); {self._way_out}") from None

    @property
    def _way_out(self) -> str:
        return f"run `curate verify {self.folder}` for all that is wrong, or `curate run` with --fresh to make it anew"

    def _json(self, name: str, kind: type[T]) -> T:
        try:
            text = (self.folder / name).read_text()
            return loaded(kind, text, all_keys=self.manifest["format"] == manifest.FORMAT)
        except (OSError, ValueError) as error:
            raise UserError(f"{self.folder / name}: can't be read ({cause(error)}); {self._way_out}") from None

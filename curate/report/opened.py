"""A finished run opened for reading: its manifest, stats and tables."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from curate import manifest
from curate.config import Config, from_canonical
from curate.errors import UserError

if TYPE_CHECKING:
    from pyarrow import dataset


@dataclass(frozen=True)
class OpenedRun:
    """The output folder of a finished run."""

    folder: Path

    @classmethod
    def of(cls, out: str) -> "OpenedRun":
        """Opens a run. Raises UserError where there is no finished one."""
        run = cls(Path(out))
        manifest.read(run.folder)
        return run

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """manifest.json."""
        return manifest.read(self.folder)

    @cached_property
    def stats(self) -> dict[str, Any]:
        """stats.json."""
        return self._json("stats.json")

    @cached_property
    def timings(self) -> dict[str, Any]:
        """timings.json."""
        return self._json("timings.json")

    @cached_property
    def config(self) -> Config:
        """The config that the run was made with."""
        return from_canonical(self.manifest["config"], str(self.folder))

    @property
    def options(self) -> dict[str, dict[str, Any]]:
        """Options of each stage in config order, as plain JSON, without importing any stage."""
        return {name: dict(told) for entry in self.manifest["config"]["stages"] for name, told in entry.items()}

    @property
    def files(self) -> dict[str, str]:
        """Source of each input file by its name, in crawl order."""
        return {name: source for source, name, *_ in self.manifest["inputs"]}

    def parts(self, kind: str) -> list[Path]:
        """The Parquet files of the `shards`, `ledger`, `measures` or `samples`, in order."""
        return sorted(path for path in (self.folder / kind).rglob("*.parquet") if not path.name.startswith("."))

    def table(self, kind: str) -> "dataset.Dataset":
        """The `shards`, `ledger`, `measures` or `samples` as one data set, for scans that should not hold it."""
        from pyarrow import dataset  # takes longer to load than most answers take

        paths = [str(path) for path in self.parts(kind)]
        return dataset.dataset(paths, format="parquet") if paths else dataset.dataset(pa.table({}))

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
        try:
            with pq.ParquetFile(path) as file:
                return file.schema_arrow.empty_table() if columns is None else file.read(columns)
        except (OSError, pa.ArrowException) as error:
            raise UserError(f"{path}: can't be read ({error}); run `curate verify {self.folder}`") from error

    def _json(self, name: str) -> dict[str, Any]:
        try:
            told: dict[str, Any] = json.loads((self.folder / name).read_text())
        except (OSError, ValueError) as error:
            raise UserError(
                f"{self.folder / name}: can't be read ({error}); run `curate verify {self.folder}`"
            ) from error
        return told

"""A finished run opened for reading: its manifest, stats and tables."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

from curate import manifest
from curate.config import Config, from_canonical
from curate.errors import UserError


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

    def table(self, kind: str) -> ds.Dataset:
        """The `shards`, `ledger`, `measures` or `samples` as one data set."""
        paths = sorted(str(path) for path in (self.folder / kind).rglob("*.parquet") if not path.name.startswith("."))
        return ds.dataset(paths, format="parquet") if paths else ds.dataset([])

    def _json(self, name: str) -> dict[str, Any]:
        try:
            told: dict[str, Any] = json.loads((self.folder / name).read_text())
        except (OSError, ValueError) as error:
            raise UserError(f"{self.folder / name}: can't be read ({error}); run `curate verify {self.folder}`") from error
        return told

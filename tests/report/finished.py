"""Finished runs to look into: the sample crawl once a session, and small ones of pages made on the spot."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from click.testing import CliRunner, Result

from curate.cli import cli
from curate.config.file import Config, parse_config
from curate.executors.executor import Serial
from curate.inspect.opened import OpenedRun
from curate.run import Options, run

ROOT = Path(__file__).parents[2]
SAMPLE_STAGES: list[Any] = ["extract", "language", "gopher", "exact_dedup", {"near_dedup": {"threshold": 0.8}}]


def finished(folder: Path, stages: list[Any], source: Any, **settings: Any) -> OpenedRun:
    """Runs stages over an input in this process and opens what it wrote."""
    value: Mapping[str, Any] = {"input": source, "output": str(folder / "out"), "stages": stages, **settings}
    return of_config(parse_config(value))


def of_config(config: Config) -> OpenedRun:
    """Runs a config in this process and opens what it wrote."""
    run(config, Serial(), Options(), lambda phase, figures: None, lambda sentence: None)
    return OpenedRun.of(config.output)


def pages(folder: Path, rows: Iterable[Mapping[str, Any]]) -> str:
    """A JSONL file of pages (`text`, `url`, ...) as an input."""
    path = folder / "pages.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@lru_cache(maxsize=1)
def sample_run() -> OpenedRun:
    """The sample crawl through the stages of configs/sample.yaml."""
    return finished(Path(mkdtemp(prefix="curate-test-")), SAMPLE_STAGES, str(ROOT / "sample_crawl" / "*.warc*"))


@lru_cache(maxsize=1)
def truth() -> list[dict[str, Any]]:
    """The sample crawl's truth: one row a page, with `expect` as stage.reason or kept."""
    lines = (ROOT / "sample_crawl" / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["expect"]]


def call(*arguments: object) -> Result:
    """Calls a command in this process."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)

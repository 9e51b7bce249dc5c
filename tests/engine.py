"""Small runs for the tests of the engine: texts, configs, one call that runs them, the tree hash."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curate.config.file import parse_config
from curate.executors.executor import Executor, Serial
from curate.run import Options, Report, run

WORDS = (
    "the of and to in a is that for it was on are as with his they at be this have from or one had by words but not "
    "what all were we when your can said there use an each which she do how their if will up other about out many then "
    "river meadow baker window winter garden stone harbour letter engine market morning road mountain teacher doctor"
).split()
STAGES: list[Any] = ["language", "gopher", "exact_dedup", "near_dedup"]


def text(number: int, words: int = 120) -> str:
    """An English-looking text, another one for each number."""
    rng = Random(number)
    return " ".join(f"{rng.choice(WORDS)}{'.' if place % 11 == 10 else ''}" for place in range(words))


def texts(count: int) -> list[str]:
    """Texts of which some are exact copies, near copies, too short or in another language."""
    made = []
    for number in range(count):
        kind = number % 10
        if kind == 3:
            made.append(made[number - 3].upper())
        elif kind == 5:
            made.append(made[number - 5] + " and one more line at the end")
        elif kind == 7:
            made.append("too short to keep")
        elif kind == 8:
            made.append("Der Fluss ist nie lange gleich breit und im Frühling steht die Wiese unter Wasser. " * 8)
        else:
            made.append(text(number))
    return made


def write_jsonl(path: Path, lines: list[str], **columns: list[Any]) -> Path:
    """A JSONL file with a URL for each text."""
    with path.open("w") as file:
        for number, line in enumerate(lines):
            row = {"text": line, "url": f"http://site{number % 7}.example/{path.stem}/{number}"}
            file.write(json.dumps(row | {name: values[number] for name, values in columns.items()}) + "\n")
    return path


def crawl(folder: Path, files: int = 3, each: int = 40) -> str:
    """Some JSONL files; returns the glob that names them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = texts(files * each)
    for number in range(files):
        write_jsonl(folder / f"part-{number}.jsonl", lines[number * each : (number + 1) * each])
    return f"{folder}/*.jsonl"


def apart(paths: str) -> dict[str, dict[str, str]]:
    """Files of a pattern as sources of their own: a task each, where small files of one source share one."""
    return {path.stem: {"path": str(path), "url": "url"} for path in sorted(Path(paths).parent.glob(Path(paths).name))}


def settings(input: Any, output: Path, **more: Any) -> dict[str, Any]:
    """A config as a plain mapping."""
    if isinstance(input, str):
        input = {"crawl": {"path": input, "url": "url"}}
    return {"input": input, "output": str(output), "stages": STAGES, **more}


def run_it(
    config: Mapping[str, Any],
    executor: Executor | None = None,
    progress: Callable[[str, Mapping[str, Any]], None] = lambda phase, figures: None,
    **options: Any,
) -> Report:
    """Runs a config quietly."""
    return run(parse_config(config), executor or Serial(), Options(**options), progress, lambda figures: None)


def table(output: Path, kind: str) -> pa.Table:
    """All rows of one kind of output."""
    return pq.read_table(output / kind)


def tree_hash(folder: Path) -> str:
    """SHA-256 over all files of an output but timings, report and dot-files."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name not in ("timings.json", "report.html") and not any(p.startswith(".") for p in name.split("/")):
            total.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()

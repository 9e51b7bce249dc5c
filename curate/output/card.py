"""The dataset card: `README.md` in the output, with which `datasets.load_dataset("out")` finds shards and ledger."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
import yaml

from curate import __version__
from curate.output.facts import Parts, Stats
from curate.output.fingerprint import digest
from curate.routed.left_out import LeftOut, noted
from curate.routed.names import NULL, folder_name

NAME = "README.md"
MARK = "<!-- written by curate run; change this line, and a later run leaves the file alone -->"
KINDS = ("shards", "ledger", "measures", "samples")
SPLIT = "train"
MOST_VALUES = 1000  # of folders that are a configuration each; a head of more is no page for people
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # of a value that is a configuration's name as it is
SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
    (1_000_000_000, "100M<n<1B"),
)
LICENCES = """\
The texts are those of their authors, under the terms of the pages that they are from: each row names its page in `url`,
`file_path` and `offset`. A crawl gives no licence to its pages (Common Crawl's own terms of use say so, too); whoever
publishes or trains on these texts answers for it. Before you publish: name the licence of the whole above (`license:`),
say whom people can ask to have a page removed, and look for personal data."""


def is_ours(folder: Path) -> bool:
    """Whether the card in a folder was written by a run and not taken over by a person."""
    path = folder / NAME
    return path.is_file() and MARK in path.read_text(encoding="utf-8", errors="replace")


def write(final: Path, parts: Parts, stats: Stats) -> None:
    """Writes the card of a run whose files stand, unless a README of somebody else is there."""
    path = final / NAME
    if path.exists() and not is_ours(final):
        return
    temporary = path.with_name(f".{NAME}.tmp")
    temporary.write_text("\n".join(_lines(final, parts, stats)) + "\n", encoding="utf-8")
    temporary.replace(path)


def _lines(final: Path, parts: Parts, stats: Stats) -> Iterator[str]:
    kept, read = stats["kept"], stats["read"]
    values = _values(final, parts)
    head = {
        "configs": [*_configs(final), *_by_value(values)],
        "size_categories": [_size(kept["rows"])],
        **_languages(stats),
    }
    yield from ("---", yaml.safe_dump(head, sort_keys=False, allow_unicode=True).strip(), "---", MARK, "")
    yield from ("# Dataset", "", f"{kept['documents']:,} documents ({kept['words']:,} words, {kept['bytes']:,} bytes)")
    yield f"kept of {read['documents']:,} read, by curate {__version__}."
    yield from ("", "```python", "from datasets import load_dataset", 'documents = load_dataset("out", split="train")')
    yield from ('dropped = load_dataset("out", "ledger", split="train")  # every dropped page with its reason', "```")
    yield from _column_back(final, values)
    yield from ("", "## What was kept", "", "| source | language | documents | words | bytes | tokens |")
    yield "|---|---|---:|---:|---:|---:|"
    for row in stats["kept_by"]:
        counts = " | ".join(f"{n:,}" for n in (row["documents"], row["words"], row["bytes"], row["tokens"]))
        yield f"| {_cell(row['source'])} | {_cell(row['language'] or '')} | {counts} |"
    yield from ("", "## What was dropped", "", "| stage | reason | documents |", "|---|---|---:|")
    dropped: dict[tuple[str, str], int] = {}
    for lost in stats["dropped"]:
        place = (lost["stage"], lost["reason"])
        dropped[place] = dropped.get(place, 0) + lost["documents"]
    for (stage, reason), count in dropped.items():
        yield f"| {_cell(stage)} | {_cell(reason)} | {count:,} |"
    yield from ("", "## Licences", "", LICENCES, "", "## How it was made", "")
    yield f"Fingerprint `{digest(parts)}`; inputs, versions and hashes stand in `manifest.json`. The config:"
    yield from ("", "```json", json.dumps(parts["config"], indent=1, ensure_ascii=False), "```")


def _configs(final: Path) -> list[dict[str, Any]]:
    """One for each kind of table that has rows; the shards are what is loaded without a name."""
    found = []
    for kind in KINDS:
        if any((final / kind).rglob("*.parquet")):
            files = [{"split": SPLIT, "path": f"{kind}/**/*.parquet"}]
            found.append({"config_name": "default" if kind == "shards" else kind, "data_files": files})
    return found


def _values(final: Path, parts: Parts) -> dict[str, str]:
    """The configuration of each folder that a value has, named as the value is where that is a plain word."""
    by = parts["config"]["write"]["by"]
    if by is None:
        return {}
    folders = sorted(path.name for path in (final / "shards").iterdir() if path.is_dir())
    if len(folders) > MOST_VALUES:
        return {}
    names = {folder: unquote(folder.removeprefix(f"{folder_name(by)}=")) for folder in folders}
    alike = Counter([*(name.lower() for name in names.values()), "default", "all", *KINDS])
    return {
        folder: name if name != NULL and PLAIN_NAME.fullmatch(name) and alike[name.lower()] == 1 else folder
        for folder, name in names.items()
    }


def _by_value(values: dict[str, str]) -> Iterator[dict[str, Any]]:
    for folder, name in values.items():
        yield {"config_name": name, "data_files": [{"split": SPLIT, "path": f"shards/{folder}/*.parquet"}]}


def _column_back(final: Path, values: dict[str, str]) -> Iterator[str]:
    """How to load the documents of one value, and the column that the files leave out."""
    if not values:
        return
    folder, name = max(values.items(), key=lambda item: (not item[0].endswith(f"={NULL}"), item[1] != item[0]))
    yield from ("", "Each folder of `shards/` is a configuration of its own:", "")
    yield from ("```python", f'documents = load_dataset("out", {json.dumps(name)}, split="{SPLIT}")')
    left = _left_out(final / "shards" / folder)
    if left:
        value = left.value(f"{folder}/")
        said = repr(value.as_py() if value is not None else None)
        yield f'documents = documents.add_column("{left.name}", [{said}] * len(documents))'
    yield "```"
    if left:
        yield from ("", f"No file holds `{left.name}`: the names of the folders tell it, as Hive has it. pyarrow,")
        yield "pandas, polars and duckdb give it back from there; `load_dataset` does not: the second line adds it."


def _left_out(folder: Path) -> LeftOut | None:
    return noted(pq.read_schema(next(iter(sorted(folder.glob("*.parquet"))))))


def _size(rows: int) -> str:
    return next((name for limit, name in SIZES if rows < limit), "n>1B")


def _languages(stats: Stats) -> dict[str, list[str]]:
    """Languages as the Hub names them: two or three letters."""
    languages = {str(row["language"]) for row in stats["kept_by"] if row["language"]}
    known = sorted(language for language in languages if re.fullmatch("[a-z]{2,3}", language))
    return {"language": known} if known else {}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

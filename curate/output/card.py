"""The dataset card: `README.md` in the output, with which `datasets.load_dataset("out")` finds shards and ledger."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from curate import __version__
from curate.output.facts import Parts, Stats
from curate.output.fingerprint import digest

NAME = "README.md"
MARK = "<!-- written by curate run; change this line, and a later run leaves the file alone -->"
KINDS = ("shards", "ledger", "measures", "samples")
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
    head = {"configs": _configs(final), "size_categories": [_size(kept["rows"])], **_languages(stats)}
    yield from ("---", yaml.safe_dump(head, sort_keys=False, allow_unicode=True).strip(), "---", MARK, "")
    yield from ("# Dataset", "", f"{kept['documents']:,} documents ({kept['words']:,} words, {kept['bytes']:,} bytes)")
    yield f"kept of {read['documents']:,} read, by curate {__version__}."
    yield from ("", "```python", "from datasets import load_dataset", 'documents = load_dataset("out", split="train")')
    yield from ('dropped = load_dataset("out", "ledger", split="train")  # every dropped page with its reason', "```")
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
            files = [{"split": "train", "path": f"{kind}/**/*.parquet"}]
            found.append({"config_name": "default" if kind == "shards" else kind, "data_files": files})
    return found


def _size(rows: int) -> str:
    return next((name for limit, name in SIZES if rows < limit), "n>1B")


def _languages(stats: Stats) -> dict[str, list[str]]:
    """Languages as the Hub names them: two or three letters."""
    languages = {str(row["language"]) for row in stats["kept_by"] if row["language"]}
    known = sorted(language for language in languages if re.fullmatch("[a-z]{2,3}", language))
    return {"language": known} if known else {}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

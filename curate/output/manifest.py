"""The manifest: what a finished run was made of and what it wrote. Written last, so its existence means complete."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from curate import __version__
from curate.config.file import Config, Entry
from curate.durable import write_json
from curate.errors import UserError, cause
from curate.output.facts import ListedFile, Manifest, Parts, Stats, loaded
from curate.output.fingerprint import digest, public
from curate.output.written import ShardFacts
from curate.stage import declared
from curate.text import estimated_tokens

NAME = "manifest.json"
FORMAT = 2  # of an output; 1 had the column `near_dedup.kin` in measures/, and is read as well


def shards_digest(shards: Iterable[ListedFile]) -> str:
    """SHA-256 over the names and hashes of all shards, in order."""
    listing = "".join(f"{shard['name']} {shard['sha256']}\n" for shard in shards)
    return sha256(listing.encode()).hexdigest()


def write(
    final: Path,
    config: Config,
    parts: Parts,
    shards: list[ShardFacts],
    stats: Stats,
    beside: Mapping[str, list[ListedFile]],
) -> None:
    """Writes `manifest.json`; tokens and documents by source are what `scale plan --run` reads.

    `beside` are files of other kinds (`export`, `index`), each with name, bytes and SHA-256.
    """
    shown = public(parts)
    by_source = _by_source(stats)
    counts = next((entry for entry in config.stages if "token_count" in entry.stage.adds), None)
    counted = counts is not None or any(t["tokens"] for t in by_source.values())
    tokens = {n: t["tokens"] if counted else estimated_tokens(t["words"]) for n, t in by_source.items()}
    rows = {
        "read": stats["read"]["documents"],
        "kept": stats["kept"]["documents"],
        "written": stats["kept"]["rows"],
        "dropped": sum(row["documents"] for row in stats["dropped"]),
    }
    write_json(
        final / NAME,
        {
            "format": FORMAT,
            "curate": __version__,
            "fingerprint": digest(shown),
            **shown,
            "shards": [{key: shard[key] for key in ("name", "rows", "bytes", "sha256")} for shard in shards],
            **{kind: files for kind, files in beside.items() if files},
            "schemes": _schemes(config),
            "rows": rows,
            "documents_by_source": {name: total["documents"] for name, total in by_source.items()},
            "tokens_by_source": tokens,
            "tokens_are": _tokens_are(counts, counted),
            "tokens_counted": tokens_counted(config, stats),
        },
    )


def tokens_counted(config: Config, stats: Stats) -> bool:
    """Whether the tokens of what was kept were counted, by a stage or in the input, and not estimated."""
    stages = [entry.stage for entry in config.stages if "token_count" in entry.stage.adds]
    return not any(declared(stage).estimates for stage in stages) and (bool(stages) or stats["kept"]["tokens"] > 0)


def _schemes(config: Config) -> dict[str, int]:
    """The number of the form of each corpus stage's sketches: those of two runs compare where it is equal."""
    schemes = {entry.name: declared(entry.stage).scheme for entry in config.stages}
    return {name: scheme for name, scheme in schemes.items() if scheme is not None}


def _by_source(stats: Stats) -> dict[str, dict[str, int]]:
    """Documents, words and tokens kept of each source."""
    found: dict[str, dict[str, int]] = {}
    for row in stats["kept_by"]:
        total = found.setdefault(row["source"], {"documents": 0, "words": 0, "tokens": 0})
        total["documents"] += row["documents"]
        total["words"] += row["words"]
        total["tokens"] += row["tokens"]
    return found


def _tokens_are(stage: Entry | None, counted: bool) -> str:
    if stage is not None:
        return f"{'estimated' if declared(stage.stage).estimates else 'counted'} by the {stage.name} stage"
    return "counted in the input" if counted else "estimated as 4/3 of the words"


def read(folder: Path) -> Manifest:
    """The manifest of a finished run. Raises UserError where there is none."""
    way_out = "give the output folder of `curate run`"
    try:
        text = (folder / NAME).read_text()
        manifest: Manifest = json.loads(text)
    except FileNotFoundError:
        raise UserError(f"{folder}: no finished run here ({NAME} is missing); {way_out}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{folder / NAME}: can't be read ({cause(error)}); {way_out}") from None
    if not isinstance(manifest, dict) or not {"config", "inputs", "shards", "rows"} <= manifest.keys():
        raise UserError(f"{folder / NAME}: is no manifest of curate; {way_out}")
    if not isinstance(manifest.get("format"), int) or manifest["format"] not in range(1, FORMAT + 1):
        raise UserError(
            f"{folder}: an output of format {manifest.get('format')!r}, and this version of curate reads 1 to "
            f"{FORMAT}; look into it with the version that made it"
        )
    try:
        return loaded(Manifest, text, all_keys=manifest["format"] == FORMAT)
    except ValueError as error:
        raise UserError(f"{folder / NAME}: is damaged ({error}); {way_out}") from None

"""An export from begin to end: tokenise → plan → write parts → finish; `export.json` last says that it is whole.

Tasks are fixed by the shards, and results are put together in their order: worker counts change no byte.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curate import __version__
from curate.durable import locked, write_json
from curate.errors import UserError, cause
from curate.executors.executor import Executor, results
from curate.export.arrange import SPLITS, WrittenPart, files_of, plan, write_part
from curate.export.facts import ExportFacts, Origin, SplitFacts
from curate.export.formats import ExportLayout, Format, named
from curate.export.settings import ExportSettings
from curate.export.tokenise import TEXT, TokeniseTask, open_shard, tokenise
from curate.export.tokenizer import load

NAME, BEGUN = "export.json", "begun.json"
MOST_TEXT, LEAST_TEXT, TASKS = 256 << 20, 8 << 20, 1024


class Exported(NamedTuple):
    """`export.json`, and whether it was there already."""

    facts: ExportFacts
    ready: bool


def checked(settings: ExportSettings) -> tuple[Format, ExportLayout, int | None]:
    """Format, layout and the token that fills rows. Raises UserError where the settings do not go together."""
    form = named(settings.format)
    if settings.tokenizer is None:
        if form.needs != "any":
            raise UserError(f"format {settings.format}: holds tokens; name a tokenizer.json by 'tokenizer'")
        if settings.pack != "none":
            raise UserError(f"pack {settings.pack}: rows are of tokens; name a tokenizer.json by 'tokenizer'")
        return form, ExportLayout(np.dtype("u1"), True, None, ""), None
    if form.needs == "rows" and settings.pack == "none":
        raise UserError(
            f"format {settings.format}: knows no documents, only rows of one length; give `pack` concat or best_fit "
            "(--pack) and `length` (--length), which is its reader's block size"
        )
    if (settings.pack == "none") != (settings.length is None):
        raise UserError("pack and length (--pack, --length) go together: only rows have one length")
    tokenizer = load(settings.tokenizer)
    end = tokenizer.mark(settings.end, "end")
    tokenizer.mark(settings.begin, "begin")
    pad = None
    if settings.pack != "none":
        pad = end if settings.pad is None else tokenizer.mark(settings.pad, "pad")
        if pad is None:
            raise UserError("pad: rows are filled with the token that ends documents, and there is none; name one")
    return form, ExportLayout(tokenizer.dtype, False, settings.length, tokenizer.name), pad


def export(
    executor: Executor,
    shards: Sequence[Path],
    made_from: str,
    settings: ExportSettings,
    final: Path,
    fresh: bool = False,
    tell: Callable[[str], None] = lambda sentence: None,
) -> Exported:
    """Exports shards, or goes on with what an earlier call left. `made_from` is a hash of the shards.

    Raises UserError for settings that can't be, and for a folder that holds another export.
    """
    form, layout, pad = checked(settings)
    origin: Origin = {
        "settings": _shown(settings),
        "from": made_from,
        "curate": __version__,
        "tokenizer": _tokenizer_facts(settings),
    }
    work = final / ".work"
    work.mkdir(parents=True, exist_ok=True)
    with locked(final / ".export.lock"):
        if _prepared(final, work, origin, fresh):
            return Exported(opened(final), True)
        tasks = _tasks(settings, shards, work)
        tell(f"tokenising {len(tasks)} parts of the shards")
        tokenised = results(executor, tokenise, tasks)
        parts = plan(settings, layout, str(final), str(work), len(tasks), pad)
        tell(f"writing {len(parts)} parts")
        written = results(executor, write_part, parts)
        for split in SPLITS:
            mine = [(task.part, some["facts"]) for task, some in zip(parts, written) if some["split"] == split]
            if mine:
                form.finish([part for part, _ in mine], [facts for _, facts in mine])
        empty = sum(some["empty"] for some in tokenised)
        write_json(final / NAME, {**origin, **_account(executor, final, written, empty)})
        shutil.rmtree(work)
        return Exported(opened(final), False)


def opened(final: Path) -> ExportFacts:
    """`export.json` of a finished export, and as `itself` its own hash. Raises UserError where there is none."""
    try:
        facts: ExportFacts = json.loads((final / NAME).read_text())
    except FileNotFoundError:
        raise UserError(f"{final}: no finished export here ({NAME} is missing); run `curate export`") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{final / NAME}: can't be read ({cause(error)}); export again with --fresh") from None
    size, digest = hashed(str(final / NAME))
    return {**facts, "itself": {"name": NAME, "bytes": size, "sha256": digest}}


def exported(folder: Path) -> bool:
    """Whether a folder holds an export, whole or begun."""
    return (folder / NAME).exists() or (folder / ".work" / BEGUN).exists()


def _shown(settings: ExportSettings) -> dict[str, Any]:
    """The settings without the place of the tokenizer, which is told by its content."""
    return {name: value for name, value in asdict(settings).items() if name != "tokenizer"}


def _tokenizer_facts(settings: ExportSettings) -> dict[str, Any] | None:
    if settings.tokenizer is None:
        return None
    from importlib.metadata import version

    tokenizer = load(settings.tokenizer)
    return {
        "name": tokenizer.name,
        "sha256": sha256(Path(settings.tokenizer).read_bytes()).hexdigest(),
        "vocabulary": tokenizer.vocabulary,
        "type": tokenizer.dtype.name,
        "end": tokenizer.mark(settings.end, "end"),
        "tokenizers": version("tokenizers"),
    }


def _prepared(final: Path, work: Path, origin: Origin, fresh: bool) -> bool:
    """Whether this very export is there; else makes the folder ready for it."""
    done, begun = final / NAME, work / BEGUN
    if fresh and exported(final):
        for path in final.iterdir():
            if path.name != ".export.lock":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    work.mkdir(exist_ok=True)
    for path in (done, begun):
        if path.exists():
            stored = json.loads(path.read_text())
            if any(stored.get(name) != value for name, value in origin.items()):
                changed = ", ".join(name for name, value in origin.items() if stored.get(name) != value)
                way_out = "give --fresh, or another folder by --to"
                raise UserError(f"{final}: holds an export that differs ({changed}); {way_out}")
    if done.exists():
        shutil.rmtree(work)
        return True
    others = [path.name for path in final.iterdir() if not path.name.startswith(".")]
    if others and not begun.exists():
        raise UserError(f"{final}: holds '{sorted(others)[0]}', which no export made; give another folder by --to")
    write_json(begun, origin)
    return False


def _tasks(settings: ExportSettings, shards: Sequence[Path], work: Path) -> list[TokeniseTask]:
    """Row groups that go together: fixed by the shards, some 1,000 tasks or less, each of bounded text."""
    abouts = [_about(path) for path in shards]
    sizes = [[_text_bytes(about, group) for group in range(about.num_row_groups)] for about in abouts]
    rows = sum(about.num_rows for about in abouts)
    at_most = min(MOST_TEXT, max(LEAST_TEXT, sum(map(sum, sizes)) // TASKS))
    tasks: list[TokeniseTask] = []
    before = 0
    for path, about, some in zip(shards, abouts, sizes):
        for groups in _together(some, at_most) if about.num_rows else ():
            tasks.append(TokeniseTask(settings, str(path), groups, before, rows, str(work), len(tasks)))
            before += sum(about.row_group(group).num_rows for group in groups)
    return tasks


def _about(path: Path) -> Any:
    """What a shard's footer tells. Raises UserError where it is damaged."""
    with open_shard(path) as shard:
        return shard.metadata


def _text_bytes(about: Any, group: int) -> int:
    row_group = about.row_group(group)
    columns = (row_group.column(index) for index in range(row_group.num_columns))
    return sum(int(column.total_uncompressed_size) for column in columns if column.path_in_schema == TEXT)


def _together(sizes: Sequence[int], at_most: int) -> list[tuple[int, ...]]:
    found: list[list[int]] = []
    held = at_most
    for group, size in enumerate(sizes):
        if held + size > at_most:
            found.append([])
            held = 0
        found[-1].append(group)
        held += size
    return [tuple(groups) for groups in found]


def _account(executor: Executor, final: Path, written: Sequence[WrittenPart], empty: int) -> dict[str, Any]:
    """Counts of each split, each part's place in its file, and the hash of each file."""
    splits: dict[str, SplitFacts] = {}
    bases = files_of(written)
    for part in written:
        split = splits.setdefault(part["split"], {"documents": 0, "sequences": 0, "tokens": 0, "padded": 0})
        split["documents"] += part["documents"]
        split["padded"] += part["padded"]
        split["sequences"] += part["facts"]["sequences"]
        split["tokens"] += part["facts"]["tokens"]
    paths = sorted(path for path in final.rglob("*") if path.is_file() and not _hidden(path.relative_to(final)))
    names = [path.relative_to(final).as_posix() for path in paths]
    return {
        "splits": splits,
        "empty": empty,
        "parts": [
            {
                **{name: part[name] for name in ("split", "phase", "index")},
                "file": part["facts"]["file"],
                "base": bases[part["index"]],
                "tokens": part["facts"]["tokens"],
            }
            for part in written
        ],
        "files": [
            {"name": name, "bytes": size, "sha256": digest}
            for name, (size, digest) in zip(names, results(executor, hashed, [str(path) for path in paths]))
        ],
    }


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def hashed(path: str) -> tuple[int, str]:
    """Bytes and SHA-256 of a file."""
    with Path(path).open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
        return file.tell(), digest

"""`curate export`: training files out of a finished run."""

import os
from pathlib import Path
from typing import Any

import click

from curate.commands.completing import formats, runs
from curate.commands.make.progress import Progress
from curate.commands.make.run import make_executor
from curate.commands.screen import show
from curate.export.export import export
from curate.export.facts import ExportFacts
from curate.export.formats import installed
from curate.export.settings import ExportSettings
from curate.given import FiniteRange
from curate.inspect.opened import OpenedRun
from curate.output import manifest
from curate.output.folder import EXPORT
from curate.sizes import numbered
from curate.terminal import say, say_json

FORMATS = ", ".join(installed())


@click.command(
    "export",
    epilog="\b\nExample:\n  curate export out/ --format jsonl\n"
    "  curate export out/ --format megatron --tokenizer gpt2/tokenizer.json --validation 0.001",
)
@click.argument("out", shell_complete=runs)
@click.option("--format", "format", required=True, metavar="NAME", shell_complete=formats, help=f"One of {FORMATS}.")
@click.option("--tokenizer", metavar="FILE", help="A tokenizer.json; without one, texts (jsonl alone holds them).")
@click.option("--end", metavar="TOKEN", help='Ends each document (default: as the tokenizer has it; "": none).')
@click.option("--begin", metavar="TOKEN", default="", help="Begins each document (default: none).")
@click.option(
    "--order",
    type=click.Choice(["shuffle", "crawl"]),
    default="shuffle",
    show_default=True,
    help="shuffle: over all shards, within a mixture's phase; crawl: as in the shards.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the shuffle.")
@click.option(
    "--validation",
    type=FiniteRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Share of the documents that go to the validation split, by a hash of their ids.",
)
@click.option(
    "--pack",
    type=click.Choice(["none", "concat", "best_fit"]),
    default="none",
    show_default=True,
    help="none: a sequence is a document; concat: rows cut from the stream; best_fit: rows that cut few documents.",
)
@click.option("--length", type=click.IntRange(2, (1 << 31) - 1), help="Tokens of a row, for --pack.")
@click.option("--pad", metavar="TOKEN", help="Fills rows (default: the token that ends documents).")
@click.option(
    "--part-tokens",
    type=click.IntRange(1 << 10, 1 << 30),
    default=1 << 25,
    show_default=True,
    help="Tokens of a file, shard or chunk, about; a worker holds so many.",
)
@click.option("--to", metavar="FOLDER", help=f"Where to write (default: OUT/{EXPORT}/FORMAT).")
@click.option("--workers", type=click.IntRange(1), help="Worker processes (default: all cores).")
@click.option("--fresh", is_flag=True, help="Remove an earlier export from the folder first.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def command(
    out: str, to: str | None, workers: int | None, fresh: bool, as_json: bool, quiet: bool, **given: Any
) -> None:
    """Write the documents that the run at OUT kept as files that trainers read.

    Tokenised in all workers, shuffled over all shards; an index beside them names the page of every token, which
    `curate why` reads. Stopped in the middle, the same command goes on where it was.
    """
    run = OpenedRun.of(out)
    settings = ExportSettings(**given)
    final = Path(to) if to else run.folder / EXPORT / settings.format
    listed = run.manifest["shards"]
    run.parts("shards")  # raises where one is missing
    progress = Progress(quiet, final)
    executor = make_executor("processes", workers or os.cpu_count() or 1, None)
    try:
        shards = [run.folder / "shards" / shard["name"] for shard in listed]
        exported, ready = export(executor, shards, manifest.shards_digest(listed), settings, final, fresh, progress.say)
    finally:
        progress.close()
        executor.close()
    if as_json:
        say_json({"folder": str(final), **exported})
    if not quiet:
        if ready:
            say("complete already: nothing to do (--fresh runs it again)", err=True)
        if not as_json:
            show(_summary(exported, final))


def _summary(exported: ExportFacts, final: Path) -> list[str]:
    unit = "token" if exported["tokenizer"] else "byte"
    lines = []
    for name, split in exported["splits"].items():
        padded = f", {split['padded']:,} of them to fill rows" if split["padded"] else ""
        lines.append(
            f"{name}: {numbered(split['documents'], 'document')}, {numbered(split['sequences'], 'sequence')}, "
            f"{numbered(split['tokens'], unit)}{padded}"
        )
    if exported["empty"]:
        lines.append(f"{numbered(exported['empty'], 'document')} gave no token and went nowhere")
    size = sum(file["bytes"] for file in exported["files"])
    return [*lines, f"{numbered(len(exported['files']), 'file')}, {size:,} bytes in {final}"]

"""`curate check`: is this config right, and what will it do?"""

from collections.abc import Iterator
from typing import Any

import click

from curate.commands.completing import configs
from curate.commands.screen import page_width, show, wrapped
from curate.config.file import Config, read_config
from curate.output.fingerprint import fingerprint
from curate.output.folder import Output
from curate.output.schema import attributes, shard_schema
from curate.run import check_surroundings
from curate.scan.crawl import input_files
from curate.sizes import numbered, show_size
from curate.sources import mask_url
from curate.sources.reader import InputFile
from curate.stage import CorpusStage, Stage
from curate.terminal import say, say_json

INDENT = 8


@click.command("check", epilog="\b\nExample:\n  curate check configs/sample.yaml")
@click.argument("config", shell_complete=configs)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(config: str, as_json: bool) -> None:
    """Check CONFIG, its input files and its output, and say what a run would do. Writes nothing."""
    read = read_config(config)
    files = input_files(read)
    types = attributes(read, files)
    check_surroundings(read)
    if as_json:
        say_json(_plain(read, files, shard_schema(types).names))
        return
    for source in read.input:
        mine = [file for file in files if file.source == source]
        size = show_size(sum(file.size for file in mine))
        _say("input", f"{source}: {numbered(len(mine), 'file')}, {size}, first {mine[0].name}")
    for kind, stages in (("document", read.document_stages), ("corpus", read.corpus_stages)):
        for name, stage in stages:
            _say("stage", f"{name} ({kind})", *_stage(stage))
    if read.against:
        _say("against", *(f"{run}: an earlier run" for run in read.against))
    found = _found(read, files)
    _say("output", _output(read), *([found] if found else []))
    _say("columns", ", ".join(shard_schema(types).names))
    say("this config is right")


def _plain(read: Config, files: list[InputFile], columns: list[str]) -> dict[str, Any]:
    mine = {source: [file for file in files if file.source == source] for source in read.input}
    return {
        "input": [
            {"source": source, "files": len(of), "bytes": sum(file.size for file in of), "first": of[0].name}
            for source, of in mine.items()
        ],
        "stages": [
            {
                "name": entry.name,
                "kind": "corpus" if isinstance(entry.stage, CorpusStage) else "document",
                "reasons": list(entry.stage.reasons),
                "adds": list(entry.stage.adds),
            }
            for entry in read.stages
        ],
        "against": list(read.against),
        "output": {
            "folder": mask_url(read.output),
            "order": read.write.order,
            "shard_bytes": read.write.shard_bytes,
            "by": read.write.by,
            "found": _found(read, files),
        },
        "columns": columns,
    }


def _stage(stage: Stage) -> Iterator[str]:
    yield f"drops for {', '.join(stage.reasons)}" if stage.reasons else "drops nothing"
    if stage.adds:
        yield f"adds {', '.join(stage.adds)}"


def _output(config: Config) -> str:
    by = f" by {config.write.by}" if config.write.by else ""
    return f"{config.output}: {config.write.order} order, shards of {show_size(config.write.shard_bytes)} of text{by}"


def _found(config: Config, files: list[InputFile]) -> str | None:
    """What a run would find in its output; a remote one is not asked. Raises UserError where a run could not write."""
    if "://" in config.output and not config.output.startswith("file://"):
        return None
    output = Output.of(config, None)
    output.spare([file.name for file in files])
    return output.foreseen(fingerprint(config, files, None))


def _say(about: str, *texts: str) -> None:
    """A line for what it is about, and one or more below it for each more that is told of it."""
    for number, text in enumerate(texts):
        first = about.ljust(INDENT) if number == 0 else " " * (INDENT + 2)
        below = " " * (INDENT if number == 0 else INDENT + 4)
        show(wrapped(first + text, page_width(), len(below)))

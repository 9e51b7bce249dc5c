"""`curate check`: is this config right, and what will it do?"""

import click

from curate.config import read_config
from curate.crawl import input_files
from curate.schema import attributes, shard_schema
from curate.sizes import show_size


@click.command("check", epilog="\b\nExample:\n  curate check configs/sample.yaml")
@click.argument("config")
def command(config: str) -> None:
    """Check CONFIG and its input files, and say what a run would do. Writes nothing."""
    read = read_config(config)
    files = input_files(read)
    types = attributes(read, files)
    for source in read.input:
        mine = [file for file in files if file.source == source]
        click.echo(
            f"input   {source}: {len(mine)} files, {show_size(sum(file.size for file in mine))}, first {mine[0].name}"
        )
    for kind, stages in (("document", read.document_stages), ("corpus", read.corpus_stages)):
        for name, stage in stages:
            told = [f"drops for {', '.join(stage.reasons)}" if stage.reasons else "drops nothing"]
            if stage.adds:
                told.append(f"adds {', '.join(stage.adds)}")
            click.echo(f"stage   {name} ({kind}): {'; '.join(told)}")
    click.echo(
        f"output  {read.output}: {read.write.order} order, shards of {show_size(read.write.shard_bytes)} of text"
        + (f" by {read.write.by}" if read.write.by else "")
    )
    click.echo(f"columns {', '.join(shard_schema(types).names)}")
    click.echo("this config is right")

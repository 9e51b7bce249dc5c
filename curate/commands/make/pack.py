"""`curate pack`: a folder of pages as a WARC file."""

from pathlib import Path

import click

from curate.sizes import numbered
from curate.terminal import say
from curate.tools.pack import pack, read_urls


@click.command("pack", epilog="\b\nExample:\n  curate pack pages/ -o pages.warc.gz --urls urls.tsv")
@click.argument("pages", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The file to write."
)
@click.option(
    "--urls",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where each page is from: a TSV of its path in the folder and its URL. Others are file:///PATH.",
)
def command(pages: Path, output: Path, urls: Path | None) -> None:
    """Write the HTML pages below the folder PAGES into one WARC file, which a config takes as input.

    Compressed page by page, unless the name ends in .warc. A page's date is the time of its file: the same
    files with the same times make the same bytes.
    """
    packed = pack(pages, output, None if urls is None else read_urls(urls))
    say(f"{output}: {numbered(packed.pages, 'page')}")
    if packed.unnamed:
        say(f"{numbered(packed.unnamed, 'page')} not in {urls}, so named file:///PATH", err=True)
    if packed.left_out:
        say(f"left out, as no HTML: {numbered(packed.left_out, 'file')}", err=True)

"""`curate why`: the whole path of one page."""

import shlex
from typing import Any

import click

from curate.commands.completing import runs
from curate.commands.screen import Verbatim, show
from curate.inspect.lookup import Found, find
from curate.inspect.opened import OpenedRun
from curate.inspect.path import page_path
from curate.inspect.path_text import excerpt, path_json, path_lines
from curate.inspect.reopen import Gone, Reopened, text_by_belt, title
from curate.inspect.samples import sampled_text
from curate.inspect.token_place import token_place
from curate.stage import OPENING
from curate.terminal import say, say_json


@click.command(
    "why",
    epilog="\b\nExample:\n  curate why out/ https://www.example.org/page.html\n  curate why out/ crawl.warc.gz:1502",
)
@click.argument("out", shell_complete=runs)
@click.argument("place", metavar="URL|FILE:OFFSET")
@click.option(
    "--text",
    "full_text",
    is_flag=True,
    help="The whole text; made again from the input where the run did not store it.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(out: str, place: str, full_text: bool, as_json: bool) -> None:
    """Tell why the page at URL or FILE:OFFSET was kept or dropped in the run at OUT.

    Each stage with its verdict, each measure with its value and the limits of the run's config, what it is a
    duplicate of, and the command that tries the same record again. A record id will do as the place, too, and
    a token of an export: FILE:TOKEN, such as train.bin:1502, counted from 0.
    """
    run = OpenedRun.of(out)
    token = token_place(run, place)
    explanations = [_explanation(run, found, full_text) for found in find(run, token.address if token else place)]
    if as_json:
        say_json([{**path_json(page_path(run, found)), **more} for found, more in explanations])
        return
    if token:
        say(f"{place} is token {token.token:,} of {token.of:,} of {token.address}\n")
    for number, (found, more) in enumerate(explanations):
        if number:
            say("")
        show(_lines(run, found, more, full_text))


def _explanation(run: OpenedRun, found: Found, full_text: bool) -> tuple[Found, dict[str, Any]]:
    """Title of the raw page and its text, as far as they can be had; and how to reopen it."""
    more: dict[str, Any] = {"title": None, "text": found.row.get("text") or sampled_text(run, found), "missing": None}
    alike = ["--against", str(run.folder)] if found.row.get("stage") in dict(run.config.corpus_stages) else []
    more["reopen"] = shlex.join(["curate", "try", str(run.folder), found.address, *alike])
    if found.row.get("reason") == "damaged":
        return found, more
    try:
        document = Reopened(run).document(found.file, found.offset)
        more["title"] = title(document)
        stage = found.row.get("stage")
        if full_text and more["text"] is None and stage not in OPENING:
            more["text"] = text_by_belt(run, document, stage)
    except Gone as error:
        more["missing"] = str(error)
    return found, more


def _lines(run: OpenedRun, found: Found, more: dict[str, Any], full_text: bool) -> list[str]:
    path = page_path(run, found)
    journey = path_lines(path, run.options)
    after: list[str] = [""]
    if more["title"]:
        after.append(f"title    {excerpt(more['title'])}")
    if more["text"] and not full_text:
        after.append(f"text     {excerpt(more['text'])}")
    if not more["text"] and path.words:
        after.append("text     not stored by the run; --text makes it again from the input")
    if more["missing"]:
        after.append(f"input    {more['missing']}: no title, no text but what the run stored")
    after.append(Verbatim(f"reopen   {more['reopen']}"))
    if full_text and more["text"]:
        after += ["", Verbatim(more["text"])]
    return [*journey, *after]

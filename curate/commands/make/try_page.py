"""`curate try`: one page through the stages."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from curate.commands.completing import configs_or_runs, runs
from curate.commands.screen import show
from curate.config.file import Config, read_config
from curate.inspect.opened import OpenedRun
from curate.inspect.path_text import excerpt, stage_json
from curate.inspect.reopen import title
from curate.terminal import say_data, say_json
from curate.tools.trial import Nearest, against, page_at
from curate.tools.trial_text import Trial


@click.command(
    "try",
    epilog="\b\nExample:\n  curate try configs/sample.yaml page.html\n  curate try out/ a.warc.gz:150 --against out/",
)
@click.argument("config", shell_complete=configs_or_runs)
@click.argument("place", metavar="PAGE|FILE#URL|FILE:OFFSET")
@click.option(
    "--against", "other", metavar="OUT", shell_complete=runs, help="Compare with the kept documents of a finished run."
)
@click.option("--text", is_flag=True, help="Print the text that the stages made of the page, and nothing else.")
@click.option("--html", is_flag=True, help="Print the page's body as it was read, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(config: str, place: str, other: str | None, text: bool, html: bool, as_json: bool) -> None:
    """Put one page through the stages of CONFIG (a config file or the output of a run) and tell what each stage says.

    The page is a file with HTML (or text, .txt; `-` reads HTML from standard input), or a record of a crawl file,
    named by its URL or its offset.
    """
    read = OpenedRun.of(config).config if Path(config).is_dir() else read_config(config)
    page = page_at(read, place)
    if html:
        say_data((page.document.html if page.document else None) or b"", nl=False)
        return
    trial = Trial(read, page)
    if text:
        say_data(trial.document.text if trial.document else "")
        return
    found = _compared(read, trial, other)
    if as_json:
        say_json(_plain(trial, found))
        return
    show(trial.lines(found, other))
    if page.document is not None:
        about = [("title", title(page.document)), ("text", trial.document.text if trial.document else None)]
        facts = [f"{name:<8} {excerpt(value)}" for name, value in about if value]
        show(["", *facts] if facts else [])


def _compared(config: Config, trial: Trial, other: str | None) -> list[Nearest]:
    if other is None or trial.dropped or trial.document is None:
        return []
    return against(config, trial.document, OpenedRun.of(other))


def _plain(trial: Trial, found: list[Nearest]) -> dict[str, Any]:
    document = trial.document
    return {
        "page": trial.page.name,
        "url": document.url if document else None,
        "dropped": trial.dropped or any(one.reason for one in found),
        "verdict": trial.verdict,
        "words": len(document.words) if document and document.text else None,
        "stages": [stage_json(station) for station in trial.stations],
        "resembles": [asdict(one) for one in found],
    }

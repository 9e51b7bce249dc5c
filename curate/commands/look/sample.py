"""`curate sample`: random pages to read."""

from dataclasses import asdict

import click

from curate.commands.completing import reasons, runs, stages
from curate.commands.screen import Verbatim, show
from curate.errors import one_line, printable
from curate.inspect.opened import OpenedRun
from curate.inspect.reopen import plain
from curate.inspect.samples import Chosen, choose
from curate.inspect.tables import shown
from curate.sizes import numbered
from curate.terminal import say_json

CHARACTERS = 2_000


@click.command(
    "sample",
    epilog="\b\nExample:\n  curate sample out/ --reason too_few_words -n 20\n  curate sample out/ --kept --jsonl",
)
@click.argument("out", shell_complete=runs)
@click.option(
    "--reason",
    "reasons",
    multiple=True,
    shell_complete=reasons,
    help="Pages dropped for this reason (may be repeated).",
)
@click.option(
    "--stage", "stages", multiple=True, shell_complete=stages, help="Pages dropped by this stage (may be repeated)."
)
@click.option("--kept", is_flag=True, help="Pages that were kept.")
@click.option("-n", "most", type=click.IntRange(1), default=5, show_default=True, help="How many.")
@click.option("--seed", type=int, help="Another seed draws other pages (default: the run's).")
@click.option(
    "--chars",
    type=click.IntRange(0),
    default=CHARACTERS,
    show_default=True,
    help="Characters shown of each; 0 for all.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON, with the whole text.")
@click.option("--jsonl", is_flag=True, help="One JSON object a page, with the whole text.")
def command(
    out: str,
    reasons: tuple[str, ...],
    stages: tuple[str, ...],
    kept: bool,
    most: int,
    seed: int | None,
    chars: int,
    as_json: bool,
    jsonl: bool,
) -> None:
    """Show random pages of the run at OUT: kept ones, or dropped ones (all, by stage, by reason).

    The same seed draws the same pages. Texts come from the shards and from the samples that the run stored; others are
    made again from the input, and where that is gone it is said.
    """
    if kept and (reasons or stages):
        raise click.UsageError("--kept pages have no --reason and no --stage; give one or the other")
    run = OpenedRun.of(out)
    seed = run.manifest["config"]["seed"] if seed is None else seed
    chosen = choose(run, most, seed, kept, list(stages), list(reasons))
    if as_json:
        say_json([asdict(page) for page in chosen], ascii_only=False)
        return
    for number, page in enumerate(chosen):
        if jsonl:
            say_json(asdict(page), indent=None, ascii_only=False)
        else:
            show([*([""] if number else []), *_lines(page, chars)])


def _lines(page: Chosen, chars: int) -> list[str]:
    verdict = "kept"
    if page.reason:
        verdict = f"{page.stage}: {page.reason}"
        verdict += f", {shown(page.value)}" if page.value is not None else ""
        verdict += f" (limit {shown(page.limit)})" if page.limit is not None else ""
    block = [f"── {plain(page.url or '(no URL)')}", f"   {one_line(page.file_path)}:{page.offset}  {verdict}"]
    if page.missing:
        block.append(f"   text: {page.missing}")
    if page.text:
        text = printable(page.text)
        cut = f"… ({numbered(len(text) - chars, 'more character')})" if chars and len(text) > chars else ""
        block.append(Verbatim((text[:chars] if chars else text) + cut))
    return block

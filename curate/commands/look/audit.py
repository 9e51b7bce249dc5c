"""`curate audit`: is near-duplicate removal right?"""

from collections.abc import Iterator
from dataclasses import asdict

import click

from curate.commands.completing import runs
from curate.commands.screen import show
from curate.errors import one_line
from curate.inspect.audit import WORST, Audit, Pair, audit
from curate.inspect.opened import OpenedRun
from curate.inspect.tables import lines
from curate.terminal import say_json


@click.command("audit", epilog="\b\nExample:\n  curate audit out/ --pairs 500 --documents 500")
@click.argument("out", shell_complete=runs)
@click.option(
    "--pairs",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Dropped documents compared with what they are duplicates of.",
)
@click.option(
    "--documents",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Kept documents compared with every kept one.",
)
@click.option("--seed", type=int, help="Another seed draws others (default: the run's).")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(out: str, pairs: int, documents: int, seed: int | None, as_json: bool) -> None:
    """Compare sampled texts of the run at OUT exactly: how many dropped near copies are ones (precision), and how
    many that are ones were dropped (recall), with 95 % intervals, beside what the S-curve of the bands promises.

    Reads every kept text once.
    """
    run = OpenedRun.of(out)
    found = audit(run, pairs, documents, run.manifest["config"]["seed"] if seed is None else seed)
    if as_json:
        say_json([asdict(one) for one in found])
        return
    for number, one in enumerate(found):
        show([*([""] if number else []), *_lines(one)])


def _lines(audited: Audit) -> Iterator[str]:
    counts = f"{audited.dropped:,} dropped, {audited.kept:,} kept by the run"
    yield f"{audited.stage}, threshold {audited.threshold:g}: {counts}"
    yield f"precision {audited.precision}: {len(audited.merged):,} dropped documents compared with what they copy"
    if audited.lost:
        lost = f"{audited.lost:,} more could not be compared"
        yield f"          {lost}: their texts were not stored and the input is gone"
    yield f"missed    {audited.missed}: of {audited.compared:,} kept documents, with a near copy kept before them"
    yield f"recall    {audited.recall}: dropped among all that should have been"
    yield ""
    rows = [
        {
            "similarity": f"{one.low:.2f}",
            "dropped": one.merged,
            "both kept": one.unmerged,
            "share dropped": "" if one.share is None else f"{one.share:.3f}",
            "S-curve": f"{one.expected:.3f}",
        }
        for one in audited.bins
    ]
    yield from lines(rows, ("similarity", "dropped", "both kept", "share dropped", "S-curve"))
    wrong = sorted(
        (pair for pair in audited.merged if pair.similarity < audited.threshold), key=lambda pair: pair.similarity
    )
    yield from _worst("dropped though less similar", wrong)
    yield from _worst("most similar that were both kept", list(audited.misses))


def _worst(title: str, pairs: list[Pair]) -> Iterator[str]:
    if pairs:
        yield ""
        yield f"{title} ({len(pairs):,} in the sample):"
    for pair in pairs[:WORST]:
        estimate = "" if pair.estimate is None else f" (estimated {pair.estimate:.3f})"
        yield f"  {pair.similarity:.3f}{estimate}  {one_line(pair.left)}  {one_line(pair.right)}"

"""`curate diff`: two runs side by side."""

from typing import Any

import click

from curate.commands.completing import runs
from curate.commands.screen import show
from curate.inspect.difference import Difference, Move, difference_lines, explained
from curate.inspect.opened import OpenedRun
from curate.terminal import say_json

EVERY = 1 << 62


@click.command("diff", epilog="\b\nExample:\n  curate diff out-a/ out-b/ --examples 3")
@click.argument("before", metavar="RUN_A", shell_complete=runs)
@click.argument("after", metavar="RUN_B", shell_complete=runs)
@click.option(
    "--examples", type=click.IntRange(0), default=2, show_default=True, help="Documents shown of each change."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--jsonl", is_flag=True, help="Every document whose verdict differs, one JSON object a line.")
def command(before: str, after: str, examples: int, as_json: bool, jsonl: bool) -> None:
    """Compare RUN_A with RUN_B: how their configs differ, the funnels, which documents changed sides and why."""
    compared = Difference(OpenedRun.of(before), OpenedRun.of(after))
    if as_json:
        say_json(_document(compared, examples))
        return
    if not jsonl:
        show(difference_lines(compared, examples))
        return
    for move in compared.moves(EVERY):
        if move.before != move.after:
            for file, offset in move.places:
                say_json(_plain(compared, move, file, offset), indent=None)


def _document(compared: Difference, examples: int) -> dict[str, Any]:
    moves = [move for move in compared.moves(examples) if move.before != move.after]
    return {
        "config": compared.config(),
        "funnel": compared.funnel(),
        "moves": [
            {
                "before": dict(zip(("stage", "reason"), move.before, strict=True)),
                "after": dict(zip(("stage", "reason"), move.after, strict=True)),
                "changed_sides": move.side,
                "documents": move.documents,
                "examples": [_plain(compared, move, *place) for place in move.places],
            }
            for move in moves
        ],
    }


def _plain(compared: Difference, move: Move, file: str, offset: int) -> dict[str, Any]:
    sides = [explained(run, file, offset) or {} for run in (compared.before, compared.after)]
    names = ("value", "limit", "matched_file", "matched_offset", "score")
    return {
        "url": sides[0].get("url") or sides[1].get("url"),
        "file_path": file,
        "offset": offset,
        "changed_sides": move.side,
        "before": {
            "stage": move.before[0],
            "reason": move.before[1] or None,
            **{name: sides[0].get(name) for name in names},
        },
        "after": {
            "stage": move.after[0],
            "reason": move.after[1] or None,
            **{name: sides[1].get(name) for name in names},
        },
    }

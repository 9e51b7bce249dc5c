"""`scale budget`, `checkpoint`, `precision`, `show` and `fit`: the formulas and fits on the command line."""

from __future__ import annotations

from pathlib import Path

import click

from scale.commands.group import AMOUNT, AnyFloat, as_json, show
from scale.planner.answers import answers
from scale.planner.answers.answer_text import budget_text, checkpoint_text, fit_text, precision_text


@click.command(epilog="\b\nExample:\n  scale budget --params 7B --tokens 2T")
@click.option("--params", type=AMOUNT, help="Parameters, such as 7B.")
@click.option("--tokens", type=AMOUNT, help="Training tokens, such as 2T.")
@click.option("--flops", type=AMOUNT, help="Training FLOPs, such as 1e24.")
@click.option(
    "--tflops-per-gpu", type=AMOUNT, default=400, show_default=True, help="Achieved model TFLOP/s of one GPU."
)
@click.option("--price", type=AMOUNT, default=2.5, show_default=True, help="Dollars per GPU-hour.")
@as_json
def budget(
    params: float | None, tokens: float | None, flops: float | None, tflops_per_gpu: float, price: float, as_json: bool
) -> None:
    """Tokens, FLOPs, GPU-hours and money, and the compute-optimal model by three rules."""
    answer = answers.budget_answer(params, tokens, flops, tflops_per_gpu, price)
    show(answer, budget_text(answer), as_json)


@click.command(epilog="\b\nExample:\n  scale checkpoint --save-minutes 2 --failure-minutes 600")
@click.option("--save-minutes", type=AMOUNT, required=True, help="Training pause to write one checkpoint.")
@click.option("--failure-minutes", type=AMOUNT, required=True, help="Mean time between failures.")
@click.option("--restart-minutes", type=AMOUNT, default=0, show_default=True, help="From a failure back to training.")
@click.option("--interval-minutes", type=AMOUNT, help="Also the waste at this interval.")
@as_json
def checkpoint(
    save_minutes: float, failure_minutes: float, restart_minutes: float, interval_minutes: float | None, as_json: bool
) -> None:
    """How often to save: Young's and Daly's intervals and what they waste."""
    answer = answers.checkpoint_answer(save_minutes, failure_minutes, restart_minutes, interval_minutes)
    show(answer, checkpoint_text(answer), as_json)


# A value below zero is no option: what is unknown goes to VALUES, and is refused there if it is no number.
@click.command(
    epilog="\b\nExample:\n  scale precision 0.1 -65504 inf", context_settings={"ignore_unknown_options": True}
)
@click.argument("values", nargs=-1, type=AnyFloat())
@click.option(
    "--overflow",
    type=click.Choice(["ieee", "saturate"]),
    default="ieee",
    show_default=True,
    help="Beyond the largest value: infinity (NaN where there is none), or the largest value.",
)
@as_json
def precision(values: tuple[float, ...], overflow: str, as_json: bool) -> None:
    """The float formats, what they make of VALUES, and bytes per parameter of the training recipes."""
    answer = answers.precision_answer(list(values), overflow)
    show(answer, precision_text(answer), as_json, numbers=answers.every_digit)


@click.group(name="show")
def show_group() -> None:
    """Pictures in the terminal."""


@show_group.command(epilog="\b\nExample:\n  scale show schedule --stages 4 --micro 8")
@click.option("--stages", type=int, required=True, help="Pipeline stages.")
@click.option("--micro", type=int, required=True, help="Micro-batches.")
@click.option(
    "--schedule", type=click.Choice(["1f1b", "gpipe"]), default="1f1b", show_default=True, help="Order of passes."
)
@click.option("--chunks", type=int, default=1, show_default=True, help="Also the bubble with this many chunks a stage.")
@as_json
def schedule(stages: int, micro: int, schedule: str, chunks: int, as_json: bool) -> None:
    """The grid of a pipeline: forward 1, backward [1], idle ·, a column a slot."""
    answer = answers.schedule_answer(stages, micro, schedule, chunks)
    lines = [
        *answers.grid_text(answer["grid"]),
        f"bubble {answer['bubble_fraction_of_total']:.3f} of the total (fraction), "
        f"{answer['bubble_ratio_to_ideal']:.3f} of the ideal time (ratio)",
    ]
    if chunks > 1:
        lines.append(
            f"with {chunks} chunks a stage {answer['interleaved_bubble_ratio_to_ideal']:.3f} of the ideal time (ratio)"
        )
    show(answer, "\n".join(lines) + "\n", as_json)


@click.command(epilog="\b\nExample:\n  scale fit runs.csv")
@click.argument("table", type=click.Path(path_type=Path))
@as_json
def fit(table: Path, as_json: bool) -> None:
    """Fit a scaling law or mixture effects to TABLE, a CSV file with a line of column names and a row a run.

    With the columns N (parameters), D (tokens) and loss (nats per token), of at least 8 runs: the law
    L = E + A/N^alpha + B/D^beta. With a column of weights for each of two sources or more, which add to 1 in
    each row, and loss, of more runs than sources: what each source does to the loss. Numbers may be written 7B.
    """
    answer = answers.fit_answer(table)
    show(answer, fit_text(answer), as_json)

"""`scale`: the training maths and the planner on the command line. Mounted as `curate scale` as well."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import click
from click.shell_completion import get_completion_class

from scale.memory import RECIPES
from scale.planner import answers
from scale.planner.answer_text import budget_text, checkpoint_text, fit_text, memory_text, precision_text
from scale.planner.data import read_run
from scale.planner.explain import explanations
from scale.planner.families import read_config
from scale.planner.hardware import Cluster, find_gpu
from scale.planner.plan import make_plan, plan_with_run, round_numbers
from scale.planner.plan_input import number, read_plan
from scale.planner.refusal import Refusal
from scale.planner.text import plan_text
from scale.planner.workload import RECOMPUTES, Layout, Train


class Refused(click.ClickException):
    """An impossible input on the command line: one sentence behind the program's name, exit status 2."""

    exit_code = 2

    def __init__(self, sentence: str, program: str) -> None:
        super().__init__(sentence)
        self.program = program

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence to standard error."""
        click.echo(f"{self.program}: {self.message}", file=file, err=True)


def program(ctx: click.Context) -> str:
    """The name that the program was called by: `scale`, or `curate` where the group is mounted."""
    return ctx.find_root().info_name or "scale"


class RefusingGroup(click.Group):
    """A group whose commands end an impossible input in one sentence and exit status 2, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a refused input (or a formula's ValueError) becomes its sentence."""
        try:
            return super().invoke(ctx)
        except ValueError as error:
            raise Refused(str(error), program(ctx)) from error


class Quantity(click.ParamType[float]):
    """A number that may be written 7e9, 7B or 15T."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse, or fail in click's own words."""
        try:
            return number(value, param.opts[0] if param else "number")
        except Refusal as error:
            self.fail(str(error), param, ctx)


class AnyFloat(Quantity):
    """A number as `Quantity` reads it, or inf or nan."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse, or fail in click's own words."""
        if str(value).strip().lower().lstrip("+-") in ("inf", "infinity", "nan"):
            return float(value)
        return super().convert(value, param, ctx)


AMOUNT = Quantity()
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def show(answer: Any, text: str, as_json: bool, numbers: Callable[[Any], Any] = round_numbers) -> None:
    """Print the answer as JSON, its floats by way of `numbers`, or as text."""
    click.echo(json.dumps(numbers(answer), indent=2, ensure_ascii=False) if as_json else text, nl=as_json)


@click.group("scale", cls=RefusingGroup, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Training at scale: what a run takes, and the maths behind it.

    GB is 10^9 bytes and GiB 2^30; MFU says which attention it counts. Exit status 2: an impossible input.
    """


@main.command(epilog="\b\nExample:\n  scale plan configs/plans/deepseek-v3.yaml --explain")
@click.argument("plan_file", type=click.Path(path_type=Path))
@click.option(
    "--run", "run", type=click.Path(path_type=Path), help="Folder of a finished curation run: its tokens by source."
)
@click.option("--explain", is_flag=True, help="Derive each number.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw memory, step time, loss and waste to this file.")
@click.option("--top", type=click.IntRange(1, 50), default=3, show_default=True, help="Layouts to show.")
@as_json
def plan(plan_file: Path, run: Path | None, explain: bool, plot: Path | None, top: int, as_json: bool) -> None:
    """What it takes to train a model on data on a cluster, from a plan file."""
    inputs = read_plan(plan_file)
    if run is None:
        made = make_plan(inputs, top)
    else:
        tokens, documents = read_run(run)
        made = plan_with_run(inputs, tokens, documents, top)
    text = plan_text(made)
    if explain:
        made["explanations"] = explanations(made)
        text += "\nEXPLAINED\n" + "".join(f"  {name}: {line}\n" for name, line in made["explanations"].items())
    if plot is not None:
        from scale.planner.plots import plot_plan

        plot_plan(made, plot)
    show(made, text, as_json)


@main.command(epilog="\b\nExample:\n  scale memory config.json --gpu H100-SXM-80GB --tp 8")
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--gpu", default="H100-SXM-80GB", show_default=True, help="Name in the hardware table.")
@click.option("--tp", default=1, show_default=True, help="Tensor-parallel ways.")
@click.option("--cp", default=1, show_default=True, help="Context-parallel ways.")
@click.option("--pp", default=1, show_default=True, help="Pipeline stages.")
@click.option("--ep", default=1, show_default=True, help="Expert-parallel ways.")
@click.option("--dp", default=1, show_default=True, help="Data-parallel replicas.")
@click.option("--zero", type=click.IntRange(0, 3), default=0, show_default=True, help="ZeRO stage.")
@click.option("--micro-batch", default=1, show_default=True, help="Sequences in a micro-batch.")
@click.option("--micro-batches", default=0, help="Micro-batches per step and replica.  [default: as many as stages]")
@click.option("--interleave", default=1, show_default=True, help="Model chunks per stage.")
@click.option("--sequence", default=4096, show_default=True, help="Tokens in a sequence.")
@click.option(
    "--recompute", type=click.Choice(RECOMPUTES), default="none", show_default=True, help="Activation recomputation."
)
@click.option(
    "--recipe", type=click.Choice(list(RECIPES)), default="adam16", show_default=True, help="Bytes per parameter."
)
@click.option(
    "--attention", type=click.Choice(["flash", "unfused"]), default="flash", show_default=True, help="Kernel."
)
@click.option(
    "--loss",
    type=click.Choice(["eager", "fused"]),
    default="eager",
    show_default=True,
    help="Logits whole or in pieces.",
)
@as_json
def memory(
    config: Path,
    gpu: str,
    tp: int,
    cp: int,
    pp: int,
    ep: int,
    dp: int,
    zero: int,
    micro_batch: int,
    micro_batches: int,
    interleave: int,
    sequence: int,
    recompute: Any,
    recipe: str,
    attention: Any,
    loss: Any,
    as_json: bool,
) -> None:
    """Exact parameters of a Hugging Face config.json, and bytes per GPU by part and stage."""
    layout = Layout(tp, cp, pp, ep, dp, zero, micro_batch, interleave, recompute=recompute)
    cluster = Cluster(find_gpu(gpu), layout.gpus, gpus_per_node=layout.gpus)  # memory asks for no nodes
    train = Train(sequence, dp * micro_batch * (micro_batches or pp), recipe=recipe, attention=attention, loss=loss)
    answer = answers.memory_answer(read_config(config), cluster, layout, train)
    show(answer, memory_text(answer), as_json)


@main.command(epilog="\b\nExample:\n  scale budget --params 7B --tokens 2T")
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


@main.command(epilog="\b\nExample:\n  scale checkpoint --save-minutes 2 --failure-minutes 600")
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
@main.command(
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


@main.group(name="show")
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


@main.command(epilog="\b\nExample:\n  scale fit runs.csv")
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


@main.command(epilog='\b\nExample:\n  eval "$(scale completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL; evaluate it in the shell's start-up file."""
    kind, name = get_completion_class(shell), program(ctx)
    if kind is None:
        raise Refusal(f"no completion for {shell}; bash, zsh and fish have one")
    click.echo(kind(ctx.find_root().command, {}, name, f"_{name.upper()}_COMPLETE").source())

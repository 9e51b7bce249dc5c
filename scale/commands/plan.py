"""`scale plan` and `scale memory`: what a run takes, and what one layout holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from scale.commands.group import AMOUNT, as_json, show
from scale.memory import RECIPES
from scale.planner.answers import answers
from scale.planner.answers.answer_text import memory_text
from scale.planner.models.families import read_config
from scale.planner.plans.data import read_run
from scale.planner.plans.explain import explanations
from scale.planner.plans.plan import make_plan, plan_with_run
from scale.planner.plans.plan_input import read_plan
from scale.planner.plans.questions import gpus_answer, largest_micro_batch
from scale.planner.plans.text import gpus_text, plan_text
from scale.planner.step.hardware import Cluster, find_gpu, hardware_table
from scale.planner.step.workload import OFFLOADS, RECOMPUTES, Layout, Train
from scale.refusal import require


@click.command(epilog="\b\nExample:\n  scale plan configs/plans/deepseek-v3.yaml --explain")
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
        from scale.planner.plans.plots import plot_plan

        plot_plan(made, plot)
    show(made, text, as_json)


def _gpus(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Names of the hardware table, for the shell."""
    return [name for name in hardware_table() if name.lower().startswith(begun.lower())]


@click.command(epilog="\b\nExample:\n  scale memory config.json --gpu H100-SXM-80GB --tp 8")
@click.argument("config", type=click.Path(path_type=Path))
@click.option(
    "--gpu", default="H100-SXM-80GB", show_default=True, shell_complete=_gpus, help="Name in the hardware table."
)
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
@click.option(
    "--offload",
    type=click.Choice(OFFLOADS),
    default="none",
    show_default=True,
    help="What waits in host memory.",
)
@click.option("--lora-rank", default=0, help="Train adapters of this rank alone.  [default: all weights]")
@click.option("--largest-micro-batch", "largest", is_flag=True, help="Also the largest micro-batch that fits.")
@as_json
def memory(config: Path, gpu: str, largest: bool, as_json: bool, **given: Any) -> None:
    """Exact parameters of a Hugging Face config.json, and bytes per GPU by part and stage."""
    ways = {key: given[key] for key in ("tp", "cp", "pp", "ep", "dp", "zero", "micro_batch", "interleave", "recompute")}
    layout, model = Layout(**ways), read_config(config)
    cluster = Cluster(find_gpu(gpu), layout.gpus, gpus_per_node=layout.gpus)  # memory asks for no nodes
    batch = layout.dp * layout.micro_batch * (given["micro_batches"] or layout.pp)
    rest = {key: given[key] for key in ("recipe", "attention", "loss", "offload", "lora_rank")}
    train = Train(given["sequence"], batch, **rest)
    answer = answers.memory_answer(model, cluster, layout, train)
    if largest:
        answer["largest_micro_batch"] = largest_micro_batch(model, cluster, layout, train)
    show(answer, memory_text(answer), as_json)


@click.command(epilog="\b\nExample:\n  scale gpus configs/plans/llama-2-7b.yaml --days 30")
@click.argument("plan_file", type=click.Path(path_type=Path))
@click.option("--days", type=AMOUNT, help="Also the fewest that end the run within so many days.")
@as_json
def gpus(plan_file: Path, days: float | None, as_json: bool) -> None:
    """How many GPUs a plan needs: the fewest on which it fits, and the fewest that are done in time."""
    inputs = read_plan(plan_file)
    require(days is None or days > 0, f"gpus: --days {days} is not above zero")
    answer = gpus_answer(inputs, days)
    show(answer, gpus_text(answer), as_json)

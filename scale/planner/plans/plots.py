"""Four pictures of a plan in one file: memory per stage, step time, loss over tokens, waste over interval.

Needs matplotlib (the extra `plot`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scale.budget import LAWS
from scale.checkpoint import wasted_fraction
from scale.refusal import Refusal, unusable

GIB = 2.0**30


def plot_plan(plan: Mapping[str, Any], path: Path) -> None:
    """Draw the plan to `path` (format by its ending, such as .png or .svg); written whole or not at all."""
    try:
        import matplotlib
    except ImportError as error:
        raise Refusal("--plot needs matplotlib; install it with: python -m pip install matplotlib") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(13, 9))
    figure.suptitle(f"{plan['name']}: {plan['layouts'][0]['label']}")
    _memory(axes[0][0], plan)
    _waterfall(axes[0][1], plan)
    _loss(axes[1][0], plan)
    _waste(axes[1][1], plan)
    figure.tight_layout()
    kind = path.suffix.lstrip(".") or "png"
    if kind not in figure.canvas.get_supported_filetypes():
        known = ", ".join(sorted(figure.canvas.get_supported_filetypes()))
        raise Refusal(f"--plot {path.name}: {kind!r} is no picture format; known: {known}")
    if not path.name:
        raise Refusal("--plot '': names no file to write; give a name")
    partial = path.with_name(f".{path.name}.partial")
    try:
        figure.savefig(partial, format=kind, dpi=110, metadata={"Date": None} if kind == "svg" else None)
        partial.replace(path)
    except OSError as error:
        raise unusable(f"--plot {path}", "written", error, "give a file in a folder that is there") from None
    finally:
        pyplot.close(figure)
        partial.unlink(missing_ok=True)


def _memory(axis: Any, plan: Mapping[str, Any]) -> None:
    """Stacked bars of GiB per stage, with the usable limit."""
    memory = plan["layouts"][0]["memory"]
    stages = list(memory["stages_bytes"])
    bottom = np.zeros(len(stages))
    for part in memory["stages_bytes"][stages[0]]:
        values = np.array([memory["stages_bytes"][stage][part] / GIB for stage in stages])
        if values.any():
            axis.bar(stages, values, bottom=bottom, label=part.replace("_", " "))
            bottom += values
    axis.axhline(memory["limit_gib"], color="black", linestyle="--", label="usable")
    axis.set_ylabel("GiB per GPU")
    axis.set_title("memory by stage")
    axis.legend(fontsize=8)


def _waterfall(axis: Any, plan: Mapping[str, Any]) -> None:
    """Seconds of a step, cause after cause."""
    start = 0.0
    causes = [(name, s) for name, s in plan["layouts"][0]["causes_seconds"].items() if s > 0]
    for place, (_, seconds) in enumerate(causes):
        axis.barh(place, seconds, left=start)
        start += seconds
    axis.set_yticks(range(len(causes)), [name.replace("_", " ") for name, _ in causes])
    axis.invert_yaxis()
    axis.set_xlabel("seconds of a step")
    axis.set_title("step time by cause")


def _loss(axis: Any, plan: Mapping[str, Any]) -> None:
    """Predicted loss of this model over tokens by each law, with the planned tokens marked."""
    model = plan["model"]
    tokens = np.geomspace(model["tokens"] / 100, model["tokens"] * 3, 80)
    for law in LAWS:
        axis.semilogx(tokens, [law.loss(model["active_params"], float(t)) for t in tokens], label=law.name)
    axis.axvline(model["tokens"], color="black", linestyle="--", label="planned")
    axis.set_xlabel("tokens")
    axis.set_ylabel("predicted loss (nats per token)")
    axis.set_title("loss over tokens")
    axis.legend(fontsize=8)


def _waste(axis: Any, plan: Mapping[str, Any]) -> None:
    """Share of wall-clock time lost over the checkpoint interval, with Young's optimum."""
    made, cluster = plan["checkpoint"], plan["inputs"]["cluster"]
    axis.set_title("waste over checkpoint interval")
    if made["mean_minutes_between_failures"] is None:
        axis.text(0.5, 0.5, "no failures expected", ha="center")
        return
    intervals = np.geomspace(made["young_minutes"] / 20, made["young_minutes"] * 20, 80)
    waste = [
        wasted_fraction(
            float(t), made["write_minutes"], made["mean_minutes_between_failures"], cluster["restart_minutes"]
        )
        for t in intervals
    ]
    axis.loglog(intervals, np.array(waste) * 100)
    axis.axvline(made["young_minutes"], color="black", linestyle="--", label="Young's interval")
    axis.set_xlabel("minutes between checkpoints")
    axis.set_ylabel("% of wall-clock time wasted")
    axis.legend(fontsize=8)

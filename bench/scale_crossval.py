"""Errors of the step-time and memory model on rows that were not fitted: every split refits all constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scale_fit import errors, fit_fsdp, fit_megatron, fit_unfused
from scale_memory import fit_memory, memory_errors, torchtitan
from scale_rows import Columns, Row, best_choice, columns, foundry, korthikanti, megatron_h100, vtrain

from scale.planner.step.arrays import Array
from scale.planner.step.calibration import Constants

SEED, REPEATS, FOLDS = 0, 5, 5


def halves(count: int, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """Two (fitted, judged) splits of a random halving."""
    order = rng.permutation(count)
    return [(order[: count // 2], order[count // 2 :]), (order[count // 2 :], order[: count // 2])]


def vtrain_halves() -> tuple[Array, Array]:
    """(multi-node, single-node) errors on the half of each table that was held out, over repeated halvings."""
    multi, single = columns(vtrain("vtrain_multi_node.csv")), columns(vtrain("vtrain_single_node.csv"))
    published = columns(korthikanti())
    rng, found = np.random.default_rng(SEED), ([], [])
    for _ in range(REPEATS):
        for (fit_multi, judge_multi), (fit_single, judge_single) in zip(
            halves(len(multi.seconds), rng), halves(len(single.seconds), rng)
        ):
            constants = fit_unfused(multi.take(fit_multi), single.take(fit_single), published)
            found[0].append(errors(multi.take(judge_multi), constants))
            found[1].append(errors(single.take(judge_single), constants))
    return np.concatenate(found[0]), np.concatenate(found[1])


def by_group(rows: Sequence[Row], predict: Callable[[Array], dict[str, float]], table: Columns) -> Array:
    """Predicted seconds of each row by constants fitted without its group."""
    groups = np.array([row.group for row in rows])
    seconds = np.zeros(len(rows))
    for group in sorted(set(groups)):
        constants = predict(np.flatnonzero(groups != group))
        held = np.flatnonzero(groups == group)
        seconds[held] = table.take(held).times(Constants(**constants)).total
    return seconds


def vtrain_sizes() -> tuple[Array, dict[str, float]]:
    """(errors leaving one model size out, how far the layout chosen for that size is from the best measured)."""
    rows = vtrain("vtrain_multi_node.csv")
    multi, single = columns(rows), columns(vtrain("vtrain_single_node.csv"))
    published = columns(korthikanti())
    seconds = by_group(rows, lambda kept: fit_unfused(multi.take(kept), single, published), multi)
    groups = np.array([row.group for row in rows])
    chosen = {}
    for group in sorted(set(groups)):
        held = np.flatnonzero(groups == group)
        measured = multi.seconds[held]
        chosen[group] = float(measured[np.argmin(seconds[held])] / measured.min() - 1)
    return seconds / multi.seconds - 1, chosen


def korthikanti_models() -> Array:
    """Errors on each model's two iteration times, fitted without that model."""
    rows = korthikanti()
    table = columns(rows)
    multi, single = columns(vtrain("vtrain_multi_node.csv")), columns(vtrain("vtrain_single_node.csv"))
    return by_group(rows, lambda kept: fit_unfused(multi, single, table.take(kept)), table) / table.seconds - 1


def foundry_folds() -> tuple[Array, Array]:
    """(errors of tokens/s on held-out fifths in 16 bits, errors of the fp8 rows, which are never fitted)."""
    rows = [row for row in foundry() if row.train.precision != "fp8"]
    table, hopper = columns(rows), np.array([row.cluster.gpu.name.startswith("H100") for row in rows])
    found = np.zeros(len(rows))
    order = np.random.default_rng(SEED).permutation(len(rows))
    for held in np.array_split(order, FOLDS):
        kept = np.setdiff1d(order, held)
        both = fit_fsdp(table.take(kept), hopper[kept])
        part = table.take(held)
        found[held] = np.where(hopper[held], errors(part, both["H100"]), errors(part, both["A100"]))
    eight = columns([row for row in foundry() if row.train.precision == "fp8"])
    return 1 / (1 + found) - 1, 1 / (1 + errors(eight, fit_fsdp(table, hopper)["H100"])) - 1


def megatron_points() -> Array:
    """Differences in MFU (percentage points of the H100's dense peak) leaving one row out."""
    rows, found = megatron_h100(), []
    for row in rows:
        constants = fit_megatron([other for other in rows if other is not row])
        best = columns([best_choice(row, Constants(**constants))])
        relative = float(errors(best, constants)[0])
        tflops = {r.group: float(v) for r, v in zip(rows, _megatron_tflops())}[row.group]
        found.append(100 * tflops / row.cluster.gpu.bf16_tflops * (1 / (1 + relative) - 1))
    return np.array(found)


def _megatron_tflops() -> list[float]:
    from scale_rows import read

    return [float(row["tflops_per_gpu"]) for row in read("megatron_h100.csv")]


def torchtitan_peaks() -> Array:
    """Errors of peak memory leaving one row out."""
    peaks = torchtitan()
    return np.array(
        [float(memory_errors([peak], fit_memory([other for other in peaks if other is not peak]))[0]) for peak in peaks]
    )

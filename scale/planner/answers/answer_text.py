"""The single answers as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scale.units import count, figure, measure, money, percent, quantity

Answer = Mapping[str, Any]


def _lines(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def memory_text(a: Answer) -> str:
    """Parameters by part, state by recipe, bytes by part and stage."""
    lines = [
        f"{a['model']} ({a['family']}): {a['total_params']:,} parameters, {a['active_params']:,} active",
        "  " + ", ".join(f"{part} {value:,}" for part, value in a["parts"].items() if value),
        "training state without sharding:",
    ]
    lines += [
        f"  {name:12} {r['bytes_per_parameter']} bytes a parameter: {measure(r['total_gb'], 1)} GB = "
        f"{measure(r['total_gib'], 1)} GiB"
        for name, r in a["state_by_recipe"].items()
    ]
    stages = a["stages_bytes"]
    layout = ", ".join(f"{k} {v}" for k, v in a["layout"].items())
    lines += [f"per GPU, GiB, {a['train']['recipe']}, {layout}:", "  " + " " * 16 + "".join(f"{s:>10}" for s in stages)]
    for part in next(iter(stages.values())):
        if any(stage[part] for stage in stages.values()):
            lines.append(
                f"  {part.replace('_', ' '):16}" + "".join(f"{s[part] / 2**30:10.2f}" for s in stages.values())
            )
    lines.append(
        f"  fullest: {a['worst_stage']} stage, {measure(a['worst_gib'])} GiB = {measure(a['worst_gb'])} GB "
        f"± {100 * a['error_band']:.0f} %, {a['verdict']} in {measure(a['limit_gib'], 1)} GiB usable"
    )
    if "largest_micro_batch" in a:
        most = a["largest_micro_batch"]
        lines.append(f"  largest micro-batch: {most['fits']} fits, {most['may_fit']} may fit")
    return _lines(lines + [f"  note: {note}" for note in a["notes"]])


def budget_text(a: Answer) -> str:
    """FLOPs, hours, money, and three rules."""
    lines = [
        f"{count(a['parameters'])} parameters on {count(a['tokens'])} tokens "
        f"({measure(a['tokens_per_parameter'], 1)} a parameter): "
        f"{quantity(a['training_flops_6nd'])} FLOPs (6ND)",
        f"{figure(a['gpu_hours'])} GPU-hours at {a['tflops_per_gpu']:g} TFLOP/s per GPU, {money(a['cost'])}",
    ]
    lines += [f"predicted loss {loss:.3f} by {law}" for law, loss in a["predicted_loss"].items()]
    lines += [
        f"optimal for this budget: {count(r['parameters'])} on {count(r['tokens'])} tokens by {r['rule']}"
        for r in a["compute_optimal"]
    ]
    return _lines([*lines, f"the rules disagree {a['compute_optimal_disagreement']:.2f}× on the model's size"])


def checkpoint_text(a: Answer) -> str:
    """Intervals in minutes, waste as a share of wall-clock time."""
    lines = [
        f"save every {a['young_minutes']:.2f} min (Young 1974) or {a['daly_minutes']:.2f} min (Daly 2006)",
        _waste("Young's interval", a["waste_fraction_at_young"]),
    ]
    if "interval_minutes" in a:
        lines.append(_waste(f"{a['interval_minutes']:g} min", a["waste_fraction_at_interval"]))
    return _lines(lines)


def _waste(interval: str, fraction: float) -> str:
    if fraction >= 1:
        return f"no progress at {interval}: saving, lost work and restarts take all of the wall-clock time"
    return f"waste at {interval} {percent(fraction)} of wall-clock time"


def precision_text(a: Answer) -> str:
    """Formats, rounded values, recipes."""
    lines = [f"{'format':10}{'bits':>5}{'max':>14}{'min normal':>14}{'min subnormal':>15}{'eps':>12}"]
    lines += [
        f"{name:10}{f['bits']:>5}{f['max']:>14.6g}{f['min_normal']:>14.6g}{f['min_subnormal']:>15.6g}{f['eps']:>12.4g}"
        for name, f in a["formats"].items()
    ]
    for value, rounded in a["values"].items():
        lines.append(f"{value} becomes " + ", ".join(f"{v!r} in {name}" for name, v in rounded.items()))
    lines += [
        f"recipe {name}: {r['bytes_per_parameter']} bytes a parameter ({r['source']})"
        for name, r in a["recipes"].items()
    ]
    return _lines(lines)


def fit_text(a: Answer) -> str:
    """A fitted law or mixture regression with its intervals."""
    if a["kind"] == "law":
        lines = [
            f"L(N, D) = E + A/N^alpha + B/D^beta from {a['points']} points, rmse of log loss {a['rmse_log_loss']:.2g}"
        ]
        lines += [
            f"  {name:5} {value:.5g}  95 % {a['intervals_95'][name][0]:.5g} to {a['intervals_95'][name][1]:.5g}"
            for name, value in a["constants"].items()
        ]
        lines += [
            f"  {c} FLOPs: {count(o['parameters'])} on {count(o['tokens'])} tokens" for c, o in a["optimum"].items()
        ]
        return _lines(lines)
    lines = [
        f"loss = Σ weight × effect from {a['runs']} runs, R² {a['r_squared']:.3f}, one run scatters by "
        f"{a['residual']:.4f} nats",
        "effect of each source (loss when alone) and 95 % interval:",
    ]
    lines += [f"  {name}: {e[0]:.4f} ({e[1]:.4f} to {e[2]:.4f})" for name, e in a["effects"].items()]
    low = a["best_loss"]
    lines.append(
        "least predicted loss between the tried mixtures: "
        + ", ".join(f"{n} {w:.3f}" for n, w in a["best"].items())
        + f": {low[0]:.4f} ({low[1]:.4f} to {low[2]:.4f})"
    )
    lines.append(
        "best measured mixture: "
        + ", ".join(f"{n} {w:.3f}" for n, w in a["measured_best"].items())
        + f": {a['measured_best_loss']:.4f}"
    )
    return _lines(lines)

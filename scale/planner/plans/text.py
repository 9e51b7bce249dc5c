"""A plan as text for a terminal: sections of short lines, every number with its unit and its error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scale.planner.answers.answers import grid_text
from scale.units import count, duration, figure, measure, money, percent, quantity, repeats

Plan = Mapping[str, Any]


def plan_text(plan: Plan) -> str:
    """The whole plan."""
    sections = [
        _model(plan),
        _layouts(plan),
        _causes(plan["layouts"][0]),
        _memory(plan["layouts"][0]),
        _pipeline(plan),
        _rejected(plan),
        _run(plan),
        _checkpoint(plan),
        _data(plan),
        _levers(plan),
        _warnings(plan),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _model(plan: Plan) -> list[str]:
    m, train, cluster = plan["model"], plan["inputs"]["train"], plan["inputs"]["cluster"]
    flops = m["flops_per_token"]
    lines = [
        f"MODEL {m['name']} ({m['family']})",
        f"  parameters {m['total_params']:,} ({count(m['total_params'])}), active {count(m['active_params'])}, "
        f"embedding and head {percent(m['embedding_share'])}",
        "  by part " + ", ".join(f"{k} {count(v)}" for k, v in m["parts"].items() if v),
        f"  FLOPs per token: 6N {quantity(flops['six_n'])}, full attention {quantity(flops['full_attention'])}, "
        f"causal {quantity(flops['causal_attention'])} (forward and backward, no recomputation)",
        f"  tokens {count(m['tokens'])} = {measure(m['tokens_per_parameter'], 1)} per active parameter; "
        f"training {quantity(m['training_flops']['six_n'])} FLOPs (6ND)",
    ]
    for rule in m["compute_optimal"]:
        loss = "" if rule["loss"] is None else f", loss {rule['loss']:.3f}"
        lines.append(
            f"  this budget is optimal for {count(rule['parameters'])} on {count(rule['tokens'])} tokens "
            f"by {rule['rule']}{loss}"
        )
    losses = ", ".join(f"{loss:.3f} ({law})" for law, loss in m["predicted_loss"].items())
    lines.append(
        f"  predicted loss of this run {losses}; the rules disagree {m['compute_optimal_disagreement']:.1f}× on size"
    )
    lines.append(
        f"ON {cluster['gpus']:,} × {cluster['gpu']['name']}, {cluster['gpus_per_node']} a node, in-node "
        f"{cluster['in_node_gb_per_s']:g} and network {cluster['network_gb_per_s']:g} GB/s per GPU (one direction); "
        f"sequence {train['sequence']:,}, batch {train['global_batch']:,} sequences = "
        f"{count(train['tokens_per_step'])} tokens, {train['precision']}, {train['recipe']}, "
        f"{train['attention']} attention"
    )
    return lines


EVIDENCE = {
    "fitted": "were fitted on this die",
    "carried": "are carried over from other software on this die",
    "none": "were fitted on other cards",
}
LEGEND = (
    "  tp, cp, pp, ep, dp: tensor-, context-, pipeline-, expert- and data-parallel ways (cp, ep: 1 if not named);",
    "  zero: ZeRO stage; b: sequences in a micro-batch; v: model chunks on a stage; zb1p, zbv, dualpipe: schedules;",
    "  none, selective, full: activations that are recomputed",
)


def _layouts(plan: Plan) -> list[str]:
    found = plan["searched"]
    counted = f"{found['layouts']:,} searched, {found['fit']:,} fit"
    lines = [f"LAYOUTS ({counted}; bars are the error measured on runs not fitted)", *LEGEND]
    for item in plan["layouts"]:
        step, memory = item["step_seconds"], item["memory"]["worst_gib"]
        parts = f"{item['micro_batches']} micro-batch{'' if item['micro_batches'] == 1 else 'es'}"
        lines.append(f"  {item['rank']}. {item['label']}")
        lines.append(
            f"     step {_step(step['value'])} ± {100 * step['band']:.0f} %, MFU {percent(item['mfu_full_attention'])} "
            f"(full attention) or {percent(item['mfu_causal_attention'])} (causal), HFU "
            f"{percent(item['hfu_full_attention'])}, {item['model_tflops_per_gpu']:.0f} TFLOP/s per GPU"
        )
        lines.append(
            f"     {item['tokens_per_second']:,.0f} tokens/s, {count(item['tokens_per_day'])} a day; "
            f"{parts}, bubble {percent(item['bubble']['fraction_of_total'])} of the "
            f"total "
            f"({item['bubble']['ratio_to_ideal']:.3f} of ideal); {measure(memory['value'], 1)} GiB ± "
            f"{100 * memory['band']:.0f} % on the {item['memory']['worst_stage']} stage"
        )
        lines.append(f"     timed as {item['stack']}, whose constants {EVIDENCE[item['evidence']]}")
        lines += [f"     note: {remark}" for remark in item["remarks"]]
    return lines


def _step(seconds: float) -> str:
    return f"{measure(seconds, 3)} s" if seconds >= 1 else f"{1e3 * seconds:.3f} ms"


def _causes(best: Mapping[str, Any]) -> list[str]:
    total = best["step_seconds"]["value"]
    unit, factor = ("s", 1.0) if total >= 1 else ("ms", 1e3)
    lines = [f"STEP TIME of layout 1, {measure(factor * total, 3)} {unit} by cause"]
    for cause, seconds in best["causes_seconds"].items():
        if seconds > 0.0005 * total:
            share, shown = seconds / total, factor * seconds
            lines.append(
                f"  {cause.replace('_', ' '):18} {shown:9.3f} {unit} {percent(share):>7}  {'█' * round(40 * share)}"
            )
    return lines


def _memory(best: Mapping[str, Any]) -> list[str]:
    memory = best["memory"]
    stages = memory["stages_bytes"]
    parts = list(next(iter(stages.values())))
    lines = [
        "MEMORY per GPU of layout 1, GiB (2^30 bytes)",
        "  " + " " * 18 + "".join(f"{name:>10}" for name in stages),
    ]
    for part in parts:
        if any(stage[part] for stage in stages.values()):
            lines.append(
                f"  {part.replace('_', ' '):18}" + "".join(f"{stage[part] / 2**30:10.2f}" for stage in stages.values())
            )
    totals = {name: sum(stage.values()) for name, stage in stages.items()}
    lines.append(f"  {'total':18}" + "".join(f"{total / 2**30:10.2f}" for total in totals.values()))
    lines.append(
        f"  fullest: {memory['worst_stage']} stage, {measure(memory['worst_gib']['value'], 1)} GiB = "
        f"{measure(memory['worst_gb'], 1)} GB "
        f"of {measure(memory['limit_gib'], 1)} GiB usable, margin {measure(memory['margin_gib'], 1)} GiB: "
        f"{memory['verdict']}"
    )
    return lines


def _pipeline(plan: Plan) -> list[str]:
    pipeline = plan["pipeline"]
    if pipeline is None:
        return []
    stages, shown, m = pipeline["stages"], pipeline["grid_stages"], pipeline["grid_micro_batches"]
    drawn = f"{shown} stages and {m} micro-batches"
    if (shown, m) != (stages, pipeline["micro_batches"]):
        drawn = f"drawn with {drawn}; the layout has {stages} and {pipeline['micro_batches']}"
    bubbles = ", ".join(f"{name} {percent(share)}" for name, share in pipeline["bubble_fraction_by_schedule"].items())
    return [
        f"PIPELINE under 1F1B ({drawn}; [1] backward, · idle)",
        *(f"  {line}" for line in grid_text(pipeline["grid"])),
        f"  bubble of the total without interleaving: {bubbles}",
    ]


def _rejected(plan: Plan) -> list[str]:
    if not plan["rejected"]:
        return []
    return ["WHY NOT", *(f"  {r['alternative']}: {r['label']}: {r['reason']}" for r in plan["rejected"])]


def _run(plan: Plan) -> list[str]:
    best, price = plan["layouts"][0], plan["inputs"]["cluster"]["price_per_gpu_hour"]
    days, hours, cost, known = best["days"], best["gpu_hours"], best["cost"], best["published"]
    tuned = best["tuned"]
    card = "" if known["card_seen"] else ", none of them on this card"
    return [
        f"RUN (layout 1; what published runs reach: {known['runs']} runs{card}; the range held 90 % of runs left out)",
        f"  {duration(days['value'])} with failures ({duration(days['low'])} to {duration(days['high'])}), "
        f"{duration(best['days_without_failures']['value'])} without",
        f"  {figure(hours['value'])} GPU-hours ({figure(hours['low'])} to {figure(hours['high'])}), "
        f"{money(cost['value'])} ({money(cost['low'])} to {money(cost['high'])}) at {price:g} dollars per GPU-hour, "
        f"{figure(best['energy_mwh'])} MWh of GPU board power",
        f"  MFU {percent(known['mfu_full_attention'])} over the whole run; nearest published: "
        + ", ".join(f"{r['run']} {percent(r['mfu'])} on {r['gpus']:,} {r['gpu']}" for r in known["nearest"]),
        f"  tuned software: {duration(tuned['days_with_failures']['value'])} with failures, "
        f"{duration(tuned['days_without_failures']['value'])} without, "
        f"{figure(tuned['gpu_hours']['value'])} GPU-hours, {money(tuned['cost']['value'])}; "
        f"published runs take {known['factor']:.2f} times as long, {known['beside_step']:g} of it beside the step",
    ]


def _checkpoint(plan: Plan) -> list[str]:
    c = plan["checkpoint"]
    lines = [
        "CHECKPOINTS AND FAILURES",
        f"  checkpoint {figure(c['gb'])} GB = {figure(c['gib'])} GiB, written in {figure(60 * c['write_minutes'])} s",
    ]
    if not c["saving"] and not c["restarting"]:
        return [*lines, "  no failures expected"]
    saved = "" if c["interval_minutes"] == c["young_minutes"] else f" saving every {c['interval_minutes']:g} min"
    return [
        *lines,
        f"  a failure every {measure(c['mean_minutes_between_failures'] / 60, 1)} hours, "
        f"{figure(c['expected_failures'])} expected; "
        f"save every {measure(c['young_minutes'], 1)} min (Young 1974) or {measure(c['daly_minutes'], 1)} (Daly 2006)",
        f"  waste {percent(c['waste'])} of wall-clock time{saved}: saving {percent(c['saving'])}, lost work "
        f"{percent(c['losing'])}, restarts {percent(c['restarting'])}; goodput {percent(c['goodput'])}",
        f"  dropping the failed replica for {c['repair_hours']:g} h instead of restarting would cost "
        f"{percent(c['drop_replica_waste'])} of throughput",
    ]


def _data(plan: Plan) -> list[str]:
    data = plan["data"]
    if data is None:
        return []
    lines = [f"DATA {count(data['training_tokens'])} training tokens from {count(data['unique_tokens'])} unique"]
    for name, s in data["sources"].items():
        held = "unknown" if s["tokens"] is None else count(s["tokens"])
        epochs = "unknown" if s["epochs"] is None else repeats(s["epochs"])
        documents = "" if s["documents"] is None else f", {s['documents']:,} documents"
        lines.append(f"  {name}: {held} tokens{documents}, weight {s['weight']:.3g}, {epochs} epochs")
    lines.append(
        f"  the unique tokens suit a model of {count(data['chinchilla_parameters'])} (20 tokens a parameter, read "
        f"once), "
        f"{count(data['chinchilla_parameters_four_epochs'])} read four times"
    )
    return lines


def _levers(plan: Plan) -> list[str]:
    if not plan["levers"]:
        return []
    return [
        "LARGEST LEVERS",
        *(
            f"  {lever['lever']}: {duration(lever['days'])} ({100 * lever['change']:+.1f} %)"
            for lever in plan["levers"]
        ),
    ]


def _warnings(plan: Plan) -> list[str]:
    return ["WARNINGS", *(f"  {text}" for text in plan["warnings"])] if plan["warnings"] else []


def gpus_text(answer: Mapping[str, Any]) -> str:
    """The answer of `scale gpus`, a line a question."""
    lines = []
    for key, question in (("fewest_that_fit", "fewest that fit"), ("fewest_for_days", f"for {answer['days']} days")):
        if key in answer:
            found = answer[key]
            result = "none"
            if found is not None:
                result = f"{found['gpus']:,} × {answer['gpu']} ({found['verdict']} as {found['layout']})"
                result += f", done in {duration(found['days'])}"
            lines.append(f"{question}: {result}")
    return "\n".join(lines) + "\n"

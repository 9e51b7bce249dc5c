"""Each number of a plan, explained: its formula with the plan's own values in it, and where the formula is from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scale.memory import StateRecipe, find_recipe
from scale.planner.step.calibration import calibration
from scale.units import count, figure, money, percent

Plan = Mapping[str, Any]


def explanations(plan: Plan) -> dict[str, str]:
    """Name of a printed number → one line that derives it."""
    return {**_model(plan), **_step(plan), **_memory(plan), **_run(plan), **_losses(plan), **_data(plan)}


def _model(plan: Plan) -> dict[str, str]:
    m, train = plan["model"], plan["inputs"]["train"]
    parts = " + ".join(f"{k} {v:,}" for k, v in m["parts"].items() if v)
    flops = m["flops_per_token"]
    return {
        "parameters": f"{parts} = {m['total_params']:,}; biases and norms included, tied embeddings once, buffers not",
        "active parameters": f"{m['active_params']:,}: without the experts a token does not visit",
        "FLOPs per token, 6N": f"6 × {m['active_params']:,} = {flops['six_n']:.4g} (2 forward, 4 backward per active "
        f"weight)",
        "FLOPs per token, full attention": f"3 × (2 × {m['active_matmul_params']:,} weights met, head in and lookup "
        f"out, + "
        f"4·s·a·d per layer at s = {train['sequence']}) = {flops['full_attention']:.4g} (Narayanan et al. 2021 eq 3; "
        f"PaLM app. B)",
        "FLOPs per token, causal": f"the same with s/2 mean keys per query (and windows where the model has them) = "
        f"{flops['causal_attention']:.4g}",
        "compute-optimal size": "20 tokens a parameter: N = √(C/120); parametric laws: N = G·(C/6)^(β/(α+β)), "
        "L = E + A/N^α + B/D^β (Hoffmann et al. 2022 eq 2-4; constants also of Besiroglu et al. 2024)",
    }


CAUSES = {
    "matmul": "per layer and product 2·M·N·K/(share × peak of {gpu}) plus part of a last wave of 128×256 tiles; "
    "{micro_batches} micro-batches of {tokens:,} tokens on one GPU",
    "attention": "4·s·a·d FLOPs a token forward (causal half with flash), 2.5 times that backward, at its measured "
    "share",
    "memory_bound": "norms, residuals and activations: measured bytes per element through HBM, split by tp",
    "launch": "what a layer waits for the host to launch its kernels (soft maximum of host and GPU time)",
    "head_and_loss": "what output head, logits and loss add to the last stage beyond a middle one",
    "tensor_parallel": "4 all-reduces a layer (6 with full recomputation) of 2(t-1)/t·b·s·h·2 bytes, t = {tp} "
    "(Shoeybi et al. 2019; Korthikanti et al. 2022), part of it overlapped",
    "context_parallel": "ring of keys and values over {cp} GPUs, where attention does not hide it",
    "expert_parallel": "4 all-to-alls a layer of experts (6 with full recomputation) of "
    "(e-1)/e·tokens/t·top_k·h·2 bytes, e = {ep}, part of it hidden",
    "pipeline_bubble": "(p-1)/v × one micro-batch on a stage, p = {pp}, v = {interleave} "
    "(Narayanan et al. 2021 section 2.2), times the share a zero-bubble schedule leaves (Qi et al. 2024)",
    "pipeline_transfer": "2·(m·v + p - 2) transfers of b·s·h·2/t bytes between stages, most of them overlapped",
    "data_parallel": "gradients reduced and weights gathered over {replicas} replicas by ZeRO-{zero} volumes "
    "(Rajbhandari et al. 2020 section 7), less what the backward pass hides",
    "optimizer": "measured bytes of HBM per owned parameter",
    "other": "fixed seconds per step and the wait for the slowest of many nodes",
}


def _step(plan: Plan) -> dict[str, str]:
    best, cluster = plan["layouts"][0], plan["inputs"]["cluster"]
    layout, train = best["layout"], plan["inputs"]["train"]
    values = {
        **layout,
        "gpu": cluster["gpu"]["name"],
        "micro_batches": best["micro_batches"],
        "replicas": layout["dp"] * layout["cp"],
        "tokens": layout["micro_batch"] * train["sequence"] // layout["cp"],
    }
    causes = best["causes_seconds"]
    named = {
        f"step: {cause.replace('_', ' ')}": f"{causes[cause]:.4g} s = {text.format(**values)}"
        for cause, text in CAUSES.items()
        if causes[cause] > 0
    }
    seconds, rate = best["step_seconds"], best["tokens_per_second"]
    return {
        **named,
        "step seconds": f"sum of the causes; ± {100 * seconds['band']:.0f} %: 90th percentile of the errors on runs "
        f"not "
        f"fitted ({best['stack']} constants), or 15 % where the GPU or software is in no table",
        "tokens per second": f"{train['tokens_per_step']:,} tokens a step / {seconds['value']:.4g} s = {rate:,.0f}",
        **_utilisation(plan),
        **_bubble(plan),
    }


def _utilisation(plan: Plan) -> dict[str, str]:
    best, cluster, flops = plan["layouts"][0], plan["inputs"]["cluster"], plan["model"]["flops_per_token"]
    full, causal, hardware = (best[key] for key in ("mfu_full_attention", "mfu_causal_attention", "hfu_full_attention"))
    return {
        "MFU": f"{best['tokens_per_second']:,.0f} tokens/s × {flops['full_attention']:.4g} model FLOPs per token / "
        f"({cluster['gpus']:,} GPUs × {cluster['gpu']['bf16_tflops']:g} TFLOP/s dense bf16) = {percent(full)} counting "
        f"full attention; with {flops['causal_attention']:.4g} causal {percent(causal)}; recomputation not counted "
        "(Chowdhery et al. 2022 app. B)",
        "HFU": f"MFU × (FLOPs with recomputation / FLOPs without) = {percent(full)} × {hardware / full:.4g} = "
        f"{percent(hardware)}: what the hardware does",
    }


def _bubble(plan: Plan) -> dict[str, str]:
    best = plan["layouts"][0]
    p, v, m, bubble = best["layout"]["pp"], best["layout"]["interleave"], best["micro_batches"], best["bubble"]
    if p == 1:
        return {}
    share = "" if best["layout"]["schedule"] == "1f1b" else f", of which {best['layout']['schedule']} leaves a share"
    return {
        "bubble": f"(p-1)/(v·m) = {p - 1}/({v}·{m}) of the ideal time (ratio), r/(1+r) of the total (fraction){share}: "
        f"{bubble['ratio_to_ideal']:.4g} and {bubble['fraction_of_total']:.4g}"
    }


def _recipe(train: Mapping[str, Any]) -> StateRecipe:
    """The recipe as the plan tells it: a name, or bytes by item."""
    recipe = train["recipe"]
    return find_recipe(recipe if isinstance(recipe, str) else StateRecipe(**recipe))


def _memory(plan: Plan) -> dict[str, str]:
    recipe = _recipe(plan["inputs"]["train"])
    layout, constants = plan["layouts"][0]["layout"], calibration()["memory"]
    loss, memory = plan["inputs"]["train"]["loss"], plan["layouts"][0]["memory"]
    replicas = layout["dp"] * layout["cp"]
    return {
        "memory: weights, gradients, master, moments": f"{recipe.weights} + "
        f"{recipe.gradients + recipe.gradients_fp32} + {recipe.master} + "
        f"{recipe.momentum + recipe.variance} bytes per parameter of the stage on its GPU ({recipe.source}); ZeRO-"
        f"{layout['zero']} over {replicas} replicas",
        "memory: activations": "bytes a layer keeps (Korthikanti et al. 2022 section 4, with grouped queries, gated "
        "MLPs and "
        f"experts; recompute {layout['recompute']}) × layers × micro-batches in flight, min(m, p - stage), or "
        "min(m, p) where a zero-bubble schedule puts off weight gradients",
        "memory: working set": f"activations and gradients of the layer at work, {constants['working_set_copies']:g} "
        f"copies "
        "(fitted on torchtitan's peaks; half of that without full recomputation)",
        "memory: logits": f"tokens·V/t × {constants[f'logit_bytes_{loss}']:g} bytes on the stage with the head "
        f"({loss} loss, {'fitted' if loss == 'eager' else 'a prior'})",
        "memory: gather and reduce buffers": "ZeRO-2/3: two layers and both ends in 16 bits, the largest reduced in "
        "fp32",
        "memory: framework": f"{constants['framework_gib']:g} GiB and {100 * constants['fragmentation']:.1f} % of "
        f"what moves",
        "memory: total": f"sum of the parts on the {memory['worst_stage']} stage = {memory['worst_gb']:.4g} GB (10^9 "
        f"bytes) = {memory['worst_gib']['value']:.4g} GiB (2^30); ± {100 * memory['worst_gib']['band']:.0f} %: 90th "
        "percentile of the errors on runs not fitted",
        "memory: usable": f"{plan['inputs']['cluster']['usable_memory_fraction']:g} of the GPU's nominal GB (10^9 "
        f"bytes): the "
        "rest is driver, CUDA context and NCCL",
    }


def _run(plan: Plan) -> dict[str, str]:
    best, train, cluster = plan["layouts"][0], plan["inputs"]["train"], plan["inputs"]["cluster"]
    tuned, known = best["tuned"], best["published"]
    days, hours = tuned["days_without_failures"]["value"], figure(best["gpu_hours"]["value"])
    return {
        "days without failures": f"{count(train['tokens'])} tokens / {best['tokens_per_second']:,.0f} a second / "
        f"86,400 = {days:.4g}",
        "days with failures": f"{days:.4g} / (1 - waste {plan['checkpoint']['waste']:.4g}) = "
        f"{best['days_with_failures']['value']:.4g}",
        "published runs": f"× {known['factor']:.4g} (of it {known['beside_step']:g} beside the step: evaluation, data, "
        f"stragglers, steps run twice) = {best['days']['value']:.4g} days: log MFU = a + b·log(tuned MFU) + "
        f"c·log(FLOPs), fitted on {known['runs']} published runs; the range held 90 % of runs left out",
        "GPU-hours": f"{best['days']['value']:.4g} days × 24 × {cluster['gpus']:,} GPUs = {hours}",
        "cost": f"{hours} GPU-hours × {cluster['price_per_gpu_hour']:g} dollars (cluster.price_per_gpu_hour, by "
        f"default a list price) = {money(best['cost']['value'])}",
        "energy": f"{hours} GPU-hours × {cluster['gpu']['watts']:g} W board power, hosts and cooling not counted "
        f"= {best['energy_mwh']:.4g} MWh",
    }


def _losses(plan: Plan) -> dict[str, str]:
    c, cluster = plan["checkpoint"], plan["inputs"]["cluster"]
    if c["mean_minutes_between_failures"] is None:
        return {}
    per = plan["inputs"]["checkpoint"]["bytes_per_parameter"]
    return {
        "checkpoint bytes": f"{per:g} bytes × {plan['model']['total_params']:,} parameters (14: master 4, moments 8, "
        f"16-bit copy 2) = {c['gb']:.4g} GB",
        "write seconds": f"{c['gb']:.4g} GB / {cluster['storage_gb_per_s']:g} GB/s of storage = "
        f"{60 * c['write_minutes']:.4g} s, training paused meanwhile",
        "time between failures": f"M = 24·60·1000/(nodes × {cluster['failures_per_1000_node_days']:g} failures per "
        f"1000 "
        f"node-days) = {c['mean_minutes_between_failures']:.4g} min (rate: Kokolis et al. 2025)",
        "interval": f"with C = {c['write_minutes']:.4g} min: Young 1974: √(2CM) = {c['young_minutes']:.4g} min; "
        f"Daly 2006: √(2CM)[1 + √(C/2M)/3 + (C/2M)/9] - C = {c['daly_minutes']:.4g} min",
        "waste": f"C/T + T/2M + R/M with T = {c['interval_minutes']:.4g} min and R = {cluster['restart_minutes']:g} "
        f"min to restart = {c['saving']:.4g} + {c['losing']:.4g} + {c['restarting']:.4g} = {c['waste']:.4g}",
        "dropped replica": f"{c['repair_hours']:g} hours to repair / time between failures / replicas = "
        f"{c['drop_replica_waste']:.4g}: what a fault-tolerant run loses instead",
    }


def _data(plan: Plan) -> dict[str, str]:
    if plan["data"] is None:
        return {}
    return {
        "epochs": "weight (over the sum of the weights) × training tokens / unique tokens of the source; beyond 4 "
        "value falls, beyond 16 almost none is left (Muennighoff et al. 2023)",
        "model for this data": f"{count(plan['data']['unique_tokens'])} unique tokens / 20 (Hoffmann et al. 2022) = "
        f"{count(plan['data']['chinchilla_parameters'])}, and four times that when read four times",
    }

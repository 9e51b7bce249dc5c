"""Published closed forms against ours: what must agree to the printed digit."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from scale_rows import DATA, FOUNDRY, find_gpu, gpt, read

from scale import bubble_fraction, bubble_ratio, interleaved_bubble_ratio, zero_bubble_fraction, zero_memory_per_gpu
from scale.planner.models.families import model_from_config
from scale.planner.models.flops import megatron_parameters, palm_mfu, training_days_exact, utilisation
from scale.planner.models.parameters import count_parameters
from scale.planner.step.arrays import Grid, Shape
from scale.planner.step.memory import activation_bytes_per_layer
from scale.planner.step.workload import Layout, Train

MT_NLG_TOKENS_PER_SECOND = 1920 * 2048 / 60.1  # Smith et al. 2022 (arXiv 2201.11990): 60.1 s an iteration, 2240 GPUs
PALM_TOKENS_PER_SECOND = 238.3e3  # Chowdhery et al. 2022 appendix B


def exact_parameters() -> tuple[int, int]:
    """(configs, largest absolute error in parameters)."""
    configs = json.loads((DATA / "model_configs.json").read_text(encoding="utf-8"))
    wrong = [abs(count_parameters(model_from_config(c)).total - c["total_params"]) for c in configs]
    return len(wrong), max(wrong)


def sc21_parameters() -> tuple[int, float]:
    """(rows, largest difference from the printed billions) of Narayanan et al. 2021 table 1."""
    rows = read("megatron_sc21_table1.csv")
    off = [
        abs(round(megatron_parameters(int(r["layers"]), int(r["hidden"]), 51200, 2048) / 1e9, 1) - float(r["params_b"]))
        for r in rows
    ]
    return len(off), max(off)


def sc21_days() -> tuple[int, float]:
    """(rows, largest difference from the printed whole days) of table 2, by equation 3 and the printed TFLOP/s."""
    shapes = {"174.6": (96, 12288), "529.6": (105, 20480)}
    off = [
        abs(
            training_days_exact(300e9, *shapes[r["params_b"]], 51200, 2048, int(r["gpus"]), float(r["tflops_per_gpu"]))
            - float(r["days_for_300B_tokens"])
        )
        for r in read("megatron_sc21_table2_days.csv")
    ]
    return len(off), max(off)


KORTHIKANTI = {"22B": (6144, 48, 64), "175B": (12288, 96, 96), "530B": (20480, 105, 128), "1T": (25600, 128, 160)}
RECOMPUTES = {
    "none_pct": ("none", False),
    "seqpar_pct": ("none", True),
    "selective_pct": ("selective", False),
    "seqpar_selective_pct": ("selective", True),
    "full_pct": ("full", False),
}


def activation_percentages() -> tuple[int, float]:
    """(values, largest difference in percentage points) of Korthikanti et al. 2022 figure 7, t = 8."""
    off = []
    train = Train(2048, 1, attention="unfused")
    for r in read("korthikanti_fig7_activation_pct.csv"):
        shape = Shape.of(gpt(*KORTHIKANTI[r["model"]], vocab=51200, positions=2048), train)
        size = {}
        for column, (recompute, parallel) in RECOMPUTES.items():
            layout = Layout(tp=8, recompute=recompute, sequence_parallel=parallel)  # type: ignore[arg-type]
            size[column] = float(activation_bytes_per_layer(shape, Grid.of(layout, train)))
        off += [abs(100 * size[c] / size["none_pct"] - float(r[c])) for c in RECOMPUTES]
    return len(off), max(off)


def palm_table() -> tuple[int, float]:
    """(values, largest difference in points) of PaLM's MFU table: PaLM itself and MT-NLG."""
    ours = {
        "PaLM": palm_mfu(PALM_TOKENS_PER_SECOND, 540.35e9, 118, 48, 256, 2048, 6144, 275),
        "MT-NLG": palm_mfu(MT_NLG_TOKENS_PER_SECOND, 529.6e9, 105, 128, 160, 2048, 2240, 312),
    }
    off = [abs(100 * ours[r["model"]] - float(r["mfu_pct"])) for r in read("palm_table3_mfu.csv") if r["model"] in ours]
    return len(off), max(off)


def zero_table() -> tuple[int, float]:
    """(values, largest difference in GB) of Rajbhandari et al. 2020 table 1."""
    off = [
        abs(zero_memory_per_gpu(float(r["params_b"]) * 1e9, int(r["dp"]), stage) / 1e9 - float(r[f"stage{stage}_gb"]))
        for r in read("zero_table1.csv")
        for stage in (1, 2, 3)
    ]
    return len(off), max(off)


def bubbles() -> tuple[int, float]:
    """(values, largest difference) of the bubble table: fraction, ratio, interleaved ratios, ZB1P."""
    off = []
    for r in read("bubble_closed_forms.csv"):
        p, m = int(r["p"]), int(r["m"])
        zb1p = next(value for key, value in r.items() if key.startswith("zb1p"))
        pairs = [
            (bubble_fraction(p, m), r["fraction_of_total"]),
            (bubble_ratio(p, m), r["ratio_to_ideal"]),
            (interleaved_bubble_ratio(p, m, 2), r["ratio_interleave2"]),
            (interleaved_bubble_ratio(p, m, 3), r["ratio_interleave3"]),
            (zero_bubble_fraction(p, m, "ZB1P"), zb1p),
        ]
        off += [abs(ours - float(theirs)) for ours, theirs in pairs]
    return len(off), max(off)


def foundry_mfu() -> tuple[int, float]:
    """(rows, largest relative difference) of llm-foundry's printed MFU from its printed tokens/s (full attention)."""
    off = []
    for r in read("llmfoundry_bench.csv"):
        hidden, layers, heads = FOUNDRY[r["model"]]
        sequence = int(r["seqlen_t"])
        model = gpt(hidden, layers, heads, 50368, sequence)
        gpu = find_gpu("H100-SXM-80GB" if r["gpu"].startswith("h100") else "A100-SXM-80GB")
        peak = (gpu.fp8_tflops if r["precision"] == "amp_fp8" else gpu.bf16_tflops) or gpu.bf16_tflops
        # Their count is 6N with all parameters, embeddings in, plus 12·l·h·s.
        per_token = 6.0 * count_parameters(replace(model)).total + 12.0 * layers * hidden * sequence
        ours = 100 * utilisation(float(r["throughput_t_s"]), per_token, int(r["gpus"]), peak)
        off.append(abs(ours / float(r["mfu"]) - 1))
    return len(off), float(np.max(off))

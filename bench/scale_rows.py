"""The measured runs of `scale_data/` as (model, cluster, layout, train, seconds per step): what fits and checks use."""

from __future__ import annotations

import csv
import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scale.planner.models.model import Architecture, Attention
from scale.planner.step.arrays import Array, Grid, Rates, Shape, array
from scale.planner.step.calibration import Constants
from scale.planner.step.hardware import Cluster, find_gpu
from scale.planner.step.stages import ModelParameters, heaviest_stage
from scale.planner.step.steptime import StageParameters, StepTime, step_seconds
from scale.planner.step.workload import Layout, Train

DATA = Path(__file__).parent / "scale_data"
A100, H100 = find_gpu("A100-SXM-80GB"), find_gpu("H100-SXM-80GB")


@dataclass(frozen=True)
class Row:
    """One measured run. `group` names the split that must not be fitted when it is judged (a model size)."""

    table: str
    group: str
    model: Architecture
    cluster: Cluster
    layout: Layout
    train: Train
    seconds: float


def read(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def gpt(hidden: int, layers: int, heads: int, vocab: int, positions: int) -> Architecture:
    """A GPT-2-style model as Megatron-LM and llm-foundry train it: biases, LayerNorm, tied embeddings, MLP of 4h."""
    return Architecture(
        f"gpt-{hidden}x{layers}",
        layers,
        hidden,
        vocab,
        Attention(heads, heads, hidden // heads, qkv_bias=True, out_bias=True),
        4 * hidden,
        gated=False,
        mlp_bias=True,
        norm="layer",
        tied=True,
        positions=positions,
        family="gpt",
    )


def vtrain(name: str) -> list[Row]:
    """vTrain's measured Megatron iterations: A100-80GB, full recomputation, 1F1B, HDR 800 Gb/s per node."""
    rows = []
    for r in read(name):
        gpus, sequence = int(r["# GPUs"]), int(r["sequence length"])
        model = gpt(int(r["hidden size"]), int(r["# layers"]), int(r["attention heads"]), 51200, sequence)
        cluster = Cluster(A100, gpus, gpus_per_node=min(8, gpus), network_gb_per_s=12.5)
        layout = Layout(
            tp=int(r["tensor parallelism"]),
            pp=int(r["pipeline parallelism"]),
            dp=int(r["data parallelism"]),
            zero=0,
            micro_batch=int(r["micro batch"]),
            recompute="full",
            sequence_parallel=False,
        )
        train = Train(sequence, int(r["global batch"]), recipe="adam18", attention="unfused", precision="fp16")
        rows.append(
            Row(
                name.removesuffix(".csv"),
                f"h{r['hidden size']}",
                model,
                cluster,
                layout,
                train,
                float(r["iteration time (ms)"]) / 1e3,
            )
        )
    return rows


def korthikanti() -> list[Row]:
    """Iteration times of Korthikanti et al. 2022 table 5: full recomputation, and sequence parallel + selective."""
    rows = []
    for r in read("korthikanti_table5.csv"):
        model = gpt(int(r["hidden"]), int(r["layers"]), int(r["heads"]), 51200, 2048)
        cluster = Cluster(A100, int(r["gpus"]))
        train = Train(2048, int(r["global_batch"]), recipe="adam18", attention="unfused", precision="fp16")
        for column, recompute, parallel in (
            ("iter_s_full_recompute", "full", False),
            ("iter_s_seqpar_selective", "selective", True),
        ):
            layout = Layout(
                tp=int(r["tp"]),
                pp=int(r["pp"]),
                dp=1,
                zero=0,
                micro_batch=int(r["micro_batch"]),
                interleave=int(r["interleave"]),
                recompute=recompute,  # type: ignore[arg-type]
                sequence_parallel=parallel,
            )
            rows.append(Row("korthikanti", r["model"], model, cluster, layout, train, float(r[column])))
    return rows


FOUNDRY = {
    "125m": (768, 12, 12),
    "350m": (1024, 24, 16),
    "760m": (1536, 24, 12),
    "1b": (2048, 24, 16),
    "3b": (2560, 32, 20),
    "7b": (4096, 32, 32),
    "13b": (5120, 40, 40),
    "30b": (7168, 48, 56),
    "70b": (8192, 80, 64),
}


def foundry() -> list[Row]:
    """llm-foundry's training benchmark: FSDP, flash attention, no tensor parallelism."""
    rows = []
    for r in read("llmfoundry_bench.csv"):
        hidden, layers, heads = FOUNDRY[r["model"]]
        gpus, sequence, micro = int(r["gpus"]), int(r["seqlen_t"]), int(r["microbatchsize"])
        gpu = {"h100_80gb": H100, "a100_80gb": A100, "a100_40gb": find_gpu("A100-SXM-40GB")}[r["gpu"]]
        layout = Layout(
            dp=gpus,
            zero=3 if r["sharding_strategy"] == "FULL_SHARD" else 2,
            micro_batch=micro,
            recompute="full" if r["activation_checkpointing"] == "True" else "none",
        )
        train = Train(
            sequence,
            micro * int(r["gradaccum"]) * gpus,
            recipe="adam16",
            precision="fp8" if r["precision"] == "amp_fp8" else "bf16",
        )
        model = gpt(hidden, layers, heads, 50368, sequence)
        tokens_per_second = float(r["throughput_t_s_gpu"]) * gpus
        rows.append(
            Row(
                "foundry",
                r["model"],
                model,
                Cluster(gpu, gpus),
                layout,
                train,
                train.tokens_per_step / tokens_per_second,
            )
        )
    return rows


def megatron_h100() -> list[Row]:
    """Megatron-LM's H100 weak scaling of 2024; micro-batch and interleaving are not printed: see `choices`."""
    rows = []
    for r in read("megatron_h100.csv"):
        model = gpt(int(r["hidden"]), int(r["layers"]), int(r["heads"]), 131072, 4096)
        gpus, batch = int(r["gpus"]), int(r["global_batch"])
        pp, layers = int(r["pp"]), int(r["layers"])
        layout = Layout(
            tp=int(r["tp"]),
            pp=pp,
            dp=int(r["dp"]),
            zero=1,
            recompute="selective",
            interleave=layers // pp if pp > 1 else 1,
        )
        train = Train(4096, batch)
        flops = megatron_model_flops(int(r["hidden"]), int(r["layers"]), 131072, 4096)
        rows.append(
            Row(
                "megatron_h100",
                r["params_b"],
                model,
                Cluster(H100, gpus),
                layout,
                train,
                train.tokens_per_step * flops / (gpus * float(r["tflops_per_gpu"]) * 1e12),
            )
        )
    return rows


def megatron_model_flops(hidden: int, layers: int, vocab: int, sequence: int) -> float:
    """FLOPs per token as Megatron-LM counted them in 2024: 72·l·h²·(1 + s/6h + V/12lh), full attention."""
    return 72.0 * layers * hidden**2 * (1 + sequence / (6 * hidden) + vocab / (12 * layers * hidden))


@dataclass(frozen=True)
class Columns:
    """Rows as arrays, ready for one evaluation of the step-time model."""

    shape: Shape
    grid: Grid
    rates: Rates
    parameters: StageParameters
    gradient_bytes: Array
    seconds: Array

    def times(self, constants: Constants) -> StepTime:
        return step_seconds(self.shape, self.grid, self.parameters, self.gradient_bytes, self.rates, constants)

    def take(self, chosen: object) -> Columns:
        return Columns(
            self.shape.take(chosen),
            self.grid.take(chosen),
            self.rates.take(chosen),
            StageParameters(self.parameters.dense[chosen], self.parameters.experts[chosen]),
            self.gradient_bytes[chosen],
            self.seconds[chosen],
        )


def columns(rows: list[Row]) -> Columns:
    grids = [Grid.of(r.layout, r.train) for r in rows]
    heavy = [heaviest_stage(ModelParameters.of(r.model), r.model.layers, g) for r, g in zip(rows, grids)]
    return Columns(
        Shape.stack([Shape.of(r.model, r.train) for r in rows]),
        Grid.stack(grids),
        Rates.stack([Rates.of(r.cluster, r.train.precision) for r in rows]),
        StageParameters(
            *(np.array([float(getattr(h, f.name)) for h in heavy]) for f in dataclasses.fields(StageParameters))
        ),
        array([2.0 if r.train.recipe == "adam16" else 4.0 for r in rows]),
        array([r.seconds for r in rows]),
    )


def best_choice(row: Row, constants: Constants) -> Row:
    """The row with the fastest micro-batch and interleaving of those that divide: for tables that print neither."""
    best: tuple[float, Row] | None = None
    layout = row.layout
    for micro in (1, 2, 4, 8):
        if row.train.global_batch % (micro * layout.dp):
            continue
        count = row.train.global_batch // (micro * layout.dp)
        per_stage = row.model.layers // layout.pp
        chunks = [v for v in range(1, per_stage + 1) if per_stage % v == 0] if layout.pp > 1 else [1]
        for interleave in chunks if count % layout.pp == 0 else [1]:
            trial = dataclasses.replace(
                row, layout=dataclasses.replace(layout, micro_batch=micro, interleave=interleave)
            )
            seconds = float(columns([trial]).times(constants).total[0])
            if best is None or seconds < best[0]:
                best = (seconds, trial)
    assert best is not None
    return best[1]

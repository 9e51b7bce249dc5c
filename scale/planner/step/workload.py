"""How it is trained: the `Train` settings, one `Layout` of the work over GPUs, and why a layout cannot be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from scale.memory import RECIPES, StateRecipe, find_recipe
from scale.pipeline import ZERO_BUBBLE_SHARES
from scale.planner.models.model import Architecture
from scale.planner.step.hardware import Cluster
from scale.refusal import Refusal, require

Recompute = Literal["none", "selective", "full"]
RECOMPUTES: tuple[Recompute, ...] = ("none", "selective", "full")
SCHEDULES = ("1f1b", "zb1p", "zbv", "dualpipe")
PRECISIONS = ("bf16", "fp16", "fp8", "fp4")
SOFTWARE = ("megatron", "fsdp")
OFFLOADS = ("none", "optimizer")


@dataclass(frozen=True)
class Train:
    """Settings of a training run. `sequence` is tokens; `global_batch` is sequences per optimiser step.

    `attention`: "flash" (fused kernel, no stored scores, causal half computed; current software with overlapped
    gradient and parameter traffic) or "unfused" (scores stored, full square computed; software of 2021-2022
    without that overlap). `loss`: "eager" materialises fp32 logits several times, "fused" computes them in pieces.
    `software` names the stack that runs it; "" lets the layout imply it. `offload`: the optimiser's state waits in host
    memory and is updated there (ZeRO-Offload, Ren et al. 2021). `lora_rank`: only adapters of that rank beside every
    linear layer are trained (Hu et al. 2021); 0 trains all weights.
    """

    sequence: int
    global_batch: int
    tokens: float = 0.0
    precision: Literal["bf16", "fp16", "fp8", "fp4"] = "bf16"
    recipe: str | StateRecipe = "dist-opt"
    attention: Literal["flash", "unfused"] = "flash"
    loss: Literal["eager", "fused"] = "eager"
    dropout: bool = False
    software: str = ""
    offload: Literal["none", "optimizer"] = "none"
    lora_rank: int = 0

    def __post_init__(self) -> None:
        require(self.sequence >= 1, f"train: a sequence of {self.sequence} tokens is impossible")
        require(self.global_batch >= 1, f"train: a global batch of {self.global_batch} sequences is impossible")
        require(self.tokens >= 0, "train: tokens cannot be negative")
        require(
            isinstance(self.recipe, StateRecipe) or (isinstance(self.recipe, str) and self.recipe in RECIPES),
            f"train: recipe {self.recipe!r} is unknown; known: {', '.join(RECIPES)}, or bytes per parameter by item",
        )
        require(self.offload in OFFLOADS, f"train: offload {self.offload!r} is unknown; known: {', '.join(OFFLOADS)}")
        require(self.lora_rank >= 0, f"train: lora_rank is {self.lora_rank}, and must be at least 1, or 0 for none")
        require(
            self.precision in PRECISIONS,
            f"train: precision {self.precision!r} is unknown; known: {', '.join(PRECISIONS)}",
        )
        require(
            self.attention in ("flash", "unfused"),
            f"train: attention {self.attention!r} is unknown; known: flash, unfused",
        )
        require(self.loss in ("eager", "fused"), f"train: loss {self.loss!r} is unknown; known: eager, fused")
        require(
            self.software in ("", *SOFTWARE),
            f"train: software {self.software!r} is unknown; known: {', '.join(SOFTWARE)}; leave it out to try all",
        )

    @property
    def tokens_per_step(self) -> int:
        return self.sequence * self.global_batch

    @property
    def state(self) -> StateRecipe:
        """Bytes per trained parameter that stay on the GPUs: what is offloaded waits in the hosts' memory."""
        recipe = find_recipe(self.recipe)
        return replace(recipe, master=0, momentum=0, variance=0) if self.offload == "optimizer" else recipe


@dataclass(frozen=True)
class Layout:
    """How the work is spread: ways of tensor, context, pipeline, expert and data parallelism, and the memory knobs.

    `dp` counts data-parallel replicas; GPUs = tp·cp·pp·dp, and `ep` splits experts over the dp·cp group.
    `zero` 0-3 follows Rajbhandari et al. 2020; `interleave` is model chunks per stage.
    """

    tp: int = 1
    cp: int = 1
    pp: int = 1
    ep: int = 1
    dp: int = 1
    zero: int = 1
    micro_batch: int = 1
    interleave: int = 1
    schedule: str = "1f1b"
    recompute: Recompute = "selective"
    sequence_parallel: bool = True

    def __post_init__(self) -> None:
        for key in ("tp", "cp", "pp", "ep", "dp", "micro_batch", "interleave"):
            require(getattr(self, key) >= 1, f"layout: {key} is {getattr(self, key)}, and must be at least 1")
        require(self.zero in (0, 1, 2, 3), f"layout: zero is {self.zero}, and must be 0, 1, 2 or 3")
        require(
            self.recompute in RECOMPUTES,
            f"layout: recompute {self.recompute!r} is unknown; known: {', '.join(RECOMPUTES)}",
        )
        require(
            self.schedule in SCHEDULES, f"layout: schedule {self.schedule!r} is unknown; known: {', '.join(SCHEDULES)}"
        )
        require(self.interleave == 1 or self.pp > 1, "layout: interleaving needs pipeline stages (pp above 1)")

    @property
    def gpus(self) -> int:
        return self.tp * self.cp * self.pp * self.dp

    @property
    def bubble_share(self) -> float:
        """The part of 1F1B's bubble that the schedule leaves, forward, input and weight gradients taking equally long.

        Zero-bubble schedules: Qi et al. 2024. DualPipe: (p/2 - 1)(F&B + B - 3W) for (p - 1)(F + B), where an overlapped
        pair takes as long as its parts (DeepSeek-V3 report, table 2): (p - 2)/3(p - 1).
        """
        if self.schedule == "dualpipe":
            return (self.pp - 2) / (3 * (self.pp - 1)) if self.pp > 1 else 1.0
        return 1.0 if self.schedule == "1f1b" else ZERO_BUBBLE_SHARES[self.schedule.upper()]

    def micro_batches(self, train: Train) -> int:
        """Micro-batches per replica and step, m = B/(dp·b)."""
        return train.global_batch // (self.dp * self.micro_batch)

    def label(self) -> str:
        """Short name such as `tp8 cp1 pp16 dp64 zero1 b1 v7 selective`."""
        parts = [
            f"tp{self.tp}",
            f"cp{self.cp}" if self.cp > 1 else "",
            f"pp{self.pp}",
            f"ep{self.ep}" if self.ep > 1 else "",
            f"dp{self.dp}",
            f"zero{self.zero}",
            f"b{self.micro_batch}",
            f"v{self.interleave}" if self.interleave > 1 else "",
            self.schedule if self.schedule != "1f1b" else "",
            self.recompute,
        ]
        return " ".join(part for part in parts if part)


SPARE_SLOTS = (
    2  # embedding and output head may take a layer's place on the first and last stage (Llama 3 section 3.3.2)
)


def chunks_divide(layers: int, stages: int, interleave: int) -> bool:
    """Whether the layers, or the layers with one or both ends counted as layers, fill stages × chunks."""
    return any((layers + spare) % (stages * interleave) == 0 for spare in range(SPARE_SLOTS + 1))


def reasons_against(model: Architecture, cluster: Cluster, layout: Layout, train: Train) -> list[str]:
    """Every reason for which the layout is impossible (memory aside); empty when it can run."""
    found = []
    a, e = model.attention, model.experts
    if layout.gpus != cluster.gpus:
        found.append(
            f"tp {layout.tp} · cp {layout.cp} · pp {layout.pp} · dp {layout.dp} is {layout.gpus} GPUs, "
            f"the cluster has {cluster.gpus}"
        )
    if train.global_batch % (layout.dp * layout.micro_batch):
        found.append(
            f"a global batch of {train.global_batch} sequences does not divide into dp {layout.dp} × "
            f"micro-batch {layout.micro_batch}"
        )
    if a.heads % layout.tp:
        found.append(f"{a.heads} heads do not divide by tp {layout.tp}")
    if layout.pp > model.layers:
        found.append(f"{layout.pp} pipeline stages are more than {model.layers} layers")
    if layout.interleave > 1:
        if not chunks_divide(model.layers, layout.pp, layout.interleave):
            found.append(
                f"{model.layers} layers (with up to {SPARE_SLOTS} slots for embedding and head) do not divide "
                f"into pp {layout.pp} × {layout.interleave} chunks"
            )
        if layout.micro_batches(train) % layout.pp:
            found.append(
                f"interleaving needs micro-batches ({layout.micro_batches(train)}) in multiples of "
                f"pp {layout.pp} (Narayanan et al. 2021)"
            )
    if layout.cp > 1 and train.sequence % (2 * layout.cp):
        found.append(f"a sequence of {train.sequence} does not divide into 2 × cp {layout.cp} chunks")
    if layout.ep > 1 and (e is None or e.count % layout.ep):
        found.append(f"ep {layout.ep} does not divide {e.count if e else 0} experts")
    if layout.ep > 1 and (layout.dp * layout.cp) % layout.ep:
        found.append(f"ep {layout.ep} does not divide dp {layout.dp} × cp {layout.cp}")
    if not cluster.gpu.runs(train.precision):
        found.append(f"{cluster.gpu.name} has no {train.precision}")
    return found


def require_possible(model: Architecture, cluster: Cluster, layout: Layout, train: Train) -> None:
    """Raise `Refusal` with the first reason against the layout."""
    found = reasons_against(model, cluster, layout, train)
    if found:
        raise Refusal(f"layout {layout.label()}: {found[0]}")


def remarks(model: Architecture, cluster: Cluster, layout: Layout) -> list[str]:
    """What is possible but worth knowing about a layout."""
    notes = []
    a = model.attention
    if a.mla is None and a.kv_heads < layout.tp:
        notes.append(
            f"tp {layout.tp} is more than {a.kv_heads} key/value heads: each is held by {layout.tp // a.kv_heads} GPUs"
        )
    if layout.tp > cluster.gpus_per_node:
        notes.append(f"tp {layout.tp} crosses nodes of {cluster.gpus_per_node}: its all-reduces use the network")
    if model.layers % layout.pp:
        notes.append(f"{model.layers} layers over {layout.pp} stages are uneven: the first and last stage hold fewer")
    if layout.cp > 1:
        notes.append("no table covers context parallelism: its time follows from volumes and rates alone")
    if model.experts or model.mixer:
        what = "mixtures of experts" if model.experts else "layers without plain attention"
        notes.append(f"no table covers {what}: the time follows from weights and rates alone")
    if layout.zero == 3 and layout.pp > 1:
        notes.append("ZeRO-3 with pipeline stages keeps gathered weights and unsharded gradients for the whole step")
    return notes

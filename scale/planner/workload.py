"""What is trained and how: the `Train` settings and one `Layout` of the work over GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scale.memory import RECIPES
from scale.planner.refusal import require

Recompute = Literal["none", "selective", "full"]
RECOMPUTES: tuple[Recompute, ...] = ("none", "selective", "full")
SCHEDULES = ("1f1b", "zb1p", "zbv")


@dataclass(frozen=True)
class Train:
    """Settings of a training run. `sequence` is tokens; `global_batch` is sequences per optimiser step.

    `attention`: "flash" (fused kernel, no stored scores, causal half computed; current software with overlapped
    gradient and parameter traffic) or "unfused" (scores stored, full square computed; software of 2021-2022
    without that overlap). `loss`: "eager" materialises fp32 logits several times, "fused" computes them in pieces.
    """

    sequence: int
    global_batch: int
    tokens: float = 0.0
    precision: Literal["bf16", "fp16", "fp8"] = "bf16"
    recipe: str = "dist-opt"
    attention: Literal["flash", "unfused"] = "flash"
    loss: Literal["eager", "fused"] = "eager"
    dropout: bool = False

    def __post_init__(self) -> None:
        require(self.sequence >= 1, f"train: a sequence of {self.sequence} tokens is impossible")
        require(self.global_batch >= 1, f"train: a global batch of {self.global_batch} sequences is impossible")
        require(self.tokens >= 0, "train: tokens cannot be negative")
        require(
            isinstance(self.recipe, str) and self.recipe in RECIPES,
            f"train: recipe {self.recipe!r} is unknown; known: {', '.join(RECIPES)}",
        )
        require(
            self.precision in ("bf16", "fp16", "fp8"),
            f"train: precision {self.precision!r} is unknown; known: bf16, fp16, fp8",
        )
        require(
            self.attention in ("flash", "unfused"),
            f"train: attention {self.attention!r} is unknown; known: flash, unfused",
        )
        require(self.loss in ("eager", "fused"), f"train: loss {self.loss!r} is unknown; known: eager, fused")

    @property
    def tokens_per_step(self) -> int:
        return self.sequence * self.global_batch


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
            self.schedule if self.schedule.startswith("zb") else "",
            self.recompute,
        ]
        return " ".join(part for part in parts if part)

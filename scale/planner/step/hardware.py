"""Accelerators (a data file with sources) and the cluster they stand in.

All rates are dense (no sparsity) and in one direction; GB is 10^9 bytes, GiB is 2^30.
"""

from __future__ import annotations

import csv
import functools
import math
from dataclasses import dataclass
from importlib import resources

from scale.refusal import Refusal, require

MOST_GPUS = 10_000_000


@dataclass(frozen=True)
class Gpu:
    """One accelerator. `matmul_fraction` is the best measured share of the bf16 peak, None where unmeasured.

    Cards of one `die` share what was measured of its matmuls and attention; "" is a card of which nothing is known.
    `names` are what `nvidia-smi` and others print; `borrowed` numbers are of the card it was said to be like.

    Raises `Refusal` for a rate or size that is not above zero.
    """

    name: str
    bf16_tflops: float
    fp8_tflops: float | None
    memory_gb: float
    memory_gb_per_s: float
    in_node_gb_per_s: float
    network_gb_per_s: float
    matmul_fraction: float | None
    multiprocessors: int
    price_per_hour: float
    watts: float
    source: str = ""
    fp4_tflops: float | None = None
    die: str = ""
    names: tuple[str, ...] = ()
    borrowed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rates = (
            "bf16_tflops",
            "fp8_tflops",
            "fp4_tflops",
            "memory_gb",
            "memory_gb_per_s",
            "in_node_gb_per_s",
            "network_gb_per_s",
        )
        for key in (*rates, "multiprocessors"):
            value = getattr(self, key)
            require(value is None or value > 0, f"GPU {self.name}: {key} is {value}, and must be above 0")
        share = self.matmul_fraction
        require(
            share is None or 0 < share <= 1, f"GPU {self.name}: matmul_fraction is {share}, and must be a fraction of 1"
        )
        for key in ("price_per_hour", "watts"):
            require(getattr(self, key) >= 0, f"GPU {self.name}: {key} cannot be negative")

    def runs(self, precision: str) -> bool:
        """Whether its matrix units know the format; all know 16 bits."""
        return {"fp8": self.fp8_tflops, "fp4": self.fp4_tflops}.get(precision, self.bf16_tflops) is not None


@dataclass(frozen=True)
class Cluster:
    """GPUs, how they are wired, what they cost and how often they fail.

    `network_gb_per_s` and `in_node_gb_per_s` are per GPU and one direction; `failures_per_1000_node_days` follows
    Kokolis et al. 2025 (arXiv 2410.21680), default Meta's RSC-1 rate of 6.5. Rates and the price left out (NaN) are
    those of the GPU, the storage 2 GB/s a node. `host_gb_per_s` is what one GPU and its share of the host's
    memory move. Raises `Refusal` for numbers that no cluster has.
    """

    gpu: Gpu
    gpus: int
    gpus_per_node: int = 8
    in_node_gb_per_s: float = math.nan
    network_gb_per_s: float = math.nan
    storage_gb_per_s: float = math.nan
    price_per_gpu_hour: float = math.nan
    failures_per_1000_node_days: float = 6.5
    restart_minutes: float = 15.0
    usable_memory_fraction: float = 0.95
    host_gb_per_s: float = 25.0

    def __post_init__(self) -> None:
        require(self.gpus >= 1, f"cluster: {self.gpus} gpus is impossible; give at least 1")
        require(self.gpus <= MOST_GPUS, f"cluster: {self.gpus} gpus are beyond {MOST_GPUS}")
        require(self.gpus_per_node >= 1, "cluster: gpus_per_node must be at least 1")
        require(
            self.gpus <= self.gpus_per_node or self.gpus % self.gpus_per_node == 0,
            f"cluster: {self.gpus} GPUs do not fill nodes of {self.gpus_per_node}; "
            f"give a multiple of {self.gpus_per_node} or set gpus_per_node",
        )
        require(0 < self.usable_memory_fraction <= 1, "cluster: usable_memory_fraction is a fraction of 1")
        for key in ("failures_per_1000_node_days", "restart_minutes"):
            require(getattr(self, key) >= 0, f"cluster: {key} cannot be negative")
        defaults = {
            "in_node_gb_per_s": self.gpu.in_node_gb_per_s,
            "network_gb_per_s": self.gpu.network_gb_per_s,
            "storage_gb_per_s": max(2.0, 2.0 * self.nodes),
            "price_per_gpu_hour": self.gpu.price_per_hour,
        }
        for key, value in defaults.items():
            if math.isnan(getattr(self, key)):
                object.__setattr__(self, key, value)
        require(self.price_per_gpu_hour >= 0, "cluster: price_per_gpu_hour cannot be negative")
        for key in ("in_node_gb_per_s", "network_gb_per_s", "storage_gb_per_s", "host_gb_per_s"):
            given = getattr(self, key)
            require(given > 0, f"cluster: {key} is {given:g}, and must be above 0; leave it out for the default")

    @property
    def nodes(self) -> int:
        return max(1, self.gpus // self.gpus_per_node)

    @property
    def memory_bytes(self) -> float:
        """Bytes of one GPU that training may use (usable fraction of the nominal size)."""
        return self.gpu.memory_gb * 1e9 * self.usable_memory_fraction

    @property
    def mean_minutes_between_failures(self) -> float:
        """M = 24·60·1000/(nodes·f) minutes; infinite when nothing fails."""
        rate = self.nodes * self.failures_per_1000_node_days
        return 24 * 60 * 1000 / rate if rate else float("inf")


def _number(text: str) -> float | None:
    return float(text) if text else None


@functools.lru_cache(maxsize=1)
def hardware_table() -> dict[str, Gpu]:
    """All accelerators of `scale/data/hardware.csv` by name."""
    table = {}
    with resources.files("scale").joinpath("data/hardware.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            table[row["accelerator"]] = Gpu(
                row["accelerator"],
                float(row["bf16_tflops"]),
                _number(row["fp8_tflops"]),
                float(row["memory_gb"]),
                float(row["memory_gb_per_s"]),
                float(row["in_node_gb_per_s"]),
                float(row["network_gb_per_s"]),
                _number(row["matmul_fraction"]),
                int(row["multiprocessors"]),
                float(row["price_per_hour"]),
                float(row["watts"]),
                row["source"],
                _number(row["fp4_tflops"]),
                row["die"],
                tuple(row["names"].split(";")),
            )
    return table


def _spellings(name: str) -> set[str]:
    """What an entry of the table may be called: its first words, or its model and its memory, with or without GB."""
    words = name.lower().split("-")
    starts = {"".join(words[:count]) for count in range(1, len(words) + 1)}
    spellings = starts | {words[0] + words[-1]}
    return spellings | {spelling.removesuffix("gb") for spelling in spellings}


def _letters(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def find_gpu(name: str) -> Gpu:
    """The accelerator of that name; case, dashes and whole words left out at its end do not matter ("h100", "A100 40"),
    and what `nvidia-smi` prints is a name too ("NVIDIA H100 80GB HBM3").

    The first of the table where several have the name: "A100" is the one of 80 GB. Part of a word is no name, since
    an A10 is no A100 and an H20 no H200. Raises `Refusal` with the names of the table for any other.
    """
    wanted = _letters(name).removeprefix("nvidia")
    for key, gpu in hardware_table().items():
        if wanted in _spellings(key) or wanted in map(_letters, gpu.names):
            return gpu
    raise Refusal(
        f"GPU {name!r} is not in the hardware table; known: {', '.join(sorted(hardware_table()))}; "
        "or give its numbers under cluster.gpu of a plan file"
    )

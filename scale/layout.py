"""The 3D layout: which GPU is which replica, pipeline stage and tensor-parallel rank."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scale.refusal import Refusal
from scale.validation import whole_number

ORDERS = ("tp-pp-dp", "tp-dp-pp")


class Coordinates(NamedTuple):
    """Place of one GPU, each counted from 0."""

    replica: int
    stage: int
    tensor_rank: int


@dataclass(frozen=True)
class Layout3D:
    """Tensor x pipeline x data parallelism over `tensor * pipeline * data` GPUs.

    Tensor ranks are always neighbours, because they talk most and must share a server. In the order
    "tp-pp-dp" the stages of one replica come next, so a replica is a run of consecutive servers; "tp-dp-pp"
    is Megatron-LM's default, where the replicas of one stage come next (Narayanan et al. 2021, section 3;
    Megatron-LM parallel_state). Raises ValueError for a degree below 1 or another order.
    """

    tensor: int
    pipeline: int
    data: int
    order: str = "tp-pp-dp"

    def __post_init__(self) -> None:
        for name in ("tensor", "pipeline", "data"):
            whole_number(name, getattr(self, name))
        if self.order not in ORDERS:
            raise Refusal(f"order must be one of {', '.join(ORDERS)}, not {self.order!r}.")

    @property
    def gpus(self) -> int:
        """GPUs in the layout."""
        return self.tensor * self.pipeline * self.data

    def ranks(self) -> NDArray[np.int64]:
        """Global rank of every GPU, shape (data, pipeline, tensor)."""
        ranks = np.arange(self.gpus, dtype=np.int64)
        if self.order == "tp-pp-dp":
            return ranks.reshape(self.data, self.pipeline, self.tensor)
        return ranks.reshape(self.pipeline, self.data, self.tensor).swapaxes(0, 1)

    def rank(self, replica: int, stage: int, tensor_rank: int) -> int:
        """Global rank of a GPU. Raises ValueError for a coordinate outside the layout."""
        limits = {"replica": self.data, "stage": self.pipeline, "tensor_rank": self.tensor}
        for (name, limit), value in zip(limits.items(), (replica, stage, tensor_rank)):
            if whole_number(name, value, at_least=0) >= limit:
                raise Refusal(f"{name} must be below {limit}, not {value}.")
        return int(self.ranks()[replica, stage, tensor_rank])

    def coordinates(self, rank: int) -> Coordinates:
        """Place of a global rank. Raises ValueError for a rank outside the layout."""
        if whole_number("rank", rank, at_least=0) >= self.gpus:
            raise Refusal(f"rank must be below the {self.gpus} GPUs, not {rank}.")
        outer, tensor_rank = divmod(rank, self.tensor)
        if self.order == "tp-pp-dp":
            replica, stage = divmod(outer, self.pipeline)
        else:
            stage, replica = divmod(outer, self.data)
        return Coordinates(replica, stage, tensor_rank)

    def tensor_groups(self) -> list[list[int]]:
        """Ranks that hold parts of the same layers: one group per replica and stage."""
        return _groups(self.ranks(), axis=2)

    def pipeline_groups(self) -> list[list[int]]:
        """Ranks that pass activations along: one group per replica and tensor rank."""
        return _groups(self.ranks(), axis=1)

    def data_groups(self) -> list[list[int]]:
        """Ranks that average gradients: one group per stage and tensor rank."""
        return _groups(self.ranks(), axis=0)

    def tensor_groups_share_a_server(self, gpus_per_server: int) -> bool:
        """Whether every tensor-parallel group lies within one server of `gpus_per_server` consecutive
        ranks."""
        size = whole_number("gpus_per_server", gpus_per_server)
        return all(len({rank // size for rank in group}) == 1 for group in self.tensor_groups())


def _groups(ranks: NDArray[np.int64], axis: int) -> list[list[int]]:
    members = np.moveaxis(ranks, axis, -1).reshape(-1, ranks.shape[axis])
    return [[int(rank) for rank in group] for group in members]

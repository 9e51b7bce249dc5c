"""Data parallelism: averaged gradients, the ring all-reduce that averages them, and what it sends."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scale.refusal import Refusal
from scale.validation import non_negative, number, whole_number


def linear_regression_terms(inputs: ArrayLike, targets: ArrayLike, weight: float = 1.0) -> NDArray[np.float64]:
    """The terms x (w x - y) of the gradient of a one-weight model, shape (n,). Errors as the gradient's."""
    x, y = np.asarray(inputs, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or not x.size:
        raise Refusal(f"inputs and targets must be equally long and not empty, not {x.shape} and {y.shape}.")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise Refusal("inputs and targets must be finite.")
    return x * (number("weight", weight) * x - y)


def linear_regression_gradient(inputs: ArrayLike, targets: ArrayLike, weight: float = 1.0) -> float:
    """d/dw of mean((w x - y)^2) over a batch: (2/n) sum x (w x - y).

    The mean of this over equal shards is its value on the whole batch, which is why data parallelism
    averages gradients. `inputs` and `targets` have shape (n,); raises ValueError if they differ, are empty
    or not finite.
    """
    terms = linear_regression_terms(inputs, targets, weight)
    return float(2.0 / terms.size * terms.sum())


@dataclass(frozen=True)
class RingAllReduce:
    """What a simulated ring all-reduce left on each GPU, and what each GPU sent."""

    results: list[NDArray[Any]]
    reduce_scatter_sent_elements: list[int]
    all_gather_sent_elements: list[int]
    steps: int

    @property
    def sent_elements(self) -> list[int]:
        """Vector elements each GPU sent in both phases."""
        return [a + b for a, b in zip(self.reduce_scatter_sent_elements, self.all_gather_sent_elements)]

    @property
    def sent_bytes(self) -> list[int]:
        """Bytes each GPU sent in both phases, at the element size of its result."""
        return [count * vector.itemsize for count, vector in zip(self.sent_elements, self.results)]


def ring_all_reduce(vectors: Sequence[ArrayLike]) -> RingAllReduce:
    """Simulate a ring all-reduce (Patarasuk and Yuan 2009): every GPU ends with the sum of all vectors.

    `vectors` holds one vector of shape (n,) per GPU. Each is cut into G chunks, the first n mod G of them
    one element longer. In each of the G - 1 steps of the reduce-scatter and of the all-gather, GPU g sends
    one chunk to GPU g + 1. All GPUs end with the same bits, because each chunk is added up once, in ring
    order. With one GPU nothing is sent.

    Raises ValueError for no GPU, vectors that are not 1-dimensional, or vectors of different lengths.
    """
    buffers = _equal_vectors(vectors)
    gpus = len(buffers)
    bounds = np.concatenate([[0], np.cumsum([len(part) for part in np.array_split(buffers[0], gpus)])])
    chunks = [slice(int(start), int(stop)) for start, stop in pairwise(bounds)]
    scatter = _ring_phase(buffers, chunks, first_chunk_offset=0, add=True)
    # After the reduce-scatter GPU g holds the finished chunk g + 1, and sends that one first.
    gather = _ring_phase(buffers, chunks, first_chunk_offset=1, add=False)
    return RingAllReduce(buffers, scatter, gather, steps=2 * (gpus - 1))


def _equal_vectors(vectors: Sequence[ArrayLike]) -> list[NDArray[Any]]:
    if not len(vectors):
        raise Refusal("ring_all_reduce needs the vector of at least one GPU.")
    arrays = [np.asarray(vector) for vector in vectors]
    kinds = {array.dtype.kind for array in arrays}
    if any(array.ndim != 1 for array in arrays) or len({array.size for array in arrays}) > 1 or kinds - set("iuf"):
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise Refusal(f"each GPU must hold a vector of numbers of the same length; the shapes are {shapes}.")
    dtype = np.result_type(*arrays)
    return [array.astype(dtype, copy=True) for array in arrays]


def _ring_phase(buffers: list[NDArray[Any]], chunks: list[slice], first_chunk_offset: int, add: bool) -> list[int]:
    """G - 1 steps in which every GPU passes one chunk to its right neighbour; returns elements sent per
    GPU."""
    gpus = len(buffers)
    sent = [0] * gpus
    for step in range(gpus - 1):
        chunk_of = [chunks[(gpu + first_chunk_offset - step) % gpus] for gpu in range(gpus)]
        messages = [buffers[gpu][chunk_of[gpu]].copy() for gpu in range(gpus)]
        for gpu, message in enumerate(messages):
            receiver = buffers[(gpu + 1) % gpus]
            receiver[chunk_of[gpu]] = receiver[chunk_of[gpu]] + message if add else message
            sent[gpu] += message.size
    return sent


def all_reduce_traffic(gpus: int, payload_bytes: float) -> float:
    """Bytes each GPU sends in a ring all-reduce: 2 (G - 1) / G S (Patarasuk and Yuan 2009); 0 for one GPU.

    Raises ValueError for gpus below 1 or a payload that is negative or not finite.
    """
    count = whole_number("gpus", gpus)
    return 2 * (count - 1) / count * non_negative("payload_bytes", payload_bytes)


def zero_traffic_ratio(stage: int) -> float:
    """Traffic of ZeRO `stage` 0..3 relative to plain data parallelism (Rajbhandari et al. 2020, section 7).

    1.0 up to stage 2 (reduce-scatter and all-gather are the all-reduce), 1.5 for stage 3, which gathers the
    weights once more. Raises ValueError for any other stage.
    """
    level = whole_number("stage", stage, at_least=0)
    if level > 3:
        raise Refusal(f"stage must be 0, 1, 2 or 3, not {level}.")
    return 1.5 if level == 3 else 1.0

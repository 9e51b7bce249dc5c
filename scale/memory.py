"""Training memory: what each parameter and each token in flight occupies. All results are bytes."""

from dataclasses import dataclass, fields

from scale.refusal import Refusal
from scale.validation import positive, whole_number

BYTES_PER_GB = 1e9

RECOMPUTE_EXTRA_COMPUTE = 1.0 / 3.0
"""Checkpointing repeats one forward pass: 2 of the 6 operations per parameter and token (Chen et al.
2016)."""

INFERENCE_BYTES_PER_PARAMETER = 2
"""bf16 weights only."""


@dataclass(frozen=True)
class StateRecipe:
    """Bytes per parameter that a training recipe keeps; `sharded` recipes split master and moments over
    replicas."""

    weights: int
    gradients: int
    gradients_fp32: int
    master: int
    momentum: int
    variance: int
    sharded: bool
    source: str

    @property
    def optimizer(self) -> int:
        """Bytes per parameter of master weights and both moments (K in the ZeRO paper)."""
        return self.master + self.momentum + self.variance

    @property
    def total(self) -> int:
        """Bytes per parameter on one GPU without sharding."""
        return self.weights + self.gradients + self.gradients_fp32 + self.optimizer


RECIPES: dict[str, StateRecipe] = {
    "adam16": StateRecipe(2, 2, 0, 4, 4, 4, False, "Micikevicius et al. 2018; Rajbhandari et al. 2020, section 3.1"),
    "adam18": StateRecipe(2, 4, 0, 4, 4, 4, False, "Megatron-LM without its distributed optimizer: fp32 gradients"),
    "adam20": StateRecipe(2, 2, 4, 4, 4, 4, False, "Smith et al. 2022 (MT-NLG): fp32 gradient copy"),
    "dist-opt": StateRecipe(2, 4, 0, 4, 4, 4, True, "Megatron-LM distributed optimizer: 6 + 12/d"),
    "adam8bit": StateRecipe(
        2, 2, 0, 4, 1, 1, False, "Dettmers et al. 2022: moments in 8 bits, a scale a block of 2,048"
    ),
    "muon": StateRecipe(
        2, 4, 0, 4, 4, 0, True, "Jordan et al. 2024, Liu et al. 2025: one momentum, sharded as dist-opt"
    ),
    "sgd": StateRecipe(2, 2, 0, 4, 0, 0, False, "no moments: master weights alone"),
    "sgd-momentum": StateRecipe(2, 2, 0, 4, 4, 0, False, "master weights and one momentum"),
}


@dataclass(frozen=True)
class TrainingMemory:
    """Bytes of training state on one GPU, by item."""

    weights_bytes: float
    gradients_bytes: float
    gradients_fp32_bytes: float
    master_bytes: float
    momentum_bytes: float
    variance_bytes: float

    @property
    def total_bytes(self) -> float:
        """The sum of the items."""
        return sum(self.items().values())

    def items(self) -> dict[str, float]:
        """Item name without its unit -> bytes, for the items that the recipe keeps."""
        sizes = {field.name.removesuffix("_bytes"): float(getattr(self, field.name)) for field in fields(self)}
        return {name: size for name, size in sizes.items() if size}


def find_recipe(name: str | StateRecipe) -> StateRecipe:
    """The recipe of that name, or the given one. Raises ValueError with the list for any other name."""
    if isinstance(name, StateRecipe):
        return name
    if not isinstance(name, str) or name not in RECIPES:
        raise Refusal(f"recipe must be one of {', '.join(RECIPES)}, not {name!r}.")
    return RECIPES[name]


def training_memory(params: float, recipe: str = "adam16", data_parallel: int = 1) -> TrainingMemory:
    """Training state of `params` parameters on one GPU, by item, in bytes.

    The default is 16 bytes per parameter: 2 bf16 weights, 2 bf16 gradients, 4 fp32 master, 4 momentum, 4
    variance (Rajbhandari et al. 2020, section 3.1). `RECIPES` names the others; only "dist-opt" (6 + 12/d)
    depends on the `data_parallel` replicas d. Raises ValueError for params not above zero, d below 1, or an
    unknown recipe.
    """
    count = positive("params", params)
    state = find_recipe(recipe)
    replicas = whole_number("data_parallel", data_parallel)
    share = count / replicas if state.sharded else count
    return TrainingMemory(
        weights_bytes=state.weights * count,
        gradients_bytes=state.gradients * count,
        gradients_fp32_bytes=state.gradients_fp32 * count,
        master_bytes=state.master * share,
        momentum_bytes=state.momentum * share,
        variance_bytes=state.variance * share,
    )


def inference_memory_bytes(params: float) -> float:
    """Bytes of bf16 weights alone, without a key-value cache. Raises ValueError for params not above
    zero."""
    return INFERENCE_BYTES_PER_PARAMETER * positive("params", params)


def activation_bytes(
    layers: int,
    sequence_tokens: int,
    micro_batch: int,
    hidden: int,
    heads: int,
    *,
    store_scores: bool = True,
    checkpointed: bool = False,
    tensor_parallel: int = 1,
    sequence_parallel: bool = False,
) -> int:
    """Bytes of 16-bit activations kept for the backward pass of `layers` transformer layers, on one GPU.

    Per layer s b h (34 + 5 a s / h) bytes (Korthikanti et al. 2022, equation 1), for GPT layers with
    dropout, a 4h feed-forward width and as many key-value heads as heads. `store_scores=False` drops the 5
    a s / h of the attention scores (FlashAttention, or selective recompute, section 5); `checkpointed=True`
    keeps each layer's 2-byte input only, 2 s b h (Chen et al. 2016), and leaves out the one layer being
    recomputed. With `tensor_parallel` t it is s b h (10 + 24/t + 5 a s / (h t)) (equation 2), and
    `sequence_parallel` divides all of it by t (equation 4).

    Raises ValueError for a size below 1, or a t that does not divide the heads and the hidden size.
    """
    depth, degree = whole_number("layers", layers), whole_number("tensor_parallel", tensor_parallel)
    width, head_count = whole_number("hidden", hidden), whole_number("heads", heads)
    tokens = whole_number("sequence_tokens", sequence_tokens)
    samples = whole_number("micro_batch", micro_batch)
    if width % degree or head_count % degree:
        raise Refusal(f"tensor_parallel {degree} must divide both heads {head_count} and hidden {width}.")
    token_width = tokens * samples * width
    replicated = degree if sequence_parallel else 1
    if checkpointed:
        return depth * 2 * token_width // replicated
    scores = 5 * head_count * tokens * tokens * samples // degree if store_scores else 0
    return depth * (10 * token_width // replicated + 24 * token_width // degree + scores)


def zero_memory_per_gpu(params: float, gpus: int, stage: int, recipe: str = "adam16") -> float:
    """Bytes of training state per GPU under ZeRO `stage` 0..3 on `gpus` data-parallel GPUs.

    Stage 1 shards the optimizer state, 2 also the gradients, 3 also the weights (Rajbhandari et al. 2020,
    section 5, figure 1): 16 N; 4 N + 12 N / G; 2 N + 14 N / G; 16 N / G. Buffers for gathered weights are
    not in it. Raises ValueError for params not above zero, gpus below 1, a stage outside 0..3, or an
    unknown recipe.
    """
    count, shards, state = positive("params", params), whole_number("gpus", gpus), find_recipe(recipe)
    level = whole_number("stage", stage, at_least=0)
    if level > 3:
        raise Refusal(f"stage must be 0, 1, 2 or 3, not {level}.")
    first_stage = {"optimizer": 1, "gradients": 2, "weights": 3}
    parts = {
        "optimizer": state.optimizer,
        "gradients": state.gradients + state.gradients_fp32,
        "weights": state.weights,
    }
    whole_bytes = sum(size for part, size in parts.items() if level < first_stage[part])
    split_bytes = state.total - whole_bytes
    return whole_bytes * count + split_bytes * count / shards

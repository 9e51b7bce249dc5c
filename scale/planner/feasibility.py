"""Why a layout cannot be: each rule one sentence with the numbers in it."""

from __future__ import annotations

from scale.planner.hardware import Cluster
from scale.planner.model import Model
from scale.planner.refusal import Refusal
from scale.planner.workload import Layout, Train

SPARE_SLOTS = (
    2  # embedding and output head may take a layer's place on the first and last stage (Llama 3 section 3.3.2)
)


def chunks_divide(layers: int, stages: int, interleave: int) -> bool:
    """Whether the layers, or the layers with one or both ends counted as layers, fill stages × chunks."""
    return any((layers + spare) % (stages * interleave) == 0 for spare in range(SPARE_SLOTS + 1))


def reasons_against(model: Model, cluster: Cluster, layout: Layout, train: Train) -> list[str]:
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
    if train.precision == "fp8" and cluster.gpu.fp8_tflops is None:
        found.append(f"{cluster.gpu.name} has no fp8")
    return found


def require_possible(model: Model, cluster: Cluster, layout: Layout, train: Train) -> None:
    """Raise `Refusal` with the first reason against the layout."""
    found = reasons_against(model, cluster, layout, train)
    if found:
        raise Refusal(f"layout {layout.label()}: {found[0]}")


def remarks(model: Model, cluster: Cluster, layout: Layout) -> list[str]:
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
    if layout.zero == 3 and layout.pp > 1:
        notes.append("ZeRO-3 with pipeline stages keeps gathered weights and unsharded gradients for the whole step")
    return notes

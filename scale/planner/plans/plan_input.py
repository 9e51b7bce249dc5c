"""A plan file (YAML) → model, training settings, cluster, data, limits; every unknown key and odd value is named."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curate.errors import UserError
from curate.yaml12 import load
from scale.budget import CHINCHILLA_TOKENS_PER_PARAMETER
from scale.memory import StateRecipe
from scale.planner.models.families import read_config
from scale.planner.models.model import Architecture
from scale.planner.models.parameters import count_parameters
from scale.planner.models.shape import model_from_shape
from scale.planner.plans.data import Source
from scale.planner.step.hardware import Cluster, Gpu, find_gpu
from scale.planner.step.search import Limits
from scale.planner.step.workload import Train
from scale.refusal import Refusal, flag, require, unusable
from scale.units import read_number, read_whole

SECTIONS = ("name", "software", "model", "train", "cluster", "data", "limits", "target", "checkpoint")

KIN = {
    **dict.fromkeys(("megatron-lm", "megatron-core", "megatron-deepspeed", "gpt-neox", "nemo", "nanotron"), "megatron"),
    **dict.fromkeys(("llm-foundry", "torchtitan", "olmo-core", "deepspeed", "fairscale"), "fsdp"),
}
"""Software that is planned by the constants of its kin."""

TRAIN_KEYS = (
    *("tokens", "sequence", "global_batch", "global_batch_tokens", "precision", "recipe", "attention", "loss"),
    *("dropout", "software", "offload", "lora_rank"),
)


@dataclass(frozen=True)
class Target:
    """What the run should keep to: wall-clock days or money, None where free. Raises `Refusal` unless above zero."""

    days: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        for key in ("days", "cost"):
            value = getattr(self, key)
            require(value is None or value > 0, f"target.{key}: {value} is not above zero; leave it out if it is free")


@dataclass(frozen=True)
class CheckpointSettings:
    """`bytes_per_parameter` 14 (with the 16-bit copy) or 12; `interval_minutes` None takes Young's.

    Raises `Refusal` for numbers that no checkpoint has.
    """

    bytes_per_parameter: float = 14.0
    interval_minutes: float | None = None
    repair_hours: float = 4.0

    def __post_init__(self) -> None:
        for key in ("bytes_per_parameter", "interval_minutes"):
            value = getattr(self, key)
            require(value is None or value > 0, f"checkpoint.{key}: {value} is not above zero; leave it out")
        require(self.repair_hours >= 0, "checkpoint.repair_hours: cannot be negative")


@dataclass(frozen=True)
class PlanInput:
    """Everything a plan is made of, defaults filled in."""

    name: str
    model: Architecture
    train: Train
    cluster: Cluster
    limits: Limits
    target: Target
    checkpoint: CheckpointSettings
    sources: Mapping[str, Source] = field(default_factory=dict)


def section(config: Mapping[str, Any], key: str, known: Sequence[str]) -> dict[str, Any]:
    """A section as a mapping, refusing keys that are not known (a misspelt key would otherwise be a silent default)."""
    content = config.get(key) or {}
    require(isinstance(content, Mapping), f"{key}: must be a mapping of keys to values")
    for name in content:
        require(name in known, f"{key}.{name}: unknown key; known: {', '.join(known)}")
    return dict(content)


def read_plan(path: str | Path) -> PlanInput:
    """Read a plan file; paths in it are relative to it. Raises `Refusal` naming the place of any fault."""
    place = Path(path)
    try:
        config = load(place.read_text(encoding="utf-8"), str(place))
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(place, "read", error, "give the path of a plan file, as in configs/plans/") from None
    except UserError as error:
        raise Refusal(str(error)) from None
    require(isinstance(config, dict), f"{place}: holds no mapping; it needs at least model, train and cluster")
    return parse_plan(config, place.parent, place.stem)


def parse_plan(config: Mapping[str, Any], folder: Path = Path(), name: str = "plan") -> PlanInput:
    """A plan from an already read mapping."""
    for key in config:
        require(key in SECTIONS, f"{key}: unknown section; known: {', '.join(SECTIONS)}")
    for key in ("model", "train", "cluster"):
        require(key in config, f"the plan has no section {key!r}")
    if "software" in config:  # it may stand beside the sections as well, since it runs the whole plan
        train = section(config, "train", TRAIN_KEYS)
        require("software" not in train, "software: stands twice, also under train; give it once")
        config = {**config, "train": {**train, "software": config["software"]}}
    model = _model(config["model"], folder)
    target = section(config, "target", [f.name for f in dataclasses.fields(Target)])
    checkpoint = section(config, "checkpoint", [f.name for f in dataclasses.fields(CheckpointSettings)])
    return PlanInput(
        str(config.get("name", name)),
        model,
        _train(config, model),
        _cluster(config),
        _limits(config),
        Target(**{k: read_number(v, f"target.{k}") for k, v in target.items() if v is not None}),
        CheckpointSettings(**{k: read_number(v, f"checkpoint.{k}") for k, v in checkpoint.items() if v is not None}),
        _sources(config),
    )


def _model(value: Any, folder: Path) -> Architecture:
    if isinstance(value, str):
        return read_config(folder / value)
    require(isinstance(value, Mapping), "model: give the path of a config.json or a shape (layers, hidden, heads, …)")
    if "config" in value:
        require(set(value) <= {"config", "name"}, "model: next to `config` only `name` may stand")
        model = read_config(folder / str(value["config"]))
        return dataclasses.replace(model, name=str(value["name"])) if "name" in value else model
    return model_from_shape(value)


def _train(config: Mapping[str, Any], model: Architecture) -> Train:
    train = section(config, "train", TRAIN_KEYS)
    sequence = read_whole(train.get("sequence", min(model.max_sequence or 4096, 8192)), "train.sequence")
    require(
        not ("global_batch" in train and "global_batch_tokens" in train),
        "train: give global_batch (sequences) or global_batch_tokens, not both",
    )
    if "global_batch" in train:
        batch = read_whole(train["global_batch"], "train.global_batch")
    else:
        tokens = read_number(train.get("global_batch_tokens", 4194304), "train.global_batch_tokens")
        batch = round(tokens / sequence)
        require(batch >= 1, f"train.global_batch_tokens: {tokens:.0f} is less than one sequence of {sequence}")
    asked = train.get("tokens", "chinchilla")
    total = (
        CHINCHILLA_TOKENS_PER_PARAMETER * count_parameters(model).active
        if asked == "chinchilla"
        else read_number(asked, "train.tokens")
    )
    require(total > 0, f"train.tokens: {asked!r} is not above zero")
    require(
        not model.positions or sequence <= model.positions,
        f"train.sequence: {sequence} is beyond the {model.positions} learned positions of {model.name}",
    )
    words = ("precision", "attention", "loss", "software", "offload")
    rest: dict[str, Any] = {key: train[key] for key in words if key in train}
    if "software" in rest:
        rest["software"] = KIN.get(str(rest["software"]).lower(), rest["software"])
    if "recipe" in train:
        rest["recipe"] = _recipe(train["recipe"])
    if "lora_rank" in train:
        rest["lora_rank"] = read_whole(train["lora_rank"], "train.lora_rank")
    return Train(sequence, batch, total, dropout=flag(train.get("dropout", False), "train.dropout"), **rest)


def _recipe(value: Any) -> str | StateRecipe:
    """The name of a recipe, or bytes per parameter by item (what is left out is 0)."""
    if not isinstance(value, Mapping):
        return str(value)
    items = [f.name for f in dataclasses.fields(StateRecipe) if f.name not in ("sharded", "source")]
    for key in value:
        require(key in (*items, "sharded"), f"train.recipe.{key}: unknown key; known: {', '.join(items)}, sharded")
    sizes = {key: _way(value.get(key, 0), f"train.recipe.{key}") for key in items}
    require(all(size >= 0 for size in sizes.values()), "train.recipe: bytes per parameter cannot be negative")
    return StateRecipe(**sizes, sharded=flag(value.get("sharded", False), "train.recipe.sharded"), source="given")


def _cluster(config: Mapping[str, Any]) -> Cluster:
    known = [f.name for f in dataclasses.fields(Cluster)]
    cluster = section(config, "cluster", known)
    require("gpu" in cluster and "gpus" in cluster, "cluster: needs gpu (a name) and gpus (how many)")
    gpu = _gpu(cluster.pop("gpu"))
    counts = {
        key: read_whole(cluster.pop(key), f"cluster.{key}") for key in ("gpus", "gpus_per_node") if key in cluster
    }
    counts.setdefault("gpus_per_node", min(8, counts["gpus"]))
    rates: dict[str, Any] = {key: read_number(value, f"cluster.{key}") for key, value in cluster.items()}
    return Cluster(gpu, **counts, **rates)


def _gpu(value: Any) -> Gpu:
    if not isinstance(value, Mapping):
        return find_gpu(str(value))
    given = dict(value)
    start = find_gpu(str(given.pop("like", "H100-SXM-80GB")))
    known = [f.name for f in dataclasses.fields(Gpu) if f.name not in ("names", "borrowed")]
    for key in given:
        require(key in known, f"cluster.gpu.{key}: unknown key; known: like, {', '.join(known)}")
    texts = ("name", "source", "die")
    changes: dict[str, Any] = {k: str(v) if k in texts else _gpu_number(k, v) for k, v in given.items()}
    left = tuple(key for key in known if key not in (*given, *texts))
    # What was measured of a die holds as long as its matrix units are the same.
    same = not {"bf16_tflops", "multiprocessors", "matmul_fraction"} & set(given)
    die = {"die": start.die if same else ""}
    return dataclasses.replace(start, **{"name": f"{start.name} (changed)", "borrowed": left, **die, **changes})


def _gpu_number(key: str, value: Any) -> float | None:
    """A number of a GPU; those that the hardware table leaves open may be null."""
    if value is None and key in ("fp8_tflops", "fp4_tflops", "matmul_fraction"):
        return None
    return read_number(value, f"cluster.gpu.{key}")


def _limits(config: Mapping[str, Any]) -> Limits:
    limits = section(config, "limits", [f.name for f in dataclasses.fields(Limits)])
    values: dict[str, tuple[Any, ...]] = {}
    for key, value in limits.items():
        listed = value if isinstance(value, list) else [value]
        if key in ("recompute", "schedules"):
            values[key] = tuple(str(item) for item in listed)
        else:
            values[key] = tuple(_way(item, f"limits.{key}") for item in listed)
    return Limits(**values)


def _way(value: Any, place: str) -> int:
    result = read_number(value, place)
    require(result == int(result), f"{place}: {value!r} is no whole number")
    return int(result)


def _sources(config: Mapping[str, Any]) -> dict[str, Source]:
    data = section(config, "data", ["sources"])
    sources = data.get("sources") or {}
    require(isinstance(sources, Mapping), "data.sources: must map a source's name to tokens and weight")
    result = {}
    for name, value in sources.items():
        require(
            isinstance(value, Mapping) and set(value) <= {"tokens", "weight"},
            f"data.sources.{name}: give tokens (unique, may be left out) and weight",
        )
        tokens = value.get("tokens")
        result[str(name)] = Source(
            str(name),
            None if tokens is None else read_number(tokens, f"data.sources.{name}.tokens"),
            read_number(value.get("weight", 1.0 if len(sources) == 1 else None), f"data.sources.{name}.weight"),
        )
    return result

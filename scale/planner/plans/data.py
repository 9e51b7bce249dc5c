"""The data side of a plan: passes over each source, and what model a body of tokens is good for."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scale.budget import CHINCHILLA_TOKENS_PER_PARAMETER
from scale.mixture import epochs_per_source
from scale.refusal import Refusal, require, unusable
from scale.units import count, repeats

REPEATS_ALMOST_FREE = 4.0  # Muennighoff et al. 2023 (arXiv 2305.16264): up to about 4 epochs lose almost nothing
REPEATS_WORTHLESS = 16.0  # and beyond about 16 add almost nothing


@dataclass(frozen=True)
class Source:
    """One source: unique tokens it holds (None when unknown) and its share of training tokens (a fraction)."""

    name: str
    tokens: float | None
    weight: float


@dataclass(frozen=True)
class DataPlan:
    """Epochs per source (None where the tokens are unknown), warnings, and the models the data suits."""

    sources: tuple[Source, ...]
    epochs: dict[str, float | None]
    warnings: tuple[str, ...]
    unique_tokens: float
    chinchilla_parameters: float
    chinchilla_parameters_four_epochs: float
    documents: dict[str, int] | None = None


def read_run(out: str | Path) -> tuple[dict[str, int], dict[str, int] | None]:
    """(tokens, documents) by source of a curation run: `tokens_by_source`, `documents_by_source` of its manifest."""
    manifest = Path(out) / "manifest.json"
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(manifest, "read", error, "--run takes the folder of a finished run") from None
    except ValueError as error:
        raise Refusal(f"{manifest}: is not JSON ({error}); --run takes the folder of a finished run") from None
    tokens = content.get("tokens_by_source") if isinstance(content, dict) else None
    if not isinstance(tokens, dict) or not tokens:
        raise Refusal(
            f"{manifest}: has no tokens_by_source; run the curation with a `tokens` stage and a source column"
        )
    for name, held in tokens.items():
        require(
            isinstance(held, int) and not isinstance(held, bool) and held >= 0,
            f"{manifest}: tokens_by_source of {name!r} is {held!r}, and must be a whole number",
        )
    documents = content.get("documents_by_source")
    return tokens, documents if isinstance(documents, dict) else None


def plan_data(sources: Mapping[str, Source], tokens: float, documents: dict[str, int] | None = None) -> DataPlan:
    """Epochs per source for `tokens` of training, with warnings where repeats lose their value."""
    require(bool(sources), "data: name at least one source")
    for source in sources.values():
        require(
            0 <= source.weight <= 1, f"data: weight of {source.name} is {source.weight:g}, and must be a fraction of 1"
        )
        require(source.tokens is None or source.tokens >= 0, f"data: tokens of {source.name} cannot be negative")
        require(
            source.tokens != 0 or source.weight == 0,
            f"data: source {source.name} holds no tokens but has weight {source.weight:g}; drop it or set weight 0",
        )
    total = math.fsum(s.weight for s in sources.values())
    warnings = []
    if abs(total - 1) > 1e-6:
        warnings.append(f"the weights add to {total:.4g}, not 1: they are divided by their sum")
        require(total > 0, "data: the weights add to 0; give at least one source a weight")
    known = {name: s for name, s in sources.items() if s.tokens is not None}
    epochs: dict[str, float | None] = dict.fromkeys(sources)
    weights = {name: s.weight / total for name, s in sources.items()}
    if known:
        share = math.fsum(weights[name] for name in known)
        available = {name: s.tokens or 0.0 for name, s in known.items()}
        if share > 0:
            epochs.update(epochs_per_source({n: weights[n] / share for n in known}, available, tokens * share))
    for name, passes in epochs.items():
        warnings += _warn(name, passes, sources[name], weights[name])
    unique = math.fsum(s.tokens or 0.0 for s in sources.values())
    ratio = CHINCHILLA_TOKENS_PER_PARAMETER
    return DataPlan(
        tuple(sources.values()),
        epochs,
        tuple(warnings),
        unique,
        unique / ratio,
        REPEATS_ALMOST_FREE * unique / ratio,
        documents,
    )


def _warn(name: str, epochs: float | None, source: Source, share: float) -> list[str]:
    if epochs is None:
        return [f"{name}: its tokens are unknown, so its epochs are too"] if source.weight else []
    if epochs <= REPEATS_ALMOST_FREE:
        return []
    within = f"weight {source.weight * REPEATS_ALMOST_FREE / epochs:.3g} would stay within 4"
    if share == 1:
        within = f"{count(REPEATS_ALMOST_FREE * (source.tokens or 0))} training tokens would stay within 4"
    value = f"beyond about {REPEATS_ALMOST_FREE:.0f} repeats lose value"
    if epochs > REPEATS_WORTHLESS:
        value = f"beyond about {REPEATS_WORTHLESS:.0f} repeats are nearly worthless"
    return [f"{name}: {repeats(epochs)} epochs, {value} (Muennighoff et al. 2023); {within}"]


def sources_of_run(tokens: Mapping[str, int], weights: Mapping[str, float] | None = None) -> dict[str, Source]:
    """Sources of a curation run; weights default to each source's share of the tokens."""
    total = sum(tokens.values())
    require(total > 0, "the curation run holds no tokens")
    for name in weights or {}:
        require(
            name in tokens,
            f"data: weight for {name!r}, which the run does not hold; it has {', '.join(sorted(tokens))}",
        )
    return {
        name: Source(name, float(held), (weights or {}).get(name, 0.0) if weights else held / total)
        for name, held in tokens.items()
    }

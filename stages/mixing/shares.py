"""How much of each group a mixture wants: by weights, by a temperature, by epochs, phase after phase."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

I64 = npt.NDArray[np.int64]
Weight = Annotated[float, Field(ge=0, le=1)]
Alpha = Annotated[float, Field(ge=0, le=1)]
TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of the budget with a mixture of its own: weights, or a temperature `alpha`."""

    share: Annotated[float, Field(gt=0, le=1)]
    weights: Mapping[str, Weight] | None = None
    alpha: Alpha | None = None

    def __post_init__(self) -> None:
        if (self.weights is None) == (self.alpha is None):
            raise ValueError("a phase has either weights or alpha")


def adds_to_one(weights: Sequence[float], what: str) -> None:
    """Raises ValueError where they do not add to 1."""
    total = fsum(weights)
    if abs(total - 1) > TOLERANCE:
        raise ValueError(f"{what} must add to 1, not {total:g}; divide them by their sum")


def tempered(tokens: I64, alpha: float) -> npt.NDArray[np.float64]:
    """The share of each group: proportional to its tokens to the power of `alpha` (Conneau et al. 2020, section 3.1;
    there over sentences). 1 keeps the sizes, 0 makes groups equal; an empty group has none."""
    raised = np.where(tokens > 0, np.maximum(tokens, 1).astype(np.float64) ** alpha, 0.0)
    total = fsum(raised.tolist())
    shares: npt.NDArray[np.float64] = raised / total if total else raised
    return shares


def wanted(
    phases: Sequence[Phase], names: Sequence[str], tokens: I64, budget: float, other: float
) -> npt.NDArray[np.int64]:
    """Tokens wanted of each group by the end of each phase, shape (phases, groups + 1); the last group is `other`."""
    found = np.zeros((len(phases), len(names) + 1), np.float64)
    for place, phase in enumerate(phases):
        if phase.alpha is not None:
            shares = tempered(tokens[:-1], phase.alpha).tolist()
        else:
            shares = [(phase.weights or {}).get(name, 0.0) for name in names]
        found[place] = [share * phase.share for share in (*shares, other)]
    upto = np.array([[fsum(column[: end + 1]) * budget for column in found.T] for end in range(len(phases))])
    rounded: I64 = np.rint(upto).astype(np.int64)
    return rounded

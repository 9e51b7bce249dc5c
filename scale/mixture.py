"""Data mixtures: how often each source is read."""

import math
from collections.abc import Mapping

from scale.refusal import Refusal
from scale.validation import non_negative, positive

WEIGHT_SUM_TOLERANCE = 0.02
"""Published weights are rounded to whole percents and may add to 1.01 (Brown et al. 2020, Table 2.2)."""


def epochs_per_source(
    weights: Mapping[str, float], available_tokens: Mapping[str, float], total_tokens: float
) -> dict[str, float]:
    """Passes over each source: epochs_i = w_i D / N_i, in the order of `weights`.

    `weights` are shares of the `total_tokens` (D) the model sees; `available_tokens` (N_i) are the tokens
    each source holds. A source of weight 0 gets 0 epochs, whatever it holds. About 4 epochs are nearly as
    good as fresh tokens, beyond 16 they are nearly worthless (Muennighoff et al. 2023).

    Raises ValueError for a negative or not finite weight, weights that do not add to 1 within 0.02, sources
    named in one mapping only, a used source without tokens, or a total that is not above zero.
    """
    total = positive("total_tokens", total_tokens)
    if not weights:
        raise Refusal("weights must name at least one source.")
    unmatched = sorted(set(weights) ^ set(available_tokens))
    if unmatched:
        raise Refusal(f"weights and available_tokens must name the same sources; one lacks {', '.join(unmatched)}.")
    shares = {source: non_negative(f"the weight of {source}", weight) for source, weight in weights.items()}
    if abs(math.fsum(shares.values()) - 1.0) > WEIGHT_SUM_TOLERANCE:
        raise Refusal(f"weights must add to 1, not {math.fsum(shares.values()):g}; divide them by their sum.")
    return {
        source: share * total / positive(f"the available tokens of {source}", available_tokens[source])
        if share
        else 0.0
        for source, share in shares.items()
    }

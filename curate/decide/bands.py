"""Jaccard similarity, and the numbers behind `curate bands`: what banding finds, by similarity."""

from collections.abc import Sequence, Set
from math import comb

SPREAD = tuple(share / 100 for share in range(30, 101, 5))
LAYOUTS = ((9, 13), (14, 8), (16, 8), (20, 5), (25, 5), (32, 4))


def jaccard(left: Set[str], right: Set[str]) -> float:
    """|A ∩ B| / |A ∪ B|; 0 where both are empty: a text without words resembles nothing."""
    both = len(left & right)
    return both / (len(left) + len(right) - both) if left or right else 0.0


def lsh_candidate_probability(similarity: float, bands: int = 20, rows: int = 5) -> float:
    """Chance that two texts share a bucket: 1 - (1 - s^r)^b (Leskovec et al., section 3.4.2).

    ValueError for a similarity outside [0, 1] or fewer than one band or row.
    """
    if not 0 <= similarity <= 1:
        raise ValueError(f"similarity must be between 0 and 1, not {similarity}")
    if bands < 1 or rows < 1:
        raise ValueError("there must be at least one band of one row")
    return float(1 - (1 - similarity**rows) ** bands)


def steepest(bands: int, rows: int) -> float:
    """Similarity near which the curve is steepest: (1 / b)^(1 / r)."""
    return float((1 / bands) ** (1 / rows))


def confirmed_probability(similarity: float, threshold: float, permutations: int) -> float:
    """Chance that at least threshold x permutations slots agree, each with chance `similarity`."""
    needed = next(count for count in range(permutations + 1) if count / permutations >= threshold)
    terms = (
        comb(permutations, count) * similarity**count * (1 - similarity) ** (permutations - count)
        for count in range(needed, permutations + 1)
    )
    return float(sum(terms))


def pair_recall(similarity: float, threshold: float, permutations: int, bands: int, rows: int) -> float:
    """Chance that a pair is proposed by a bucket and confirmed by its signatures, taken as independent.

    They are not quite: signatures that agree often enough are likelier to share a band; the truth is higher.
    """
    proposed = lsh_candidate_probability(similarity, bands, rows)
    return proposed * confirmed_probability(similarity, threshold, permutations)


def band_lines(
    threshold: float,
    permutations: int,
    chosen: tuple[int, int] = (25, 5),
    layouts: Sequence[tuple[int, int]] = LAYOUTS,
) -> list[str]:
    """The text that `curate bands` prints: the curve of each layout of bands that fits into the permutations.

    ValueError for a threshold outside (0, 1], or where not even the chosen layout fits.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, not {threshold}")
    if chosen[0] * chosen[1] > permutations:
        needed = chosen[0] * chosen[1]
        raise ValueError(
            f"{chosen[0]} bands of {chosen[1]} rows need {needed} permutations, more than {permutations}; "
            f"give --perms {needed}, or fewer --bands or --rows"
        )
    fitting = sorted({chosen, *(pair for pair in layouts if pair[0] * pair[1] <= permutations)})
    names = [f"{bands}x{rows}" + ("*" if (bands, rows) == chosen else "") for bands, rows in fitting]
    lines = [
        "Chance that two texts meet in a bucket, by their Jaccard similarity and bands x rows (* = chosen),",
        f"and that their signatures agree in {threshold:g} of {permutations} permutations (confirmed):",
        "",
        "similarity" + "".join(f"{name:>8}" for name in names) + "   confirmed",
    ]
    for similarity in sorted({*SPREAD, threshold}):
        chances = "".join(f"{lsh_candidate_probability(similarity, *pair):8.3f}" for pair in fitting)
        confirmed = confirmed_probability(similarity, threshold, permutations)
        lines.append(f"{similarity:10.2f}{chances}{confirmed:12.3f}")
    lines.append("steepest  " + "".join(f"{steepest(*pair):8.2f}" for pair in fitting))
    lines += ["", f"Expected recall of {names[fitting.index(chosen)]} at threshold {threshold:g}:"]
    for above in (0.0, 0.05, 0.1):
        if (similarity := threshold + above) <= 1:
            found = pair_recall(similarity, threshold, permutations, *chosen)
            lines.append(f"  a pair of similarity {similarity:.2f}: {found:.3f}")
    return lines

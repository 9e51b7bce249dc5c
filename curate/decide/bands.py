"""Jaccard similarity, and the numbers behind `curate bands`: what banding finds, by similarity."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Banding:
    """One division into bands: the chance that a pair meets in a bucket, one for each similarity."""

    bands: int
    rows: int
    chosen: bool
    steepest: float
    meets: tuple[float, ...]

    @property
    def name(self) -> str:
        """As the table has it."""
        return f"{self.bands}x{self.rows}" + ("*" if self.chosen else "")


@dataclass(frozen=True)
class Curves:
    """What `curate bands` tells: of each similarity the chances to meet and to be `confirmed`, and the recall above."""

    threshold: float
    permutations: int
    similarity: tuple[float, ...]
    confirmed: tuple[float, ...]
    bandings: tuple[Banding, ...]
    recall: tuple[tuple[float, float], ...]  # similarity, from the threshold on, and recall of the chosen division


def curves(
    threshold: float,
    permutations: int,
    chosen: tuple[int, int] = (25, 5),
    layouts: Sequence[tuple[int, int]] = LAYOUTS,
) -> Curves:
    """The curve of each layout of bands that fits into the permutations.

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
    similarity = tuple(sorted({*SPREAD, threshold}))
    above = [threshold + more for more in (0.0, 0.05, 0.1) if threshold + more <= 1]
    return Curves(
        threshold,
        permutations,
        similarity,
        tuple(confirmed_probability(one, threshold, permutations) for one in similarity),
        tuple(
            Banding(
                *pair,
                pair == chosen,
                steepest(*pair),
                tuple(lsh_candidate_probability(one, *pair) for one in similarity),
            )
            for pair in fitting
        ),
        tuple((one, pair_recall(one, threshold, permutations, *chosen)) for one in above),
    )


def band_lines(found: Curves) -> list[str]:
    """The text that `curate bands` prints."""
    names = [banding.name for banding in found.bandings]
    lines = [
        "Chance that two texts meet in a bucket, by their Jaccard similarity and bands x rows (* = chosen),",
        f"and that their signatures agree in {found.threshold:g} of {found.permutations} permutations (confirmed):",
        "",
        "similarity" + "".join(f"{name:>8}" for name in names) + "   confirmed",
    ]
    for at, similarity in enumerate(found.similarity):
        chances = "".join(f"{banding.meets[at]:8.3f}" for banding in found.bandings)
        lines.append(f"{similarity:10.2f}{chances}{found.confirmed[at]:12.3f}")
    lines.append("steepest  " + "".join(f"{banding.steepest:8.2f}" for banding in found.bandings))
    chosen = next(banding.name for banding in found.bandings if banding.chosen)
    lines += ["", f"Expected recall of {chosen} at threshold {found.threshold:g}:"]
    return lines + [f"  a pair of similarity {one:.2f}: {recall:.3f}" for one, recall in found.recall]

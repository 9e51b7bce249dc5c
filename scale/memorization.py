"""Memorization: how repeating a line in the training data makes a bigram model recite it."""

from collections import Counter
from itertools import pairwise

from scale.validation import whole_number

BOILERPLATE = "click here to subscribe for free updates"

OTHER_LINES = (
    "click play to hear the song",
    "the mouse goes click when it works",
    "we walked here from the station",
    "readers subscribe by post",
    "free entry for children under ten",
)
"""Seven other continuations of the boilerplate's words: two of "click", one of each of the next five."""

C4_REPEATED_SENTENCE_WORDS = 61
C4_REPEATED_SENTENCE_COPIES = 60_000
"""One sentence of 61 words occurs more than 60,000 times in C4 (Lee et al. 2021, abstract)."""

DEDUPLICATED_EMISSION_RATIO = 0.1
"""Models trained on deduplicated data emit memorized text about ten times less often (Lee et al. 2021,
abstract)."""


def verbatim_probability(copies: int) -> float:
    """Probability that a bigram model continues "click" into the whole of `BOILERPLATE`.

    The model counts word pairs in `OTHER_LINES` and `copies` copies of the line; the result is the product
    of the six next-word probabilities, count(pair) / count(first word with any successor) (Jurafsky and
    Martin, "Speech and Language Processing", section 3.1). It grows with the copies: 0 for none, 0.01 for
    one, 0.93 for a hundred. Raises ValueError for a negative or fractional number of copies.
    """
    repeats = whole_number("copies", copies, at_least=0)
    counts = Counter(pair for line in OTHER_LINES for pair in pairwise(line.split()))
    line_pairs = list(pairwise(BOILERPLATE.split()))
    for pair in line_pairs:
        counts[pair] += repeats
    followed: Counter[str] = Counter()
    for (word, _), count in counts.items():
        followed[word] += count
    probability = 1.0
    for word, successor in line_pairs:
        probability *= counts[word, successor] / followed[word]
    return probability

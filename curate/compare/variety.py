"""What a sample says of itself: distinct n-grams, compression, copies, languages."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from curate.compare.n_grams import SampleTokens
from curate.compare.sample import Sample

GRAM = 3  # words of the n-grams that are counted for diversity
SHINGLE, SHARE = 8, 0.8  # a near copy: this share of its 8-word shingles stands in texts before it
WINDOW_LOG = 27  # 128 MiB: copies are found however far apart
Weights = npt.NDArray[Any]


class Variety:
    """One sample, ready to be asked for any weights of its texts."""

    def __init__(self, sample: Sample, tokens: SampleTokens) -> None:
        self.sample, self.lengths = sample, tokens.lengths
        keys, self.text = tokens.grams(GRAM)
        _, self.gram = np.unique(keys, return_inverse=True)
        self.near = near_copies(tokens)
        self.data = [text.text.encode("utf-8", "surrogatepass") for text in sample.texts]
        self.languages = np.array([text.language or "" for text in sample.texts])

    def distinct(self, weights: Weights) -> float:
        """Distinct trigrams of all trigrams."""
        there = weights[self.text]
        return float(np.count_nonzero(np.bincount(self.gram[there > 0]))) / max(1, int(there.sum()))

    def compressed(self, weights: Weights) -> float:
        """Compressed bytes of all bytes, by zstd with a window over the whole sample."""
        made = zstandard.ZstdCompressionParameters.from_level(3, window_log=WINDOW_LOG, enable_ldm=True)
        squeezed = zstandard.ZstdCompressor(compression_params=made).compressobj()
        size = total = 0
        for data, count in zip(self.data, weights.tolist()):
            for _ in range(count):
                size += len(squeezed.compress(data))
                total += len(data)
        return (size + len(squeezed.flush())) / max(1, total)

    def exact(self, weights: Weights) -> float:
        """Documents that are exact copies of another, of all."""
        return float(weights.sum() - np.count_nonzero(weights)) / max(1, int(weights.sum()))

    def nearly(self, weights: Weights) -> float:
        """Different texts that are near copies of one before them in the sample, of all different texts."""
        return float(self.near[weights > 0].mean()) if weights.any() else 0.0

    def language(self, weights: Weights, name: str) -> float:
        """Documents in a language, of all."""
        return float(weights[self.languages == name].sum()) / max(1, int(weights.sum()))

    def top_languages(self, most: int) -> Mapping[str, int]:
        """The languages of most documents."""
        counts: dict[str, int] = {}
        for text in self.sample.texts:
            if text.language:
                counts[text.language] = counts.get(text.language, 0) + text.copies
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most])


def near_copies(tokens: SampleTokens) -> npt.NDArray[np.bool_]:
    """Which texts have SHARE of their shingles in texts before them. A text without shingles is none."""
    keys, text = tokens.grams(SHINGLE)
    order = np.lexsort((text, keys))
    keys, text = keys[order], text[order]
    first = np.ones(len(keys), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    holder = text[np.flatnonzero(first)][np.cumsum(first) - 1] if len(keys) else text  # the first text with the shingle
    seen = np.bincount(text, holder < text, tokens.texts)
    near: npt.NDArray[np.bool_] = seen >= SHARE * np.maximum(1, np.bincount(text, minlength=tokens.texts))
    return near

"""Small model files for tests, written byte by byte: the libraries at hand only read them."""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

SOFTMAX, SUPERVISED = 3, 3


def write_fasttext(
    path: Path, words: Mapping[str, Sequence[float]], labels: Mapping[str, Sequence[float]], dim: int | None = None
) -> str:
    """A fastText classifier: a vector a word, a vector a label, softmax of their products; no n-grams of characters.

    The vector of a line is the mean of its words' vectors; words not named count for nothing.
    """
    dim = dim or len(next(iter(words.values())))
    file = struct.pack("<ii", 793712314, 12)
    # dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate, t
    file += struct.pack("<12id", dim, 5, 1, 1, 5, 1, SOFTMAX, SUPERVISED, 0, 0, 0, 100, 1e-4)
    file += struct.pack("<iiiqq", len(words) + len(labels), len(words), len(labels), 100, -1)
    for kind, names in enumerate((words, labels)):
        for name in names:
            file += name.encode() + b"\0" + struct.pack("<qb", 1, kind)
    for rows in (words, labels):
        matrix = np.array(list(rows.values()), "<f4").reshape(len(rows), -1)
        file += b"\0" + struct.pack("<qq", *matrix.shape) + matrix.tobytes()  # not quantized, rows, columns
    path.write_bytes(file)
    return str(path)

"""The cuts of one partition of a corpus, in a file: what the workers of a stage that cuts repeats do."""

from pathlib import Path

import numpy as np

from curate.corpus import Corpus
from curate.stage import CUT
from stages.spans.repeats import Keep, repeats


def cuts_of(corpus: Corpus, partition: int, keep: Keep, width: int) -> Path:
    """The file of the cuts, `width` units from each place on, that a partition's repeated keys call for."""

    def write(path: Path) -> None:
        keys, documents, values = corpus.entries(partition)
        found = repeats(keys, documents, values, keep)
        some = np.empty(len(found.documents), CUT)
        some["document"], some["matched"] = found.documents, found.matched
        some["start"], some["end"] = found.places, found.places + width
        some["cause"] = -1
        some.tofile(path)

    return corpus.saved(f"cuts-{partition:05}", write)

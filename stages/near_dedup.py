"""Drops near copies: texts that share most of their word shingles, by MinHash and buckets.

Broder 1997 (resemblance, shingles, min-wise hashing), Leskovec et al., Mining of Massive Datasets, section
3.4 (banding). `stages.resemblance.plain` is the method in plain words; tests hold the stage to it.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from curate.corpus import Corpus
from curate.decide.bands import jaccard as jaccard
from curate.decide.bands import lsh_candidate_probability as lsh_candidate_probability
from curate.decide.bands import pair_recall
from curate.decide.twins import ALARMS, alarmed, near_verdicts
from curate.document import Document
from curate.stage import Sketch, Verdicts
from curate.text import UNSPACED, segmented
from stages.resemblance import minhash
from stages.resemblance.plain import MinHasher as MinHasher
from stages.resemblance.plain import estimate_jaccard as estimate_jaccard
from stages.resemblance.plain import near_duplicate_pairs as near_duplicate_pairs
from stages.resemblance.plain import shingles as shingles

Records = npt.NDArray[Any]


def _words(doc: Document) -> str | list[str]:
    """The words that shingles are made of; of an ASCII text the text itself."""
    if doc.text.isascii():
        return doc.text
    return segmented(doc.normalized).split() if UNSPACED.search(doc.text) else doc.words


@dataclass(frozen=True)
class By:
    """Keep the document with the largest value of a numeric attribute."""

    by: str


@dataclass(frozen=True, kw_only=True)
class NearDedup:
    """Drops a document when one that is kept resembles it: estimated Jaccard similarity at least `threshold`.

    A text is the set of its shingles, after `curate.text.normalize`; an empty one resembles nothing. MinHash
    signatures estimate Jaccard similarity; buckets propose pairs, the whole signature confirms them.
    """

    threshold: Annotated[float, Field(gt=0, le=1)] = 0.8
    """estimated Jaccard similarity from which two texts are near copies"""
    permutations: Annotated[int, Field(ge=1, le=4096)] = 128
    """slots of a signature; the standard error of the estimate is at most 0.5 / sqrt(permutations)"""
    seed: Annotated[int, Field(ge=0, lt=1 << 32)] = 1
    """draws the permutations"""
    shingle: Annotated[int, Field(ge=1, le=100)] = 5
    """words of a shingle; a shorter text is one shingle"""
    bands: Annotated[int, Field(ge=1)] = 25
    """buckets that propose pairs (`curate bands` shows the recall); bands x rows is at most permutations"""
    rows: Annotated[int, Field(ge=1)] = 5
    """slots that make a bucket"""
    keep: Literal["first", "longest"] | By = "first"
    """who goes first in a cluster: in crawl order, by characters, or by the largest value of an attribute"""
    cluster: Literal["kept", "component"] = "kept"
    """kept: drop only what resembles a kept document; component: keep one document of each cluster"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"cluster_size": pa.int64()}
    fill: ClassVar[Mapping[str, int]] = {"cluster_size": 1}
    reasons: ClassVar[tuple[str, ...]] = ("near_duplicate",)
    scheme: ClassVar[int] = 2  # since 2, scripts without spaces are compared by letters

    @property
    def apart(self) -> str | None:
        """Why earlier runs can't join: only with these options no document of theirs would have to go."""
        if self.keep == "first" and self.cluster == "kept":
            return None
        return "other than keep: first and cluster: kept would drop pages of the earlier runs, which stay; give these"

    alarms: ClassVar[Mapping[str, str]] = ALARMS
    alarmed = staticmethod(alarmed)

    def __post_init__(self) -> None:
        if self.bands * self.rows > self.permutations:
            raise ValueError(
                f"{self.bands} bands of {self.rows} rows need {self.bands * self.rows} permutations, "
                f"not {self.permutations}"
            )

    @property
    def needs(self) -> tuple[str, ...]:
        """Attributes that earlier stages or sources must have set."""
        return (self.keep.by,) if isinstance(self.keep, By) else ()

    @property
    def needs_numbers(self) -> tuple[str, ...]:
        """Those of them that must be numbers."""
        return self.needs

    @property
    def record(self) -> np.dtype[Any]:
        """The signature; where the keep order needs one, the rank."""
        fields: list[Any] = [("signature", "<u4", (self.permutations,))]
        return np.dtype(fields if self.keep == "first" else [*fields, ("rank", "<f8")])

    def sketch(self, doc: Document) -> Sketch:
        return self.sketch_all([doc])[0]

    def sketch_all(self, docs: Sequence[Document]) -> list[Sketch]:
        """The sketches of some documents, made together; memory beyond the result does not grow with them."""
        records = np.zeros(len(docs), self.record)
        texts = [_words(doc) for doc in docs]
        signatures = minhash.signatures(texts, self.shingle, self.permutations, self.seed)
        records["signature"] = signatures
        if self.keep != "first":
            records["rank"] = [self._rank(doc) for doc in docs]
        keys = minhash.bucket_keys(signatures, self.bands, self.rows)
        some = (signatures != minhash.EMPTY).any(axis=1).tolist()
        return [
            Sketch(keys[index] if some[index] else keys[index, :0], records[index : index + 1])
            for index in range(len(docs))
        ]

    def _rank(self, doc: Document) -> float:
        if not isinstance(self.keep, By):
            return float(len(doc.text))
        value = doc.attributes.get(self.keep.by)
        return float("nan") if value is None else float(value)

    @property
    def ranked_by(self) -> str | None:
        """The field of a record that orders who is kept."""
        return None if self.keep == "first" else "rank"

    @property
    def alike_from(self) -> float:
        """The similarity from which two texts are near copies."""
        return self.threshold

    def recall(self, similarity: float) -> float:
        """Chance that a pair of texts this similar is found."""
        return pair_recall(similarity, self.threshold, self.permutations, self.bands, self.rows)

    def similarity(self, left: Records, right: Records) -> npt.NDArray[np.float64]:
        """Share of slots in which signatures agree: the estimate of Jaccard similarity."""
        equal = left["signature"] == right["signature"]
        share: npt.NDArray[np.float64] = equal.sum(axis=-1, dtype=np.uint16) / self.permutations
        return share

    def bucket_keys(self, records: Records) -> npt.NDArray[np.uint64]:
        return minhash.bucket_keys(records["signature"], self.bands, self.rows)

    def identity(self, records: Records) -> npt.NDArray[np.uint64]:
        return minhash.bucket_keys(records["signature"], 1, self.permutations)[:, 0]

    def rank(self, records: Records) -> npt.NDArray[np.float64] | None:
        if self.keep == "first":
            return None
        rank: npt.NDArray[np.float64] = records["rank"]
        return rank

    def compared(self, doc: Document) -> Set[str]:
        """The set whose Jaccard similarity the signatures estimate, for `curate audit`."""
        return shingles(segmented(doc.normalized), self.shingle)

    def decide(self, corpus: Corpus) -> Iterator[Verdicts]:
        one_each = self.cluster == "component"
        return near_verdicts(corpus, self, "near_duplicate", "cluster_size", one_each)

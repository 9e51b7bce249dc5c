"""Drops near copies: texts that share most of their word shingles, by MinHash and buckets.

Broder 1997 (resemblance, shingles, min-wise hashing), Leskovec et al., Mining of Massive Datasets, section
3.4 (banding). The functions in the second half are the method in plain words; tests hold the stage to them.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash
from pydantic import Field

from curate.corpus import Corpus
from curate.decide.bands import lsh_candidate_probability as lsh_candidate_probability
from curate.decide.twins import near_verdicts
from curate.document import Document
from curate.stage import Sketch, Verdicts
from stages import minhash

Records = npt.NDArray[Any]


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
        texts = [doc.text if doc.text.isascii() else doc.words for doc in docs]
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
        return shingles(doc.normalized, self.shingle)

    def decide(self, corpus: Corpus) -> Iterator[Verdicts]:
        whole = self.cluster == "component"
        return near_verdicts(corpus, self, "near_duplicate", "cluster_size", whole)


def shingles(text: str, k: int = 5) -> set[str]:
    """The windows of k words of a text; a text of fewer words is one window, an empty text has none."""
    words = text.split()
    return {" ".join(words[start : start + k]) for start in range(max(1, len(words) - k + 1))} if words else set()


def jaccard(a: Set[str], b: Set[str]) -> float:
    """|A ∩ B| / |A ∪ B|; 0 where both are empty."""
    return len(a & b) / len(a | b) if a or b else 0.0


MERSENNE = (1 << 61) - 1


@dataclass(frozen=True)
class MinHasher:
    """`permutations` hash functions (a x + b) mod p, p = 2^61 - 1, drawn from a seed."""

    permutations: int = 128
    seed: int = 1
    functions: tuple[tuple[int, int], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        draw = np.random.RandomState(self.seed)
        a = draw.randint(1, MERSENNE, self.permutations, dtype=np.uint64).tolist()
        b = draw.randint(0, MERSENNE, self.permutations, dtype=np.uint64).tolist()
        object.__setattr__(self, "functions", tuple(zip(a, b)))

    def signature(self, items: Set[str]) -> tuple[int, ...]:
        """The minimum of each function over the items' xxh3-64 hashes; p where there are none."""
        values = [xxhash.xxh3_64_intdigest(item.encode("utf-8", "surrogatepass")) for item in items]
        return tuple(min(((a * x + b) % MERSENNE for x in values), default=MERSENNE) for a, b in self.functions)


def estimate_jaccard(a: Sequence[int], b: Sequence[int]) -> float:
    """Share of slots in which two signatures agree; its standard error is sqrt(J (1 - J) / slots)."""
    if len(a) != len(b):
        raise ValueError(f"signatures of {len(a)} and {len(b)} slots can't be compared")
    return sum(x == y for x, y in zip(a, b)) / len(a)


def near_duplicate_pairs(
    documents: Sequence[str],
    threshold: float = 0.8,
    k: int = 5,
    bands: int = 25,
    rows: int = 5,
    seed: int = 1,
) -> list[tuple[int, int, float]]:
    """Near duplicates (i, j, estimated similarity), i < j: signatures, buckets, candidate pairs, check."""
    hasher = MinHasher(bands * rows, seed)
    sets = [shingles(document, k) for document in documents]
    signatures = [hasher.signature(items) for items in sets]
    buckets: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for number, signature in enumerate(signatures):
        for band in range(bands if sets[number] else 0):
            buckets.setdefault((band, signature[band * rows : (band + 1) * rows]), []).append(number)
    candidates = {pair for holders in buckets.values() for pair in combinations(holders, 2)}
    checked = [(i, j, estimate_jaccard(signatures[i], signatures[j])) for i, j in sorted(candidates)]
    return [(i, j, score) for i, j, score in checked if score >= threshold]

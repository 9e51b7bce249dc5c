"""minhash: datasketch's signatures to the byte, many at once, in bounded memory."""

import json
import random
import tracemalloc

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.text import normalize
from stages.near_dedup import NearDedup
from stages.resemblance import minhash
from tests.decided import documents
from tests.near_texts import words


@pytest.mark.parametrize("k", [1, 2, 5, 9])
@pytest.mark.parametrize("seed", [1, 7])
def test_signatures_are_those_of_datasketch(k: int, seed: int) -> None:
    rng = random.Random(k)
    texts = [words(rng, n) for n in (0, 1, 2, 3, 4, 5, 6, 9, 40, 500, 16_384, 16_390, 40_000)]
    texts += [["naïve", "ß", "日本語", "x" * 100, "\ud800", "😀"] * 3]
    rng.shuffle(texts)
    made = minhash.signatures(texts, k, 128, seed)
    for text, signature in zip(texts, made):
        oracle = MinHash(128, seed=seed, scheme="affine32", hashfunc=int)
        oracle.update_batch(minhash.shingle_values(text, k).tolist())
        assert signature.tobytes() == oracle.hashvalues.tobytes()


def test_shingle_values_are_frozen() -> None:
    """The definition in docs/stages/near_dedup.md, in Python integers, and its values of the first delivery."""
    import xxhash

    def value(window: list[str]) -> int:
        h = 0
        for word in window:
            h = (h * 0x9E3779B97F4A7C15 + xxhash.xxh3_64_intdigest(word.encode())) % 2**64
        h ^= h >> 32
        return (h * 0xFF51AFD7ED558CCD % 2**64) >> 32

    text = "the cat sat on the mat".split()
    for k in (1, 2, 5):
        windows = [text[i : i + k] for i in range(len(text) - k + 1)]
        assert minhash.shingle_values(text, k).tolist() == [value(window) for window in windows]
    assert minhash.shingle_values(text[:3], 5).tolist() == [value(text[:3])]
    assert minhash.signatures([text], 5, 128, 1)[0, :4].tolist() == FROZEN_SLOTS
    assert minhash.bucket_keys(minhash.signatures([text], 5, 128, 1), 25, 5)[0, :2].tolist() == FROZEN_KEYS


FROZEN_SLOTS = [1203736671, 130437907, 3064127511, 3102039424]
FROZEN_KEYS = [5379788343304193783, 4722304910482764479]


def test_many_at_once_and_one_by_one_are_the_same_bytes() -> None:
    rng = random.Random(3)
    docs = documents([" ".join(words(rng, rng.choice([0, 1, 4, 5, 60, 20_000]))) for _ in range(60)])
    for stage in (NearDedup(), NearDedup(keep="longest"), NearDedup(permutations=64, bands=8, rows=8, shingle=2)):
        for together, doc in zip(stage.sketch_all(docs), docs):
            alone = stage.sketch(doc)
            assert alone.keys.tobytes() == together.keys.tobytes()
            assert alone.record.tobytes() == together.record.tobytes()  # type: ignore[union-attr]
            assert len(alone.record.tobytes()) == stage.record.itemsize  # type: ignore[union-attr]


def test_a_long_text_takes_no_more_than_16_mib() -> None:
    text = " ".join(words(random.Random(1), 100_000))
    stage = NearDedup()
    stage.sketch(documents(["warm up"])[0])
    doc = documents([text])[0]
    tracemalloc.start()
    stage.sketch(doc)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


def test_keys_are_equal_where_bands_are_and_nowhere_else() -> None:
    rng = np.random.default_rng(2)
    held = rng.integers(0, 2, (300, 128), dtype=np.uint32)  # few values: many equal bands
    keys = minhash.bucket_keys(held, 25, 5)
    bands = [[(band, *held[n, band * 5 : band * 5 + 5].tolist()) for band in range(25)] for n in range(300)]
    assert len({key for row in keys.tolist() for key in row}) == len({band for row in bands for band in row})
    assert all(keys[0, band] == keys[1, band] for band in range(25) if bands[0][band] == bands[1][band])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("aA\u0301\u00ad\u200b\u1e9e\u0130 \u1100\u1161", max_size=12), max_size=6), st.integers(1, 4))
def test_signatures_are_those_of_the_normalised_text(texts: list[str], k: int) -> None:
    plain = [minhash.signatures([normalize(text).split()], k, 16, 1)[0].tolist() for text in texts]
    assert minhash.signatures([text.split() for text in texts], k, 16, 1).tolist() == plain


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=12))
def test_any_text_is_sketched(texts: list[str]) -> None:
    for sketch, text in zip(NearDedup().sketch_all(documents(texts)), texts):
        assert len(sketch.keys) == (25 if normalize(text) else 0)
        assert json.dumps(sketch.keys.tolist())

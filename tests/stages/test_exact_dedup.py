"""exact_dedup: the first of equal texts stays, whatever changes only the look of them."""

import hashlib
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.document import Document
from curate.stage import Sketch
from stages.exact_dedup import SHA1, ExactDedup, exact_dedup, normalize_for_exact
from tests.decided import decided, documents


def test_normalize_for_exact_sets_looks_aside() -> None:
    assert normalize_for_exact("  The\tCat\n\nsat ") == "the cat sat"
    assert normalize_for_exact("Stra\u00dfe\u00a0\u200bX\u2028y") == "strasse x y"
    assert normalize_for_exact("cafe\u0301") == normalize_for_exact("CAF\u00c9")
    assert normalize_for_exact("re\u00ad\ufeffal") == "real"


def words_alone(text: str) -> list[str]:
    """The normal forms of a text's words, one by one."""
    return [normal for word in text.split() if (normal := normalize_for_exact(word))]


@settings(max_examples=300, deadline=None)
@given(
    st.text(
        st.one_of(st.sampled_from("aA \u0301\u00ad\u200b\u1e9e\u0130\u03c2\u2028\u00a0\ufb03"), st.characters()),
        max_size=20,
    )
)
def test_the_normal_form_of_a_text_is_that_of_its_words(text: str) -> None:
    assert normalize_for_exact(text).split() == words_alone(text)


def test_no_character_normalises_otherwise_beside_white_space() -> None:
    for start in range(0, 0x110000, 0x1000):
        text = " ".join(f"x{chr(c)}y {chr(c)} {chr(c)}z" for c in range(start, start + 0x1000))
        assert normalize_for_exact(text).split() == words_alone(text)


def test_exact_dedup_keeps_the_first_of_each() -> None:
    assert exact_dedup(["B b", "a", "b  B", "A", "c"]) == ["B b", "a", "c"]
    assert exact_dedup([]) == []


def test_the_sketch_is_the_sha1() -> None:
    sketch = ExactDedup().sketch(documents(["The  Cat"])[0])
    digest = hashlib.sha1(b"the cat").digest()
    assert sketch.keys.tolist() == [int.from_bytes(digest[:8], "little")]
    assert sketch.record is not None and sketch.record.tobytes() == digest and SHA1.itemsize == 20


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["a", "A", " a", "b", "", "\u200b", "c\u00a0d", "c d", "C  D"]), max_size=25))
def test_the_stage_keeps_what_the_plain_function_keeps(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    work = tmp_path_factory.mktemp("exact")
    table = decided(work, [("exact_dedup", ExactDedup())], documents(texts), partitions=3, task=4)
    rows = table.slice(0, len(texts))
    assert [texts[n] for n in np.flatnonzero(rows.stage == 0)] == exact_dedup(texts)
    normal = [normalize_for_exact(text) for text in texts]
    for number in np.flatnonzero(rows.stage):
        assert rows.matched[number] == normal.index(normal[number]) and rows.score[number] == 1.0


class Colliding(ExactDedup):
    """All keys are equal: only the record tells texts apart."""

    def sketch(self, doc: Document) -> Sketch:
        return Sketch(np.array([7], np.uint64), super().sketch(doc).record)


def test_records_decide_where_keys_collide(tmp_path: Path) -> None:
    texts = ["a", "b", "a", "c", "b", "c", "b"]
    table = decided(tmp_path, [("exact_dedup", Colliding())], documents(texts), task=2)
    assert table.slice(0, 7).matched.tolist() == [-1, -1, 0, -1, 1, 3, 1]


def test_order_partitions_and_tasks(tmp_path: Path) -> None:
    rng = random.Random(2)
    texts = [f"text {rng.randrange(300)}" for _ in range(1000)]
    seen = [
        decided(tmp_path / str(p), [("exact_dedup", ExactDedup())], documents(texts), partitions=p, task=t)
        .slice(0, 1000)
        .matched.tolist()
        for p, t in ((1, 1000), (7, 33), (64, 5))
    ]
    assert seen[0] == seen[1] == seen[2]
    backwards = decided(tmp_path / "back", [("exact_dedup", ExactDedup())], documents(texts[::-1]))
    kept = np.flatnonzero(backwards.slice(0, 1000).stage == 0)
    assert {texts[999 - n] for n in kept} == set(texts)
    assert [texts[::-1].index(texts[999 - n]) for n in kept] == kept.tolist()

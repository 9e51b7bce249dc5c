"""N-gram models: values by hand, and the same ones from every kind of file."""

import gzip
import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from curate.errors import UserError
from stages.models.backoff import log10_probabilities
from stages.models.kenlm_file import word_hash
from stages.models.ngram_file import load_ngrams
from tests.stages.models.ngram_files import Grams, write_arpa, write_probing, write_trie

SMALL: Grams = {
    ("<unk>",): (-3.0, -0.125),
    ("<s>",): (-99.0, -0.5),
    ("</s>",): (-1.0, 0.0),
    ("a",): (-0.75, -0.25),
    ("b",): (-1.25, -0.375),
    ("<s>", "a"): (-0.5, -0.0625),
    ("a", "b"): (-0.625, -1.5),
    ("b", "</s>"): (-0.875, 0.0),
    ("<s>", "a", "b"): (-0.25, 0.0),
}

WRITERS: dict[str, Callable[[Path, Grams], str]] = {
    "arpa": write_arpa,
    "probing": write_probing,
    "rest": lambda path, grams: write_probing(path, grams, rest=True),
    "trie": write_trie,
    "quantized": lambda path, grams: write_trie(path, grams, quantized=8),
    "array": lambda path, grams: write_trie(path, grams, array=64),
    "quantized array": lambda path, grams: write_trie(path, grams, quantized=8, array=64),
}


def scores(path: str, *sentences: str) -> list[float]:
    found: list[float] = log10_probabilities(load_ngrams(path), [sentence.split() for sentence in sentences]).tolist()
    return found


@pytest.mark.parametrize("kind", WRITERS)
def test_values_by_hand(kind: str, tmp_path: Path) -> None:
    path = WRITERS[kind](tmp_path / "model", SMALL)
    assert scores(path, "a b") == pytest.approx(
        [
            -0.5,  # <s> a
            -0.25,  # <s> a b
            -0.875 - 1.5,  # b </s> by the back-off of: a b
        ]
    )
    assert scores(path, "b") == pytest.approx([-1.25 - 0.5, -0.875])  # by the back-off of <s>
    assert scores(path, "c a") == pytest.approx([-3.0 - 0.5, -0.75 - 0.125, -1.0 - 0.25])
    assert scores(path, "") == pytest.approx([-1.0 - 0.5])
    assert scores(path, "a b", "b") == pytest.approx([*scores(path, "a b"), *scores(path, "b")])
    assert scores(path) == []


def random_grams(order: int = 4, words: int = 30) -> Grams:
    """All n-grams of random sentences, with weights from a small set of exact numbers."""
    draw = random.Random(order)
    found: dict[tuple[str, ...], tuple[float, float]] = {}
    for word in ("<unk>", "<s>", "</s>", *(f"w{number}" for number in range(words))):
        found[(word,)] = (-draw.randint(1, 40) / 8, -draw.randint(0, 15) / 8)
    for _ in range(40):
        sentence = ["<s>", *(f"w{min(int(draw.paretovariate(0.8)) - 1, words - 1)}" for _ in range(12)), "</s>"]
        for size in range(2, order + 1):
            for start in range(len(sentence) - size + 1):
                gram = tuple(sentence[start : start + size])
                found.setdefault(gram, (-draw.randint(1, 40) / 8, -draw.randint(0, 15) / 8 * (size < order)))
    return found


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_file_gives_the_same(kind: str, order: int, tmp_path: Path) -> None:
    grams = random_grams(order)
    draw = random.Random(7)
    sentences = [" ".join(f"w{min(int(draw.paretovariate(0.8)) - 1, 31)}" for _ in range(9)) for _ in range(50)]
    plain = [found for sentence in sentences for found in by_hand(grams, order, sentence.split())]
    assert scores(WRITERS[kind](tmp_path / "model", grams), *sentences) == pytest.approx(plain, abs=1e-5)


def by_hand(grams: Grams, order: int, sentence: list[str]) -> list[float]:
    """Katz' definition, word by word."""

    def p(context: tuple[str, ...], word: str) -> float:
        if (*context, word) in grams:
            return grams[(*context, word)][0]
        return p(context[1:], word) + grams.get(context, (0.0, 0.0))[1]

    words = ["<s>", *(word if (word,) in grams else "<unk>" for word in sentence), "</s>"]
    return [p(tuple(words[max(0, i - order + 1) : i]), words[i]) for i in range(1, len(words))]


def test_an_ending_that_was_pruned_is_made_up_by_back_off(tmp_path: Path) -> None:
    """Found from the last word backwards, `x a b` is reached through `a b`, which the file leaves out."""
    grams = {**SMALL, ("x",): (-2.0, -0.5), ("b", "a", "b"): (-0.03125, 0.0)}
    del grams[("a", "b")], grams[("<s>", "a", "b")]
    path = write_arpa(tmp_path / "pruned.arpa", grams)
    assert scores(path, "b a b")[2] == pytest.approx(-0.03125)
    assert scores(path, "x a b")[2] == pytest.approx(-1.25 - 0.25)


def test_a_model_without_unk(tmp_path: Path) -> None:
    grams = {gram: weights for gram, weights in SMALL.items() if gram != ("<unk>",)}
    assert scores(write_arpa(tmp_path / "model", grams), "c")[0] == pytest.approx(-100.5)


def test_arpa_by_gzip(tmp_path: Path) -> None:
    plain = write_arpa(tmp_path / "model.arpa", SMALL)
    packed = tmp_path / "model.arpa.gz"
    packed.write_bytes(gzip.compress(Path(plain).read_bytes()))
    assert scores(str(packed), "a b c") == scores(plain, "a b c")


def test_the_hash_of_a_word_is_murmur_64a() -> None:
    assert word_hash("") == 0
    text = b"river and more"  # 8 bytes, then 6
    multiplier, mask = 0xC6A4A7935BD1E995, (1 << 64) - 1
    found = len(text) * multiplier & mask
    part = int.from_bytes(text[:8], "little") * multiplier & mask
    part = (part ^ part >> 47) * multiplier & mask
    found = ((found ^ part) * multiplier & mask) ^ int.from_bytes(text[8:], "little")
    found = found * multiplier & mask
    found = (found ^ found >> 47) * multiplier & mask
    assert word_hash(text.decode()) == found ^ found >> 47


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_cut_anywhere_costs_one_sentence(kind: str, tmp_path: Path) -> None:
    content = Path(WRITERS[kind](tmp_path / "model", SMALL)).read_bytes()
    for kept in range(0, len(content) - 8, 7):
        (tmp_path / "cut").write_bytes(content[:kept])
        load_ngrams.cache_clear()
        with pytest.raises(UserError, match=r"cut: is no n-gram model \(.+\); give another file"):
            load_ngrams(str(tmp_path / "cut"))


@pytest.mark.parametrize(
    ("at", "content", "message"),
    [
        (49, b"9", "it is of version 9, 5 is read here"),
        (60, struct.pack("<f", 2.0), "other number formats"),
        (88, b"\1", "contradicts itself"),
        (96, struct.pack("<I", 7), "contradicts itself"),
        (108, struct.pack("<Q", 1 << 50), "within what its header announces"),
    ],
)
def test_a_header_that_cannot_be_is_refused(at: int, content: bytes, message: str, tmp_path: Path) -> None:
    path = Path(write_trie(tmp_path / "model", SMALL))
    found = bytearray(path.read_bytes())
    found[at : at + len(content)] = content
    path.write_bytes(found)
    with pytest.raises(UserError, match=message):
        load_ngrams(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no .data"),
        ("\\data\\\nngram 1=1\n\n\\2-grams:\n", r"line 4: .1-grams: is missing"),
        ("\\data\\\nngram 2=1\n\n", "line 2: is no count of 1-grams"),
        ("\\data\\\nngram 1=2\n\n\\1-grams:\n-1 a\n", "within its 1-grams"),
        ("\\data\\\nngram 1=1\n\n\\1-grams:\nx a\n", "line 5: has a weight that is no number"),
        ("\\data\\\nngram 1=1\n\n\\1-grams:\n-1 a b c\n", "line 5: is no 1-gram"),
        ("\\data\\\nngram 1=1\n\n\\1-grams:\n-1 a\n\n", r"end. is missing"),
    ],
)
def test_a_fault_in_an_arpa_file_names_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.arpa").write_text(text)
    with pytest.raises(UserError, match=message):
        load_ngrams(str(tmp_path / "bad.arpa"))
    with pytest.raises(UserError, match="no such model"):
        load_ngrams(str(tmp_path / "gone.arpa"))


def test_scores_hang_on_no_neighbour(tmp_path: Path) -> None:
    grams = random_grams()
    path = write_trie(tmp_path / "model", grams)
    alone = [scores(path, sentence) for sentence in ("w1 w2 w3", "w0 w0", "w4")]
    assert scores(path, "w1 w2 w3", "w0 w0", "w4") == [found for some in alone for found in some]
    assert np.isfinite(alone[0]).all()

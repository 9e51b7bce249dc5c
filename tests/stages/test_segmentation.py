"""Near copies in every script: by words where there are spaces, by letters where there are none."""

import hashlib
import re
from pathlib import Path
from random import Random

import numpy as np
import pytest

from curate.document import Address, Document
from curate.text import segmented
from stages.near_dedup import NearDedup

DOCS = Path(__file__).parents[2] / "docs" / "stages"
FROZEN = [
    (
        "87e4f9c92311587e",
        "The river was never the same width for long, and in spring the meadow beside it stood under water.",
    ),
    (
        "a367df0cf686b90f",
        "Der Fluss ist nie lange gleich breit – und im Frühling steht die Wiese unter Wasser, sagt man.",
    ),
    ("8355a64350507527", "Река никогда подолгу не бывает одной ширины, и весной луг рядом с ней стоит под водой."),
    (
        "64dd429fc70fb878",
        "Ο ποταμός δεν έχει ποτέ το ίδιο πλάτος για πολύ, και την άνοιξη το λιβάδι μένει κάτω από το νερό.",
    ),
    ("9e6f6aade300f649", "النهر لا يبقى بنفس العرض طويلا، وفي الربيع تقف المروج بجانبه تحت الماء كما يقولون."),
    ("f9e9c9fd1a6e4106", "강은 오랫동안 같은 너비로 있지 않으며, 봄이면 그 옆의 초원이 물에 잠긴다고 한다."),
    ("addcca3f8dd13d88", "नदी कभी लंबे समय तक एक ही चौड़ाई की नहीं रहती, और वसंत में घास का मैदान पानी के नीचे रहता है।"),
    ("a55f40473f651701", "Dòng sông không bao giờ giữ nguyên bề rộng lâu, và vào mùa xuân đồng cỏ bên cạnh ngập nước."),
]
LETTERS = {
    "Han": range(0x4E00, 0x4F00),
    "kana": range(0x3042, 0x3090),
    "Thai": range(0xE01, 0xE2F),
    "Lao": range(0xE94, 0xEA0),
    "Khmer": range(0x1780, 0x17A3),
    "Burmese": range(0x1000, 0x1021),
}


def doc(text: str) -> Document:
    return Document(Address("a", "b", 0), text=text)


@pytest.mark.parametrize(("digest", "text"), FROZEN)
def test_scripts_with_spaces_keep_their_signatures(digest: str, text: str) -> None:
    """Made with scheme 1, before scripts without spaces were cut: byte for byte the same."""
    sketch = NearDedup().sketch(doc(text))
    assert sketch.record is not None
    assert hashlib.sha256(sketch.keys.tobytes() + sketch.record.tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize("script", LETTERS)
def test_a_text_without_spaces_resembles_its_near_copy(script: str) -> None:
    chance, stage = Random(1), NearDedup()
    letters = [chr(code) for code in LETTERS[script]]
    text = "".join(chance.choice(letters) for _ in range(600))
    other = "".join(chance.choice(letters) for _ in range(600))
    copy = text[:300] + letters[0] * 2 + text[302:]
    first, second, third = (stage.sketch(doc(one)) for one in (text, copy, other))
    assert stage.similarity(first.record, second.record)[0] > 0.9  # type: ignore[arg-type]
    assert stage.similarity(first.record, third.record)[0] < 0.2  # type: ignore[arg-type]
    assert set(first.keys) & set(second.keys)
    left, right = stage.compared(doc(text)), stage.compared(doc(copy))
    assert len(left & right) / len(left | right) > 0.9  # and the audit says so


def test_what_is_sketched_is_what_is_compared() -> None:
    for text in ("漢字とかな、and words がぎ", "คำ\u200bไทย ที่นี่ with English", "ភាសាខ្មែរ", "ｶﾞｷﾞ 中文。中文"):
        words = segmented(doc(text).normalized).split()
        again = NearDedup().sketch(doc(" ".join(words)))
        assert np.array_equal(NearDedup().sketch(doc(text)).record, again.record)  # type: ignore[arg-type]
    assert segmented("ที่นี่ abc 中文") == " ที่  นี่  abc  中  文 "
    assert segmented("Straße, Привет — 한국어 नदी") == "Straße, Привет — 한국어 नदी"


COUNTING = (
    "bad_words c4 decontaminate fasttext_quality fineweb fineweb2 gopher importance language line_dedup line_rules "
    "linear naive_bayes near_dedup perplexity prescreen repetition signals substring_dedup tokens where"
).split()


@pytest.mark.parametrize("stage", COUNTING)
def test_a_stage_that_counts_words_says_what_they_are_in_scripts_without_spaces(stage: str) -> None:
    page = " ".join((DOCS / f"{stage}.md").read_text(encoding="utf-8").split())
    assert re.search(r"without spaces|no spaces|written without", page) and "Chinese" in page
    if stage != "bad_words":  # whose option names the languages
        assert all(language in page for language in ("Japanese", "Thai", "Lao", "Khmer", "Burmese"))

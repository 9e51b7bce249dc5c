"""The fast measures equal a plain reading of their definitions, on all Unicode."""

import random
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from curate.document import Address, Document
from stages.gopher import STOP_WORDS, Gopher
from stages.rules import paper
from stages.rules.n_grams import NGrams


def page(text: str) -> Document:
    return Document(Address("web", "a.warc", 0), text=text)


def plain_n_grams(words: list[str]) -> dict[str, float]:
    total, ratios = sum(map(len, words)), {}
    for size in range(2, 11):
        grams = [tuple(words[i : i + size]) for i in range(len(words) - size + 1)]
        counts, under = Counter(grams), set()
        if size < 5:
            ranked = sorted(counts, key=lambda g: (-counts[g], -sum(map(len, g)), grams.index(g)))
            places = [i for i, gram in enumerate(grams) if ranked and gram == ranked[0] and counts[gram] > 1]
        else:
            places = [i for i, gram in enumerate(grams) if gram in grams[:i]]
        for place in places:
            under.update(range(place, place + size))
        name = f"{'top' if size < 5 else 'duplicate'}_{size}_gram_ratio"
        ratios[name] = sum(len(words[i]) for i in under) / total if total else 0.0
    return ratios


def plain_measures(text: str) -> dict[str, Any]:
    words, lines, paragraphs, run = text.split(), [], [], []
    for line in [*text.splitlines(), ""]:
        if line.strip():
            lines.append(line.strip())
            run.append(line.strip())
        elif run:
            paragraphs.append("\n".join(run))
            run = []
    runs = place = 0
    while place < len(text):
        start = place
        while text[place : place + 1] == "…" or text[place : place + 3] == "...":
            place += 1 if text[place] == "…" else 3
            while text[place - 1] == "." and text[place : place + 1] == ".":
                place += 1
        runs += place > start
        place += place == start

    def copies(items: list[str]) -> tuple[float, float]:
        again = [item for i, item in enumerate(items) if item in items[:i]]
        return len(again) / max(len(items), 1), sum(map(len, again)) / max(sum(map(len, items)), 1)

    n, rows = max(len(words), 1), max(len(lines), 1)
    return {
        "words": len(words),
        "mean_word_length": sum(map(len, words)) / n,
        "hash_ratio": text.count("#") / n,
        "ellipsis_ratio": runs / n,
        "symbol_ratio": None,
        "bullet_line_ratio": len([x for x in lines if x[0] in "•‣●◦*-–"]) / rows,
        "ellipsis_line_ratio": len([x for x in lines if x[-3:] == "..." or x[-1] == "…"]) / rows,
        "alphabetic_word_ratio": len([w for w in words if any(c.isalpha() for c in w)]) / n,
        "stop_words": len({w.lower() for w in words} & set(STOP_WORDS)),
        "duplicate_line_ratio": copies(lines)[0],
        "duplicate_paragraph_ratio": copies(paragraphs)[0],
        "duplicate_line_character_ratio": copies(lines)[1],
        "duplicate_paragraph_character_ratio": copies(paragraphs)[1],
        **plain_n_grams(words),
    }


PIECES = [
    "a",
    "b",
    "the",
    "THE",
    "of",
    "½",
    "x½",
    "#",
    "...",
    "…",
    ". . .",
    "*",
    "- ",
    "\n",
    "\n\n",
    "\r\n",
    "\u2028",
    " ",
    "\u00a0",
    "1",
    "K",
    "İ",
    "ß",
    "水",
    "\u200b",
    "\x1c",
    "....",
    "ab",
    "\ud800",
]


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from(PIECES)).map(" ".join),
        st.lists(st.sampled_from(PIECES)).map("".join),
    )
)
def test_fast_measures_equal_the_plain_reading_on_all_unicode(text: str) -> None:
    assert Gopher().measure(page(text)) == plain_measures(text)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(0, 120))
def test_fast_n_grams_equal_the_plain_reading_on_repetitive_texts(seed: int, distinct: int, length: int) -> None:
    draw = random.Random(seed)
    words = [("w" * (n % 4 + 1)) + str(n) for n in (draw.randrange(distinct) for _ in range(length))]
    assert paper.n_gram_ratios(NGrams(words)) == plain_n_grams(words)


def test_n_grams_of_a_text_too_long_to_pack_keys_and_places_into_one_number() -> None:
    block = [f"w{number}" for number in range(600_000)]
    ratios = paper.n_gram_ratios(NGrams(block + [f"v{number}" for number in range(900_000)] + block[:150_000]))
    characters = sum(map(len, block)) + sum(len(f"v{n}") for n in range(900_000)) + sum(map(len, block[:150_000]))
    assert {ratios[f"duplicate_{size}_gram_ratio"] for size in range(5, 11)} == {
        sum(map(len, block[:150_000])) / characters
    }

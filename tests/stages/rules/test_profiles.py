"""The published rule sets, where they differ."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.document import Address, Document, Drop
from curate.stage import failures
from stages.gopher import PROFILES, RULES, Gopher
from stages.rules.words import english_tokens, unicode_words

FILLER = [
    f"{a}{b}" for a in ("river", "stone", "light", "table", "green", "quiet") for b in "abcdefghijklmnopqrstuvwxyz"
]


def page(text: str) -> Document:
    return Document(Address("web", "a.warc", 0), text=text)


PROSE = " ".join(f"{word} the of and" if number % 8 == 0 else word for number, word in enumerate(FILLER[:80]))
BULLETED = [f"{a} the of and {b}" for a, b in zip(FILLER[:60:2], FILLER[1:60:2])]


def broken(text: str) -> dict[str, list[str]]:
    """Reasons for which each profile drops a text."""
    result = {}
    for profile in PROFILES:
        stage = Gopher(profile=profile)
        result[profile] = [drop.reason for drop in failures(RULES, stage, stage.measure(page(text)))]
    return result


def keepers(text: str, *about: str) -> set[str]:
    """Profiles that do not drop a text for these reasons."""
    return {profile for profile, reasons in broken(text).items() if not set(reasons) & set(about)}


@pytest.mark.parametrize(
    ("text", "about", "keep"),
    [
        ("The Of And With " + " ".join(FILLER[:60]), "too_few_stop_words", {"paper", "dclm"}),
        ("the the " + " ".join(FILLER[:60]), "too_few_stop_words", {"dclm", "dolma", "nemo"}),
        ("\n".join(f"* {x}" for x in BULLETED), "too_many_bullet_lines", {"datatrove", "nemo"}),
        ("\n".join(f"- {x}" for x in BULLETED), "too_many_bullet_lines", {"nemo"}),
        ("\n".join(f"• {x}" for x in BULLETED), "too_many_bullet_lines", {"dolma"}),
        ("\n".join(f"  - {x}" for x in BULLETED), "too_many_bullet_lines", {"dolma", "nemo"}),
        ("\n".join(f"{x}..." for x in BULLETED), "too_many_ellipsis_lines", {"dolma"}),
        ("\n".join(f"{x} Read more" for x in BULLETED), "too_many_ellipsis_lines", set(PROFILES) - {"nemo"}),
        (" ".join(FILLER[:60]) + " x" * 40 + " " + "z" * 900, "words_too_long", {"dolma"}),
        ("\n\n".join(BULLETED), "duplicate_lines", set(PROFILES) - {"dolma"}),
        ("\n".join(["so"] * 2 + ["go"]), "duplicate_lines", {"nemo"} - {"nemo"}),
        ("\n".join(["so", "so", "a", "b", "c"]), "duplicate_lines", {"paper", "datatrove", "nemo"}),
        ("水" * 60, "too_few_words", {"dclm"}),
    ],
)
def test_profiles_differ_where_the_rule_sets_do(text: str, about: str, keep: set[str]) -> None:
    assert keepers(text, about) == keep


def test_profiles_sum_or_part_hashes_and_ellipses() -> None:
    symbols = ("too_many_hashes", "too_many_ellipses", "too_many_symbols")
    half = PROSE + " # so..." * 8  # each kind alone is under a tenth of the words
    assert keepers(half, *symbols) == set(PROFILES) - {"dclm"}
    assert keepers(PROSE + " so …" * 60, *symbols) == set()


@pytest.mark.parametrize("profile", ["dclm", "dolma", "nemo"])
def test_too_many_symbols_fires_over_its_limit_and_passes_at_it(profile: str) -> None:
    only = {field: None for name, _, field in RULES if name != "too_many_symbols"}
    stage = Gopher(profile=profile, **only)
    over = stage.apply(page("# " * 6 + "… " * 5 + "so " * 89))
    assert over == Drop("too_many_symbols", 0.11, 0.1)
    assert isinstance(stage.apply(page("# " * 5 + "… " * 5 + "so " * 90)), Document)


def test_a_lone_n_gram_counts_as_top_where_the_rule_set_says_so() -> None:
    assert keepers("the of " + "x" * 30, "top_3_gram") == {"paper", "dclm"}


def test_good_prose_is_kept_by_every_profile() -> None:
    assert broken(PROSE) == {profile: [] for profile in PROFILES}


PIECES = [
    "a",
    "the",
    "½",
    "#",
    "...",
    "…",
    "* ",
    "- ",
    "\n",
    "\n\n",
    "\u2028",
    " ",
    "1",
    "水",
    "\u0301",
    ".",
    "'",
]


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_every_profile_measures_any_text(text: str) -> None:
    for profile in PROFILES:
        measured = Gopher(profile=profile).measure(page(text))
        assert set(measured) == set(Gopher.measures)
        assert all(value is None or 0 <= value < math.inf for value in measured.values())


# The n-gram ratios of each set as a plain reading of its definition: (words or tokens, n, text) -> ratio.


def share(part: float, total: float) -> float:
    return part / total if total else 0.0


def counted(words: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(size))))


def plain_datatrove_top(tokens: list[str], size: int, text: str) -> float | None:
    counts = Counter(map(" ".join, zip(*(tokens[start:] for start in range(size)))))
    gram, count = counts.most_common(1)[0] if counts else ("", 0)
    return share(len(gram) * count, len(text)) if counts else None


def plain_datatrove_duplicate(tokens: list[str], size: int, text: str) -> float:
    seen, copied, place = set(), 0, 0
    while place <= len(tokens) - size:
        gram = tuple(tokens[place : place + size])
        if gram in seen:
            copied += sum(map(len, gram))
        place += size if gram in seen else 1
        seen.add(gram)
    return share(copied, len(text))


def plain_dclm_top(spoken: list[str], size: int, text: str) -> float:
    counts = counted(spoken, size)
    most = max(counts.values(), default=0)
    longest = max((sum(map(len, gram)) for gram, count in counts.items() if count == most), default=0)
    return share(longest * most, sum(map(len, spoken))) if most > 1 else 0.0


def plain_dclm_duplicate(spoken: list[str], size: int, text: str) -> float:
    grams = list(zip(*(spoken[start:] for start in range(size))))
    counts = Counter(grams)
    under: set[int] = set()
    for place, gram in enumerate(grams):
        if counts[gram] > 1:
            under.update(range(place, place + size))
    return share(sum(len(spoken[place]) for place in under), sum(map(len, spoken)))


def plain_dolma_top(words: list[str], size: int, text: str) -> float | None:
    counts = counted(words, size)
    gram, count = counts.most_common(1)[0] if counts else ((), 0)
    return share(sum(map(len, gram)) * count, sum(map(len, words))) if counts else None


def plain_dolma_duplicate(words: list[str], size: int, text: str) -> float | None:
    counts = counted(words, size)
    weights = [(sum(map(len, gram)) * count, count) for gram, count in counts.items()]
    whole = sum(weight for weight, _ in weights)
    return share(sum(weight for weight, count in weights if count > 1), whole) if weights else None


def plain_nemo_top(words: list[str], size: int, text: str) -> float:
    counts = counted(words, size)
    gram = counts.most_common(1)[0][0] if counts else ()
    return share(len(text) - len(text.replace(" ".join(gram), "")), len(text)) if counts else 1.0


def plain_nemo_duplicate(words: list[str], size: int, text: str) -> float:
    seen: set[tuple[str, ...]] = set()
    copied = counted = 0
    for gram in zip(*(words[start:] for start in range(size))):
        if gram in seen:
            copied += sum(map(len, gram[counted:])) + min(size - counted, size - 1)
            counted = size
        seen.add(gram)
        counted = max(counted - 1, 0)
    return share(copied, len(text)) if len(words) >= size else 1.0


PLAIN = {
    "datatrove": (english_tokens, plain_datatrove_top, plain_datatrove_duplicate),
    "dclm": (unicode_words, plain_dclm_top, plain_dclm_duplicate),
    "dolma": (str.split, plain_dolma_top, plain_dolma_duplicate),
    "nemo": (str.split, plain_nemo_top, plain_nemo_duplicate),
}


@pytest.mark.parametrize("profile", PLAIN)
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(0, 80))
def test_n_grams_equal_the_plain_reading(profile: str, seed: int, distinct: int, length: int) -> None:
    draw = random.Random(seed)
    text = draw.choice(" \n").join(
        "abcdefghi"[draw.randrange(distinct)] * draw.choice([1, 1, 2]) for _ in range(length)
    )
    split, top, duplicate = PLAIN[profile]
    measured = Gopher(profile=profile).measure(page(text))
    for size in range(2, 11):
        name, ratio = (f"top_{size}_gram_ratio", top) if size < 5 else (f"duplicate_{size}_gram_ratio", duplicate)
        assert measured[name] == ratio(split(text), size, text)

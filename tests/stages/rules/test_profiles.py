"""The published rule sets, where they differ."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.document import Address, Document
from stages.gopher import PROFILES, Gopher

FILLER = [
    f"{a}{b}"
    for a in ("river", "stone", "light", "table", "green", "quiet")
    for b in "abcdefghijklmnopqrstuvwxyz"
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
        result[profile] = [drop.reason for drop in stage.failures(stage.measure(page(text)))]
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

"""The rules of repetition: each reason over its limit and at it, and the same measures as in gopher."""

import random
from typing import Any

import pytest

from curate.document import Address, Document, Drop
from stages.gopher import PROFILES, Gopher
from stages.repetition import Repetition

OFF: dict[str, Any] = dict.fromkeys(Repetition.limits)


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.warc", 0), text=text, attributes=attributes)


def fresh(count: int, start: int = 0) -> str:
    """So many different words of five letters."""
    return " ".join(f"w{number:04d}" for number in range(start, start + count))


def repeated_gram(size: int, words: int) -> str:
    """A run of `size` words that stands twice in `words` words, of five letters all."""
    return f"{fresh(size)} {fresh(words - 2 * size, 100)} {fresh(size)}"


LINES = [f"line {number:02d}" for number in range(7)]
BLOCKS = [f"block {number:02d}" for number in range(7)]

# For each reason: the limit, the smallest page over it and one at it. 3 of 10 lines are copies at the limit of 0.3;
# a gram of 2 words twice in 20 words is 4/20 of their characters, and 2 of 13 words is above 0.15.
AT_THE_LIMIT: dict[str, tuple[float, str, str]] = {
    "duplicate_lines": (0.3, "\n".join([*LINES[:6], *["line 00"] * 4]), "\n".join([*LINES, *["line 00"] * 3])),
    "duplicate_paragraphs": (
        0.3,
        "\n\n".join([*BLOCKS[:6], *["block 00"] * 4]),
        "\n\n".join([*BLOCKS, *["block 00"] * 3]),
    ),
    "duplicate_line_characters": (0.2, "aaaa\naaaa\nbbbbbbbbbb", "aaaa\naaaa\nbbbbbbbbbbbb"),
    "duplicate_paragraph_characters": (0.2, "aaaa\n\naaaa\n\nbbbbbbbbbb", "aaaa\n\naaaa\n\nbbbbbbbbbbbb"),
    "top_2_gram": (0.2, repeated_gram(2, 19), repeated_gram(2, 20)),
    "top_3_gram": (0.18, repeated_gram(3, 33), repeated_gram(3, 34)),
    "top_4_gram": (0.16, repeated_gram(4, 49), repeated_gram(4, 50)),
    "duplicate_5_grams": (0.15, repeated_gram(5, 33), repeated_gram(5, 34)),
    "duplicate_6_grams": (0.14, repeated_gram(6, 42), repeated_gram(6, 43)),
    "duplicate_7_grams": (0.13, repeated_gram(7, 53), repeated_gram(7, 54)),
    "duplicate_8_grams": (0.12, repeated_gram(8, 66), repeated_gram(8, 67)),
    "duplicate_9_grams": (0.11, repeated_gram(9, 81), repeated_gram(9, 82)),
    "duplicate_10_grams": (0.10, repeated_gram(10, 99), repeated_gram(10, 100)),
    "too_many_repeats_in_a_row": (31, "ha " * 32, "ha " * 31),
}


@pytest.mark.parametrize("reason", Repetition.reasons)
def test_each_reason_fires_over_its_limit_and_passes_at_it(reason: str) -> None:
    option = Repetition.limits[Repetition.reasons.index(reason)]
    limit, over, at = AT_THE_LIMIT[reason]
    stage = Repetition(**{**OFF, option: getattr(Repetition(), option)})
    dropped = stage.apply(page(over))
    assert isinstance(dropped, Drop) and (dropped.reason, dropped.limit) == (reason, limit)
    assert isinstance(stage.apply(page(at)), Document)
    assert isinstance(Repetition(**OFF).apply(page(over)), Document)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_measures_what_gopher_measures(profile: Any) -> None:
    draw = random.Random(3)
    for _ in range(20):
        words = draw.choices([f"w{number}" for number in range(12)], k=draw.randint(0, 80))
        text = "".join(word + draw.choice([" ", " ", "\n", "\n\n", ". "]) for word in words)
        asked = Repetition(profile=profile).measure(page(text))
        whole_gopher = Gopher(profile=profile).measure(page(text))
        asked.pop("repeats_in_a_row")
        assert asked == {name: whole_gopher[name] for name in asked}


def test_limits_are_those_of_gopher() -> None:
    common = [name for name in Repetition.limits if name != "max_repeats_in_a_row"]
    assert {name: getattr(Repetition(), name) for name in common} == {name: getattr(Gopher(), name) for name in common}


def test_an_empty_text_passes_and_other_languages_pass_unmeasured() -> None:
    assert isinstance(Repetition().apply(page("")), Document)
    foreign = page("ha " * 99, language="de")
    assert Repetition(languages=("en",)).apply(foreign) is foreign
    assert isinstance(Repetition().apply(foreign), Drop)

"""Each rule at its limit and just over it; the fast measures against a plain reading of their definitions."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document, Drop
from stages.gopher import RULES, Gopher, quality_failures

FILLER = [
    f"{a}{b}" for a in ("river", "stone", "light", "table", "green", "quiet") for b in "abcdefghijklmnopqrstuvwxyz"
]


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.warc", 0), text=text, attributes=attributes)


def prose(words: int, start: int = 0) -> str:
    """So many different words, the first two of them stop words."""
    return " ".join(["the", "of", *FILLER[start : start + words - 2]])


def n_gram_text(size: int, repeated: int, total: int = 1000) -> str:
    """Words of ten letters, `repeated` of 1,000 of them under copies of one n-gram of that size."""
    words = [f"{'x' * 7}{number:03d}" for number in range(total)]
    for start in range(size, size + repeated, size):
        words[start : start + size] = words[:size]
    return " ".join(words)


LINES = [f"the of {word} {word}s" for word in FILLER]

# For each reason the smallest page that fires it and one just inside the limit; other rules are off.
AT_THE_LIMIT: dict[str, tuple[str, str]] = {
    "too_few_words": ("so " * 49, "so " * 50),
    "too_many_words": ("so " * 100_001, "so " * 100_000),
    "words_too_short": ("to abc", "to abcd"),
    "words_too_long": ("x" * 10 + " " + "x" * 11, "x" * 10 + " " + "x" * 10),
    "too_many_hashes": ("#" * 11 + " so" * 99, "#" * 10 + " so" * 99),
    "too_many_ellipses": ("so... " * 5 + "so… " * 6 + "so " * 89, "so.... " * 5 + "so…… " * 5 + "so " * 90),
    "too_many_bullet_lines": ("- so\n* so\n" * 5 + "so\n\n", "- so\n* so\n" * 4 + "• so\nso\n\n"),
    "too_many_ellipsis_lines": ("so...\nso…\n" * 2 + "so\n" * 6, "so...\n" + "so… \n" * 2 + "so\n\n" * 7),
    "too_few_alphabetic_words": ("so, " * 79 + "½ " + "12 " * 20, "so, " * 80 + "½ " + "12 " * 19),
    "too_few_stop_words": ("the The THE", "the AND"),
    "duplicate_lines": ("a\na\na\n" + "a\n b\nc\nd\ne\nf\n", "a\na\na\n" + "a \n\nb\nc\nd\ne\nf\ng\n"),
    "duplicate_paragraphs": (
        "a\n\n" * 4 + "b\n\nc\n\nd\n\ne\n\nf",
        "a\n \n" * 4 + "b\n\nc\n\nd\n\ne\n\nf\n\ng\nh",
    ),
    "duplicate_line_characters": (
        "x" * 59 + "\n" + ("y" * 20 + "\n") * 2,
        "x" * 60 + "\n" + ("y" * 20 + "\n") * 2,
    ),
    "duplicate_paragraph_characters": (
        "x" * 59 + "\n\n" + ("y" * 20 + "\n\n") * 2,
        "x" * 60 + "\n\n" + ("y" * 20 + "\n\n") * 2,
    ),
}


def alone(reason: str) -> dict[str, Any]:
    """Options that turn off every other rule."""
    return {field: None for name, _, field in RULES if name != reason}


def judge(options: dict[str, Any], text: str) -> Document | Drop:
    return Gopher(**options).apply(page(text))


@pytest.mark.parametrize("reason", AT_THE_LIMIT)
def test_each_rule_fires_over_its_limit_and_passes_at_it(reason: str) -> None:
    over, at = AT_THE_LIMIT[reason]
    dropped = judge(alone(reason), over)
    assert isinstance(dropped, Drop)
    assert dropped.reason == reason
    assert dropped.value is not None and dropped.value != dropped.limit
    assert isinstance(judge(alone(reason), at), Document)


@pytest.mark.parametrize("size", range(2, 11))
def test_n_grams_at_the_limit(size: int) -> None:
    name = f"top_{size}_gram" if size < 5 else f"duplicate_{size}_grams"
    field = next(limit for reason, _, limit in RULES if reason == name)
    copied = 100 - 100 % size  # words under copies, of 1,000 equally long words
    counted = copied + size if size < 5 else copied  # the most frequent n-gram counts with its first place
    text = n_gram_text(size, copied)
    assert isinstance(judge({**alone(name), field: counted / 1000}, text), Document)
    dropped = judge({**alone(name), field: (counted - 1) / 1000}, text)
    assert isinstance(dropped, Drop)
    assert (dropped.reason, dropped.value) == (name, counted / 1000)


def test_every_declared_reason_has_a_test() -> None:
    profiles = {"too_many_symbols"}
    n_grams = {reason for reason, measure, _ in RULES if "_gram" in measure}
    assert set(Gopher.reasons) == set(AT_THE_LIMIT) | profiles | n_grams


def test_default_thresholds_are_those_of_the_paper() -> None:
    limits = [getattr(Gopher(), field) for _, _, field in RULES if field != "max_symbol_ratio"]
    quality = [50, 100_000, 3, 10, 0.1, 0.1, 0.9, 0.3, 0.8, 2]
    repetition = [0.3, 0.3, 0.2, 0.2, 0.2, 0.18, 0.16, 0.15, 0.14, 0.13, 0.12, 0.11, 0.10]
    assert limits == quality + repetition


def test_all_measures_are_taken_of_a_page_that_the_first_rule_drops() -> None:
    measured = Gopher().measure(page("so so so so so"))
    assert set(measured) == set(Gopher.measures)
    assert [name for name, value in measured.items() if value is None] == ["symbol_ratio"]
    assert measured["duplicate_5_gram_ratio"] == 0 and measured["top_2_gram_ratio"] == 1.0


def test_a_limit_of_none_is_off_and_a_limit_of_0_is_not() -> None:
    hashes = prose(60) + " #"
    assert isinstance(judge({"max_hash_ratio": None}, hashes), Document)
    dropped = judge({"max_hash_ratio": 0}, hashes)
    assert isinstance(dropped, Drop) and (dropped.reason, dropped.limit) == ("too_many_hashes", 0)


@pytest.mark.parametrize("text", ["", " \n\t ", "\n\n\n"])
def test_an_empty_text_is_measured_without_dividing_by_zero(text: str) -> None:
    assert quality_failures(text)[0] == "too_few_words"
    assert isinstance(judge({field: None for _, _, field in RULES}, text), Document)


def test_other_languages_pass_with_null_measures() -> None:
    foreign, ours, unknown = (page("zu kurz", **a) for a in ({"language": "de"}, {"language": "en"}, {}))
    assert set(Gopher().measure(foreign).values()) == {None}
    assert Gopher().apply(foreign) is foreign
    assert isinstance(Gopher().apply(ours), Drop) and isinstance(Gopher().apply(unknown), Drop)
    assert isinstance(Gopher(languages=None).apply(foreign), Drop)


def test_seed_navigation_bar_s007() -> None:
    failures = quality_failures("Home | About us | Contact | Privacy policy | Log in")
    assert failures == ["too_few_words", "too_few_alphabetic_words", "too_few_stop_words"]


def test_seed_good_document_s008() -> None:
    assert quality_failures(prose(60)) == []


def test_seed_rules_named_in_prose_s009() -> None:
    assert "too_many_bullet_lines" in quality_failures("\n".join(f"- {line}" for line in LINES[:40]))
    assert "too_many_ellipsis_lines" in quality_failures("\n".join(f"{line}..." for line in LINES[:40]))
    assert quality_failures(" ".join(FILLER[:60])) == ["too_few_stop_words"]
    assert quality_failures("the of " + " ".join(FILLER[:60])) == []


@pytest.mark.parametrize("text", [text for pair in AT_THE_LIMIT.values() for text in pair] + [prose(60), ""])
def test_quality_failures_is_the_judgement_of_the_stage(text: str) -> None:
    verdict = Gopher().apply(page(text))
    assert quality_failures(text)[:1] == ([verdict.reason] if isinstance(verdict, Drop) else [])


def test_config_errors_name_the_option() -> None:
    read = TypeAdapter(Gopher)
    assert read.validate_json('{"min_words": null, "stop_words": ["le", "et"]}', strict=True).min_words is None
    for bad, word in (
        ('{"min_words": -1}', "min_words"),
        ('{"max_bullet_line_ratio": 1.5}', "max_bullet_line_ratio"),
        ('{"min_words": 9, "max_words": 8}', "max_words"),
        ('{"stop_words": ["The"]}', "stop_words"),
        ('{"profile": "goofer"}', "profile"),
    ):
        with pytest.raises(ValidationError, match=word):
            read.validate_json(bad, strict=True)

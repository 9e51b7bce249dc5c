"""FineWeb's rules, each over its limit and at it."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document, Drop
from stages.fineweb import RULES, FineWeb

PROSE = "\n".join(f"This is line {number} of a page of prose with so many words." for number in range(10))

# For each reason the smallest page that fires it and one just inside the limit; other rules are off.
AT_THE_LIMIT: dict[str, tuple[str, str]] = {
    "too_few_lines_with_end_mark": ("so\n" * 23 + "so.\n" * 2 + 'so"', "so\n" * 22 + "so!\nso.\n" + 'so"'),
    "too_many_short_lines": (
        ("x" * 30 + "\n") * 68 + ("y" * 31 + "\n") * 32,
        ("x" * 30 + "\n") * 67 + ("y" * 31 + "\n") * 33,
    ),
    "duplicate_line_characters": ("x" * 97 + "\nzz\nzz", "x" * 98 + "\nz\nz"),
    "too_many_line_breaks": ("so\nso\nso\nso\nso" + " so" * 7, "so\n\nso\nso" + " so" * 7),
}


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.warc", 0), text=text, attributes=attributes)


def alone(reason: str) -> dict[str, Any]:
    return {field: None for name, _, field in RULES if name != reason}


@pytest.mark.parametrize("reason", FineWeb.reasons)
def test_each_rule_fires_over_its_limit_and_passes_at_it(reason: str) -> None:
    over, at = AT_THE_LIMIT[reason]
    dropped = FineWeb(**alone(reason)).apply(page(over))
    assert isinstance(dropped, Drop) and dropped.reason == reason
    assert dropped.limit == {name: getattr(FineWeb(), field) for name, _, field in RULES}[reason]
    assert isinstance(FineWeb(**alone(reason)).apply(page(at)), Document)


def test_measures_are_shares() -> None:
    measured = FineWeb().measure(page("A sentence that is longer than thirty characters.\nmenu\n\nmenu"))
    assert measured == {
        "end_mark_line_ratio": 1 / 3,
        "short_line_ratio": 2 / 3,
        "duplicate_line_character_ratio": 4 / 57,
        "line_break_ratio": 3 / 10,
    }


def test_prose_is_kept_and_empty_text_is_dropped_without_dividing_by_zero() -> None:
    assert isinstance(FineWeb().apply(page(PROSE)), Document)
    assert FineWeb().apply(page("\n")) == Drop("too_few_lines_with_end_mark", 0.0, 0.12)


def test_other_languages_pass_with_null_measures() -> None:
    foreign = page("menu\nmenu", language="ja")
    assert FineWeb().apply(foreign) is foreign
    assert set(FineWeb().measure(foreign).values()) == {None}
    assert isinstance(FineWeb(languages=None).apply(foreign), Drop)


def test_a_wrong_option_is_refused() -> None:
    with pytest.raises(ValidationError, match="short_line"):
        TypeAdapter(FineWeb).validate_json('{"short_line": -1}', strict=True)

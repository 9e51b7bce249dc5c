"""YAML means what a person reads in it, and nothing in it can build objects or fill the memory."""

import math

import pytest

from curate import yaml12
from curate.errors import UserError


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("12", 12),
        ("-3", -3),
        ("0.65", 0.65),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("12:30", "12:30"),
        ("2024-05-04", "2024-05-04"),
        ("0x1f", "0x1f"),
        ("1_000", "1_000"),
        ("~", None),
        ("null", None),
        ('"12"', "12"),
        (".inf", math.inf),
    ],
)
def test_scalars_are_those_of_yaml_1_2(written: str, meant: object) -> None:
    assert yaml12.load(f"key: {written}", "x") == {"key": meant}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", "line 2: the key 'a' stands twice"),
        ("a: &x [1]\nb: *x", "line 2: aliases"),
        ("a: !!python/object/apply:os.system ['true']", "line 1"),
        ("1: x", "line 1: the key 1 is no text"),
        ("a: [", "line"),
        ("a: " + "[" * 5000, "x"),
        ("a: [" + "1," * 30_000 + "]", "more than"),
        ("a: " + "x" * (2 << 20), "larger than"),
    ],
)
def test_what_is_no_plain_yaml_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        yaml12.load(text, "x.yaml")
    assert str(caught.value).startswith("x.yaml")

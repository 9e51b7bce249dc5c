"""Spans do not overlap, and marks stand where they stood."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stages.personal.found import KINDS, found, kind_mark, masked, value_mark
from stages.personal.span import PersonalSpan

TEXT = "Anna (anna@kern.net, +49 30 901820) paid from DE89 3704 0044 0532 0130 00 at 91.198.174.192."


def test_each_kind_is_masked_at_its_place() -> None:
    assert masked(TEXT, found(TEXT), kind_mark) == "Anna (<EMAIL>, <PHONE>) paid from <IBAN> at <IP>."


def test_only_kinds_that_are_asked_for_are_found() -> None:
    assert [span.kind for span in found(TEXT, ("ip", "email"))] == ["email", "ip"]


def test_what_has_check_digits_claims_its_place_first() -> None:
    assert [span.kind for span in found("tel 4111 1111 1111 1111")] == ["card"]


def test_a_hash_is_of_kind_value_and_salt() -> None:
    one = PersonalSpan(0, 1, "email", "jo@kern.net")
    assert value_mark(one, "") == value_mark(one._replace(start=5), "")
    assert len({value_mark(one, ""), value_mark(one, "x"), value_mark(one._replace(value="a@b.de"), "")}) == 3


PARTS = [
    "+49 30 901820",
    "anna@kern.net",
    "4111 1111 1111 1111",
    "91.198.174.192",
    "DE89 3704 0044 0532 0130 00",
    " ",
    "-",
    ".",
    "1",
    "tel ",
    "a",
    "@",
    "/",
]


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_spans_are_in_order_and_do_not_overlap(text: str) -> None:
    spans = found(text)
    assert all(one.end <= two.start for one, two in pairwise(spans))
    assert {span.kind for span in spans} <= set(KINDS)

"""Account, card and telephone numbers: forms and check digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.personal.numbers import cards, ibans, is_luhn, outside_links, phones


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("DE89 3704 0044 0532 0130 00.", ["DE89370400440532013000"]),
        ("GB82WEST12345698765432", ["GB82WEST12345698765432"]),
        ("DE89 3704 0044 0532 0130 01", []),
        ("DE89 3704 0044 0532 0130", []),
        ("DE89 3704 0044 0532 0130 000", []),
        ("XX89 3704 0044 0532 0130 00", []),
        ("NO93 8601 1117 947 and more", ["NO9386011117947"]),
    ],
)
def test_ibans(text: str, values: list[str]) -> None:
    assert [span.value for span in ibans(text)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4111 1111 1111 1111", ["4111111111111111"]),
        ("378282246310005 5555-5555-5555-4444", ["378282246310005", "5555555555554444"]),
        ("3782 822463 10005", ["378282246310005"]),
        ("4111 1111 1111 1112", []),
        ("9111 1111 1111 1119", []),
        ("order 4111111111111111", []),
        ("4111-1111 1111-1111", []),
        ("0.4111111111111111 4111111111111111.5", []),
    ],
)
def test_cards(text: str, values: list[str]) -> None:
    assert [span.value for span in cards(text)] == values


@given(st.integers(0, 10**12))
def test_exactly_one_last_digit_makes_a_number_right(number: int) -> None:
    assert sum(is_luhn(f"{number}{last}") for last in range(10)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "+49 30 901820",
        "+44 (0)20 7946 0958",
        "+1 (415) 555-2671",
        "0049 30 1234567",
        "(212) 555-0198",
        "415-555-2671",
        "415.555.2671",
        "1-415-555-2671",
        "020 7946 0958",
        "(030) 901820",
        "01 23 45 67 89",
        "030/901820",
        "Tel: 5551234567",
        "WhatsApp 612 34 56 78",
        "电话：13812345678",
    ],
)
def test_phones(text: str) -> None:
    assert len(list(phones(f"Ask us, {text}, any day."))) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "2023-10-12",
        "12/10/2023",
        "01.02.2023",
        "3.1415926535",
        "1 234 567 890",
        "ISBN 978-3-16-148410-0",
        "doi 10.1000/182 415-555-2671",
        "+999 123 456 789",
        "5551234567",
        "order 415-555-2671",
        "115-555-2671",
        "415-555-26711",
        "+1 415",
        "00 00 00 00 00",
    ],
)
def test_what_is_no_phone_number(text: str) -> None:
    assert list(phones(f"It says {text}, any day.")) == []


def test_the_digits_of_a_link_are_its_own() -> None:
    text = "https://host.org/415-555-2671 or 415-555-2672"
    assert [span.value for span in outside_links(phones(text), text)] == ["4155552672"]


@pytest.mark.parametrize("text", ["1 " * 20_000, "1" * 40_000, "(0" * 20_000, "+1 (" * 10_000, "AB12 " * 8_000])
def test_hostile_texts_come_to_an_end(text: str) -> None:
    assert [list(finder(text)) for finder in (ibans, cards)] == [[], []]
    assert all(len(span.value) <= 19 for span in phones(text))

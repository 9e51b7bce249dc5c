"""Dates: UTC in ISO 8601, or none."""

import pytest

from curate.sources.dates import utc


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2024-05-06T07:08:09Z", "2024-05-06T07:08:09Z"),
        ("2024-05-06T07:08:09.25Z", "2024-05-06T07:08:09.250000Z"),
        ("2024-05-06T07:08:09+02:00", "2024-05-06T05:08:09Z"),
        ("2024-05-06 07:08:09", "2024-05-06T07:08:09Z"),
        (" 2024-05-06", "2024-05-06T00:00:00Z"),
        ("20240506070809", "2024-05-06T07:08:09Z"),
        ("Mon, 06 May 2024 07:08:09 GMT", "2024-05-06T07:08:09Z"),
        ("2009-03-65T00:00:00Z", ""),
        ("2016", ""),
        ("", ""),
        ("0001-01-01T00:00:00+09:00", ""),
        ("20249906070809", ""),
        ("yesterday", ""),
        ("1700000000", ""),
        ("1" * 5_000, ""),
    ],
)
def test_a_date_is_utc_or_none(given: str, expected: str) -> None:
    assert utc(given) == expected
    assert utc(expected) == expected

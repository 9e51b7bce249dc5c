"""Dates as shards hold them: UTC in ISO 8601, whatever a header or column wrote, or none."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pyarrow as pa

from curate.sources.settings import SourceConfig

GIVEN = "date_given"  # the column that holds a date as it was written, where it is kept
STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\d*", re.ASCII)  # of ARC files and CDX indexes
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
LONGEST = 64  # characters; no way to write a date is longer


def utc(given: str) -> str:
    """A date as `2024-01-02T03:04:05Z`, with a fraction where there is one; "" where it tells no day that there is.

    It may be given in ISO 8601, as mail and HTTP headers write dates (RFC 9110, section 5.6.7), or in 14 digits; a time
    without a zone is UTC, a day begins at midnight. `2009-03-65` and `2016` are no days.
    """
    text = given.strip()
    if not text or len(text) > LONGEST:
        return ""
    try:
        found = _parsed(text)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, IndexError, TypeError):
        return ""
    return found.isoformat().replace("+00:00", "Z")


def _parsed(text: str) -> datetime:
    stamp = STAMP.fullmatch(text)
    if stamp:
        year, month, day, hour, minute, second = map(int, stamp.groups())
        return datetime(year, month, day, hour, minute, second)
    if DAY.match(text):
        return datetime.fromisoformat(text)
    if not text[:1].isalpha():
        raise ValueError("a date begins with a year or the name of a day")
    return parsedate_to_datetime(text)


def given_date_column(config: SourceConfig) -> Mapping[str, pa.DataType]:
    """The column for dates as given, where the config keeps them."""
    return {GIVEN: pa.string()} if config.keep_date else {}


def given_date(config: SourceConfig, given: str) -> dict[str, str | None]:
    """The attribute of that column."""
    return {GIVEN: given or None} if config.keep_date else {}

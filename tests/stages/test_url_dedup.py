"""url_dedup: one document of each URL stays, the newest or the first, held to a dictionary."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.document import Document
from stages.url_dedup import UrlDedup, one_url
from tests.decided import decided, documents


def pages(rows: list[tuple[str, str]]) -> list[Document]:
    return [replace(doc, url=url, date=date) for doc, (url, date) in zip(documents(["x"] * len(rows)), rows)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/x", "https://www.A.example:443/x/#top"),
        ("http://a.example:80/x?utm_source=m&id=1", "http://a.example/x?id=1&ref=z"),
        ("http://a.example", "http://a.example/?gclid"),
    ],
)
def test_spellings_of_one_url(one: str, other: str) -> None:
    assert one_url(one) == one_url(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/x", "http://a.example/X"),
        ("http://a.example/x?id=1", "http://a.example/x?id=2"),
        ("http://a.example/x?a=1&b=2", "http://a.example/x?b=2&a=1"),
        ("http://a.example:8080/x", "http://a.example/x"),
        ("http://a.example/x?reference=1", "http://a.example/x"),
        ("http://[bad/x", "http://[bad/y"),
    ],
)
def test_other_urls(one: str, other: str) -> None:
    assert one_url(one) != one_url(other)


def test_the_newest_stays_and_is_named(tmp_path: Path) -> None:
    rows = pages(
        [
            ("http://a.example/", "2024-01-01T00:00:00Z"),
            ("https://a.example", "2024-03-01T01:00:00+02:00"),
            ("http://a.example", "2024-02-29T23:00:00Z"),
            ("http://a.example/", "no date"),
        ]
    )
    got = decided(tmp_path, [("url_dedup", UrlDedup())], rows).slice(0, 4)
    assert got.stage.tolist() == [1, 0, 1, 1] and got.matched.tolist() == [1, -1, 1, 1]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["", "u://a", "u://b", "u://c"]), st.sampled_from(["", "2024", "2023-01-02"]))),
    st.sampled_from(["newest", "first"]),
    st.sampled_from([1, 5]),
)
def test_who_stays_is_who_a_dictionary_keeps(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], keep: Any, partitions: int
) -> None:
    stage = UrlDedup(keep=keep)
    docs = pages([(f"{url}.example/" if url else "", date) for url, date in rows])
    table = decided(tmp_path_factory.mktemp("url"), [("url_dedup", stage)], docs, partitions, task=3)
    best: dict[str, tuple[int, int]] = {}
    for number, doc in enumerate(docs):
        record = stage.sketch(doc).record
        assert record is not None
        rank = (-int(record["date"][0]) if keep == "newest" else 0, number)
        if doc.url:
            best[doc.url] = min(best.get(doc.url, rank), rank)
    want = [best[doc.url][1] if doc.url and best[doc.url][1] != number else -1 for number, doc in enumerate(docs)]
    got = table.slice(0, len(docs))
    assert got.matched.tolist() == want and (got.stage > 0).tolist() == (np.array(want) >= 0).tolist()

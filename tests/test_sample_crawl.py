"""The sample crawl is what its truth says, and its script builds it again to the byte."""

import gzip
import hashlib
import json
import zlib
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator

from curate.example_pages import CRAWL_SAMPLE
from sample_crawl import build, prose
from sample_crawl.deflate import brotli_stored, gzip_member, zlib_stream, zstd_stored

FOLDER = build.FOLDER
FILES = ("sample-00000.warc.gz", "sample-00001.warc.gz", "sample-00002.warc")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def truth() -> list[Row]:
    return [json.loads(line) for line in (FOLDER / "truth.jsonl").read_text(encoding="utf-8").splitlines()]


def stored(row: Row) -> bytes:
    with (FOLDER / row["file"]).open("rb") as file:
        file.seek(row["offset"])
        data: bytes = file.read(row["length"])
        return data


def record(row: Row) -> bytes:
    return gzip.decompress(stored(row)) if row["file"].endswith(".gz") else stored(row)


def test_the_script_builds_the_same_bytes(tmp_path: Path) -> None:
    build.build(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((*FILES, "truth.jsonl"))
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (FOLDER / path.name).read_bytes(), path.name


def test_it_is_small() -> None:
    assert sum((FOLDER / name).stat().st_size for name in (*FILES, "truth.jsonl")) < 1_000_000


@pytest.mark.parametrize("name", FILES)
def test_records_tile_each_file(name: str, truth: list[Row]) -> None:
    end = 0
    for row in truth:
        if row["file"] == name:
            assert row["offset"] == end
            end += row["length"]
    assert end == (FOLDER / name).stat().st_size


def test_each_offset_holds_its_record(truth: list[Row]) -> None:
    for row in truth:
        if row["expect"] != "read.damaged":
            head = record(row).split(b"\r\n\r\n")[0].decode()
            assert f"WARC-Record-ID: {row['record_id']}" in head
            assert f"WARC-Type: {row['type']}" in head


def test_one_record_is_damaged_and_its_neighbours_are_not(truth: list[Row]) -> None:
    damaged = [row for row in truth if row["expect"] == "read.damaged"]
    assert len(damaged) == 1
    with pytest.raises((zlib.error, gzip.BadGzipFile, EOFError)):
        record(damaged[0])


def test_warcio_reads_the_undamaged_files_with_good_digests(truth: list[Row]) -> None:
    for name in (FILES[0], FILES[2]):
        with (FOLDER / name).open("rb") as file:
            ids = []
            for entry in ArchiveIterator(file, check_digests="raise"):
                entry.raw_stream.read()
                ids.append(entry.rec_headers.get_header("WARC-Record-ID"))
        assert ids == [row["record_id"] for row in truth if row["file"] == name]


def test_ids_are_unique_and_copies_come_after_their_original(truth: list[Row]) -> None:
    place = {row["record_id"]: number for number, row in enumerate(truth)}
    assert len(place) == len(truth)
    for number, row in enumerate(truth):
        if "of" in row:
            assert place[row["of"]] < number


def test_it_has_every_kind_that_it_promises(truth: list[Row]) -> None:
    pages = [row for row in truth if row["expect"]]
    expected = Counter(row["expect"] for row in pages)
    assert 150 <= len(pages) <= 250
    assert expected["kept"] >= 60
    assert expected["exact_dedup.exact_duplicate"] >= 10
    assert expected["near_dedup.near_duplicate"] >= 10
    assert len({row["language"] for row in pages}) >= 12
    reasons = {"bad_status", "not_text", "truncated", "damaged"}
    assert {f"read.{reason}" for reason in reasons} <= set(expected)
    assert len([reason for reason in expected if reason.startswith("gopher.")]) >= 10
    assert {row["type"] for row in truth} == {"warcinfo", "request", "response", "metadata", "revisit"}
    assert [row["expect"] == "kept" for row in pages if row["kind"].startswith("seven_")] == [
        True,
        False,
        False,
        False,
        False,
        False,
        True,
    ]


def test_copies_lie_where_the_truth_says() -> None:
    texts = {page.url: page.text for pages in build.files().values() for page in pages if not page.revisit}
    for pages in build.files().values():
        for page in pages:
            if not page.of or page.revisit:
                continue
            likeness = prose.jaccard(page.text, texts[page.of])
            if page.expect == "exact_dedup.exact_duplicate":
                assert prose.normalized(page.text) == prose.normalized(texts[page.of])
            elif page.expect == "near_dedup.near_duplicate":
                assert 0.83 <= likeness < 1
            else:
                assert likeness < 0.76


def test_unrelated_articles_share_little() -> None:
    kinds = ("article", "charset_", "coding_", "chunked", "entities", "plain_text")
    texts = [
        page.text
        for pages in build.files().values()
        for page in pages
        if page.kind.startswith(kinds) and page.language == "en"
    ]
    assert len(texts) >= 60
    assert max(prose.jaccard(one, other) for one, other in combinations(texts, 2)) < 0.2


def test_texts_in_the_truth_are_those_of_the_pages(truth: list[Row]) -> None:
    digests = {row["url"]: row["text_sha1"] for row in truth if row["expect"] and "text_sha1" in row}
    seven = [row for row in truth if row.get("kind", "").startswith("seven_")]
    for row, text in zip(seven, CRAWL_SAMPLE):
        assert row["text_sha1"] == hashlib.sha1(prose.normalized(text).encode()).hexdigest()
    assert len(digests) > 100


def test_a_needle_shows_only_under_the_right_charset(truth: list[Row]) -> None:
    row = next(row for row in truth if row.get("kind") == "charset_meta")
    body = record(row).split(b"\r\n\r\n", 2)[2]
    assert row["needle"] in body.decode("cp1252")
    assert row["needle"] not in body.decode("utf-8", "replace")


@pytest.mark.parametrize("data", [b"", b"a", b"abcabcabcabc" * 900, bytes(range(256)) * 3, b"\n" * 70_000])
def test_our_compressors_write_what_others_read(data: bytes) -> None:
    assert gzip.decompress(gzip_member(data)) == data
    assert zlib.decompress(zlib_stream(data)) == data
    assert brotli.decompress(brotli_stored(data)) == data
    assert zstandard.ZstdDecompressor().decompress(zstd_stored(data)) == data

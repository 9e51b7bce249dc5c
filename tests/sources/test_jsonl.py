"""JSON Lines: offsets, slices, columns with their types, and lines that are broken."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard

from curate.errors import UserError
from curate.sources import SourceConfig, reader
from curate.sources.reader import Slice, settled
from tests.engine import run_it, settings, table
from tests.sources.reading import put, read, real, reasons, sliced
from tests.sources.warc_bytes import text

ROWS = [{"id": f"d{n}", "text": text(n, 30), "url": f"http://a.example/{n}", "score": n / 2, "n": n} for n in range(40)]


def lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


PACKED = {
    "a.jsonl": bytes,
    "a.ndjson": bytes,
    "a.jsonl.gz": gzip.compress,
    "a.jsonl.zst": zstandard.compress,
    "pzstd.jsonl.zst": lambda data: b"\x50\x2a\x4d\x18\x04\0\0\0size" + zstandard.compress(data),
    "two.jsonl.gz": lambda data: gzip.compress(data[:1000]) + gzip.compress(data[1000:]),
}


@pytest.mark.parametrize("name", PACKED)
def test_each_line_is_a_document_at_its_offset(tmp_path: Path, name: str) -> None:
    data = lines(ROWS)
    spans = read(put(tmp_path, name, PACKED[name](data)), id="id", url="url", columns=("score", "n"))
    documents = [span.document for span in spans if span.document]
    assert [d.text for d in documents] == [row["text"] for row in ROWS]
    assert [d.id for d in documents] == [row["id"] for row in ROWS] and documents[3].url == "http://a.example/3"
    assert all(data[s.offset : s.offset + s.length] == lines([row]) for s, row in zip(spans, ROWS, strict=True))
    assert documents[5].attributes == {"score": 2.5, "n": 5} and documents[0].html is None


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("slice_bytes", [1, 77, 1000, 100_000])
def test_any_slice_size_gives_the_same_spans(tmp_path: Path, name: str, slice_bytes: int) -> None:
    file = put(tmp_path, name, PACKED[name](lines(ROWS[:12])))
    made = reader(SourceConfig(path=file.name), file)
    assert real(sliced(made, file, slice_bytes)) == read(file)
    for span in read(file):
        assert next(iter(settled(made.read(file, Slice(span.offset, span.offset + 1))))) == span


def test_a_byte_order_mark_alone_is_an_empty_file(tmp_path: Path) -> None:
    spans = read(put(tmp_path, "a.jsonl", b"\xef\xbb\xbf"))
    assert [(span.type, span.offset, span.length, span.drop) for span in spans] == [("padding", 0, 3, None)]


def test_blank_lines_no_last_line_break_crlf_and_a_mark(tmp_path: Path) -> None:
    file = put(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"text": "a"}\r\n\n  \n{"text": "b\\u0000\\ud800c"}')
    spans = read(file)
    assert [span.type for span in spans] == ["line", "padding", "padding", "line"]
    assert [span.document.text for span in spans if span.document] == ["a", "bc"]
    assert spans[3].document is not None and spans[3].document.id == f"{file.name}#{spans[3].offset}"


def test_broken_lines_cost_themselves(tmp_path: Path) -> None:
    bad = [b'{"text": "cut', b"[1, 2]", b'"words"', b"{" * 100_000, b'{"text": 7}', b"{}", b'{"text": "\xff"}', b"\0\0"]
    data = b"\n".join(line for b in bad for line in (lines(ROWS[:1]).strip(), b)) + b"\n" + lines(ROWS[1:2])
    spans = read(put(tmp_path, "a.jsonl", data))
    assert sum(span.document is not None and span.drop is None for span in spans) == len(bad) + 1
    assert reasons(spans) == ["damaged"] * 4 + ["not_text"] * 2 + ["undecodable", "damaged"]
    assert spans[9].drop is not None and spans[9].drop.cause == "no text in column 'text'"


def test_a_line_above_the_cap_is_not_held(tmp_path: Path) -> None:
    data = lines([{"text": "a"}, {"text": "b" * 2_000_000}, {"text": "c"}])
    for name in ("a.jsonl", "a.jsonl.gz"):
        spans = read(put(tmp_path, name, PACKED[name](data)), max_record_bytes=1_000_000)
        assert reasons(spans) == ["too_large"] and [s.length for s in spans] == [14, 2_000_013, 14]


def test_a_cut_gzip_gives_its_whole_lines(tmp_path: Path) -> None:
    packed = gzip.compress(lines(ROWS))
    spans = read(put(tmp_path, "a.jsonl.gz", packed[: len(packed) // 2]))
    texts = [span.document.text for span in spans if span.document]
    assert texts == [row["text"] for row in ROWS[: len(texts)]] and len(texts) > 9
    assert reasons(spans) == ["damaged"] and spans[-1].type == "damaged"


def test_a_flipped_byte_costs_no_line_of_a_zstd_frame_before_its_block(tmp_path: Path) -> None:
    packed = zstandard.compress(lines([{"text": f"{n} {text(n, 30)}"} for n in range(4000)]))
    file = put(tmp_path, "a.jsonl.zst", packed)
    sound = read(file)
    for at in range(10, len(packed), 997):
        Path(file.name).write_bytes(packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1 :])
        before = zstandard.ZstdDecompressor().decompressobj().decompress(packed[:at]).count(b"\n")
        assert read(file)[:before] == sound[:before]


def types(folder: Path, heads: list[list[Any]], **options: Any) -> dict[str, pa.DataType]:
    files = [put(folder, f"part-{number}.jsonl", lines(rows)) for number, rows in enumerate(heads)]
    config = SourceConfig(path=str(folder / "*.jsonl"), **options)
    found = [dict(reader(config, file).columns) for file in files]
    assert all(one == found[0] for one in found)
    return found[0]


def test_types_are_inferred_from_the_heads_of_all_files(tmp_path: Path) -> None:
    heads = [
        [{"text": "a", "i": 1, "f": 1, "s": "x", "b": True, "mixed": 1, "deep": [1], "none": None}],
        [{"text": "b", "i": -5, "f": 0.5, "s": "y", "b": False, "mixed": "x", "deep": {"a": 1}, "late": 3}],
    ]
    found = types(tmp_path, heads, columns="all")
    kinds = {"i": "int64", "f": "double", "s": "string", "b": "bool", "mixed": "string", "deep": "string"}
    kinds |= {"none": "string", "late": "int64"}
    assert {name: str(kind) for name, kind in found.items()} == kinds
    assert list(types(tmp_path, heads, columns=("s", "absent"))) == ["s", "absent"]


def test_the_documents_own_columns_are_not_carried_twice(tmp_path: Path) -> None:
    assert types(tmp_path, [[{"body": "a", "key": "k", "more": 1}]], columns="all", text="body", id="key") == {
        "more": pa.int64()
    }


def test_declared_types_hold_and_a_value_that_does_not_fit_costs_itself(tmp_path: Path) -> None:
    rows = [{"text": "a", "x": 1, "y": "s"}, {"text": "b", "x": 1.5, "y": [1]}, {"text": "c", "x": "?"}, {"text": "d"}]
    file = put(tmp_path, "a.jsonl", lines(rows))
    spans = read(file, columns={"x": "double", "y": "string"})
    assert [dict(s.document.attributes) for s in spans if s.document] == [
        {"x": 1.0, "y": "s"},
        {"x": 1.5, "y": "[1]"},
        {"x": None, "y": None},
        {"x": None, "y": None},
    ]
    assert [span.notes for span in spans] == [(), (), ("unfit:x",), ()]
    spans = read(file, columns={"x": "int64"})
    assert [span.notes for span in spans] == [(), ("unfit:x",), ("unfit:x",), ()] and not reasons(spans)
    assert [s.document.attributes["y"] for s in read(file, columns={"y": "json"}) if s.document] == [
        '"s"',
        "[1]",
        None,
        None,
    ]


def test_whole_numbers_are_kept_exactly_or_not_at_all(tmp_path: Path) -> None:
    big, wide = 15284527576400310788, (1 << 53) + 1
    head = {"text": "a", "u": big, "n": wide, "s": -1, "h": 1 << 70}
    heads = [[head, {"text": "b", "u": 1, "n": 0.5, "s": big, "h": 1}]]
    found = types(tmp_path, heads, columns="all")
    assert [str(kind) for kind in found.values()] == ["uint64", "string", "string", "string"]
    file = put(tmp_path, "b.jsonl", lines(heads[0]))
    documents = [span.document.attributes for span in read(file, columns="all") if span.document]
    assert documents == [
        {"u": big, "n": str(wide), "s": "-1", "h": str(1 << 70)},
        {"u": 1, "n": "0.5", "s": str(big), "h": "1"},
    ]
    (span,) = read(put(tmp_path, "c.jsonl", b'{"text": "t", "x": %d}\n' % wide), columns={"x": "double"})
    assert span.document is not None and span.document.attributes == {"x": None} and span.notes == ("unfit:x",)
    digits = b"9" * 5_000
    (span,) = read(put(tmp_path, "d.jsonl", b'{"text": "t", "x": %s}\n' % digits), columns="all")
    assert span.document is not None and span.document.attributes == {"x": digits.decode()}


def test_a_column_that_changes_late_costs_no_text_and_is_an_alarm(tmp_path: Path) -> None:
    rows = [{"text": text(number), "score": 1} for number in range(120)]
    rows += [{"text": text(200 + number), "score": 0.5, "late": "x"} for number in range(30)]
    put(tmp_path, "a.jsonl", lines(rows))
    source = {"path": str(tmp_path / "a.jsonl"), "columns": "all"}
    report = run_it(settings({"web": source}, tmp_path / "out", stages=["exact_dedup"]))
    assert report.stats["kept"]["documents"] == 150
    assert report.stats["alarms"] == [
        {"alarm": "column_unfit", "name": "web.score", "dropped": 30, "of": 150},
        {"alarm": "column_unseen", "name": "web.late", "dropped": 30, "of": 150},
    ]
    assert table(tmp_path / "out", "shards").column("score").null_count == 30


def test_an_unknown_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'x' can't have the type 'complex'; known are string, int64, uint64, double"):
        read(put(tmp_path, "a.jsonl", b"{}"), columns={"x": "complex"})


def test_numbers_that_no_column_holds_cost_themselves(tmp_path: Path) -> None:
    data = b"".join(
        b'{"text": "t", "n": %s, "d": %s}\n' % pair
        for pair in [(b"3", b"1"), (b"Infinity", b"1"), (b"NaN", b"1"), (b"1", b"9" * 400), (b"4.0", b"Infinity")]
    )
    spans = read(put(tmp_path, "a.jsonl", data), columns={"n": "int64", "d": "double"})
    assert [span.notes for span in spans] == [(), ("unfit:n",), ("unfit:n",), ("unfit:d",), ()]
    assert spans[4].document is not None
    assert spans[4].document.attributes == {"n": 4, "d": float("inf")}


def test_half_characters_in_columns_are_replaced_and_the_page_is_kept(tmp_path: Path) -> None:
    data = b'{"text": "t", "s": "cut \\ud83d", "l": ["\\udc00"], "bad \\ud800": 1}\n'
    (span,) = read(put(tmp_path, "a.jsonl", data), columns="all")
    assert span.document is not None
    assert span.document.attributes == {"s": "cut \ufffd", "l": '["\ufffd"]'}

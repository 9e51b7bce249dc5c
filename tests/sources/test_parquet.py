"""Parquet: rows by index, parts by row groups, columns with their types, and files that are broken."""

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.errors import UserError
from curate.sources import SourceConfig, reader
from curate.sources.reader import InputFile, Slice, settled
from tests.sources.reading import check, put, read, real, reasons, sliced
from tests.sources.warc_bytes import text

DAY = datetime.datetime(2024, 5, 6, 7, 8, 9)


def table(folder: Path, rows: int = 50, group: int = 7, **columns: list[object]) -> InputFile:
    data = {
        "body": [text(n, 30) for n in range(rows)],
        "key": [f"k{n}" for n in range(rows)],
        "when": [DAY + datetime.timedelta(n) for n in range(rows)],
        "labels": [[n, n + 1] for n in range(rows)],
        "score": pa.array([n / 2 for n in range(rows)], pa.float32()),
        **columns,
    }
    path = folder / "a.parquet"
    pq.write_table(pa.table(data), path, row_group_size=group)
    return InputFile("wiki", str(path), path.stat().st_size, "")


def test_each_row_is_a_document(tmp_path: Path) -> None:
    file = table(tmp_path)
    spans = read(file, text="body", id="key", date="when", columns=("labels", "score"))
    documents = [span.document for span in spans if span.document]
    assert [d.text for d in documents] == [text(n, 30) for n in range(50)]
    assert [s.offset for s in spans] == list(range(50)) and documents[4].id == "k4"
    assert documents[1].date == "2024-05-07T07:08:09Z" and documents[3].attributes == {"labels": [3, 4], "score": 1.5}
    made = reader(SourceConfig(path=file.name, text="body", columns=("labels", "score")), file)
    assert dict(made.columns) == {"labels": pa.list_(pa.int64()), "score": pa.float32()}


def test_all_columns_but_the_documents_own(tmp_path: Path) -> None:
    file = table(tmp_path)
    made = reader(SourceConfig(path=file.name, text="body", id="key", columns="all"), file)
    assert list(made.columns) == ["when", "labels", "score"]


@pytest.mark.parametrize("slice_bytes", [1, 1000, 5000, 1 << 20])
def test_any_slice_size_gives_the_same_spans(tmp_path: Path, slice_bytes: int) -> None:
    file = table(tmp_path)
    made = reader(SourceConfig(path=file.name, text="body"), file)
    parts = made.slices(file, slice_bytes)
    assert (len(parts) > 1) == (slice_bytes < 1 << 20) and all(part.exact for part in parts)
    assert real(sliced(made, file, slice_bytes)) == read(file, text="body")
    assert [s.offset for s in settled(made.read(file, Slice(13, 14)))] == [13]


def test_a_row_without_text_is_entered(tmp_path: Path) -> None:
    file = table(tmp_path, 3, 3, body=["a", None, "c\0\ud800d".encode("utf-8", "ignore").decode()])
    spans = read(file, text="body")
    assert reasons(spans) == ["not_text"] and [s.document.text for s in spans if s.document] == ["a", "", "cd"]


def test_text_in_bytes(tmp_path: Path) -> None:
    spans = read(table(tmp_path, 2, 2, body=["grün".encode(), b"gr\xfcn"]), text="body")
    assert [s.document.text for s in spans if s.document] == ["grün", ""] and reasons(spans) == ["undecodable"]


def test_no_rows_is_one_padding(tmp_path: Path) -> None:
    assert [(s.offset, s.length, s.type) for s in read(table(tmp_path, 0), text="body")] == [(0, 0, "padding")]


def test_a_missing_column_is_refused_with_the_columns_there_are(tmp_path: Path) -> None:
    file = table(tmp_path)
    with pytest.raises(UserError, match=r"has no column 'text', it has body, key, when"):
        _ = reader(SourceConfig(path=file.name), file).columns
    with pytest.raises(UserError, match=r"has no column 'mood'"):
        _ = reader(SourceConfig(path=file.name, text="body", columns=("mood",)), file).columns
    declared = reader(SourceConfig(path=file.name, text="body", columns={"score": "double"}), file).columns
    assert declared == {"score": pa.float64()}


def test_a_file_that_is_no_parquet_is_one_damaged_span(tmp_path: Path) -> None:
    file = put(tmp_path, "a.parquet", b"PAR1 but nothing that follows")
    assert [(s.offset, s.length, s.type) for s in read(file)] == [(0, file.size, "damaged")]
    whole = table(tmp_path)
    cut = put(tmp_path, "cut.parquet", Path(whole.name).read_bytes()[:-50])
    assert reasons(read(cut, text="body")) == ["damaged"]


def test_a_broken_row_group_costs_its_rows(tmp_path: Path) -> None:
    file = table(tmp_path)
    data = bytearray(Path(file.name).read_bytes())
    column = pq.read_metadata(file.name).row_group(3).column(0)
    at = column.dictionary_page_offset or column.data_page_offset
    data[at : at + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    broken = put(tmp_path, "broken.parquet", bytes(data))
    made = reader(SourceConfig(path=broken.name, text="body"), broken)
    spans = list(settled(made.read(broken, Slice())))
    check(made, broken, spans)
    assert reasons(spans) == ["damaged"] and [(s.offset, s.length) for s in spans if s.drop] == [(21, 7)]
    assert sum(s.document is not None for s in spans) == 43
    assert real(sliced(made, broken, 1)) == spans

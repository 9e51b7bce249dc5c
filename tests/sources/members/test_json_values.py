"""JSON that is no JSON Lines: one array, values over several lines; and files compressed as one stream."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest

from curate.errors import UserError
from curate.sources import SourceConfig, reader
from curate.sources.reader import Slice, settled
from tests.sources.reading import put, read, real, reasons, sliced

ROWS = [{"text": f'words "{number}" \\ ]}},[{{ é', "n": {"a": [number]}} for number in range(40)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
FORMS = {
    "one-line": json.dumps(ROWS).encode(),
    "printed": json.dumps(ROWS, indent=2).encode(),
    "bom": b"\xef\xbb\xbf" + json.dumps(ROWS, ensure_ascii=False, indent=1).encode(),
    "a-line-each": b"[\n" + b",\n".join(json.dumps(row).encode() for row in ROWS) + b"\n]\n",
    "printed-objects": "\n".join(json.dumps(row, indent=4) for row in ROWS).encode(),
    "lines": LINES,
}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress], ids=["plain", "gz", "xz", "bz2"])
@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_same_documents(form: str, pack: type[bytes], tmp_path: Path) -> None:
    ending = {gzip.compress: ".gz", lzma.compress: ".xz", bz2.compress: ".bz2"}.get(pack, "")  # type: ignore[call-overload]
    file = put(tmp_path, f"a.json{ending}", pack(FORMS[form]))
    spans = read(file, columns="all")
    documents = [span.document for span in spans if span.document]
    assert [document.text for document in documents] == [row["text"] for row in ROWS]
    assert documents[3].attributes == {"n": '{"a": [3]}'}
    made = reader(SourceConfig(path=file.name, columns="all"), file)
    assert real(sliced(made, file, 500)) == spans
    for span in spans[5:9]:
        assert next(iter(settled(made.read(file, Slice(span.offset, span.offset + 1))))) == span


def test_a_cut_array_gives_all_before_the_cut(tmp_path: Path) -> None:
    spans = read(put(tmp_path, "a.json", FORMS["printed"][:-30]))
    assert reasons(spans) == ["damaged"] and len([s for s in spans if s.document]) == 39
    for pack, ending in ((lzma.compress, "xz"), (bz2.compress, "bz2")):
        packed = pack(LINES * 4000)
        spans = read(put(tmp_path, f"a.jsonl.{ending}", packed[: len(packed) // 2]))
        assert reasons(spans) == ["damaged"] and spans[-1].drop is not None


def test_an_object_larger_than_a_record_may_be_is_one(tmp_path: Path) -> None:
    rows = [{"text": "a" * 100}, {"text": "b" * 10_000}, {"text": "c" * 100}]
    spans = read(put(tmp_path, "a.json", json.dumps(rows, indent=1).encode()), max_record_bytes=1_000)
    assert reasons(spans) == ["too_large"] and len([span for span in spans if span.drop is None]) == 3


def test_a_text_under_another_name_is_told_before_the_run(tmp_path: Path) -> None:
    file = put(tmp_path, "a.jsonl", b'{"content": "words"}\n')
    with pytest.raises(UserError, match="'text'; they have content; name one with `text`"):
        reader(SourceConfig(path=file.name), file).columns  # noqa: B018
    wrapped = put(tmp_path, "b.json", json.dumps({"rows": ROWS}).encode())
    with pytest.raises(UserError, match=r"jq -c '\.rows\[\]'"):
        reader(SourceConfig(path=wrapped.name), wrapped).columns  # noqa: B018

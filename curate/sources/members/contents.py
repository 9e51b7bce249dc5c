"""What a file is by its first bytes, for those kinds that are known by them: to be held against its name."""

import re
from typing import NamedTuple


class Content(NamedTuple):
    """What a file is; `format` is the reader's word for it, or None where we read no such file."""

    words: str
    format: str | None
    way_out: str


CONVERT = "convert it to Parquet, for example with `duckdb`"
MAGIC = (
    (b"PAR1", Content("a Parquet file", "parquet", "")),
    (b"WARC/", Content("a WARC file", "warc", "")),
    (b"filedesc:", Content("an ARC file", "warc", "")),
    (b"PK\x03\x04", Content("a ZIP archive", None, "unpack it with `unzip` (a WACZ must be called .wacz)")),
    (b"7z\xbc\xaf\x27\x1c", Content("a 7z archive", None, "unpack it with `7z x`")),
    (b"Rar!\x1a\x07", Content("a RAR archive", None, "unpack it")),
    (b"\x1f\x8b\x08", Content("compressed twice", None, "unpack it once with `gunzip`")),
    (b"ARROW1\0\0", Content("an Arrow file", None, CONVERT)),
    (b"Obj\x01", Content("an Avro file", None, CONVERT)),
    (b"ORC", Content("an ORC file", None, CONVERT)),
    (b"SQLite format 3\0", Content("an SQLite database", None, CONVERT)),
    (b"%PDF-", Content("a PDF", None, "give its text as JSON Lines")),
    (b"\xff\xfe", Content("text in UTF-16", None, "convert it with `iconv -f UTF-16 -t UTF-8`")),
    (b"\xfe\xff", Content("text in UTF-16", None, "convert it with `iconv -f UTF-16 -t UTF-8`")),
)
TAR = Content("a TAR archive", None, "unpack it with `tar -xf`")
PAGE = Content("a web page", None, "put pages into a WARC with `curate pack FOLDER -o pages.warc.gz`")
LINES = Content("text whose lines are no JSON objects", None, "give each document as an object on a line of its own")
JSON = Content("JSON", "jsonl", "")
IS_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<(?:!doctype\s+html|html|head)\b", re.IGNORECASE)
IS_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:\[\s*+)?\{\s*+[\"}]")
ARRAY = Content("JSON without objects", None, 'give each document as an object {"text": "..."} on its own line')
IS_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*+\[\s*+[\"\d\[]")
OBJECT = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*[{\[]", re.MULTILINE)


def content_of(head: bytes) -> Content | None:
    """What a file (unpacked) that begins so is; None where its first bytes prove nothing."""
    for magic, content in MAGIC:
        if head.startswith(magic):
            return content
    if head[257:262] == b"ustar":
        return TAR
    if IS_PAGE.match(head):
        return PAGE
    if IS_JSON.match(head):
        return JSON
    if IS_ARRAY.match(head):
        return ARRAY
    return LINES if b"\n" in head.strip() and not OBJECT.search(head) else None

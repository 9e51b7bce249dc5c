"""What a file is, by its first bytes: those that prove it, and those that prove nothing."""

import pytest

from curate.sources.members.contents import content_of


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"PAR1\x15\x04", "a Parquet file"),
        (b"WARC/1.1\r\n", "a WARC file"),
        (b"filedesc://a.arc 0.0.0.0 ", "an ARC file"),
        (b"PK\x03\x04\x14", "a ZIP archive"),
        (b"\0" * 257 + b"ustar\0", "a TAR archive"),
        (b"\xef\xbb\xbf <!DOCTYPE html><p>", "a web page"),
        (b'\xef\xbb\xbf{"text": "a"}\n', "JSON"),
        (b'[\n {"text": "a"}', "JSON"),
        (b"{}\n", "JSON"),
        (b'["one", "two"]', "JSON without objects"),
        (b"[[1], [2]]", "JSON without objects"),
        (b"id,text\n1,words\n", "text whose lines are no JSON objects"),
        (b'"one"\n"two"\n', "text whose lines are no JSON objects"),
        (b"\x1f\x8b\x08\0", "compressed twice"),
    ],
)
def test_first_bytes_that_prove_what_a_file_is(head: bytes, words: str) -> None:
    content = content_of(head)
    assert content is not None and content.words == words and (content.format or content.way_out)


NOTHING = (b"", b"\n", b"{", b"words", b"words\n", b'damage\n{"text": "a"}\n', b"x" * 4096, b"[]")


@pytest.mark.parametrize("head", NOTHING)
def test_first_bytes_that_prove_nothing(head: bytes) -> None:
    assert content_of(head) is None

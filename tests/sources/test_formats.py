"""The table of formats: ours, and those that other packages bring."""

import gzip
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from curate.config.file import parse_config
from curate.errors import UserError
from curate.output.schema import attributes
from curate.scan.crawl import input_files
from curate.sources import SourceConfig, formats, reader
from curate.sources.jsonl import JsonlReader
from curate.sources.reader import InputFile
from tests.sources.warc_bytes import member, record


class Foreign(JsonlReader):
    """A format of another package."""

    suffixes = (".tales", ".warc")


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("tales", "tests.sources.test_formats:Foreign", formats.GROUP)
    table = {**formats.installed(), "tales": point}
    monkeypatch.setattr(formats, "installed", lambda: table)
    formats.suffixes.cache_clear()
    formats.reader_class.cache_clear()


@pytest.mark.usefixtures("foreign")
def test_a_package_adds_a_format_and_takes_none_of_ours() -> None:
    for name, cls in (("a.tales.gz", "Foreign"), ("a.warc.gz", "WarcReader"), ("a.wet", "WetReader")):
        assert type(reader(SourceConfig(), InputFile("a", name, 0, ""))).__name__ == cls
    assert type(reader(SourceConfig(format="tales"), InputFile("a", "b.txt", 0, ""))).__name__ == "Foreign"
    formats.suffixes.cache_clear()


def test_an_unknown_format_is_named_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"input.a: unknown format 'parket', did you mean 'parquet'\?"):
        reader(SourceConfig(format="parket"), InputFile("a", "b.txt", 0, ""))


@pytest.mark.parametrize(
    ("name", "message"),
    [("a.html", "curate pack"), ("a.csv", "JSON Lines"), ("a.zip", "unzip")],
)
def test_a_name_that_tells_what_can_be_done_with_the_file(name: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        reader(SourceConfig(), InputFile("a", name, 0, ""))


@pytest.mark.parametrize(("name", "format"), [("a.warc.wet.gz", "auto"), ("a.warc.gz", "wet")])
def test_wet_is_text_and_needs_no_extractor(name: str, format: str, tmp_path: Path) -> None:
    page = record("conversion", b"words", "http://a.example/1", content_type="text/plain")
    (tmp_path / name).write_bytes(member(page))
    source = {"path": str(tmp_path / name), "format": format}
    config = parse_config({"input": {"a": source}, "output": str(tmp_path / "out"), "stages": ["exact_dedup"]})
    attributes(config, input_files(config))
    web = parse_config({"input": {"a": {**source, "format": "warc"}}, "output": "out", "stages": ["exact_dedup"]})
    with pytest.raises(UserError, match="into text"):
        attributes(web, input_files(web))


PARQUET, GZIPPED = b"PAR1" + bytes(40), gzip.compress(b'{"text": "a"}\n', mtime=0)
TWICE = gzip.compress(GZIPPED, mtime=0)


@pytest.mark.parametrize(
    ("name", "data", "format", "message"),
    [
        ("a.jsonl", PARQUET, "auto", "is a Parquet file, not jsonl as said; set `format: parquet`, or give"),
        ("a.warc.gz", GZIPPED, "auto", "is JSON, not warc as said; set `format: jsonl`"),
        ("a.txt", b"<html><p>words", "jsonl", "is a web page, not jsonl as said; put pages into a WARC"),
        ("a.jsonl.gz", TWICE, "auto", "is compressed twice, not jsonl as said; unpack it once"),
        ("a.parquet", b"id,text\n1,a\n", "auto", None),  # met as damage when it is read
        ("a.parquet", GZIPPED, "jsonl", None),
        ("a.warc", b"no record\nat all\n", "auto", None),
        ("a.jsonl", b"", "auto", None),
    ],
)
def test_what_a_file_says_against_its_name(
    name: str, data: bytes, format: str, message: str | None, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    source = {"path": str(tmp_path / name), "format": format}
    config = parse_config({"input": {"a": source}, "output": str(tmp_path / "out"), "stages": ["exact_dedup"]})
    if message is None:
        assert len(input_files(config)) == 1
    else:
        with pytest.raises(UserError, match=message):
            input_files(config)

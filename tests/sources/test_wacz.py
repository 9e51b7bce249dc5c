"""WACZ archives: their WARC files are the input, by byte order, addressed as ever; what can't be read is told first."""

import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curate.config.file import parse_config
from curate.errors import UserError
from curate.scan.crawl import input_files
from curate.sources import SourceConfig, find_files, is_there, reader
from curate.sources.reader import Slice, settled
from tests.engine import run_it, settings
from tests.sources.reading import check, kept, numbers, real, sliced
from tests.sources.warc_bytes import member, response, site, wacz

FIRST, SECOND = b"".join(map(member, site(9))), b"".join(response(number) for number in range(9, 12))
FILES = {
    "archive/b.warc": SECOND,
    "archive/a.warc.gz": FIRST,
    "indexes/index.cdx.gz": b"-",
    "pages/pages.jsonl": b"{}",
    "datapackage.json": b"{}",
    "extra.warc": b"-",
}


def put(folder: Path, data: bytes, name: str = "a.wacz") -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_warc_files_of_a_wacz_are_the_input(tmp_path: Path, method: int) -> None:
    config = SourceConfig(path=put(tmp_path, wacz(FILES, method)))
    files = find_files("web", config)
    assert [file.name.rpartition("!/")[2] for file in files] == ["archive/a.warc.gz", "archive/b.warc"]
    pages = []
    for file in files:
        made = reader(config, file)
        spans = list(settled(made.read(file, Slice())))
        check(made, file, spans)
        assert real(sliced(made, file, 700)) == real(spans)
        pages += kept(spans)
        assert is_there(file)
    assert pages == numbers(range(12))


def test_a_run_over_a_folder_with_a_wacz_and_one_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    put(tmp_path / "in", wacz(FILES), "in.wacz")
    stages = [{"extract": {"mode": "fast"}}]
    run_it(settings(str(tmp_path / "in"), tmp_path / "out", stages=stages))
    kept_rows = pq.read_table(tmp_path / "out" / "shards", partitioning=None).to_pylist()
    assert [row["url"].rpartition("/")[2] for row in kept_rows] == numbers(range(12))
    assert {row["file_path"].rpartition("!/")[2] for row in kept_rows} == {"archive/a.warc.gz", "archive/b.warc"}
    one = f"{tmp_path}/in/in.wacz!/archive/b.warc"
    assert [file.name for file in find_files("web", SourceConfig(path=one))] == [one]
    given = {"input": {"a": str(tmp_path / "in"), "b": one}, "output": str(tmp_path / "o"), "stages": ["extract"]}
    with pytest.raises(UserError, match="is read twice"):
        input_files(parse_config(given))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (wacz(FILES)[:-30], r"can't be read as a WACZ: its directory is missing or damaged \(.*\); get it again"),
        (b"", "its directory is missing or damaged"),
        (wacz({"pages/pages.jsonl": b"{}", "in.wacz": b""}), "holds no WARC file; a WACZ has them under 'archive/'"),
        (wacz(FILES, zipfile.ZIP_BZIP2), "packed by method 12"),
    ],
)
def test_what_can_not_be_read_is_told_before_the_run(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        find_files("web", SourceConfig(path=put(tmp_path, data)))


def test_names_that_are_not_there_or_stand_twice(tmp_path: Path) -> None:
    path = put(tmp_path, wacz(FILES))
    with pytest.raises(UserError, match=r"holds no WARC file 'archive/c.warc'; it has .*archive/a.warc.gz"):
        find_files("web", SourceConfig(path=f"{path}!/archive/c.warc"))
    data = wacz({"archive/a.warc": b"", "archive/b.warc": b""}).replace(b"archive/b.warc", b"archive/a.warc")
    with pytest.raises(UserError, match=r"'archive/a\.warc' twice"):
        find_files("web", SourceConfig(path=put(tmp_path, data, "b.wacz")))


def test_a_wacz_that_is_changed_or_gone_while_it_is_read(tmp_path: Path) -> None:
    config = SourceConfig(path=put(tmp_path, wacz(FILES)))
    file = find_files("web", config)[0]
    put(tmp_path, wacz({**FILES, "more": b""}))
    with pytest.raises(UserError, match="was changed while the run read it"):
        is_there(file)
    put(tmp_path, wacz(FILES)[:-30])
    (span,) = settled(reader(config, file).read(file, Slice()))
    assert span.drop and span.drop.reason == "damaged" and "directory is missing" in span.drop.cause
    (tmp_path / "a.wacz").unlink()
    assert not is_there(file)

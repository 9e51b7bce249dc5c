"""From a config to files: order, globs, path lists, and a sentence for every mistake."""

import errno
import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from curate.config.file import parse_config
from curate.errors import UserError
from curate.sources import SourceConfig, find_files, reader
from curate.sources.jsonl import JsonlReader
from curate.sources.parquet import ParquetReader
from curate.sources.reader import InputFile
from curate.sources.warc import WarcReader
from curate.sources.wet import WetReader


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe.warc")
    for name in ("b.warc.gz", "a.warc.gz", "B.warc.gz", "ä.warc.gz", "deep/c.warc.gz", "odd[1].warc"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    return tmp_path


def names(**options: object) -> list[str]:
    return [file.name for file in find_files("web", SourceConfig(**options))]  # type: ignore[arg-type]


def test_globs_by_byte_order_lists_as_written(crawl: Path) -> None:
    assert names(path="*.warc.gz") == ["B.warc.gz", "a.warc.gz", "b.warc.gz", "ä.warc.gz"]
    assert names(path="**/*.gz") == ["B.warc.gz", "a.warc.gz", "b.warc.gz", "deep/c.warc.gz", "ä.warc.gz"]
    assert names(path=("b.warc.gz", "deep/*", "a.warc.gz")) == ["b.warc.gz", "deep/c.warc.gz", "a.warc.gz"]
    assert names(path="odd[1].warc") == ["odd[1].warc"]
    assert names(path=f"{crawl}/a.*") == [f"{crawl}/a.warc.gz"]
    assert names(path=f"file://{crawl}/a.*") == [f"file://{crawl}/a.warc.gz"]


def test_size_and_version(crawl: Path) -> None:
    os.utime(crawl / "a.warc.gz", ns=(5, 7))
    assert find_files("web", SourceConfig(path="a.warc.gz")) == [InputFile("web", "a.warc.gz", 9, "7")]


@pytest.mark.parametrize("packed", [False, True])
def test_path_lists_as_written_with_a_prefix(crawl: Path, packed: bool) -> None:
    data = b"# mine\nc.warc.gz\r\n\n"
    Path("list").write_bytes(gzip.compress(data) if packed else data)
    assert names(paths="list", prefix="deep/") == ["deep/c.warc.gz"]
    assert names(path="b.warc.gz", paths="list", prefix="deep/") == ["b.warc.gz", "deep/c.warc.gz"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"path": "no*.warc"}, r"input.web: no file matches 'no\*.warc'; check the pattern"),
        ({"path": "gone.warc"}, r"'gone.warc' can't be opened \(no such file\); check the path"),
        ({"path": ("a.warc.gz", "./a.warc.gz")}, r"'./a.warc.gz' is read twice; name it once"),
        ({"path": ("*.gz", "a.warc.gz")}, r"'a.warc.gz' is read twice"),
        ({"path": ("a.warc.gz", "file://a.warc.gz")}, r"'file://a.warc.gz' is read twice"),
        ({"path": "pipe.warc"}, r"'pipe.warc' is a pipe or a device"),
        ({"path": "/dev/zero", "format": "warc"}, r"'/dev/zero' is a pipe or a device"),
        ({}, r"no input is given; set `path`"),
        ({"paths": "gone"}, r"the path list 'gone' can't be read \(no such file"),
        ({"path": "x.txt"}, r"'x.txt' has none of the known endings \(.arc, .cdx, .cdxj, .json"),
        ({"path": "x.tar.gz"}, r"'x.tar.gz' is a TAR archive; unpack it"),
    ],
)
def test_a_sentence_for_every_mistake(crawl: Path, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        names(**options)


def test_a_list_that_is_empty_or_broken(crawl: Path) -> None:
    Path("list").write_bytes(b"\n# nothing\n")
    with pytest.raises(UserError, match="the path list 'list' names no file"):
        names(paths="list")
    Path("list").write_bytes(gzip.compress(b"a.warc.gz\n")[:-5])
    with pytest.raises(UserError, match="the path list 'list' can't be read"):
        names(paths="list")


def test_a_file_that_may_not_be_read(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("b.warc.gz"))
    with pytest.raises(UserError, match=r"'b\.warc\.gz' may not be read by this user; change its permissions"):
        names(path="*.warc.gz")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.warc", WarcReader),
        ("a.WARC.GZ", WarcReader),
        ("a.warc.zst", WarcReader),
        ("a.warc.wet.gz", WetReader),
        ("a.wet", WetReader),
        ("a.jsonl", JsonlReader),
        ("a.ndjson.gz", JsonlReader),
        ("a.json.zst", JsonlReader),
        ("a.parquet", ParquetReader),
        ("https://h.example/a.warc.gz?sig=1.parquet", WarcReader),
    ],
)
def test_the_suffix_says_the_kind(name: str, kind: type) -> None:
    assert type(reader(SourceConfig(), InputFile("web", name, 0, ""))) is kind


def test_the_format_overrules_the_suffix() -> None:
    file = InputFile("web", "a.warc.gz", 0, "")
    assert type(reader(SourceConfig(format="jsonl"), file)) is JsonlReader
    assert type(reader(SourceConfig(format="wet"), file)) is WetReader


def test_a_folder_that_may_not_be_read_holds_no_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(path: Path, **_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", closed)  # root may read anywhere
    with pytest.raises(UserError, match=r"no file matches '.*'; check the pattern, and that you may read the folder"):
        find_files("web", SourceConfig(path=f"{tmp_path}/*.jsonl"))


def test_a_folder_stands_for_the_files_of_known_formats_in_it(tmp_path: Path) -> None:
    for name in ("b.warc.gz", "a.jsonl", "deep/c.parquet", "notes.txt", ".hidden.jsonl", ".git/d.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    names = [file.name.removeprefix(f"{tmp_path}/") for file in find_files("web", SourceConfig(path=str(tmp_path)))]
    assert names == ["a.jsonl", "b.warc.gz", "deep/c.parquet"]
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "index.html").write_bytes(b"")
    with pytest.raises(UserError, match="curate pack"):
        find_files("web", SourceConfig(path=str(tmp_path / "pages")))


def test_home_and_variables_are_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    (tmp_path / "list").write_bytes(b"\xef\xbb\xbfa.jsonl\r\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CRAWL", str(tmp_path))
    for given in (
        SourceConfig(path="~/a.jsonl"),
        SourceConfig(path="${CRAWL}/*.jsonl"),
        SourceConfig(paths="$CRAWL/list", prefix="~/"),
    ):
        assert [file.name for file in find_files("web", given)] == [str(tmp_path / "a.jsonl")]
    with pytest.raises(UserError, match=r"the variable \$NOWHERE is not set"):
        find_files("web", SourceConfig(path="$NOWHERE/a.jsonl"))
    config = parse_config({"input": "a", "output": "~/out", "stages": ["exact_dedup"]})
    assert config.output == str(tmp_path / "out")

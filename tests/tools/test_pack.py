"""`curate pack`: what goes in comes out of a run, the same bytes each time, and mistakes are a sentence."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from curate.errors import UserError
from curate.tools.pack import PackedPages, pack, read_urls
from tests.commands.calling import Calling
from tests.engine import run_it, settings


def page(words: str) -> str:
    return f"<!doctype html><title>t</title><body><article><p>{words}, and the river rises in spring.</p></article>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "pages"
    for name, words in (("b/ö two.html", "Größe"), ("a.HTM", "First"), ("b/deep/c.xhtml", "Third")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(page(words), encoding="utf-8")
    (root / "notes.txt").write_text("no page")
    return root


def test_pages_come_out_of_a_run(folder: Path, tmp_path: Path) -> None:
    packed = pack(folder, tmp_path / "pages.warc.gz", {"a.HTM": "https://a.example/first"})
    assert packed == PackedPages(pages=3, unnamed=2, left_out=1)
    run_it(settings(str(tmp_path / "pages.warc.gz"), tmp_path / "out", stages=["extract"]))
    table = pq.read_table(tmp_path / "out" / "shards")
    assert table["url"].to_pylist() == [
        "https://a.example/first",
        "file:///b/deep/c.xhtml",
        "file:///b/%C3%B6%20two.html",
    ]
    assert [text.split(",")[0] for text in table["text"].to_pylist()] == ["First", "Third", "Größe"]


def test_warcio_finds_whole_records(folder: Path, tmp_path: Path) -> None:
    pack(folder, tmp_path / "pages.warc", {"a.HTM": "https://a.example/first"})
    with (tmp_path / "pages.warc").open("rb") as file:
        found = [
            (record.rec_type, record.rec_headers.get_header("WARC-Record-ID"), record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert [kind for kind, *_ in found] == ["response", "resource", "resource"] and len(
        {name for _, name, _ in found}
    ) == 3
    assert [content for *_, content in found] == [
        (folder / name).read_bytes() for name in ("a.HTM", "b/deep/c.xhtml", "b/ö two.html")
    ]


def test_the_same_pages_make_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    pack(folder, tmp_path / "one.warc.gz")
    pack(folder, tmp_path / "two.warc.gz")
    assert (tmp_path / "one.warc.gz").read_bytes() == (tmp_path / "two.warc.gz").read_bytes()
    (folder / "a.HTM").write_text(page("Changed"))
    pack(folder, tmp_path / "two.warc.gz")
    assert (tmp_path / "one.warc.gz").read_bytes() != (tmp_path / "two.warc.gz").read_bytes()


def test_mistakes_are_a_sentence_and_leave_no_file(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    target = tmp_path / "x.warc.gz"
    for place, urls, message in (
        (empty, None, "holds no page"),
        (tmp_path / "gone", None, "is no folder"),
        (folder, {"b/none.html": "https://a.example/"}, "'b/none.html'"),
    ):
        with pytest.raises(UserError, match=message):
            pack(place, target, urls)
    assert not target.exists() and not list(tmp_path.glob(".*.tmp"))


def test_an_unreadable_page_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a read that is refused, as root may read every file."""

    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(UserError, match=r"a\.HTM: can't be read"):
        pack(folder, tmp_path / "x.warc.gz")


def test_the_list_of_urls(tmp_path: Path) -> None:
    path = tmp_path / "urls.tsv"
    path.write_text("\ufeff./a.html\thttps://a.example/a b\n\nb.html \t https://b.example/\n", encoding="utf-8")
    assert read_urls(path) == {"a.html": "https://a.example/a b", "b.html": "https://b.example/"}
    path.write_text("a.html\thttps://a.example/\na.html https://a.example/\n")
    with pytest.raises(UserError, match=r"urls\.tsv:2: must be a file, a tab and its URL"):
        read_urls(path)


def test_the_command_tells_what_it_did(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "urls.tsv").write_text("a.HTM\thttps://a.example/first\n")
    done = Calling(capsys)("pack", str(folder), "-o", str(tmp_path / "p.warc.gz"), "--urls", str(tmp_path / "urls.tsv"))
    assert (done.status, done.out) == (0, f"{tmp_path / 'p.warc.gz'}: 3 pages\n")
    assert "2 pages not in" in done.err and "left out, as no HTML: 1 file" in done.err

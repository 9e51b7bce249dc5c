"""Records that hurt, written to a WARC of their own that reads like the one they came from."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curate.document import Document
from curate.errors import UserError
from curate.executors.processes import Processes
from curate.inspect.opened import OpenedRun
from curate.sources import SourceConfig, reader
from curate.sources.reader import InputFile, Slice
from curate.tools.quarantine import quarantine
from tests.engine import run_it, settings, text, write_jsonl
from tests.report.finished import call
from tests.sources.warc_bytes import dictionary_frame, frame, member, site

WORDS = b"an agreed dictionary of words that pages share, as crawlers train it: <html><head><title></title></head>" * 9


def several(records: list[bytes]) -> bytes:
    """Members of three records each."""
    return b"".join(member(b"".join(records[at : at + 3])) for at in range(0, len(records), 3))


LAYOUTS: dict[str, tuple[str, Callable[[list[bytes]], bytes]]] = {
    "a member a record": ("a.warc.gz", lambda records: b"".join(map(member, records))),
    "one member for all": ("a.warc.gz", lambda records: member(b"".join(records))),
    "three records a member": ("a.warc.gz", several),
    "uncompressed": ("a.warc", b"".join),
    "line ends converted": ("a.warc", lambda records: b"".join(records).replace(b"\n", b"\r\n")),
    "a zstd frame a record": ("a.warc.zst", lambda records: b"".join(map(frame, records))),
    "zstd with a dictionary": (
        "a.warc.zst",
        lambda records: dictionary_frame(WORDS) + b"".join(frame(r, dictionary=WORDS) for r in records),
    ),
}


def documents(path: Path) -> list[Document]:
    file = InputFile("crawl", str(path), path.stat().st_size, "")
    spans = reader(SourceConfig(path=str(path)), file).read(file, Slice())
    return [span.document for span in spans if span.document is not None]


def crashed(path: Path, output: Path, **hurt: int) -> OpenedRun:
    """A run over a WARC in which some pages kill their worker."""
    executor = Processes(1)
    given: dict[str, Any] = settings(str(path), output, stages=[{"tests.hostile:Hostile": hurt}])
    run_it({**given, "input": str(path)}, executor)
    executor.close()
    return OpenedRun.of(str(output))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_record_that_killed_its_worker_comes_out_as_it_went_in(layout: str, tmp_path: Path) -> None:
    name, made = LAYOUTS[layout]
    path = tmp_path / name
    path.write_bytes(made(site(8)))
    run = crashed(path, tmp_path / "out", crash=4)
    assert quarantine(run, tmp_path / "bad.warc.gz") == 1
    (found,) = documents(tmp_path / "bad.warc.gz")
    origin = next(doc for doc in documents(path) if doc.url.endswith("/4"))
    assert (found.id, found.url, found.date, found.html) == (origin.id, origin.url, origin.date, origin.html)


def test_the_command_says_how_many_and_takes_reasons(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    records = [member(record) for record in site(6)]
    records[3] = records[3][:60] + b"\xff" + records[3][61:]  # damaged
    path.write_bytes(b"".join(records))
    out = str(crashed(path, tmp_path / "out", crash=5).folder)
    assert call("quarantine", out, "-o", tmp_path / "bad.warc.gz").output.strip().endswith("bad.warc.gz: 1 record")
    done = call("quarantine", out, "-o", tmp_path / "hurt.warc.gz", "--reason", "damaged")
    assert done.output.strip().endswith("hurt.warc.gz: 1 record")
    assert (tmp_path / "hurt.warc.gz").read_bytes() == records[3]
    none = call("quarantine", out, "-o", tmp_path / "none.warc.gz", "--reason", "undecodable")
    assert none.output.strip().endswith("none.warc.gz: 0 records")
    assert gzip.decompress((tmp_path / "none.warc.gz").read_bytes()) == b"" < (tmp_path / "none.warc.gz").read_bytes()
    assert gzip.decompress((tmp_path / "bad.warc.gz").read_bytes()).startswith(b"WARC/1.0")


def test_an_input_that_changed_or_went_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(site(3)))
    run = crashed(path, tmp_path / "out", crash=1)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(UserError, match="when the run read it"):
        quarantine(run, tmp_path / "bad.warc.gz")
    path.unlink()
    with pytest.raises(UserError, match="must still be where it was"):
        quarantine(run, tmp_path / "bad.warc.gz")
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_an_input_that_is_no_warc_is_refused(tmp_path: Path) -> None:
    run_it(settings(str(write_jsonl(tmp_path / "a.jsonl", [text(1), "short"])), tmp_path / "out"))
    with pytest.raises(UserError, match=r"a.jsonl: is no WARC file"):
        quarantine(OpenedRun.of(str(tmp_path / "out")), tmp_path / "bad.warc.gz", ("too_few_words",))

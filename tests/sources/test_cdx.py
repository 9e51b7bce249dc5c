"""A crawl's index as input: only the records that it names are read, by range."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.errors import UserError
from curate.sources import SourceConfig, find_files, reader
from curate.sources.reader import Slice, settled
from tests.engine import run_it, settings
from tests.sources.reading import kept, reasons
from tests.sources.warc_bytes import http, member, page, record

URLS = [f"http://{'a' if n % 2 else 'www.b'}.example/{n}" for n in range(20)]
PAGES = [member(record("response", http(page(n)), url)) for n, url in enumerate(URLS)]
CRAWL = b"".join(PAGES)
OFFSETS = [sum(map(len, PAGES[:n])) for n in range(20)]


class Ranges(BaseHTTPRequestHandler):
    """Serves CRAWL by ranges and counts the bytes that it sent."""

    sent: ClassVar[list[int]] = []

    def log_message(self, *_: Any) -> None:
        """Keeps silent."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CRAWL)))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()

    def do_GET(self) -> None:
        start, end = (int(part) for part in self.headers["Range"].removeprefix("bytes=").split("-"))
        data = CRAWL[start : end + 1]
        self.sent.append(len(data))
        self.send_response(206)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}/"
    made.shutdown()
    made.server_close()


def rows() -> list[dict[str, Any]]:
    return [
        {
            "url": URLS[n],
            "languages": "eng,fra" if n % 4 == 0 else "deu",
            "status": "200",
            "filename": "crawl/a.warc.gz",
            "offset": str(OFFSETS[n]),
            "length": str(len(PAGES[n])),
        }
        for n in range(20)
    ]


def cdxj(folder: Path) -> str:
    path = folder / "index.cdxj"
    lines = [f"example,a)/ 20240506070809 {json.dumps(row)}\n" for row in rows()]
    path.write_text("!OpenWayback-CDXJ 1.0\n" + "".join(lines))
    return str(path)


def parquet(folder: Path) -> str:
    names = {
        "filename": "warc_filename",
        "offset": "warc_record_offset",
        "length": "warc_record_length",
        "languages": "content_languages",
    }
    whole = ("offset", "length")
    table = [
        {names.get(name, name): int(value) if name in whole else value for name, value in row.items()}
        | {"url_host_registered_domain": "b.example" if "www.b" in row["url"] else "a.example"}
        for row in rows()
    ]
    pq.write_table(pa.Table.from_pylist(table), folder / "part.parquet")
    return str(folder / "part.parquet")


@pytest.mark.parametrize("index", [cdxj, parquet])
def test_only_the_records_asked_for_are_read_by_range(index: Any, server: str, tmp_path: Path) -> None:
    where = {"url_host_registered_domain": ["b.example"], "languages": "eng"}
    config = SourceConfig(cdx=index(tmp_path), prefix=server, where=where)
    (file,) = find_files("web", config)
    made = reader(config, file)
    Ranges.sent.clear()
    spans = list(settled(made.read(file, Slice())))
    assert kept(spans) == ["0", "4", "8", "12", "16"] and not reasons(spans)
    assert Ranges.sent == [len(PAGES[n]) for n in (0, 4, 8, 12, 16)]
    assert [span.type for span in spans].count("not_selected") == 15
    for span in spans:
        assert next(iter(settled(made.read(file, Slice(span.offset, span.offset + 1))))) == span
    size = made.size(file)
    assert spans[0].offset == 0 and (size is None or spans[-1].offset + 1 == size)


def test_a_run_over_an_index_of_local_files(tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "a.warc.gz").write_bytes(CRAWL)
    source = {"cdx": cdxj(tmp_path), "prefix": f"{tmp_path}/", "where": {"languages": ["deu"]}}
    report = run_it(settings({"web": source}, tmp_path / "out", stages=["extract"]))
    assert report.stats["kept"]["documents"] == 15 and report.stats["records"]["not_selected"]["records"] == 5


def test_rows_that_lead_nowhere_cost_themselves(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(CRAWL)
    lines = [
        'a 1 {"filename": "a.warc.gz"}',
        "no json",
        'a 1 {"filename": "a.warc.gz", "offset": "3", "length": "100"}',
        'a 1 {"filename": "a.warc.gz", "offset": "99999999", "length": "9"}',
    ]
    (tmp_path / "i.cdxj").write_text("\n".join(lines) + "\n")
    config = SourceConfig(cdx=str(tmp_path / "i.cdxj"), prefix=f"{tmp_path}/")
    (file,) = find_files("web", config)
    assert reasons(settled(reader(config, file).read(file, Slice()))) == ["damaged"] * 4
    table = tmp_path / "no.parquet"
    pq.write_table(pa.table({"text": ["a"]}), table)
    config = SourceConfig(cdx=str(table))
    (file,) = find_files("web", config)
    with pytest.raises(UserError, match="has no column 'warc_filename'; is it a crawl's index"):
        list(reader(config, file).read(file, Slice()))

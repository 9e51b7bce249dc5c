"""Faults of input that `bench/faults.py` puts beside kills, flips and cuts: text bombs, busy servers, many small files.

Each gives the counts of a line of its table: faults, lost records, hangs.
"""

import gzip
import json
import random
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from curate.config.file import parse_config
from curate.executors.processes import Processes
from curate.run import Options, Report, run
from curate.sources import remote

CPU_SECONDS = 5.0
WORDS = "river mill water evening stone path garden window letter harbour morning bread market lamp winter road".split()


def page(rng: random.Random) -> str:
    """A made-up text."""
    return " ".join(rng.choice(WORDS) for _ in range(80)) + "."


def record(body: bytes, url: str, head: bytes = b"Content-Type: text/html") -> bytes:
    """A page as a gzip member of a WARC."""
    block = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + body
    headers = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{url}>\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"
    headers += f"WARC-Target-URI: {url}\r\nContent-Length: {len(block)}\r\n\r\n"
    return gzip.compress(headers.encode() + block + b"\r\n\r\n", 1, mtime=0)


def bombs(rng: random.Random) -> list[tuple[bytes, bytes]]:
    """Header and body of one bomb of each kind, its size drawn."""
    size = rng.randrange(50_000, 400_000)
    marks = "".join(chr(rng.randrange(0x300, 0x34F)) for _ in range(size))
    plain, html = b"Content-Type: text/plain; charset=utf-8", b"Content-Type: text/html"
    return [
        (plain, ("a" + marks).encode()),
        (html, f"<html><p>a{marks}</p>".encode()),
        (html + b"\r\nX: a" + b"\r\n b" * size, b"<html><p>words</p></html>"),
        (html, b"<html><p " + b" ".join(b"a%d" % number for number in range(size)) + b">words</p></html>"),
        (html, b"<!---->" * 200 + b"words"),
        (b"Content-Type: text/html; charset=" + b" " * size + b";", b"<html><p>words</p></html>"),
    ]


def ran(source: Any, out: Path, stages: list[Any]) -> Report:
    """A run in one worker process, since a bomb may take its process along."""
    config = parse_config({"input": {"web": source}, "output": str(out), "stages": stages, "cpu_seconds": CPU_SECONDS})
    executor = Processes(1)
    try:
        return run(config, executor, Options(fresh=True), lambda phase, said: None, lambda said: None)
    finally:
        executor.close()


def text_bombs(count: int, folder: Path, rng: random.Random) -> Counter[str]:
    """Pages between bombs: each must be kept, and no bomb may take more than its CPU seconds."""
    counts: Counter[str] = Counter()
    parts: list[bytes] = []
    while counts["faults"] < count:
        for head, body in bombs(rng)[: count - counts["faults"]]:
            number = counts["faults"]
            parts += [
                record(f"<html><body><p>{page(rng)}</p>".encode(), f"http://a.example/{number}"),
                record(body, f"http://bomb.example/{number}", head),
            ]
            counts["faults"] += 1
    (folder / "bombs.warc.gz").write_bytes(b"".join(parts))
    began = time.monotonic()
    report = ran(str(folder / "bombs.warc.gz"), folder / "out-bombs", [{"extract": {"mode": "fast"}}])
    counts["hangs"] += time.monotonic() - began > 4 * CPU_SECONDS * count
    counts["lost records"] = abs(2 * count - report.stats["read"]["documents"])
    counts["lost records"] += max(0, count - report.stats["kept"]["documents"])
    return counts


class _Busy(BaseHTTPRequestHandler):
    """Answers every second request with 503 or 429, whatever it is."""

    files: ClassVar[dict[str, bytes]] = {}
    rng = random.Random(1)
    refused = 0

    def log_message(self, *_: Any) -> None:
        """Keeps silent."""

    def do_GET(self) -> None:
        data = self.files[self.path.strip("/")]
        if self.rng.random() < 0.5:
            type(self).refused += 1
            self.send_response(self.rng.choice((429, 503)))
            data = b""
        else:
            asked = self.headers.get("Range", "")
            start, end = asked.removeprefix("bytes=").split("-") if asked else ("0", str(len(data)))
            whole, data = data, data[int(start) : int(end) + 1]
            self.send_response(206 if asked else 200)
            self.send_header("Accept-Ranges", "bytes")
            if self.command == "HEAD":
                data = whole
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET


def busy_servers(count: int, folder: Path, rng: random.Random) -> Counter[str]:
    """Files on a server that refuses every second request, until so many were refused: all documents must come."""
    counts: Counter[str] = Counter()
    lines = {f"f{number}.jsonl": [json.dumps({"text": page(rng)}) for _ in range(20)] for number in range(4)}
    _Busy.files = {name: "\n".join(rows).encode() for name, rows in lines.items()}
    _Busy.rng, _Busy.refused, remote.DELAYS = rng, 0, (0.01,) * 40
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    paths = [f"http://127.0.0.1:{server.server_port}/{name}" for name in lines]
    while _Busy.refused < count:
        report = ran({"path": paths}, folder / "out-busy", [{"language": {"keep": "all"}}])
        counts["runs"] += 1
        counts["lost records"] += 80 - report.stats["kept"]["documents"]
    counts["faults"] = _Busy.refused
    server.shutdown()
    return counts


def small_files(count: int, folder: Path, rng: random.Random) -> Counter[str]:
    """One page a file, which share tasks: all must come, as from one file. What a file costs tells `small_files.py`."""
    counts: Counter[str] = Counter({"faults": count})
    pages = [record(f"<html><p>{page(rng)}</p>".encode(), f"http://a.example/{number}") for number in range(count)]
    many = folder / "many"
    many.mkdir()
    for number, data in enumerate(pages):
        (many / f"{number:06d}.warc.gz").write_bytes(data)
    (folder / "one.warc.gz").write_bytes(b"".join(pages))
    for name, source in (("many", f"{many}/*.warc.gz"), ("one", str(folder / "one.warc.gz"))):
        report = ran(source, folder / f"out-{name}", [{"extract": {"mode": "fast"}}])
        counts["lost records"] += count - report.stats["kept"]["documents"]
    return counts

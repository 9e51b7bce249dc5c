"""Remote files: a server that fails on purpose, a real S3 protocol server, and what a person is told."""

import importlib
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from curate.errors import SourceError, UserError
from curate.sources import SourceConfig, find_files, mask_url, masked, reader
from curate.sources import remote as module
from curate.sources.reader import InputFile, Slice, settled
from curate.sources.remote import RemoteBytes, host_slot, retried
from tests.sources.reading import kept, numbers, real, reasons, sliced
from tests.sources.warc_bytes import member, site, wacz

CRAWL = b"".join(map(member, site(40)))
WACZ = wacz({"archive/a.warc.gz": CRAWL, "pages/pages.jsonl": b"{}"})
RANGE = re.compile(r"bytes=(\d+)-(\d+)")


class Unreliable(BaseHTTPRequestHandler):
    """Serves CRAWL under every path; the path's first part says how it fails."""

    asked: ClassVar[Counter[str]] = Counter()
    lock = threading.Lock()
    now = 0
    most = 0

    def log_message(self, *_: Any) -> None:
        """Keeps silent."""

    def do_HEAD(self) -> None:
        if "/gone/" in self.path:
            self._answer(404, b"")
            return
        if "/spell/" in self.path and self._asked() % 5 < 4:  # a HEAD, and the GET that fsspec tries after it, twice
            self._answer(503 if self.asked[self.path] % 2 else 429, b"")
            return
        if "/forbidden/" in self.path or "/down/head" in self.path:
            self._answer(403 if "/forbidden/" in self.path else 503, b"")
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self._crawl())))
        self.send_header("ETag", '"v1"')
        if "/whole/" not in self.path:
            self.send_header("Accept-Ranges", "bytes")
        self.end_headers()

    def _crawl(self) -> bytes:
        return WACZ if self.path.partition("?")[0].endswith(".wacz") else CRAWL

    def _asked(self) -> int:
        with self.lock:
            self.asked[self.path] += 1
            return self.asked[self.path]

    def do_GET(self) -> None:
        times = self._asked()
        with self.lock:
            type(self).now += 1
            type(self).most = max(self.most, self.now)
        try:
            self._get(times)
        finally:
            with self.lock:
                type(self).now -= 1

    def _get(self, times: int) -> None:
        found = RANGE.match(self.headers.get("Range", ""))
        crawl = self._crawl()
        start, end = (int(found[1]), int(found[2]) + 1) if found else (0, len(crawl))
        data = crawl[start:end]
        if "/gone/" in self.path or "/later/" in self.path:
            self._answer(404, b"")
        elif "/spell/" in self.path and "Range" not in self.headers:
            self._answer(503, b"")
        elif "/forbidden/" in self.path:
            self._answer(403, b"")
        elif "/down/" in self.path or ("/busy/" in self.path and times % 3):
            self._answer(503 if times % 2 else 429, b"")
        elif "/cut/" in self.path and times % 2:
            self._answer(206, data, sent=len(data) // 2)
        elif "/whole/" in self.path:
            self._answer(200, crawl)
        else:
            self._answer(206 if found else 200, data)

    def _answer(self, status: int, data: bytes, sent: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:sent])
        if sent is not None:
            self.wfile.flush()
            self.connection.close()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Unreliable)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DELAYS", (0.01,) * 6)
    monkeypatch.setattr("curate.sources.reading.REMOTE_BLOCK_BYTES", 4000)


@pytest.mark.parametrize("how", ["good", "busy", "cut", "whole", "spell"])
def test_a_server_that_fails_now_and_then_costs_nothing(server: str, how: str) -> None:
    config = SourceConfig(path=f"{server}/{how}/a.warc.gz")
    (file,) = find_files("web", config)
    assert (file.size, file.name) == (len(CRAWL), config.path) and "v1" in file.version
    made = reader(config, file)
    spans = list(settled(made.read(file, Slice())))
    assert kept(spans) == numbers(range(40)) and reasons(spans) == []
    if how != "whole":
        assert real(sliced(made, file, 9000)) == spans


@pytest.mark.parametrize("how", ["good", "busy", "cut", "whole"])
def test_the_warc_files_of_a_remote_wacz_are_read_in_place(server: str, how: str) -> None:
    config = SourceConfig(path=f"{server}/{how}/a.wacz?token=geheim")
    (file,) = find_files("web", config)
    assert file.name == f"{server}/{how}/a.wacz?token=***!/archive/a.warc.gz" and file.size == len(CRAWL)
    spans = list(settled(reader(config, file).read(file, Slice())))
    assert kept(spans) == numbers(range(40)) and reasons(spans) == []
    assert real(sliced(reader(config, file), file, 9000)) == spans


def test_an_error_after_the_last_try_names_the_file(server: str) -> None:
    file = InputFile("web", f"{server}/down/a.warc.gz", len(CRAWL), "")
    with pytest.raises(SourceError, match=r"/down/a\.warc\.gz: can't be read after 7 tries \(the server is busy: 503"):
        list(settled(reader(SourceConfig(path=file.name), file).read(file, Slice())))
    assert Unreliable.asked["/down/a.warc.gz"] >= 7


def test_each_cause_has_its_own_sentence(server: str) -> None:
    """A server that does not say `404` has said nothing about whether the file is there."""
    for path, sentence in (
        (f"{server}/down/head/a.warc.gz", r"after 7 tries \(the server is busy: (503 Service U|429 Too M)"),
        (f"{server}/forbidden/a.warc.gz", r"can't be read \(the server forbids it: 403 Forbidden\); check the URL and"),
        ("http://127.0.0.1:9/a.warc.gz", r"after 7 tries \(the connection is refused: no server listens there\)"),
        ("http://no-such-host.invalid/a.warc.gz", r"after 7 tries \(there is no (such )?host"),
    ):
        config = SourceConfig(path=path)
        with pytest.raises(SourceError, match=sentence):
            find_files("web", config)
        file = InputFile("web", path, 100, "")
        with pytest.raises(SourceError, match=sentence):  # as later, when a run has begun: no damage of the file
            list(settled(reader(config, file).read(file, Slice())))
        with pytest.raises(SourceError, match=sentence):
            reader(config, InputFile("web", path, 1 << 20, "")).slices(InputFile("web", path, 1 << 20, ""), 1000)


def test_the_pause_that_a_server_asks_for_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    monkeypatch.setattr("time.sleep", paused.append)
    answers = iter(
        [
            answer(429, {"Retry-After": "7"}),
            answer(503, {}),
            answer(503, {"Retry-After": "900000"}),
            answer(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
            answer(503, {"Retry-After": "soon"}),
        ]
    )

    def ask() -> str:
        if (failed := next(answers, None)) is not None:
            raise FileNotFoundError("a") from failed  # fsspec's word for whatever a server answered
        return "data"

    assert retried("http://a.example/a", ask, 1) == "data"
    assert paused == [7.0, 0.01, 600.0, 0.01, 0.01]


def answer(status: int, headers: dict[str, str]) -> Exception:
    made = OSError("answered")
    made.status, made.headers = status, headers  # type: ignore[attr-defined]
    return made


def test_mistakes_in_storage_are_sentences() -> None:
    for path, storage in (
        ("s3://b/a.jsonl", {"endpoint_url": "localhost:9000", "key": "a", "secret": "b"}),
        ("s3://b/a.jsonl", {"endpont_url": "http://localhost:9000"}),
        ("s3://b/*.jsonl", {"anom": True, "endpoint_url": "http://127.0.0.1:9"}),
        ("http://127.0.0.1:9/a.jsonl", {"anom": True}),
        ("http://127.0.0.1:9/a.jsonl", {"client_kwargs": {"x": 1}}),
    ):
        with pytest.raises(UserError, match="check the URL, and the options under `storage`"):
            find_files("web", SourceConfig(path=path, storage=storage))


def test_a_file_that_is_gone_is_a_sentence_at_the_start_and_damage_later(server: str) -> None:
    config = SourceConfig(path=f"{server}/gone/a.warc.gz")
    with pytest.raises(UserError, match=r"/gone/a\.warc\.gz' can't be opened .*; check the URL"):
        find_files("web", config)
    for name in ("gone", "later"):
        file = InputFile("web", f"{server}/{name}/a.warc.gz", 700, "")
        spans = list(settled(reader(SourceConfig(path=file.name), file).read(file, Slice())))
        assert [(s.offset, s.type) for s in spans] == [(0, "damaged")]
        assert spans[0].length in (700, len(CRAWL))


def test_a_path_list_behind_a_prefix_and_jsonl_and_parquet(server: str, tmp_path: Path) -> None:
    (tmp_path / "paths").write_text("good/a.warc.gz\nbusy/b.warc.gz\n")
    config = SourceConfig(paths=str(tmp_path / "paths"), prefix=f"{server}/")
    files = find_files("web", config)
    assert [file.name for file in files] == [f"{server}/good/a.warc.gz", f"{server}/busy/b.warc.gz"]
    assert all(kept(settled(reader(config, file).read(file, Slice()))) == numbers(range(40)) for file in files)
    for name in ("a.jsonl", "a.parquet"):  # not what the file is: no more than damage
        file = InputFile("web", f"{server}/good/{name}", len(CRAWL), "")
        assert set(reasons(settled(reader(SourceConfig(path=file.name), file).read(file, Slice())))) <= {
            "damaged",
            "undecodable",
        }


def test_no_more_requests_at_once_than_is_polite(server: str) -> None:
    Unreliable.most = 0
    source = RemoteBytes(f"{server}/good/a.warc.gz", None, parallel=2)
    threads = [threading.Thread(target=source.read_at, args=(n * 100, 100)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= Unreliable.most <= 2


def test_slots_of_two_hosts_are_apart() -> None:
    with host_slot("http://one.example/x", 1), host_slot("http://user:word@two.example/x", 1):
        pass


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://user:word@h.example/a.warc", "https://***@h.example/a.warc"),
        ("s3://key:secret@bucket/a", "s3://***@bucket/a"),
        (
            "https://h.example/a?X-Amz-Signature=abc&X-Amz-Date=1",
            "https://h.example/a?X-Amz-Signature=***&X-Amz-Date=1",
        ),
        ("https://h.example/a?sig=abc#x", "https://h.example/a?sig=***#x"),
        ("cannot open https://u@h.example/a: 503", "cannot open https://***@h.example/a: 503"),
        ("https://h.example/a@b/c", "https://h.example/a@b/c"),
        ("plain/path.warc.gz", "plain/path.warc.gz"),
    ],
)
def test_secrets_are_masked(url: str, masked: str) -> None:
    assert mask_url(url) == masked


def test_a_config_is_masked_for_the_outputs() -> None:
    config = {
        "input": {"web": {"path": ["s3://k:s@b/a", "x.warc"], "id": "key", "storage": {"key": "k", "anon": False}}},
        "stages": [{"tokens": {"tokenizer": "t.json"}}],
    }
    assert masked(config) == {
        "input": {"web": {"path": ["s3://***@b/a", "x.warc"], "id": "key", "storage": {"key": "***", "anon": False}}},
        "stages": [{"tokens": {"tokenizer": "t.json"}}],
    }


def test_credentials_reach_the_server_and_no_output(server: str) -> None:
    host = server.removeprefix("http://")
    given = (f"http://user:word@{host}/good/a.warc.gz?token=abc", f"http://user:word@{host}/down/a.warc.gz")
    (file,) = find_files("web", SourceConfig(path=given[0]))
    assert file.name == f"http://***@{host}/good/a.warc.gz?token=***"
    spans = list(settled(reader(SourceConfig(path=given[0]), file).read(file, Slice())))
    assert kept(spans) == numbers(range(40)) and "word" not in repr(spans)
    lost = InputFile("web", mask_url(given[1]), 7, "")
    with pytest.raises(SourceError) as caught:
        list(settled(reader(SourceConfig(path=given[1]), lost).read(lost, Slice())))
    assert "word" not in str(caught.value) and "***@" in str(caught.value)


def test_a_missing_package_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    with pytest.raises(
        UserError, match=r"s3:// needs a package that is not installed; run: python -m pip install s3fs"
    ):
        find_files("web", SourceConfig(path="s3://bucket/a.warc.gz"))
    with pytest.raises(UserError, match=r"sftp:// needs a package that is not installed; Install s3fs"):
        find_files("web", SourceConfig(path="sftp://host/a.warc.gz"))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("foo9x://b/a.warc.gz", r"nothing here reads foo9x://; give a path .* or https:// \(python -m pip"),
        ("httpx://a.example/a.warc.gz", r"nothing here reads httpx://; did you mean 'https?'\? give a path"),
    ],
)
def test_a_protocol_that_nothing_reads_has_a_way_out(url: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        find_files("web", SourceConfig(path=url))


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, Any]]:
    moto = importlib.import_module("moto.server")
    fsspec = importlib.import_module("s3fs")
    made = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    made.start()
    host, port = made.get_host_and_port()
    storage = {"key": "k", "secret": "s", "endpoint_url": f"http://{host}:{port}"}
    files = fsspec.S3FileSystem(**storage)
    files.mkdir("crawls")
    for name in ("b.warc.gz", "a.warc.gz", "a.txt"):
        files.pipe_file(f"crawls/2024/{name}", CRAWL)
    files.pipe_file("crawls/warc.paths", b"2024/b.warc.gz\n")
    yield storage
    made.stop()


def test_s3_globs_lists_and_slices(s3: dict[str, Any]) -> None:
    config = SourceConfig(path="s3://crawls/2024/*.warc.gz", storage=s3)
    files = find_files("web", config)
    assert [file.name for file in files] == ["s3://crawls/2024/a.warc.gz", "s3://crawls/2024/b.warc.gz"]
    assert all(file.size == len(CRAWL) and file.version for file in files)
    made = reader(config, files[0])
    assert kept(real(sliced(made, files[0], 9000))) == numbers(range(40))
    listed = SourceConfig(paths="s3://crawls/warc.paths", prefix="s3://crawls/", storage=s3)
    (file,) = find_files("web", listed)
    assert kept(settled(reader(listed, file).read(file, Slice()))) == numbers(range(40))


def test_s3_mistakes(s3: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"no file matches 's3://crawls/2024/x"):
        find_files("web", SourceConfig(path="s3://crawls/2024/x*.warc.gz", storage=s3))
    with pytest.raises(UserError, match=r"'s3://crawls/2024/c\.warc\.gz' can't be opened"):
        find_files("web", SourceConfig(path="s3://crawls/2024/c.warc.gz", storage=s3))

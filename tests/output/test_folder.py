"""Where a run writes: remote outputs, uploads that broke off, and outputs that are somebody else's."""

import hashlib
import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from moto.server import ThreadedMotoServer

from curate.config.file import parse_config
from curate.errors import UserError
from curate.output.folder import Output
from tests.engine import crawl, run_it, settings, tree_hash


@pytest.fixture(scope="module")
def glob(tmp_path_factory: pytest.TempPathFactory) -> str:
    return crawl(tmp_path_factory.mktemp("crawl"), files=2, each=20)


@pytest.fixture(scope="module")
def expected(glob: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    output = tmp_path_factory.mktemp("expected") / "out"
    run_it(settings(glob, output))
    return tree_hash(output)


@pytest.fixture
def memory() -> Iterator[str]:
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    yield "memory://bucket/run"
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]


@pytest.fixture
def puts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files put into memory://, in order."""
    names: list[str] = []
    plainly = MemoryFileSystem.put_file

    def put_file(self: MemoryFileSystem, lpath: str, rpath: str, **options: Any) -> None:
        names.append(rpath.partition("bucket/run/")[2])
        plainly(self, lpath, rpath, **options)

    monkeypatch.setattr(MemoryFileSystem, "put_file", put_file)
    return names


def far(glob: str, url: str, **more: Any) -> dict[str, Any]:
    return {**settings(glob, Path("unused"), **more), "output": url}


def remote_hash(url: str, **options: Any) -> str:
    """The tree hash of a remote folder, as `tree_hash` takes it of a local one."""
    system, root = fsspec.core.url_to_fs(url, **options)
    total = hashlib.sha256()
    root = root.strip("/")
    names = sorted(name.strip("/").removeprefix(f"{root}/") for name in system.find(root))
    for name in names:
        if name not in ("timings.json", "report.html"):
            total.update(name.encode() + b"\0" + hashlib.sha256(system.cat_file(f"{root}/{name}")).digest())
    return total.hexdigest()


def test_a_remote_output_needs_a_local_folder_for_the_work(glob: str, memory: str) -> None:
    with pytest.raises(UserError, match=r"output 'memory://bucket/run' is remote: .* --work"):
        run_it(far(glob, memory))


def test_a_remote_run_is_the_same_tree_put_file_by_file_with_the_manifest_last(
    glob: str, memory: str, expected: str, puts: list[str], tmp_path: Path
) -> None:
    run_it(far(glob, memory), work=str(tmp_path / "work"))
    assert remote_hash(memory) == expected
    assert puts[-1] == "manifest.json" and puts.count("manifest.json") == 1
    assert len(puts) == len(set(puts)) > 5
    assert not any(part.startswith(".") for name in puts for part in name.split("/"))
    assert list((tmp_path / "work").iterdir()) == []


def test_a_complete_remote_run_is_recognised_without_its_work_folder(
    glob: str, memory: str, puts: list[str], tmp_path: Path
) -> None:
    first = run_it(far(glob, memory), work=str(tmp_path / "work"))
    puts.clear()
    again = run_it(far(glob, memory), work=str(tmp_path / "another"))
    assert again.ready and again.stats == json.loads(json.dumps(first.stats))
    assert puts == []


def test_another_run_there_is_refused_and_fresh_takes_its_place(
    glob: str, memory: str, expected: str, puts: list[str], tmp_path: Path
) -> None:
    work = str(tmp_path / "work")
    run_it(far(glob, memory, write={"shard_bytes": 4000}), work=work)
    assert "shards/part-00001.parquet" in puts
    with pytest.raises(UserError, match=r"holds a run that differs: config: write.shard_bytes was 4000"):
        run_it(far(glob, memory), work=work)
    run_it(far(glob, memory), work=work, fresh=True)
    assert remote_hash(memory) == expected


def test_files_there_that_no_manifest_explains_are_not_mixed_with_ours(glob: str, memory: str, tmp_path: Path) -> None:
    fsspec.filesystem("memory").pipe_file("/bucket/run/shards/part-00000.parquet", b"old")
    with pytest.raises(UserError, match="no trace of which"):
        run_it(far(glob, memory), work=str(tmp_path))


@pytest.mark.parametrize("after", [0, 1, 4])
def test_an_upload_that_broke_off_goes_on(
    after: int, glob: str, memory: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []
    plainly = MemoryFileSystem.put_file
    work = str(tmp_path / "work")

    def put_file(self: MemoryFileSystem, lpath: str, rpath: str, **options: Any) -> None:
        if len(names) == after and broken:
            raise ConnectionResetError("reset by peer")
        names.append(rpath)
        plainly(self, lpath, rpath, **options)

    monkeypatch.setattr(MemoryFileSystem, "put_file", put_file)
    broken = True
    with pytest.raises(UserError, match=r"memory://bucket/run: the upload of .* failed \(reset by peer\); run again"):
        run_it(far(glob, memory), work=work)
    assert not fsspec.filesystem("memory").exists("/bucket/run/manifest.json")
    broken = False
    log = next(Path(work).rglob("uploaded.jsonl"))
    log.write_bytes(log.read_bytes()[:-3])  # as a kill in the middle of a line leaves it
    run_it(far(glob, memory), work=work)
    assert len(names) - len(set(names)) == min(after, 1)
    assert remote_hash(memory) == expected


def test_an_output_on_an_s3_server(glob: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "test")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        with pytest.raises(UserError, match=r"s3://bucket/run"):
            run_it(far(glob, "s3://bucket/run"), work=str(tmp_path / "work"))
        fsspec.filesystem("s3", skip_instance_cache=True).mkdir("bucket")
        run_it(far(glob, "s3://bucket/run"), work=str(tmp_path / "work"))
        assert remote_hash("s3://bucket/run", skip_instance_cache=True) == expected
        assert run_it(far(glob, "s3://bucket/run"), work=str(tmp_path / "other")).ready
        with pytest.raises(UserError, match=r"s3://bucket/run holds a run that differs: config: seed was 0, is 1"):
            run_it(far(glob, "s3://bucket/run", seed=1), work=str(tmp_path / "work"))
    finally:
        server.stop()


def test_the_work_folder_may_hold_other_things(glob: str, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    mine = tmp_path / "scratch" / "thesis.txt"
    mine.write_text("years of work")
    for fresh in (False, True):
        run_it(settings(glob, tmp_path / "out"), work=str(tmp_path / "scratch"), fresh=fresh)
    assert mine.read_text() == "years of work"
    assert [path.name for path in (tmp_path / "scratch").iterdir()] == ["thesis.txt"]


def test_a_password_in_the_url_is_masked() -> None:
    given = {"input": "a.jsonl", "stages": ["language"], "output": "sftp://user:secret@host/run"}
    with pytest.raises(UserError) as caught:
        Output.of(parse_config(given), None)
    assert "secret" not in str(caught.value) and "sftp://***@host/run" in str(caught.value)


def test_a_folder_that_can_not_be_made(tmp_path: Path, glob: str) -> None:
    (tmp_path / "file").touch()
    message = r"can't be written \((a part of the path is no folder|a file of that name is there)\)"
    with pytest.raises(UserError, match=message):
        run_it(settings(glob, tmp_path / "file" / "out"))


def test_a_folder_that_may_not_be_written(tmp_path: Path, glob: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write anywhere
    with pytest.raises(UserError, match="is not writable; give another folder"):
        run_it(settings(glob, tmp_path / "out"))


def test_a_work_folder_that_may_not_be_written_is_named_as_such(
    tmp_path: Path, glob: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: "curate-" not in str(path))
    with pytest.raises(UserError, match=rf"^--work '{tmp_path}/work': .*/curate-\w+ is not writable"):
        run_it(settings(glob, tmp_path / "out"), work=str(tmp_path / "work"))


def test_a_finished_run_is_known_where_nothing_may_be_written(
    tmp_path: Path, glob: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_it(settings(glob, tmp_path / "out"))
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert run_it(settings(glob, tmp_path / "out")).ready


def test_a_copy_without_dot_files_is_known_by_its_manifest(tmp_path: Path, glob: str) -> None:
    run_it(settings(glob, tmp_path / "out"))
    (tmp_path / "out/.fingerprint.json").unlink()
    before = tree_hash(tmp_path / "out")
    assert run_it(settings(glob, tmp_path / "out")).ready
    with pytest.raises(UserError, match=r"holds a run that differs: config: seed was 0, is 3; give --fresh"):
        run_it(settings(glob, tmp_path / "out", seed=3))
    assert tree_hash(tmp_path / "out") == before


@pytest.mark.parametrize("name", ["thesis.txt", "by=en/mine.parquet", "part-00000.parquet.bak"])
def test_fresh_removes_no_file_that_no_run_made(name: str, glob: str, tmp_path: Path) -> None:
    mine = tmp_path / "out" / "shards" / name
    run_it(settings(glob, tmp_path / "out"))
    before = tree_hash(tmp_path / "out")
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("years of work")
    with pytest.raises(UserError, match=rf"{name}: no run made this file, and --fresh would remove it; move it"):
        run_it(settings(glob, tmp_path / "out"), fresh=True)
    assert mine.read_text() == "years of work"
    mine.unlink()
    assert tree_hash(tmp_path / "out") == before


def test_fresh_removes_no_remote_file_that_no_run_made(glob: str, memory: str, tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    system.pipe_file("/bucket/run/samples/mine.txt", b"years of work")
    with pytest.raises(UserError, match=r"^memory://bucket/run/samples/mine.txt: no run made this file"):
        run_it(far(glob, memory), work=str(tmp_path), fresh=True)
    assert system.cat_file("/bucket/run/samples/mine.txt") == b"years of work"


def test_a_folder_of_the_output_may_be_a_link(glob: str, expected: str, tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    run_it(settings(glob, out, seed=1, write={"by": "language"}))
    (out / "shards").rename(elsewhere)
    (out / "shards").symlink_to(elsewhere)
    run_it(settings(glob, out), fresh=True)
    assert (out / "shards").is_symlink()
    (out / "shards").unlink()
    elsewhere.rename(out / "shards")
    assert tree_hash(out) == expected


def test_a_clearing_that_stops_half_way_leaves_nothing_that_looks_whole(
    glob: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_it(settings(glob, tmp_path / "out"))
    with monkeypatch.context() as patched, pytest.raises(UserError, match=r"can't be cleared \(.*\); give another"):
        patched.setattr(shutil, "rmtree", lambda path: Path("/nowhere/at all").unlink())
        run_it(settings(glob, tmp_path / "out"), fresh=True)
    assert not (tmp_path / "out" / "manifest.json").exists()
    assert not run_it(settings(glob, tmp_path / "out")).ready and tree_hash(tmp_path / "out") == expected


def test_a_torn_trace_of_a_run_is_a_sentence(glob: str, tmp_path: Path) -> None:
    run_it(settings(glob, tmp_path / "out"))
    (tmp_path / "out" / ".fingerprint.json").write_text("{")
    with pytest.raises(UserError, match=r"\.fingerprint\.json: can't be read \(.*\); give --fresh"):
        run_it(settings(glob, tmp_path / "out"))
    assert not run_it(settings(glob, tmp_path / "out"), fresh=True).ready


def test_a_folder_of_somebody_else_under_the_name_of_the_work_is_spared(glob: str, tmp_path: Path) -> None:
    notes = tmp_path / "out" / ".work" / "notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("mine")
    for fresh in (False, True):
        with pytest.raises(UserError, match=r"\.work: no run made this folder"):
            run_it(settings(glob, tmp_path / "out"), fresh=fresh)
    assert notes.read_text() == "mine"


def test_fresh_follows_no_link_and_removes_no_report_of_somebody_else(glob: str, tmp_path: Path) -> None:
    photos, shards = tmp_path / "photos", tmp_path / "disk"
    photos.mkdir()
    (photos / "part-00000.parquet").write_text("mine")
    run_it(settings(glob, tmp_path / "out"))
    (tmp_path / "out" / "shards").rename(shards)
    (tmp_path / "out" / "shards").symlink_to(shards)
    (shards / ".hidden").symlink_to(photos)
    run_it(settings(glob, tmp_path / "out"), fresh=True)
    assert (photos / "part-00000.parquet").read_text() == "mine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "report.html").write_text("mine")
    with pytest.raises(UserError, match=r"report\.html: no run left a trace beside this file"):
        run_it(settings(glob, tmp_path / "other"), fresh=True)
    assert (tmp_path / "other" / "report.html").read_text() == "mine"


def test_what_a_kill_after_the_manifest_left_goes_with_the_next_call(glob: str, expected: str, tmp_path: Path) -> None:
    config = settings(glob, tmp_path / "out")
    run_it(config, keep_work=True)
    work, lease = tmp_path / "out" / ".work", tmp_path / "out" / ".work.lease"
    assert (work / "run.json").stat().st_mode & 0o077 == 0  # it holds the credentials of `storage`
    lease.write_text(json.dumps({"host": socket.gethostname(), "pid": 999_999_999, "token": "gone"}))
    assert run_it(config).ready
    assert not work.exists() and not lease.exists() and tree_hash(tmp_path / "out") == expected

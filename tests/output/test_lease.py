"""One run at a time: the second is refused, what is dead is taken over with a sentence."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from curate.errors import UserError
from curate.output import lease
from curate.output.lease import STALE_SECONDS, Lease
from tests.engine import crawl, run_it, settings


def left(path: Path, host: str, pid: int, age: float = 0.0) -> None:
    """A lease file that some other run left, with its last heartbeat `age` seconds ago."""
    path.write_text(json.dumps({"host": host, "pid": pid, "token": f"{host}:{pid}:1"}))
    os.utime(path, (time.time() - age,) * 2)


def dead_process() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_the_second_is_refused_and_after_the_first_it_is_free(tmp_path: Path) -> None:
    path = tmp_path / "work.lease"
    with Lease(path) as first:
        assert first.taken_over == ""
        with pytest.raises(UserError, match=rf"another run is at work here \(process {os.getpid()} on "), Lease(path):
            pass
        assert path.exists()
    assert not path.exists()
    with Lease(path) as again:
        assert again.taken_over == ""


def test_a_dead_process_of_this_host_is_taken_over_at_once(tmp_path: Path) -> None:
    left(tmp_path / "lease", socket.gethostname(), dead_process())
    with Lease(tmp_path / "lease") as held:
        assert held.taken_over.startswith("took over from process ")
        assert socket.gethostname() in held.taken_over


def test_a_living_process_of_this_host_is_not(tmp_path: Path) -> None:
    left(tmp_path / "lease", socket.gethostname(), os.getppid())
    with pytest.raises(UserError, match="another run"), Lease(tmp_path / "lease"):
        pass


def test_our_own_number_from_before_a_restart_is_no_living_run(tmp_path: Path) -> None:
    left(tmp_path / "lease", socket.gethostname(), os.getpid())
    with Lease(tmp_path / "lease") as held:
        assert held.taken_over


def test_another_host_counts_as_living_until_its_heart_is_silent(tmp_path: Path) -> None:
    left(tmp_path / "lease", "elsewhere", 1, STALE_SECONDS - 20)
    with pytest.raises(UserError, match="process 1 on elsewhere"), Lease(tmp_path / "lease"):
        pass
    left(tmp_path / "lease", "elsewhere", 1, STALE_SECONDS + 20)
    with Lease(tmp_path / "lease") as held:
        assert held.taken_over == "took over from process 1 on elsewhere, which is gone"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"host": "x"}'])
def test_a_torn_lease_file_blocks_nobody(content: str, tmp_path: Path) -> None:
    (tmp_path / "lease").write_text(content)
    with Lease(tmp_path / "lease") as held:
        assert held.taken_over
    assert list(tmp_path.iterdir()) == []


def test_the_heart_beats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "HEARTBEAT_SECONDS", 0.01)
    with Lease(tmp_path / "lease"):
        os.utime(tmp_path / "lease", (1, 1))
        for _ in range(1000):
            if (tmp_path / "lease").stat().st_mtime > 1:
                break
            time.sleep(0.01)
        assert (tmp_path / "lease").stat().st_mtime > 1


def test_a_run_that_slept_while_another_took_over_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "HEARTBEAT_SECONDS", 0.01)
    with pytest.raises(UserError, match="another run took over while this one slept"), Lease(tmp_path / "lease"):
        left(tmp_path / "lease", "elsewhere", 1)
        for _ in range(1000):
            time.sleep(0.01)  # the heartbeat notices, and interrupts
    assert json.loads((tmp_path / "lease").read_text())["host"] == "elsewhere"


def test_a_run_beside_a_living_one_is_refused_whatever_its_work_folder(tmp_path: Path) -> None:
    config = settings(crawl(tmp_path / "in", files=1, each=10), tmp_path / "out")
    (tmp_path / "out").mkdir()
    left(tmp_path / "out" / ".work.lease", "elsewhere", 1)
    for work in (None, str(tmp_path / "work")):
        with pytest.raises(UserError, match="another run is at work"):
            run_it(config, work=work)
    (tmp_path / "out" / ".work.lease").unlink()
    run_it(config, work=str(tmp_path / "work"))
    assert list((tmp_path / "work").iterdir()) == []


def test_a_lease_of_a_damaged_kind_is_taken_over(tmp_path: Path) -> None:
    for content in (
        {"host": "a", "pid": "many", "token": "t"},
        {"host": "a", "pid": [1], "token": "t"},
        [1, 2],
        3,
        None,
    ):
        (tmp_path / "lease").write_text(json.dumps(content))
        with Lease(tmp_path / "lease") as held:
            assert "took over" in held.taken_over


def test_a_lease_of_the_future_is_named_to_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "lease"
    path.write_text(json.dumps({"host": "elsewhere", "pid": 1, "token": "t"}))
    os.utime(path, (4e9, 4e9))
    with pytest.raises(UserError, match=f"if it is gone for certain, remove {path}"), Lease(path):
        pass

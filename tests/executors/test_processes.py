"""The process executor: what a task returned, raised or died of comes back; nothing outlives the run."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from curate.errors import UserError
from curate.executors import processes
from curate.executors.executor import Outcome, results
from curate.executors.processes import Processes
from tests.executor_tasks import double, raising

ROOT = Path(__file__).parents[2]


def process_id(number: int) -> int:
    return os.getpid()


def killed_by(number: int) -> None:
    """Dies of a signal; of 0, of an exit."""
    if not number:
        os._exit(3)
    os.kill(os.getpid(), number)
    time.sleep(60)


def killed_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def holding(path: str) -> None:
    """Holds a lock as long as the process lives."""
    if path:
        file = Path(path).open("w")  # noqa: SIM115
        fcntl.flock(file, fcntl.LOCK_EX)
        Path(f"{path}.held").touch()
        time.sleep(600)


@pytest.fixture
def two() -> Iterator[Processes]:
    executor = Processes(2)
    yield executor
    executor.close()


def is_free(path: Path) -> bool:
    """Whether the lock's holder is gone, after a while at most."""
    with path.open("w") as file:
        for _ in range(240):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                time.sleep(0.25)
    return False


def wait_for(path: Path) -> None:
    for _ in range(480):
        if path.exists():
            return
        time.sleep(0.25)
    raise AssertionError(f"{path} never came")


def test_each_task_has_one_outcome(two: Processes) -> None:
    outcomes = list(two.map(double, range(9)))
    assert sorted((o.task, o.result) for o in outcomes) == [(n, 2 * n) for n in range(9)]


def test_workers_live_as_long_as_the_executor(two: Processes) -> None:
    first = set(results(two, process_id, range(6)))
    assert len(first) <= 2 and os.getpid() not in first
    assert set(results(two, process_id, range(6))) <= first


@pytest.mark.parametrize(
    ("number", "signal_number"), [(signal.SIGKILL, 9), (signal.SIGSEGV, 11), (signal.SIGTERM, 15), (0, 0)]
)
def test_a_death_is_an_outcome_with_its_signal(number: int, signal_number: int, two: Processes) -> None:
    status = None if number else 3
    assert list(two.map(killed_by, [number])) == [Outcome(0, died=True, signal=signal_number, status=status)]


def test_the_other_tasks_go_on_after_a_death(two: Processes) -> None:
    outcomes = {o.task: o for o in two.map(killed_at_three, range(8))}
    assert outcomes[3].died
    assert [outcomes[n].result for n in range(8) if n != 3] == [0, 1, 2, 4, 5, 6, 7]


def test_a_worker_that_died_while_idle_is_replaced(two: Processes) -> None:
    results(two, double, range(4))
    for worker in two._idle:
        worker.process.kill()
        worker.process.join()
    assert results(two, double, range(4)) == [0, 2, 4, 6]


def test_a_task_that_kills_each_worker_is_given_up_with_a_sentence(two: Processes) -> None:
    with pytest.raises(UserError, match="killed_at_three: the worker died 3 times over 3"):
        results(two, killed_at_three, range(5))


def test_what_a_person_can_mend_comes_back_as_it_was_raised(two: Processes) -> None:
    with pytest.raises(UserError, match=r"^input.web: the sentence$"):
        list(two.map(raising, ["user"]))
    with pytest.raises(OSError) as caught:
        list(two.map(raising, ["full"]))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/somewhere/part")


def test_a_bug_comes_back_with_its_traceback(two: Processes) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)in raising.*ValueError: a bug in a task"):
        list(two.map(raising, ["bug"]))
    assert results(two, double, [1]) == [2]


def test_a_worker_is_deaf_to_ctrl_c_from_its_first_moment() -> None:
    worker = processes._Worker()
    os.kill(worker.process.pid or 0, signal.SIGINT)
    assert worker.give(0, double, 21)
    processes._ready([worker])
    assert worker.outcome() == Outcome(0, 42)
    worker.stop()


def test_the_first_worker_of_a_process_is_born_deaf_to_ctrl_c() -> None:
    code = """
from curate.executors.processes import _Worker
worker = _Worker()
print(open(f"/proc/{worker.process.pid}/status").read())
worker.stop()
"""
    status = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    blocked = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigBlk"))
    assert blocked & 1 << signal.SIGINT - 1


def test_a_worker_whose_driver_is_gone_ends_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    """Also where it was at work and has something to tell."""
    for function, task in ((double, 21), (raising, "bug")):
        worker = processes._Worker()
        os.kill(worker.process.pid or 0, signal.SIGSTOP)
        worker.give(0, function, task)
        worker.pipe.close()
        os.kill(worker.process.pid or 0, signal.SIGCONT)
        worker.process.join()
    assert capfd.readouterr().err == ""


def test_an_interrupted_map_leaves_no_worker_at_work(tmp_path: Path, two: Processes) -> None:
    outcomes = two.map(holding, ["", str(tmp_path / "lock")])
    assert next(outcomes).task == 0
    wait_for(tmp_path / "lock.held")
    busy = [worker.process for worker in two._busy]
    two.close()  # while the generator still waits, as when Ctrl-C came between two outcomes
    assert busy and not any(process.is_alive() for process in busy)
    assert is_free(tmp_path / "lock")


def test_a_map_that_is_left_after_an_outcome_leaves_its_worker_to_close(two: Processes) -> None:
    outcomes = two.map(process_id, [0])
    worker = next(outcomes).result
    outcomes.close()  # type: ignore[attr-defined]
    two.close()
    assert worker not in [process.pid for process in active_children()]


def test_orphans_end(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    imports = "import sys; from curate.executors.processes import Processes\n"
    imports += "from tests.executors.test_processes import holding\n"
    driver = subprocess.Popen(
        [sys.executable, "-c", f"{imports}list(Processes(1).map(holding, [sys.argv[1]]))", str(lock)],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    wait_for(tmp_path / "lock.held")
    driver.kill()
    driver.wait()
    assert is_free(lock)

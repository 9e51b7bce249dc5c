"""The Ray executor on a real cluster of two nodes; one of them is lost in the middle of a run."""

import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import psutil
import pytest
import ray
from fsspec.implementations.memory import MemoryFileSystem
from ray.cluster_utils import Cluster

from curate.errors import UserError
from curate.executors.executor import Executor, Outcome, results
from curate.executors.ray_cluster import Ray
from tests.engine import apart, crawl, run_it, settings, tree_hash
from tests.executor_tasks import double, raising

QUIET = {"num_cpus": 1, "include_dashboard": False}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    made = Cluster(initialize_head=True, head_node_args=QUIET)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def executor(cluster: Cluster) -> Iterator[Ray]:
    made = Ray(cluster.address, 2)
    yield made
    made.close()


def killed(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def folder_of(number: int) -> str:
    return str(Path.cwd())


def test_each_task_has_one_outcome_in_the_drivers_folder(executor: Ray) -> None:
    assert results(executor, double, range(7)) == [2 * number for number in range(7)]
    assert results(executor, folder_of, [0]) == [str(Path.cwd())]


def test_a_dead_worker_is_an_outcome(executor: Ray) -> None:
    outcomes = sorted(executor.map(killed, range(3)), key=lambda outcome: outcome.task)
    assert [(outcome.died, outcome.result) for outcome in outcomes] == [(False, 0), (True, None), (False, 2)]


def test_what_a_person_can_mend_comes_back_as_it_was_raised(executor: Ray) -> None:
    with pytest.raises(UserError) as refused:
        list(executor.map(raising, ["user"]))
    assert type(refused.value) is UserError and str(refused.value) == "input.web: the sentence"
    with pytest.raises(OSError) as full:
        list(executor.map(raising, ["full"]))
    assert (full.value.errno, full.value.filename) == (errno.ENOSPC, "/somewhere/part")
    with pytest.raises(RuntimeError, match="a bug in a task"):
        list(executor.map(raising, ["bug"]))


def test_an_address_where_no_cluster_is() -> None:
    ray.shutdown()
    with pytest.raises(UserError, match=r"--address 127.0.0.1:1: no Ray cluster there"):
        Ray("127.0.0.1:1", 1)


@dataclass
class Counting:
    """An executor that counts the deaths of another one's workers."""

    inner: Executor
    died: int = 0

    @property
    def workers(self) -> int:
        return self.inner.workers

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
        for outcome in self.inner.map(function, tasks):
            self.died += outcome.died
            yield outcome

    def close(self) -> None:
        self.inner.close()


def test_a_node_lost_in_the_middle_costs_nothing(cluster: Cluster, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    stages: list[Any] = [
        {"tests.gate:Gate": {"folder": str(gate), "page": 25}},
        "language",
        "gopher",
        "exact_dedup",
        "near_dedup",
    ]
    glob = apart(crawl(tmp_path / "in", files=4, each=40))
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    counting = Counting(Ray(cluster.address, 2))
    assert counting.workers == 2
    failed: list[BaseException] = []

    def runs() -> None:
        try:
            run_it(settings(glob, tmp_path / "out", stages=stages), counting)
        except UserError as error:
            failed.append(error)

    thread = threading.Thread(target=runs)
    thread.start()
    waits_for(lambda: len(list(gate.glob("waits-*"))) == 2)  # one task on each node, in the middle of its file
    cluster.remove_node(node, allow_graceful=False)
    waits_for(lambda: not all(map(alive, gate.glob("waits-*"))))  # a worker outlives its node by a moment
    (gate / "open").touch()
    thread.join()
    assert not failed
    assert counting.died >= 1
    run_it(settings(glob, tmp_path / "serial", stages=stages))
    assert tree_hash(tmp_path / "out") == tree_hash(tmp_path / "serial")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """A folder behind a web server on this machine; its URL."""
    (tmp_path / "served").mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_input_and_output_may_be_urls(cluster: Cluster, served: str, tmp_path: Path) -> None:
    crawl(tmp_path / "served", files=2, each=30)
    urls = [f"{served}/part-{number}.jsonl" for number in range(2)]
    config = settings({"web": {"path": urls}}, tmp_path / "serial")
    run_it(config)
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]  # folders that tests before this one made
    run_it({**config, "output": "memory://bucket/run"}, Ray(cluster.address, 2), work=str(tmp_path / "work"))
    fsspec.filesystem("memory").get("/bucket/run", str(tmp_path / "ray"), recursive=True)
    MemoryFileSystem.store.clear()
    assert tree_hash(tmp_path / "ray") == tree_hash(tmp_path / "serial")


def alive(mark: Path) -> bool:
    """Whether the worker that left this mark at the gate is still there."""
    try:
        return psutil.Process(int(mark.name.partition("-")[2])).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def waits_for(true: Callable[[], bool]) -> None:
    for _ in range(1200):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never came about")

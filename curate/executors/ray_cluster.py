"""The Ray executor: the same tasks on one machine or many. The work folder is shared by all nodes."""

import logging
import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from curate.errors import UserError, cause
from curate.executors.executor import Outcome

INSTALL = "python -m pip install ray"
WAIT_SECONDS = 1.0
IN_FLIGHT_PER_CPU = 2
CONNECT_SECONDS = 10.0


class Ray:
    """Tasks on a Ray cluster: the one at `address`, or a local one of `workers` processors.

    Ray's own retries are off: a lost worker is an `Outcome` like everywhere, and the phases decide what follows.
    Raises UserError where Ray is missing or the cluster can't be reached.
    """

    def __init__(self, address: str | None, workers: int) -> None:
        try:
            import ray
        except ImportError as error:
            raise UserError(f"--executor ray: Ray is not installed; install it with: {INSTALL}") from error
        self.ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            self._connect(address, workers)

    def _connect(self, address: str | None, workers: int) -> None:
        if address is not None:
            _check_reachable(address)
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        local = {"address": "local", "num_cpus": workers, "include_dashboard": False}
        before = signal.getsignal(signal.SIGTERM)
        try:
            self.ray.init(
                **(local if address is None else {"address": address}),
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": _environment()},
            )
        except (ConnectionError, ValueError, RuntimeError, self.ray.exceptions.RayError) as error:
            where = f"--address {address}: no Ray cluster there" if address else "Ray can't start on this machine"
            raise UserError(f"{where} ({cause(error)}); start one with `ray start --head`") from error
        finally:
            if before is not None and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, before)  # Ray puts one of its own there

    def __reduce__(self) -> tuple[Any, ...]:
        return Ray, (self.ray.get_runtime_context().gcs_address, self.workers)

    @property
    def workers(self) -> int:
        """Processors of the cluster as it is now."""
        resources: dict[str, float] = self.ray.cluster_resources()  # type: ignore[no-untyped-call]
        return max(1, int(resources.get("CPU", 1)))

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
        remote, folder = self.ray.remote(max_retries=0, num_cpus=1)(at), str(Path.cwd())
        waiting = deque(enumerate(tasks))
        running: dict[Any, int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self.workers * IN_FLIGHT_PER_CPU:
                    index, task = waiting.popleft()
                    running[remote.remote(folder, function, task)] = index
                for reference in self.ray.wait(list(running), timeout=WAIT_SECONDS)[0]:
                    yield self._outcome(reference, running.pop(reference))
        finally:
            for reference in running:
                self.ray.cancel(reference, force=True)

    def _outcome(self, reference: Any, index: int) -> Outcome:
        lost = self.ray.exceptions
        try:
            return Outcome(index, self.ray.get(reference))
        except (
            lost.WorkerCrashedError,
            lost.NodeDiedError,
            lost.OutOfMemoryError,
            lost.ObjectLostError,
            lost.LocalRayletDiedError,
        ):
            return Outcome(index, died=True)
        except lost.RayTaskError as error:
            cause = (
                error.cause
                if isinstance(getattr(error, "cause", None), UserError | OSError)
                else RuntimeError(str(error))
            )
            raise cause from None

    def close(self) -> None:
        if self._ours:
            self.ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raises UserError at once where nothing listens; Ray itself would go on trying for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdigit()):
        return  # a word of Ray's own, such as `auto`
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        raise UserError(
            f"--address {address}: no Ray cluster there ({cause(error)}); start one with `ray start --head`"
        ) from None


def at(folder: str, function: Callable[[Any], Any], task: Any) -> Any:
    """Runs a task where the driver runs, since the config's paths are relative to that folder."""
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver's to handle; a stage that raises it means its page
    return function(task)


def _environment() -> dict[str, str]:
    """What workers need of our surroundings: where stages of one's own lie."""
    path = os.pathsep.join(part for part in (str(Path.cwd()), os.environ.get("PYTHONPATH", "")) if part)
    return {"PYTHONPATH": path}

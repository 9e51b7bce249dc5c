"""One run at a time in one output: a lease file with host, process and a heartbeat."""

import json
import os
import socket
import threading
import time
from pathlib import Path
from types import TracebackType

from curate.errors import UserError

HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 60.0


class Lease:
    """Held while a run works in a folder. A stale one (dead process, silent heart) is taken over with a sentence."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.taken_over = ""
        self._stop = threading.Event()
        self._token = f"{socket.gethostname()}:{os.getpid()}:{time.time_ns()}"

    def __enter__(self) -> "Lease":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        while not self._create():
            holder = self._holder()
            if holder is None:
                continue
            if not self._stale(holder):
                raise UserError(
                    f"{self.path.parent}: another run is at work here (process {holder['pid']} on {holder['host']}); "
                    "wait for it, or give another output"
                )
            self._remove_stale(holder)
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if (self._holder() or {}).get("token") == self._token:
            self.path.unlink(missing_ok=True)

    def _create(self) -> bool:
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.{threading.get_ident()}")
        temporary.write_text(json.dumps({"host": socket.gethostname(), "pid": os.getpid(), "token": self._token}))
        try:
            os.link(temporary, self.path)  # atomic: there whole, or the name is taken
        except FileExistsError:
            return False
        finally:
            temporary.unlink()
        return True

    def _holder(self) -> dict[str, str] | None:
        try:
            told: dict[str, str] = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return None
        return told

    def _stale(self, holder: dict[str, str]) -> bool:
        if holder["host"] == socket.gethostname() and not _running(int(holder["pid"])):
            return True
        try:
            return time.time() - self.path.stat().st_mtime > STALE_SECONDS
        except OSError:
            return True

    def _remove_stale(self, holder: dict[str, str]) -> None:
        aside = self.path.with_name(f"{self.path.name}.stale.{os.getpid()}")
        try:
            self.path.rename(aside)  # only one of two who want it succeeds
        except OSError:
            return
        aside.unlink()
        self.taken_over = f"took over from process {holder['pid']} on {holder['host']}, which is gone"

    def _beat(self) -> None:
        while not self._stop.wait(HEARTBEAT_SECONDS):
            try:
                os.utime(self.path)
            except OSError:
                return


def _running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

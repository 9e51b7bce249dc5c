"""One run at a time in one output: a lease file with host, process and a heartbeat."""

import json
import os
import socket
import threading
import time
from _thread import interrupt_main
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from curate.errors import UserError

HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 60.0
HELD: set[str] = set()  # tokens of this process; an equal process number alone may be left from before a restart


class Lease:
    """Held while a run works in a folder. A stale one (dead process, silent heart) is taken over with a sentence."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.taken_over = ""
        self.lost = False
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
                    f"wait for it, or give another output (if it is gone for certain, remove {self.path})"
                )
            self._remove_stale(holder)
        HELD.add(self._token)
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        HELD.discard(self._token)
        if (self._holder() or {}).get("token") == self._token:
            self.path.unlink(missing_ok=True)
        elif self.lost:
            raise UserError(f"{self.path.parent}: another run took over while this one slept; this one stopped")

    @property
    def is_held(self) -> bool:
        """Whether somebody holds it whose process is alive, as far as that can be seen from here."""
        holder = self._holder()
        return holder is not None and not self._stale(holder)

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
        """Who holds the lease; None when nobody does (any more). A torn file has a holder without a name."""
        try:
            holder = json.loads(self.path.read_text())
            return {key: str(holder[key]) for key in ("host", "pid", "token")}
        except OSError:
            return None
        except (ValueError, KeyError, TypeError):
            return {"host": "an unknown host", "pid": "?", "token": ""}

    def _stale(self, holder: dict[str, str]) -> bool:
        if not holder["token"]:
            return True  # lease files appear whole; this one was torn by a crash of the machine
        if not holder["pid"].isdecimal() or len(holder["pid"]) > 12:
            return True  # no process has such a number: the file was damaged
        if holder["host"] == socket.gethostname():
            pid = int(holder["pid"])
            if (holder["token"] not in HELD) if pid == os.getpid() else not _running(pid):
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
            if (self._holder() or {}).get("token") != self._token:
                if not self._stop.is_set():
                    self.lost = True
                    interrupt_main()
                return
            with suppress(OSError):
                os.utime(self.path)


def _running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

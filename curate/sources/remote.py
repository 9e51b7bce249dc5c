"""Files behind a URL: any fsspec file system, read by ranges, with retries, few at a time on one host."""

import fcntl
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

import fsspec

from curate.errors import SourceError, UserError, hint
from curate.sources.answers import MISTAKES, asked_pause, client_errors, explained, meaning

PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "http": "aiohttp", "https": "aiohttp"}  # that bring what reads a scheme
INSTALL = "python -m pip install"
DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before the second try, the third, ...
STALLED_SECONDS = 60
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|[a-z0-9]+::")
USER = re.compile(r"(?<=://)[^/@\s]*@")
SECRET = re.compile(
    r"(?i)([?&;][^=&\s]*(?:signature|sig|token|key|secret|password|passwd|pwd|credential|auth)[^=&\s]*=)[^&\s#]*"
)
SECRET_OPTION = re.compile(r"(?i)^key$|secret|token|password|passwd|credential|authorization|cookie|account_key|^sas")
T = TypeVar("T")


def is_url(path: str) -> bool:
    """Whether a path names a file system of fsspec rather than this machine's disk."""
    return URL.match(path) is not None and not path.startswith("file://")


def mask_url(url: str) -> str:
    """The URL with user, password and signed query parameters as `***`, fit for messages, logs and outputs."""
    return SECRET.sub(r"\1***", USER.sub("***@", url))


def masked(value: Any, storage: bool = False) -> Any:
    """Plain JSON data, such as a canonical config, with URLs masked and secret options under `storage` as `***`."""
    if isinstance(value, dict):
        return {
            key: "***" if storage and item and SECRET_OPTION.search(key) else masked(item, storage or key == "storage")
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked(item, storage) for item in value]
    return mask_url(value) if isinstance(value, str) else value


def file_system(url: str, storage: dict[str, Any] | None) -> tuple[Any, str]:
    """The file system of a URL and the path in it. Raises UserError where a package is missing."""
    options = dict(storage or {})
    if url.startswith(("http://", "https://")):
        options = {"client_kwargs": _client_options(), **options}
    try:
        fs, path = fsspec.core.url_to_fs(url, **options)
    except (ImportError, *MISTAKES) as error:
        raise UserError(f"{mask_url(url)}: {_way_out(url, error)}") from None
    except client_errors() as error:
        raise SourceError(f"{mask_url(url)}: can't be reached ({mask_url(explained(error))}); check the URL") from None
    return fs, str(path)


def _way_out(url: str, error: Exception) -> str:
    """What is wrong with a URL that has no file system, and what to do."""
    scheme = urlsplit(url).scheme
    if isinstance(error, ImportError):
        advice = f"run: {INSTALL} {PACKAGES[scheme]}" if scheme in PACKAGES else str(error)
        return f"{scheme}:// needs a package that is not installed; {advice}"
    if scheme and scheme not in fsspec.available_protocols():
        near = hint(scheme, fsspec.available_protocols())
        guess = f"{near} " if near.startswith("did") else ""
        way_out = f"give a path of this machine, or s3:// or https:// ({INSTALL} s3fs aiohttp)"
        return f"nothing here reads {scheme}://; {guess}{way_out}"
    return f"{mask_url(str(error))}; check the URL, and the options under `storage`"


def _client_options() -> dict[str, Any]:
    try:
        import aiohttp
    except ImportError:
        return {}
    wait = aiohttp.ClientTimeout(total=None, sock_connect=STALLED_SECONDS, sock_read=STALLED_SECONDS)
    return {"timeout": wait}


def retried(url: str, action: Callable[[], T], parallel: int) -> T:
    """The action's result, tried again with growing pauses, or those that the server asks for.

    Raises FileNotFoundError where the server says that there is no such file, SourceError naming the file where it
    forbids to read it and after the last try, and UserError for options of `storage` that its client can't use.
    """
    for delay in (*DELAYS, None):
        try:
            with host_slot(url, parallel):
                return action()
        except client_errors(*MISTAKES) as error:
            if delay is None or meaning(error) != "again":
                raise _final(mask_url(url), error) from error
            time.sleep(max(delay, asked_pause(error)))
    raise AssertionError("the last try either returns or raises")


def _final(place: str, error: BaseException) -> OSError | UserError:
    """What is raised where no further try is made."""
    reason = mask_url(explained(error))
    match meaning(error):
        case "missing":
            return FileNotFoundError(place)
        case "mistaken":
            return UserError(f"{place}: {reason}; check the URL, and the options under `storage`")
        case "refused":
            return SourceError(f"{place}: can't be read ({reason}); check the URL and the credentials")
    return SourceError(f"{place}: can't be read after {len(DELAYS) + 1} tries ({reason}); try again later")


@contextmanager
def host_slot(url: str, parallel: int) -> Iterator[None]:
    """Holds one of `parallel` slots of the URL's host, shared by all processes of this user on this machine."""
    host = urlsplit(url).netloc.rpartition("@")[2]
    folder = Path(tempfile.gettempdir(), f"curate-hosts-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    name = hashlib.sha1(host.encode(), usedforsecurity=False).hexdigest()[:16]
    first = os.getpid()
    for number in range(parallel + 1):
        slot = (folder / f"{name}-{(first + number) % parallel}").open("wb")
        try:
            # Every slot is tried without waiting, then the first one is waited for.
            fcntl.flock(slot, fcntl.LOCK_EX | (fcntl.LOCK_NB if number < parallel else 0))
        except BlockingIOError:
            slot.close()
            continue
        with slot:
            yield
        return


class RemoteBytes:
    """A remote file by ranges. A range that breaks off is asked for again from where it broke.

    A server that ignores ranges sends the whole file; that is kept in a temporary file and read from there.
    """

    def __init__(self, url: str, storage: dict[str, Any] | None, parallel: int) -> None:
        self._url, self._parallel = url, parallel
        self._fs, self._path = file_system(url, storage)
        self._download: IO[bytes] | None = None
        info = retried(url, lambda: self._fs.info(self._path), parallel)
        if not isinstance(info.get("size"), int):
            raise SourceError(f"{mask_url(url)}: the server does not say how long the file is; download it first")
        self.size: int = info["size"]

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes at `offset`. Raises OSError or SourceError."""
        end = min(offset + length, self.size)
        data = b""
        tries = 0
        while offset + len(data) < end:
            if self._download is not None:
                self._download.seek(offset)
                return self._download.read(end - offset)
            start = offset + len(data)
            more = self._range(start, end)
            if len(more) > end - start:
                self._keep_whole(more)
                continue
            tries = 0 if more else tries + 1
            if tries > len(DELAYS):
                raise SourceError(
                    f"{mask_url(self._url)}: the server sends nothing from byte {start} on; try again later"
                )
            data += more
        return data

    def _range(self, start: int, end: int) -> bytes:
        def ask() -> bytes:
            return bytes(self._fs.cat_file(self._path, start=start, end=end))

        return retried(self._url, ask, self._parallel)

    def _keep_whole(self, data: bytes) -> None:
        if len(data) != self.size:
            raise SourceError(f"{mask_url(self._url)}: is {len(data)} bytes long now, but was {self.size}; start anew")
        self._download = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        self._download.write(data)

    def close(self) -> None:
        """Gives back the temporary file, if there is one."""
        if self._download is not None:
            self._download.close()

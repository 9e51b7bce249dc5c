"""What a server's failure means: try again and how soon, or no such file, or a mistake of the person who asks."""

import errno
import socket
import sys
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Literal

from curate.errors import cause

Meaning = Literal["again", "missing", "refused", "mistaken"]

PATIENT_STATUS = frozenset({408, 425, 429})  # the statuses below 500 that a later try can change
MISSING_STATUS = frozenset({404, 410})
LONGEST_WAIT_SECONDS = 600.0  # that a server may ask for with Retry-After
# Errors of client libraries, where one is in use, that are no OSError.
CLIENT_ERRORS = {
    "aiohttp": ("ClientError",),
    "botocore.exceptions": ("BotoCoreError", "ClientError"),
    "httpx": ("HTTPError",),
    "httpx2": ("HTTPError",),
    "huggingface_hub.errors": ("HfHubHTTPError", "OfflineModeIsEnabled"),
    "gcsfs.retry": ("HttpError",),
    "google.auth.exceptions": ("GoogleAuthError",),
    "azure.core.exceptions": ("AzureError",),
}
# What client libraries raise for options that they do not know or can't use.
MISTAKES = (TypeError, ValueError, AttributeError, KeyError)


def client_errors(*more: type[Exception]) -> tuple[type[BaseException], ...]:
    """What file systems raise: OSError, the errors of those client libraries that are in use, and `more`."""
    found: list[type[BaseException]] = [OSError, *more]
    for module, names in CLIENT_ERRORS.items():
        if module in sys.modules:
            found += [getattr(sys.modules[module], name) for name in names if hasattr(sys.modules[module], name)]
    return tuple(found)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from: fsspec says FileNotFoundError whatever a server answered."""
    seen: BaseException | None = error
    for _ in range(8):
        if seen is None:
            return
        yield seen
        nested = getattr(seen, "os_error", None)
        seen = seen.__cause__ or seen.__context__ or (nested if isinstance(nested, OSError) else None)


def status_of(error: BaseException) -> int | None:
    """The HTTP status that a server answered with, wherever the client library keeps it."""
    for one in _chain(error):
        answer = getattr(one, "response", None)
        status = getattr(one, "status", None) or getattr(answer, "status_code", None)
        if type(one).__name__ == "HttpError":  # gcsfs; elsewhere `code` may be anything
            status = getattr(one, "code", None)
        if isinstance(answer, dict):  # botocore
            status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if isinstance(status, int) and 100 <= status < 600:
            return status
    return None


def meaning(error: BaseException) -> Meaning:
    """What a failed request means. A missing file is one only where the server says so, or there is no server."""
    status = status_of(error)
    if status is not None:
        if status in MISSING_STATUS:
            return "missing"
        return "refused" if 400 <= status < 500 and status not in PATIENT_STATUS else "again"
    first = error.__cause__ if isinstance(error, FileNotFoundError) and error.__cause__ else error
    if isinstance(first, MISTAKES) and not isinstance(first, client_errors()):
        return "mistaken"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "missing" if error.__cause__ is None else "again"
    if isinstance(error, PermissionError | IsADirectoryError):
        return "refused"
    return "again"


def asked_pause(error: BaseException) -> float:
    """Seconds that the server asks to wait (`Retry-After`, RFC 9110 section 10.2.3); 0 where it does not."""
    for one in _chain(error):
        headers = getattr(one, "headers", None) or getattr(getattr(one, "response", None), "headers", None)
        value = str((headers or {}).get("Retry-After") or "").strip()
        if value.isdecimal() and len(value) < 10:
            return min(float(value), LONGEST_WAIT_SECONDS)
        try:
            wait = parsedate_to_datetime(value).timestamp() - time.time() if value else 0.0
        except ValueError:
            continue
        if wait > 0:
            return min(wait, LONGEST_WAIT_SECONDS)
    return 0.0


def explained(error: BaseException) -> str:
    """Why a request failed, in a few words: busy, forbidden, refused, no such host."""
    status = status_of(error)
    if status is not None:
        name = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
        reason = f"{status} {name}".strip()
        if status in PATIENT_STATUS or status >= 500:
            return f"the server is busy: {reason}"
        return f"the server forbids it: {reason}" if status in (401, 403) else f"the server says {reason}"
    for one in _chain(error):
        if isinstance(one, socket.gaierror):
            host = getattr(error, "host", None)
            return f"there is no host {host}" if host else "there is no such host, or no network"
        if isinstance(one, ConnectionRefusedError) or getattr(one, "errno", None) == errno.ECONNREFUSED:
            return "the connection is refused: no server listens there"
        if isinstance(one, TimeoutError):
            return "the server does not answer in time"
    reason = cause(error.__cause__ if isinstance(error.__cause__, MISTAKES) else error)
    return f"the server said nothing but {reason}" if reason == type(error).__name__ else reason

"""Keeps one document of each URL: the newest, or the first (Llama 3, Dubey et al. 2024, 3.1.1; Dolma, Soldaini et al.
2024, 5.4)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from curate.corpus import Corpus
from curate.document import Document
from curate.stage import Sketch, Verdicts

I64 = npt.NDArray[np.int64]

PAGE = np.dtype([("digest", "<u8", (2,)), ("date", "<i8")])
NO_DATE = np.iinfo(np.int64).min
TRACKING = ("utm_*", "gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "ref", "feed")
"""C4's `utm_`, `ref` and `feed` (Raffel et al. 2020, its code) and the click marks of advertisers and mailers."""
PORTS = {"http": 80, "https": 443}
_START = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=8)
def _ignored(names: tuple[str, ...]) -> re.Pattern[str]:
    """Matches a whole query parameter of one of these names."""
    patterns = (re.escape(name).replace(r"\*", "[^=]*") for name in names)
    return re.compile(rf"(?:{'|'.join(patterns)})(?:=.*)?", re.IGNORECASE | re.DOTALL)


def one_url(url: str, ignore: tuple[str, ...] = TRACKING) -> str:
    """What two spellings of a URL share: no scheme, `www.`, default port, fragment, last slash or ignored parameters;
    the host in lower case. Case and order of the rest count. "" for a URL that says nothing."""
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return url.strip()
    shown = "" if port in (None, PORTS.get(parts.scheme)) else f":{port}"
    query = parts.query
    if query and ignore:
        query = "&".join(part for part in query.split("&") if part and not _ignored(ignore).fullmatch(part))
    path = parts.path.rstrip("/")
    return f"{host.removeprefix('www.')}{shown}{path}{'?' if query else ''}{query}"


def _microseconds(date: str) -> int:
    """An ISO 8601 date as microseconds since 1970, in UTC where it names no zone; NO_DATE for none."""
    try:
        fetched = datetime.fromisoformat(date)
    except ValueError:
        return int(NO_DATE)
    since = (fetched if fetched.tzinfo else fetched.replace(tzinfo=UTC)) - _START
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


class _UrlTask(NamedTuple):
    corpus: Corpus
    newest: bool
    partition: int


def _find(task: _UrlTask) -> Path:
    """The file of pairs: a document that goes, and the one of its URL that stays."""

    def write(path: Path) -> None:
        documents = task.corpus.buckets(task.partition).documents
        pages = task.corpus.records(documents)
        digest, date = pages["digest"], pages["date"]
        later = ~date if task.newest else np.zeros_like(date)  # ~ turns the order round and can't overflow
        order = np.lexsort((documents, later, digest[:, 1], digest[:, 0]))
        documents, digest = documents[order], digest[order]
        new = np.ones(len(documents), np.bool_)
        new[1:] = (digest[1:] != digest[:-1]).any(axis=1)
        stays = documents[np.flatnonzero(new)][np.cumsum(new) - 1] if len(documents) else documents
        np.stack([documents[~new], stays[~new]], axis=1).tofile(path)

    return task.corpus.saved(f"pairs-{task.partition:05}", write)


@dataclass(frozen=True, kw_only=True)
class UrlDedup:
    """Drops documents whose URL another document has, and names that one. Documents without a URL stay.

    URLs are one when they differ in scheme, `www.`, default port, fragment, last slash or ignored parameters alone.
    """

    keep: Literal["newest", "first"] = "newest"
    """who stays: the newest by `date` (of equally old ones the first, those without a date last), or the first"""
    ignore: tuple[str, ...] = TRACKING
    """query parameters that do not count; `*` stands for any letters"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ("same_url",)
    record: ClassVar[np.dtype[Any] | None] = PAGE
    scheme: ClassVar[int] = 1

    @property
    def apart(self) -> str | None:
        """Why earlier runs can't join: their pages are published, and can't make way for newer ones."""
        if self.keep == "first":
            return None
        return "keep: newest would drop pages of the earlier runs, which stay as they are; give keep: first"

    def sketch(self, doc: Document) -> Sketch:
        url = one_url(doc.url, self.ignore) if doc.url else ""
        digest = np.frombuffer(xxhash.xxh3_128_digest(url.encode("utf-8", "surrogatepass")), "<u8")
        page = np.array([(digest, _microseconds(doc.date))], PAGE)
        return Sketch(digest[:1] if url else digest[:0], page)

    def similarity(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """1 for pages of one URL, whatever their dates; else 0."""
        same: npt.NDArray[np.float64] = (left["digest"] == right["digest"]).all(axis=-1).astype(np.float64)
        return same

    def decide(self, corpus: Corpus) -> Iterator[Verdicts]:
        tasks = [_UrlTask(corpus, self.keep == "newest", index) for index in range(corpus.partitions)]
        for path in corpus.map(_find, tasks):
            pairs = np.fromfile(path, np.int64).reshape(-1, 2)
            yield Verdicts(pairs[:, 0], "same_url", pairs[:, 1])

"""Sizes and numbers of things as people write and read them.

KB, MB, GB are powers of 1000, KiB, MiB, GiB powers of 1024.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from curate.errors import UserError

UNITS = {
    "": 1,
    "B": 1,
    "K": 1000,
    "KB": 1000,
    "M": 1000**2,
    "MB": 1000**2,
    "G": 1000**3,
    "GB": 1000**3,
    "T": 1000**4,
    "TB": 1000**4,
    "KIB": 1 << 10,
    "MIB": 1 << 20,
    "GIB": 1 << 30,
    "TIB": 1 << 40,
}
LARGEST_SIZE = 1 << 63


COUNTS = {"": 1, "K": 1000, "M": 1000**2, "B": 1000**3, "T": 1000**4}  # of things that are no bytes: B is a billion
NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|nan)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_number(value: object, units: Mapping[str, int] = COUNTS) -> float:
    """A number, also as text with a unit: `15e12`, `15T`, `500 B`, `1_000`. ValueError for anything else."""
    match = NUMBER.fullmatch(str(value).replace("_", "").replace(",", ""))
    if not match or match[2].upper() not in units:
        raise ValueError(f"{value!r} is no number")
    return float(match[1]) * units[match[2].upper()]


def parse_size(text: str) -> int:
    """Bytes of a size such as `64MiB`. ValueError for anything else."""
    try:
        size = int(parse_number(text, UNITS))
    except (ValueError, OverflowError):
        raise ValueError(f"'{text}' is no size; write it like 64MiB or 2GB") from None
    if size >= LARGEST_SIZE:
        raise ValueError(f"'{text}' is too large; no machine has 2^63 bytes")
    if size < 1:
        raise ValueError(f"'{text}' is too small")
    return size


def show_size(size: float) -> str:
    """A number of bytes in decimal units, three digits."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if abs(size) < 1000 or unit == "TB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError


def numbered(number: int, noun: str) -> str:
    """A number of things, e.g. 1 page, 1,234 pages."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def figure(value: float) -> str:
    """A measured value or limit: from 1,000 and where it is whole all digits before the point, else four in all."""
    no_fraction = value.is_integer() or abs(value) >= 1000
    return f"{value:,.0f}" if no_fraction and abs(value) < 1e15 else f"{value:.4g}"


WORKERS_SHARE = 0.8  # of the machine's memory; the rest is the driver's and the page cache's
LEAST_WORKER_MEMORY = 256 << 20  # below it the libraries themselves do not load


def worker_memory(workers: int, wanted: int | None = None) -> int:
    """Bytes of memory that each of so many workers may take: what is wanted, or a share of the machine.

    Raises UserError where what is wanted is too little to work with.
    """
    if wanted is None:
        return max(LEAST_WORKER_MEMORY, int(physical_memory() * WORKERS_SHARE / workers))
    if wanted < LEAST_WORKER_MEMORY:
        raise UserError(
            f"--memory: a worker needs at least 256MiB, not {show_size(wanted)}; the libraries take that much"
        )
    return wanted


def physical_memory() -> int:
    """Bytes of memory that this process may count on: the machine's, or its container's where that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limit = Path(path).read_text().strip()
        except OSError:
            continue
        if limit.isdigit():
            total = min(total, int(limit))
    return total

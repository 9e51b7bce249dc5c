"""Sizes as people write them, and the memory that a worker gets."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from curate.errors import UserError
from curate.scan import guard
from curate.sizes import LEAST_WORKER_MEMORY, figure, numbered, parse_size, show_size, worker_memory

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("written", "size"),
    [("64MiB", 64 << 20), ("2GB", 2 * 10**9), ("1.5k", 1500), ("7", 7), ("1e3", 1000), (" 3 kib ", 3072)],
)
def test_sizes(written: str, size: int) -> None:
    assert parse_size(written) == size


@pytest.mark.parametrize("written", ["", "-1", "0", "MB", "1XB", "1e", "inf", "1e999", "0.1B"])
def test_what_is_no_size(written: str) -> None:
    with pytest.raises(ValueError, match=r"no size|too small"):
        parse_size(written)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (4.0, "4"),
        (0.89062, "0.8906"),
        (123.456, "123.5"),
        (1322.0, "1,322"),
        (12345.6, "12,346"),
        (400_000.0, "400,000"),
        (-5.0, "-5"),
        (1e20, "1e+20"),
        (float("inf"), "inf"),
    ],
)
def test_measured_values_keep_the_digits_before_the_point(value: float, text: str) -> None:
    assert figure(value) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages"), (1234, "1,234 pages")])
def test_one_thing_is_not_many(number: int, text: str) -> None:
    assert numbered(number, "page") == text


def test_sizes_are_shown_in_powers_of_1000() -> None:
    assert [show_size(size) for size in (12, 1500, 64 << 20)] == ["12 B", "1.5 KB", "67.1 MB"]


def test_a_worker_gets_what_is_wanted_or_a_share_and_never_too_little() -> None:
    assert worker_memory(1, 1 << 30) == 1 << 30
    assert worker_memory(1 << 20) == LEAST_WORKER_MEMORY
    with pytest.raises(UserError, match=r"at least 256MiB, not 10\.0 MB"):
        worker_memory(1, 10**7)


def test_the_limit_on_memory_is_lifted_again() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    guard.limit_memory(8 << 30)
    assert 8 << 30 <= resource.getrlimit(resource.RLIMIT_DATA)[0] < 64 << 30
    guard.limit_memory(None)
    assert resource.getrlimit(resource.RLIMIT_DATA)[0] == before[1]


RESERVING = """
import mmap, sys
from curate.scan import guard
reserve = mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # as Arrow's allocator does
guard.limit_memory(512 << 20)
small = bytearray(100 << 20)
try:
    large = bytearray(1 << 30)
except MemoryError:
    sys.exit(7)
"""


def test_what_allocators_hold_in_reserve_does_not_count() -> None:
    done = subprocess.run([sys.executable, "-c", RESERVING], cwd=ROOT, capture_output=True)
    assert (done.returncode, done.stderr) == (7, b"")

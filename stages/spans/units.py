"""The lines and paragraphs of a text, where they stand, and what two of them have in common."""

import re
from typing import Literal

import numpy as np
import numpy.typing as npt
import xxhash

I64 = npt.NDArray[np.int64]
Unit = Literal["line", "paragraph"]

_DIGIT = re.compile(r"\d")


def units(text: str, unit: Unit) -> list[tuple[int, int]]:
    """Where each line that is not blank, or each run of such lines, starts and ends (without the line break)."""
    found: list[tuple[int, int]] = []
    at, running = 0, False
    for line in text.split("\n"):
        end = at + len(line)
        if line and not line.isspace():
            if running and unit == "paragraph":
                found[-1] = (found[-1][0], end)
            else:
                found.append((at, end))
            running = True
        else:
            running = False
        at = end + 1
    return found


def same_unit(unit: str) -> str:
    """What is compared: lower case, digits 0, runs of white space one space (CCNet's, Wenzek et al. 2020, 3.2, whose
    code also takes out Unicode punctuation)."""
    return _DIGIT.sub("0", " ".join(unit.lower().split()))


def digests(parts: list[str], seed: int) -> npt.NDArray[np.uint64]:
    """XXH3-128 of each unit, shape (n, 2): 64 bits that propose, 64 that confirm."""
    made = b"".join(xxhash.xxh3_128_digest(part.encode("utf-8", "surrogatepass"), seed=seed) for part in parts)
    return np.frombuffer(made, "<u8").reshape(-1, 2)


def spans(text: str, begins: list[int], starts: I64, ends: I64) -> list[tuple[int, int]]:
    """The characters of units `starts` to `ends` - 1 and of what stands between them and the next; at the end of a
    text they take what stands before them instead. `begins` says where each unit begins."""
    begins = [*begins, len(text)]
    found = [(begins[first], begins[behind]) for first, behind in zip(starts.tolist(), ends.tolist())]
    return [(len(text[:start].rstrip()) if end == len(text) else start, end) for start, end in found]

"""Model files of our own: a zip of plain arrays (npz) with a header in JSON. Nothing in it is ever unpickled.

A model comes from a stranger as often as from one's own training, so a file is data and can neither run code nor ask
for all memory; and it is part of a run's fingerprint, so equal models are equal bytes. `np.savez` would date the
entries, and `np.load` reads the arrays one by one when asked, each with an error of its own.
"""

import io
import json
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from curate.errors import UserError, cause

T = TypeVar("T")
MOST_BYTES = 5 << 30  # unfolded; the largest model that a training makes has two arrays of 2^28 numbers of 8 bytes
# All that a damaged zip, array or header was seen to raise (bench/model_faults.py makes such files). A list, since a
# broad `except` would hide a mistake of ours as damage of the file.
DAMAGE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    OverflowError,
    MemoryError,
    RuntimeError,  # of zip: encrypted, or compressed in a way it doesn't know
    SyntaxError,
    tokenize.TokenError,  # of NumPy's header of an array
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
_DAY = (1980, 1, 1, 0, 0, 0)  # a zip entry must have a date: always this one, so that equal models are equal files


class Kind(NamedTuple):
    """A kind of model file: what its header says, what people call it, and how one is come by."""

    format: str  # `curate linear`
    version: int
    name: str  # "linear model of curate"
    way_out: str


def save(path: Path, kind: Kind, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes a model file. Raises OSError where it can't be written."""
    text = json.dumps({"format": kind.format, "version": kind.version, **header}).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, array in {**arrays, "header": np.frombuffer(text, np.uint8)}.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            file.writestr(zipfile.ZipInfo(f"{name}.npy", _DAY), content.getvalue(), zipfile.ZIP_DEFLATED)


def load(path: str, kind: Kind, made: Callable[[dict[str, Any], dict[str, NDArray[Any]]], T]) -> T:
    """What `made` makes of a file's header and arrays. Raises UserError for a file that is missing, foreign, damaged or
    newer, and where `made` finds that its parts do not fit each other (ValueError)."""
    try:
        with zipfile.ZipFile(path) as file:
            if sum(entry.file_size for entry in file.infolist()) > MOST_BYTES:
                raise ValueError("it unfolds to more than any model takes")
            arrays = {name.removesuffix(".npy"): _array(file, name) for name in file.namelist()}
        header: dict[str, Any] = json.loads(arrays.pop("header").tobytes())
        if header["format"] != kind.format:
            raise ValueError(f"its format is {header['format']}")
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such model; {kind.way_out}") from None
    except DAMAGE as error:
        raise UserError(f"{path}: is no {kind.name} ({cause(error)}); {kind.way_out}") from None
    if header.get("version") != kind.version:
        mismatch = f"is a model of version {header.get('version')}, {kind.version} is read here"
        raise UserError(f"{path}: {mismatch}; {kind.way_out}")
    try:
        return made(header, arrays)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise UserError(f"{path}: is a damaged model ({cause(error)}); {kind.way_out}") from None


def _array(file: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with file.open(name) as content:
        array: NDArray[Any] = np.lib.format.read_array(content, allow_pickle=False)
        return array

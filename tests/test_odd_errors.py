"""Errors of the system are one sentence with the place and a way out, whatever the number."""

import errno
import os

import pytest

from curate.output import explained


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.ENOSPC, "no space left on the disk"),
        (errno.ENAMETOOLONG, "too long for the file system"),
        (errno.ENOENT, "not there"),
        (errno.EIO, "Input/output error; see to it and run again"),
        (errno.ENOTDIR, "Not a directory; see to it"),
    ],
)
def test_every_error_of_the_system_is_a_sentence_with_its_place(number: int, told: str) -> None:
    sentence = explained(OSError(number, os.strerror(number), "out/x"))
    assert sentence is not None
    assert sentence.startswith("out/x: ")
    assert told in sentence


def test_an_error_that_the_system_did_not_number_is_none_of_its() -> None:
    assert explained(OSError("made up")) is None

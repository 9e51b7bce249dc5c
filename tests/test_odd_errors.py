"""Errors of the system are one sentence with the place and a way out, whatever the number."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from curate import curate, yaml12
from curate.config.file import read_config
from curate.durable import atomic
from curate.errors import UserError, cause, explained, printable
from curate.inspect.opened import OpenedRun
from tests.commands.calling import Calling
from tests.engine import write_jsonl
from tests.report.finished import finished


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "no space left on the disk"),
        (errno.EFBIG, "raise `ulimit -f`"),
        (errno.ENAMETOOLONG, "too long for the file system"),
        (errno.ENOENT, "not there"),
        (errno.EIO, "Input/output error; see to it and run again"),
        (errno.ENOTDIR, "Not a directory; see to it"),
    ],
)
def test_every_error_of_the_system_is_a_sentence_with_its_place(number: int, reason: str) -> None:
    sentence = explained(OSError(number, os.strerror(number), "out/x"))
    assert sentence is not None
    assert sentence.startswith("out/x: ")
    assert reason in sentence


def test_an_error_that_the_system_did_not_number_is_none_of_its() -> None:
    assert explained(OSError("made up")) is None


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "/a/b"), "no such file"),
        (FileNotFoundError("s3://bucket/key"), "no such file"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "/a"), "it is a folder"),
        (PermissionError(errno.EACCES, "Permission denied"), "permission denied"),
        (PermissionError(0, "the server says 403"), "the server says 403"),
        (OSError(errno.EIO, "Input/output error"), "input/output error"),
        (OSError("Unexpected end of stream."), "Unexpected end of stream"),
        (ValueError("first line\nsecond"), "first line"),
        (EOFError(), "EOFError"),
    ],
)
def test_a_cause_has_no_number_and_no_path(error: Exception, reason: str) -> None:
    assert cause(error) == reason


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calling:
    """Calls `curate` in a folder with a finished run, a folder, and a file that is none of what is asked for."""
    monkeypatch.chdir(tmp_path)
    finished(Path(), ["exact_dedup"], str(write_jsonl(Path("file.jsonl"), ["a b", "c d"])))
    Path("folder").mkdir()
    return Calling(capsys)


CONFIG, TEXTS = "give the path of a config file", "give a JSONL file of texts"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("run gone.yaml", f"gone.yaml: can't be read (no such file); {CONFIG}"),
        ("run folder", f"folder: can't be read (it is a folder); {CONFIG}"),
        ("check file.jsonl/x", f"file.jsonl/x: can't be read (a part of the path is no folder); {CONFIG}"),
        ("train naive-bayes gone file.jsonl -o m", f"gone: can't be read (no such file); {TEXTS}"),
        ("train naive-bayes file.jsonl folder -o m", f"folder: can't be read (it is a folder); {TEXTS}"),
        (
            "train naive-bayes file.jsonl file.jsonl -o no/m",
            "no/m: can't be written (there is no folder no); give another place",
        ),
        (
            "stats gone",
            "gone: no finished run here (manifest.json is missing); give the output folder of `curate run`",
        ),
        (
            "stats file.jsonl",
            "file.jsonl/manifest.json: can't be read (a part of the path is no folder); "
            "give the output folder of `curate run`",
        ),
        ("report out --output no/r", "no/r: can't be written (there is no folder no); give another place"),
        ("quarantine out -o no/q", "no/q: can't be written (there is no folder no); give another place"),
        ("quarantine out -o folder", "folder: can't be written (it is a folder); give another place"),
    ],
)
def test_one_sentence_with_the_path_once_and_no_number(call: Calling, command: str, message: str) -> None:
    ended = call(*command.split())
    assert (ended.status, ended.out, ended.err) == (2, "", f"curate: {message}\n")
    assert not list(Path().glob(".*.tmp"))


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    def write_half() -> None:
        with atomic(tmp_path / "a") as path:
            path.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        write_half()
    assert list(tmp_path.iterdir()) == []
    with atomic(tmp_path / "a") as path:
        path.write_text("all")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: curate(["a text"], {"stages": [{"gopher": {"min_words": "many"}}]}),
        lambda: curate(["a text"], {"stages": ["gofer"]}),
        lambda: curate(["a text"], {"stages": [{"naive_bayes": {"model": "gone.npz"}}]}),
        lambda: read_config("gone.yaml"),
        lambda: yaml12.load("a: [", "a.yaml"),
        lambda: OpenedRun.of("gone"),
    ],
)
def test_a_mistake_in_python_has_no_second_traceback(mistake: Callable[[], object]) -> None:
    with pytest.raises(UserError) as caught:
        mistake()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_name_does_nothing_to_the_terminal() -> None:
    odd = "a\x1b[31m\x07b\x9bc\u202ed\ud800.jsonl\nend\tof it é 漢"
    assert printable(odd) == "a\\x1b[31m\\x07b\\x9bc\\u202ed\\ud800.jsonl\nend\tof it é 漢"

"""Files tried in a child: what hangs, crashes or grows there costs this process nothing but a sentence."""

import os
from pathlib import Path

import numpy as np
import pytest

from curate.errors import UserError
from stages.models import arrays_file, tried
from stages.models.pieces import load_pieces
from tests.stages.models.model_files import write_fasttext


@pytest.fixture(autouse=True)
def fresh() -> None:
    tried._fault.cache_clear()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("while True: pass", "loading it did not end in 1 seconds of CPU time"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGFPE)", "whoever loads it is ended by SIGFPE"),
        ("raise SystemExit(4)", "its 5 bytes ask for more than 3,072 MiB of memory"),
        ("import sys; print('a vector is missing', file=sys.stderr); raise SystemExit(3)", "a vector is missing"),
        ("raise SystemExit(3)", "the library refuses it"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(9)", "loading it ended with status 9"),
    ],
)
def test_each_end_of_the_child_has_its_words(
    lines: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, model = tmp_path / "program.py", tmp_path / "model"
    program.write_text(f"import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 2))\n{lines}\n")
    model.write_bytes(b"a\nb\nc")
    monkeypatch.setattr(tried, "PROGRAM", program)
    monkeypatch.setattr(tried, "CPU_SECONDS", 1)
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        tried.check_loads("fasttext", str(model))


def test_one_that_sleeps_is_ended_by_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(tried, "PROGRAM", program)
    monkeypatch.setattr(tried, "CPU_SECONDS", 1)
    monkeypatch.setattr(tried, "PATIENCE", 1)
    with pytest.raises(ValueError, match="did not end in 1 seconds"):
        tried.check_loads("fasttext", str(program))


def test_a_file_is_tried_once_as_long_as_it_is_the_same(tmp_path: Path) -> None:
    path = write_fasttext(tmp_path / "model.bin", {"a": [1.0]}, {"__label__x": [1.0]})
    for _ in range(3):
        tried.check_loads("fasttext", path)
    assert tried._fault.cache_info().misses == 1
    os.utime(path, (0, 0))
    tried.check_loads("fasttext", path)
    assert tried._fault.cache_info().misses == 2


def test_the_child_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "import sys",
        f"sys.path.insert(0, {str(tried.PROGRAM.parent)!r})",
        "import load_alone",
        "load_alone.LOADERS['fasttext'] = lambda path: bytearray(1 << 33)",
        "sys.exit(load_alone.main(*sys.argv[1:]))",
    ]
    program = tmp_path / "program.py"
    program.write_text("\n".join(lines))
    monkeypatch.setattr(tried, "PROGRAM", program)
    with pytest.raises(ValueError, match="ask for more than"):
        tried.check_loads("fasttext", str(program))


def test_tokenizers_of_strangers_are_tried_too(tmp_path: Path) -> None:
    for name, content, message in (
        ("cut.json", b'{"version": "1.0", "model"', r"cut\.json: is no tokenizer \(.+\); give a tokenizer\.json"),
        ("cut.model", b"\x0a\x0e\x0a\x05<unk>", r"cut\.model: is no SentencePiece model \(.+\); give another file"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match=message):
            load_pieces(str(tmp_path / name))
        assert tried._fault.cache_info().currsize
        tried._fault.cache_clear()


def test_a_worker_tries_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "parent_process", lambda: object())
    tried.check_loads("fasttext", str(tmp_path / "not there"))
    assert tried._fault.cache_info().misses == 0


def test_a_model_of_our_own_that_unfolds_beyond_bounds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = arrays_file.Kind("curate test", 1, "test model", "make one")
    arrays_file.save(tmp_path / "bomb", kind, {}, {"zeros": np.zeros(1 << 16)})
    assert (tmp_path / "bomb").stat().st_size < 2000
    monkeypatch.setattr(arrays_file, "MOST_BYTES", 1 << 16)
    with pytest.raises(
        UserError, match=r"bomb: is no test model \(it unfolds to more than any model takes\); make one"
    ):
        arrays_file.load(str(tmp_path / "bomb"), kind, lambda header, arrays: header)

"""The command line called in this process, with exit status and both outputs apart."""

import json
import signal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from curate.cli import main


class Called(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


class Calling:
    """Calls `curate` and catches what it prints."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> Called:
        before = signal.getsignal(signal.SIGTERM)
        self.capsys.readouterr()
        try:
            main([str(argument) for argument in arguments])
            status: Any = 0
        except SystemExit as end:
            status = end.code or 0
        finally:
            signal.signal(signal.SIGTERM, before)
        out, err = self.capsys.readouterr()
        return Called(int(status), out, err)


def written(folder: Path, config: Any) -> str:
    """A config as a file; JSON is YAML."""
    path = folder / "run.yaml"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return str(path)

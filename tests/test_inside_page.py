"""docs/inside.md shows every command that looks inside a run, with what it prints."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.test_readme import TIMEOUT_SECONDS, commands, same

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    for folder in ("configs", "sample_crawl"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    surroundings = {**os.environ, "PATH": path, "COLUMNS": "110", "NO_COLOR": "1"}
    for command in commands(PAGE):
        done = subprocess.run(
            command.line, shell=True, cwd=tmp_path, env=surroundings, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS,
        )  # fmt: skip
        printed = [line.rstrip() for line in done.stdout.splitlines()]
        assert same(command.shown, printed), f"$ {command.line}\nprinted:\n{done.stdout}"


def test_each_command_is_on_the_page() -> None:
    shown = {match for command in commands(PAGE) for match in re.findall(r"curate ([\w-]+)", command.line)}
    assert {"stats", "why", "try", "what-if", "sample", "diff", "audit"} <= shown
    assert any("--canaries" in command.line for command in commands(PAGE))

"""The README's commands are run, and what they print is compared with what it shows.

A block after `<!-- output -->` holds commands that start with `$ ` and their output. A line `...` stands for
any lines. The blocks run one after the other in one folder, with configs/ and sample_crawl/ alone.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"<!-- output -->\s*```\w*\n(.*?)```", re.DOTALL)
TIMEOUT_SECONDS = 300


class Command(NamedTuple):
    """A command line and the output shown below it."""

    line: str
    shown: list[str]


def commands(page: str) -> list[Command]:
    """All commands of a page's marked blocks, in order."""
    found: list[Command] = []
    for block in BLOCK.findall(page):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:], []))
            else:
                found[-1].shown.append(line.rstrip())
    return found


def same(shown: list[str], printed: list[str]) -> bool:
    """Whether output is as shown; `...` matches any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(same(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and shown[0] == printed[0] and same(shown[1:], printed[1:])


def begun(folder: Path) -> dict[str, str]:
    """What a page begins with: configs/ and sample_crawl/ in a folder; returns the surroundings of its commands."""
    for name in ("configs", "sample_crawl"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "COLUMNS": "110", "NO_COLOR": "1"}


def check_commands(page: str, folder: Path, surroundings: Mapping[str, str]) -> None:
    """Runs the commands of a page's marked blocks. AssertionError where one prints something else than is shown."""
    for command in commands(page):
        done = subprocess.run(
            command.line,
            shell=True,
            cwd=folder,
            env=surroundings,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_SECONDS,
        )
        printed = [line.rstrip() for line in done.stdout.splitlines()]
        assert same(command.shown, printed), f"$ {command.line}\nprinted:\n{done.stdout}"


def test_commands_print_what_the_readme_shows(tmp_path: Path) -> None:
    check_commands((ROOT / "README.md").read_text(encoding="utf-8"), tmp_path, begun(tmp_path))


def test_blocks_are_found_and_compared() -> None:
    page = "<!-- output -->\n```console\n$ echo a\na\n$ true\n```\n\n```\n$ not this one\n```\n"
    assert commands(page) == [Command("echo a", ["a"]), Command("true", [])]
    assert same(["a", "...", "d"], ["a", "b", "c", "d"])
    assert same(["..."], []) and same([], [])
    assert not same(["a"], ["a", "b"])
    assert not same(["a", "...", "d"], ["a", "b"])

"""Every output of `scale` that docs/scale.md shows is what the command prints."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from scale.cli import main

ROOT = Path(__file__).parents[2]
SHOWN = re.findall(
    r"^```\n\$ scale (.+)\n((?:.*\n)*?)```$", (ROOT / "docs" / "scale.md").read_text(encoding="utf-8"), re.M
)


def test_the_questions_of_the_documentation_are_shown() -> None:
    assert len(SHOWN) >= 8


@pytest.mark.parametrize(("words", "output"), SHOWN, ids=[words for words, _ in SHOWN])
def test_the_documentation_shows_what_is_printed(words: str, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert CliRunner().invoke(main, words.split()).output == output

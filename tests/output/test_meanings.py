"""Each reason of reader and guard has its meaning, and none that is not given has one."""

import re
from pathlib import Path

from curate.output.meanings import GUARD, READ
from curate.scan.guard import ACCUSING

CURATE = Path(__file__).parents[2] / "curate"


def given(folder: str) -> set[str]:
    """The reasons that the code of a folder drops for."""
    return {word for path in (CURATE / folder).rglob("*.py") for word in re.findall(r'Drop\("(\w+)"', path.read_text())}


def test_the_readers_reasons_are_those_that_are_explained() -> None:
    assert given("sources") == set(READ)


def test_the_guards_reasons_are_those_that_are_explained() -> None:
    assert {*ACCUSING.values(), *given("scan")} == set(GUARD)

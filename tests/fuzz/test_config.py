"""Every key of a config with odd values: a sentence or a run, never a traceback, a hang or half an output.

Keys come from the JSON Schema that `curate schema` prints, so a new one is tried without a word here.
"""

import json
import os
import shutil
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curate.config.file import json_schema
from tests.engine import crawl
from tests.fuzz.forked import forked
from tests.fuzz.odd import values
from tests.fuzz.test_commands import half_written, hold

TIMES = int(os.environ.get("CURATE_FUZZ", "1"))
GOOD: dict[str, Any] = {
    "input": {"a": {"path": "in/*.jsonl", "url": "url"}},
    "output": "new",
    "stages": ["gopher", "exact_dedup"],
}
SCHEMA = json_schema()
Place = tuple[str | int, ...]


def keys(schema: Any, place: Place) -> Iterator[Place]:
    """The places of all keys below one, as steps from the top of a config."""
    if "$ref" in schema:
        schema = SCHEMA["properties"][place[0]].get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {})
    if place and len(place) > 8:
        return
    for name, inner in schema.get("properties", {}).items():
        yield (*place, name)
        yield from keys(inner, (*place, name))
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        yield from keys(more, (*place, "a"))
    if isinstance(schema.get("items"), dict):
        yield from keys(schema["items"], (*place, 0))
    for inner in schema.get("anyOf", []):
        yield from keys(inner, place)


KEYS = sorted(set(keys(SCHEMA, ())), key=str)


def stage_of(place: Place) -> str:
    """The group in which a key is tried: its stage, or its part of the config."""
    return str(place[2] if place[0] == "stages" and len(place) > 2 else place[0])


GROUPS = sorted({stage_of(place) for place in KEYS})


def with_value(place: Place, value: Any) -> dict[str, Any]:
    """A good config with one value changed."""
    config = deepcopy(GOOD)
    at: Any = config
    if place[0] == "stages" and len(place) > 2:
        config["stages"] = [{place[2]: {}}]
    for step, following in pairwise(place):
        if isinstance(at, dict) and not isinstance(at.get(step), dict | list):
            at[step] = [] if isinstance(following, int) else {}
        elif isinstance(at, list) and len(at) <= int(step):
            at.append([] if isinstance(following, int) else {})
        at = at[step]
    if isinstance(at, list):
        at[:] = [value]
    else:
        at[place[-1]] = value
    return config


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz") / "world"
    crawl(folder / "in", files=1, each=12)
    return folder


@pytest.mark.parametrize("group", GROUPS)
def test_any_value_ends_in_a_sentence(group: str, world: Path) -> None:
    places = [place for place in KEYS if stage_of(place) == group]

    @settings(
        max_examples=TIMES * min(5, 2 + len(places) // 5),
        derandomize=TIMES == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(places), values)
    def tried(place: Place, value: Any) -> None:
        folder = world.parent / "here"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(world, folder)
        config = with_value(place, value)
        (folder / "c.yaml").write_text(json.dumps(config))
        (ended,) = forked([["check", "c.yaml"]], folder)
        hold(ended)
        assert sorted(path.name for path in folder.iterdir()) == ["c.yaml", "in"]
        if ended.status == 0:
            (ended,) = forked([["run", "c.yaml", "--executor", "serial"]], folder)
            hold(ended)
            assert not list(half_written(folder))

    tried()

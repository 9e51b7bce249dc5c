"""Every command of `curate` and `scale` with every option and odd values: a sentence, never a traceback or a hang.

Commands and parameters come from click's own tree, so a new one is tried without a word here.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curate.cli import cli
from curate.errors import UNSEEN
from tests.commands.test_cli import leaves
from tests.engine import crawl, run_it
from tests.engine import settings as config_of
from tests.fuzz.forked import Ended, forked
from tests.fuzz.odd import NUMBERS, OF_NAMES, SURE_NUMBERS, SURE_WORDS, WORDS, words

TIMES = int(os.environ.get("CURATE_FUZZ", "1"))
STATUSES = {0, 1, 2, 3}
SLOW = {"run", "estimate", "export", "doctor"}
"""Commands that start processes or import much: fewer examples."""
FINAL = {"manifest.json", "stats.json", "shards"}
"""Names that say that a run is whole."""


def commands() -> dict[str, click.Command]:
    """All commands by their names, those of groups and of `scale` too."""
    found: dict[str, click.Command] = {}
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        found.update(leaves(name, command))
    return found


COMMANDS = commands()
PLAN = Path(__file__).parents[2] / "configs" / "plans" / "llama-2-7b.yaml"
MODEL = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "vocab_size": 999,
    "intermediate_size": 512,
    "max_position_embeddings": 128,
    "num_key_value_heads": 4,
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run, configs, texts, pages and plans."""
    folder = tmp_path_factory.mktemp("fuzz") / "world"
    glob = crawl(folder / "in", files=1, each=20)
    config = config_of(glob, folder / "out", stages=["extract", "language", "gopher", "exact_dedup", "near_dedup"][1:])
    run_it(config)
    (folder / "run.yaml").write_text(json.dumps({**config, "output": "new"}))
    (folder / "pages").mkdir()
    (folder / "pages" / "a.html").write_text("<html><body><p>some words of a page</p></body></html>")
    shutil.copy(PLAN, folder / "plan.yaml")
    (folder / "model.json").write_text(json.dumps(MODEL))
    (folder / "table.csv").write_text("N,D,loss\n" + "".join(f"{n}e6,{n}e9,{3 - n / 10}\n" for n in range(1, 9)))
    return folder


RIGHT = {
    "config": ["run.yaml", "model.json"],
    "out": ["out"],
    "before": ["out"],
    "after": ["out"],
    "other": ["out"],
    "a": ["run", "out"],
    "b": ["gopher.min_words=100", "out"],
    "pages": ["pages"],
    "urls": ["table.csv"],
    "place": ["in/part-0.jsonl:0", "pages/a.html"],
    "target": ["in/part-0.jsonl"],
    "plan_file": ["plan.yaml"],
    "raw": ["in/part-0.jsonl"],
    "good": ["in/part-0.jsonl"],
    "bad": ["in/part-0.jsonl"],
    "without": ["gopher"],
    "table": ["table.csv"],
    "changes": ["gopher.min_words=30"],
    "sweep": ["gopher.min_words=10:50:10"],
    "to": ["there"],
    "output": ["there", "there.gz", "there.npz"],
    "plot": ["there.png"],
    "work": ["there"],
    "name": ["gopher", "fineweb"],
    "stages": ["gopher"],
    "reasons": ["too_few_words"],
    "format": ["jsonl", "bin"],
    "tokenizer": ["bytes"],
    "gpu": ["h100"],
    "run": ["out"],
    "memory": ["1GiB"],
    "about": ["x"],
    "slice_size": ["4KiB"],
    "text": ["text"],
}
"""What is right for a parameter of that name, in the folder of `world`."""


def right_values(parameter: click.Parameter) -> list[str]:
    """Right values of a parameter, as far as its kind and name tell."""
    if isinstance(parameter.type, click.Choice):
        return [str(choice) for choice in parameter.type.choices if choice != "ray"]
    return RIGHT.get(str(parameter.name), ["1", "2", "7", "100", "0.5", "1000"])


def right(parameter: click.Parameter) -> st.SearchStrategy[str]:
    """One of the right values."""
    return st.sampled_from(right_values(parameter))


@st.composite
def lines(draw: Any, name: str, command: click.Command) -> list[str]:
    """A command line with each argument and some options, of which one (seldom all) is odd."""
    parameters = [one for one in command.params if one.name != "executor" and not getattr(one, "is_flag", False)]
    odd = draw(st.sampled_from([*parameters, None])) if parameters else None
    wild = draw(st.integers(0, 9)) == 0
    line = name.split()
    for parameter in command.params:
        if parameter.name == "executor":
            continue
        value = words if parameter is odd or wild else right(parameter)
        if isinstance(parameter, click.Argument):
            line += [draw(value) for _ in range(draw(st.integers(1, 3)) if parameter.nargs == -1 else 1)]
        elif parameter.required or parameter is odd or draw(st.integers(0, 3)) == 0:
            option = draw(st.sampled_from([*parameter.opts, *parameter.secondary_opts]))
            line += [option] if getattr(parameter, "is_flag", False) else [option, draw(value)]
    return [*line, "--executor", "serial"] if name == "run" else line


def half_written(folder: Path) -> Iterator[Path]:
    """Files with temporary names outside of work folders, and final names of a run without its manifest."""
    for path in folder.rglob("*"):
        inside = path.relative_to(folder).parts
        if ".work" in inside or any(part.startswith("curate-") for part in inside):
            continue
        if re.search(r"\.tmp|\.part$|.~$", path.name):
            yield path
        if path.name in FINAL - {"manifest.json"} and not (path.parent / "manifest.json").exists():
            yield path


def hold(ended: Ended) -> None:
    """What is right of every ending."""
    assert "Traceback" not in ended.err, (ended.line, ended.err[-3000:])
    assert ended.status in STATUSES, ended
    assert not UNSEEN.search(ended.err) and not UNSEEN.search(ended.out), ended.line
    assert ended.status != 2 or ended.err.strip(), ended.line
    assert len(ended.err) < 4000, (ended.line, ended.err[:3000])


@pytest.fixture
def here(world: Path) -> Path:
    """A copy of the world to spoil."""
    folder = world.parent / "here"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(world, folder)
    return folder


def odd_for(parameter: click.Parameter, number: int) -> list[str]:
    """The odd values that a kind of parameter is most likely to take, and some of the others in turn."""
    if isinstance(parameter.type, click.Choice):
        return ["", "\ud800"]
    text = parameter.type.name in ("text", "path", "file", "directory")
    sure, more = (SURE_WORDS, WORDS) if text else (SURE_NUMBERS, NUMBERS)
    return [*sure, *OF_NAMES.get(str(parameter.name), []), *more[number % 13 :: 13]]


def swept(name: str, command: click.Command) -> list[list[str]]:
    """Lines in which all is right but one parameter, which takes one odd value after another."""
    found = []
    for number, odd in enumerate(command.params):
        if getattr(odd, "is_flag", False) or odd.name == "executor":
            continue
        for value in odd_for(odd, number + len(name)):
            line = name.split()
            for one in command.params:
                values = [value] if one is odd else right_values(one)[:1]
                if isinstance(one, click.Argument):
                    line += values
                elif one.required or one is odd:
                    line += [one.opts[0], *values]
            found.append([*line, "--executor", "serial"] if name == "run" else line)
    return found


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in SLOW])
def test_each_parameter_takes_odd_values(name: str, here: Path) -> None:
    lines = swept(name, COMMANDS[name])
    ended = forked(lines, here)
    for one in ended:
        hold(one)
    assert len(ended) == len(lines)
    assert not list(half_written(here))


@pytest.mark.parametrize("name", COMMANDS)
def test_any_command_line_ends_in_a_sentence(name: str, here: Path) -> None:
    @settings(
        max_examples=TIMES * (1 if name in SLOW else 3),
        derandomize=TIMES == 1,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(lines(name, COMMANDS[name]))
    def tried(line: list[str]) -> None:
        hold(*forked([line], here))
        assert not list(half_written(here)), line

    tried()


JSONS = ("manifest.json", "stats.json", "timings.json", ".fingerprint.json")
LOOKING = (
    ["stats", "out"],
    ["stats", "out", "--by", "domain"],
    ["why", "out", "in/part-0.jsonl:0"],
    ["verify", "out"],
    ["sample", "out"],
    ["what-if", "out", "gopher.min_words=30"],
    ["propose", "out"],
    ["diff", "out", "out"],
    ["audit", "out"],
    ["rules", "diff", "run", "gopher.min_words=100", "--on", "out"],
    ["report", "out"],
    ["quarantine", "out", "-o", "q.warc.gz"],
    ["export", "out", "--format", "jsonl", "--to", "e", "--fresh"],
)


def damaged(facts: Any, rng: Random) -> Any:
    """The same with one value of another type, or without it."""
    place, parent, key = facts, None, None
    while isinstance(place, dict | list) and place and (parent is None or rng.random() < 0.7):
        parent, key = place, rng.choice(list(place)) if isinstance(place, dict) else rng.randrange(len(place))
        place = parent[key]
    value = rng.choice([None, 1, -1, 1.5, 2**70, True, "a", [], {}, [1], {"a": 1}, ...])
    if value is ...:
        del parent[key]
    else:
        parent[key] = value
    return facts


@pytest.mark.parametrize("name", JSONS)
def test_a_damaged_file_of_a_run_is_a_sentence(name: str, here: Path) -> None:
    path, rng = here / "out" / name, Random(3)
    sound = path.read_text()
    texts = ["", "[]", "3", "null", "[" * 100_000, f'{{"format": {"9" * 5000}}}', "\x00"]
    texts += [json.dumps(damaged(json.loads(sound), rng)) for _ in range(4 * TIMES)]
    for number, text in enumerate(texts):
        path.write_text(text)
        for ended in forked([LOOKING[(3 * number + one) % len(LOOKING)] for one in range(3)], here):
            hold(ended)

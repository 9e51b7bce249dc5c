"""`curate train`: a command for each stage that says how its model is trained, with the options of its trainer."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from curate.cli import cli
from curate.errors import UserError
from curate.tools import train as training
from tests.tools.test_train import BAD, GOOD, jsonl


def call(*words: str) -> str:
    done = CliRunner().invoke(cli, ["train", *words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_each_stage_with_a_trainer_has_a_command() -> None:
    output = call("--help")
    assert all(word in output for word in ("naive-bayes", "linear", "importance"))
    assert "gopher" not in output
    assert "No such command" in call("gopher", "a", "b", "-o", "c")


def test_options_are_the_fields_of_the_trainer() -> None:
    linear, importance = " ".join(call("linear", "--help").split()), " ".join(call("importance", "--help").split())
    assert "--l2 FLOAT" in linear and "--bits INTEGER Hash n-grams into 2^bits buckets. [default: 18]" in linear
    assert "TARGET RAW" in importance and "--buckets INTEGER" in importance and "--l2" not in importance


def test_a_model_is_trained_and_an_option_out_of_range_refused(tmp_path: Path) -> None:
    files = jsonl(tmp_path / "target.jsonl", GOOD), jsonl(tmp_path / "raw.jsonl", BAD)
    output = call("importance", *files, "-o", str(tmp_path / "model"), "--buckets", "500")
    assert output.startswith("trained on 72 documents; on 5 target and 3 raw ones held out")
    assert (tmp_path / "model").exists()
    with pytest.raises(UserError, match="--buckets 5: input should be greater than or equal to 100"):
        call("importance", *files, "-o", str(tmp_path / "other"), "--buckets", "5")
    assert not (tmp_path / "other").exists()


PLUG_IN = """
from dataclasses import dataclass
from typing import Annotated, ClassVar
from pydantic import Field

class Model:
    def score(self, words): return len(words) - 3
    def save(self, path): path.write_text("a model")

@dataclass
class Counting:
    step: Annotated[int, Field(ge=1)] = 1
    \"\"\"how far it counts\"\"\"
    examples: ClassVar[tuple[str, str]] = ("long", "short")
    def add(self, text, good): pass
    def finish(self): return Model()

class Mine:
    trainer = Counting
"""


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "counting_plug_in.py").write_text(PLUG_IN.replace('\\"', '"'))
    monkeypatch.syspath_prepend(str(tmp_path))
    import counting_plug_in  # type: ignore[import-not-found]

    monkeypatch.setattr(training, "installed", lambda: {"mine": None})
    monkeypatch.setattr(training, "stage_class", lambda name: counting_plug_in.Mine)
    yield
    sys.modules.pop("counting_plug_in")


def test_a_stage_of_ones_own_is_trained_as_ours_are(plug_in: None, tmp_path: Path) -> None:
    long, short = jsonl(tmp_path / "l.jsonl", ["a b c d e", "f g h i j"]), jsonl(tmp_path / "s.jsonl", ["a", "b"])
    assert "--step INTEGER How far it counts. [default: 1]" in " ".join(call("mine", "--help").split())
    output = call("mine", long, short, "-o", str(tmp_path / "model"))
    assert "1 long and 1 short ones held out: accuracy 1.000" in output
    assert (tmp_path / "model").read_text() == "a model"

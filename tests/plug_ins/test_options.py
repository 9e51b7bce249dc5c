"""What people are told of a stage's options: default, what may be given, meaning; from the class alone."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from curate.config.file import PARTS, json_schema
from curate.errors import hint
from curate.export.settings import ExportSettings
from curate.plug_ins.options import options
from curate.plug_ins.registry import installed, stage_class
from curate.stage import RuleStage
from tests.commands.calling import Calling


@dataclass(frozen=True, kw_only=True)
class Mine(RuleStage):
    """A stage of one's own."""

    words: Annotated[int, Field(ge=1, lt=1 << 32)] | None = 3
    """fewest words,
    of the text"""
    way: Literal["up", "down"]
    """where it goes; <stage> knows"""
    names: tuple[str, ...] = field(default_factory=lambda: ("a",))
    share: Annotated[float, Field(gt=0, le=0.5)] = 0.25
    odd: complex | Any = None
    hidden: int = field(init=False, default=0)


def test_an_option_is_told_by_its_field() -> None:
    by_name = {option.name: option for option in options("mine", Mine)}
    assert list(by_name) == ["annotate", "words", "way", "names", "share", "odd"]
    assert by_name["annotate"].meaning == "record the verdict in the column `mine_reason` and keep the page"
    assert (by_name["words"].meaning, by_name["words"].allowed) == (
        "fewest words, of the text",
        "a whole number from 1 below 2^32 or null",
    )
    assert (by_name["way"].default_text, by_name["way"].allowed) == ("required", "up or down")
    assert by_name["way"].meaning == "where it goes; mine knows"
    assert (by_name["names"].default_text, by_name["names"].allowed, by_name["names"].meaning) == (
        '["a"]',
        "a list of texts",
        "",
    )
    assert by_name["share"].allowed == "a number above 0 to 0.5"


def test_a_stage_whose_types_have_no_schema_still_has_options() -> None:
    @dataclass(frozen=True)
    class Odd:
        thing: object = None
        other: type(json) = json  # type: ignore[valid-type]

    assert [option.name for option in options("odd", Odd)] == ["thing", "other"]


@pytest.mark.parametrize("name", installed())
def test_each_option_of_each_stage_has_a_default_a_range_and_a_meaning(name: str, capsys: Any) -> None:
    output = Calling(capsys)("stages", name).out
    assert max(map(len, output.splitlines()[1:]), default=0) <= 110
    joined = " ".join(output.split())
    for option in options(name, stage_class(name)):
        assert option.meaning and option.allowed, option
        assert option.default_text in joined and option.meaning in joined and option.allowed in joined
    shown = json.loads(Calling(capsys)("stages", name, "--json").out)[0]["options"]
    assert all(about["meaning"] and about["allowed"] for about in shown.values())


def test_what_if_can_change_the_options_with_a_star(capsys: Any) -> None:
    output = Calling(capsys)("stages", "language").out
    assert "  min_score*: default 0.65; a number from 0 to 1 or null\n" in output
    assert "  chars: default 2000; a whole number from 1\n" in output


def test_editors_show_the_meanings() -> None:
    entries = json_schema()["properties"]["stages"]["items"]["anyOf"]
    gopher = next(entry["properties"]["gopher"] for entry in entries if "gopher" in entry.get("properties", {}))
    assert gopher["properties"]["min_words"]["description"] == "fewest words"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("gofer", "did you mean 'gopher'? (`curate stages` lists all)"),
        ("nope", f"known are {', '.join(installed())}"),
    ],
)
def test_an_unknown_stage_is_answered_with_the_nearest_or_all(word: str, message: str, capsys: Any) -> None:
    ended = Calling(capsys)("stages", word)
    assert (ended.status, ended.err) == (2, f"curate: unknown stage '{word}', {message}\n")


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("min_word", "did you mean 'min_words'?"),
        ("nope", "known are "),
        ("xyz", "known are "),
    ],
)
def test_a_far_word_is_not_suggested(word: str, message: str) -> None:
    assert hint(word, [option.name for option in options("gopher", stage_class("gopher"))]).startswith(message)


@pytest.mark.parametrize(("part", "cls"), [(part, cls) for part, (cls, _) in PARTS.items()])
def test_each_key_of_a_config_has_a_meaning_on_the_page_the_terminal_and_in_editors(
    part: str, cls: Any, capsys: Any
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "config.md").read_text(encoding="utf-8")
    output = " ".join(Calling(capsys)("stages", "--config").out.split())
    schema = json.dumps(json_schema())
    for option in options("", cls):
        assert option.meaning and f"| `{option.name}` |" in page, (part, option)
        assert option.meaning in output
        assert json.dumps(option.meaning)[1:-1] in schema or cls is ExportSettings

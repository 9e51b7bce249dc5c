"""Text on a terminal: as wide as it is, coloured where that is wanted; a pipe gets it as it was made."""

import re
from pathlib import Path

import pytest

from curate.commands import screen
from curate.commands.screen import colour, laid_out, shortened, wrapped
from curate.inspect.tables import TableLine, lines
from tests.commands.terminal import STYLE, on_terminal, plain_lines
from tests.report.finished import ROOT, call, sample_run

URL = "https://www.example.org/a/very/long/way/to/a/page/that/nobody/would/type/index.html"
ROWS = [
    {
        "stage": "gopher",
        "verdict": "DROPPED too_few_words",
        "measure": "words",
        "value": 29,
        "limits": "min_words 50 < broken, max_words 100000",
    },
    {
        "stage": "",
        "verdict": "",
        "measure": "duplicate_paragraph_character_ratio",
        "value": 0,
        "limits": "max_duplicate_paragraph_character_ratio 0.2",
    },
    {"stage": "tokens", "verdict": "passed", "measure": "", "value": "", "limits": ""},
]
COLUMNS = ("stage", "verdict", "measure", "value", "limits")


def fitted(table: list[str], room: int) -> list[str]:
    return list(laid_out(table, room, painted=False))


def test_a_table_that_fits_is_the_one_of_a_pipe() -> None:
    table = lines(ROWS, COLUMNS, heads=2)
    assert fitted(table, 200) == table == list(laid_out(table, None, painted=False))


@pytest.mark.parametrize("room", [40, 60, 80])
def test_a_group_has_its_heading_on_a_line_of_its_own(room: int) -> None:
    found = fitted(lines(ROWS, COLUMNS, heads=2), room)
    assert max(map(len, found)) <= room
    assert "gopher  DROPPED too_few_words" in found
    assert "".join(" ".join(found).split()).count("max_duplicate_paragraph_character_ratio") <= 1
    assert not any(screen.ELLIPSIS in line for line in found)  # names are parted, not shortened


def test_numbers_are_never_cut_and_addresses_are_in_the_middle() -> None:
    rows = [{"page": URL, "pages": 1_234_567_890, "share": "100.0%"}]
    titles, row = fitted(lines(rows, ("page", "pages", "share")), 60)
    assert len(row) <= 60 and "1,234,567,890" in row and row.endswith("100.0%")
    assert row.startswith("https://www.") and "index.html" in row and screen.ELLIPSIS in row
    assert titles.split() == ["page", "pages", "share"]


def test_more_columns_than_fit_go_on_below_with_the_first_again() -> None:
    columns = [f"number_{at}" for at in range(12)]
    rows = [{"domain": "a.example", **dict.fromkeys(columns, 1_000_000)}]
    found = fitted(lines(rows, ("domain", *columns)), 60)
    assert max(map(len, found)) <= 60
    assert " ".join(found).count("1,000,000") == len(columns)
    assert sum(line.startswith("a.example") for line in found) == found.count("") + 1 > 1


def test_lines_of_a_table_stay_lines_of_text() -> None:
    table = lines([{"a": 1}], ("a",))
    assert table == ["a", "1"] and "\n".join(table) == "a\n1" and all(isinstance(line, TableLine) for line in table)


def test_running_text_goes_on_behind_its_label() -> None:
    assert wrapped("verdict  dropped by a stage for a reason", 20) == [
        "verdict  dropped by",
        "         a stage for",
        "         a reason",
    ]
    assert wrapped("  one two three", 10) == ["  one two", "    three"]


@pytest.mark.parametrize("wide", [5, 6, 7])
def test_shortened_has_beginning_and_end(wide: int) -> None:
    found = shortened("abcdefghij", wide)
    assert len(found) == wide and found[0] == "a" and found[-1] == "j"


def test_text_to_be_copied_stays_in_one_line() -> None:
    command = screen.Verbatim(f"reopen   curate try out {URL} --against out")
    assert fitted([command], 40) == [command]


@pytest.mark.parametrize(
    ("surroundings", "terminal", "coloured"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"CLICOLOR": "0"}, True, False),
        ({"CLICOLOR_FORCE": "1"}, False, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colours_are_used_where_they_are_wanted(
    surroundings: dict[str, str], terminal: bool, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    assert colour() is coloured


def test_what_matters_is_coloured_and_nothing_else() -> None:
    unpainted = [
        *lines(ROWS, COLUMNS),
        "verdict  dropped by gopher: too_few_words, words 29",
        "verdict  kept",
        "ALARM a: b",
        "nothing was dropped by it",
    ]
    found = list(laid_out(unpainted, None, painted=True))
    marked = [re.findall("\x1b\\[(?!0m)[0-9;]+m([^\x1b]+)", line) for line in found]
    assert [part for part in marked if part] == [
        ["DROPPED too_few_words", "min_words 50 < broken"],
        ["dropped by gopher: too_few_words"],
        ["kept"],
        ["ALARM a:"],
    ]
    assert [STYLE.sub("", line) for line in found] == unpainted


def asked_of(out: Path) -> dict[str, tuple[object, ...]]:
    """A call of every command that prints a table or sentences of a run."""
    dropped = "sample_crawl/sample-00000.warc.gz:2374"
    return {
        "why": ("why", out, f"{ROOT}/{dropped}"),
        "try": ("try", out, f"{ROOT}/{dropped}"),
        "stats": ("stats", out, "--price", "0.04"),
        "by domain": ("stats", out, "--by", "domain"),
        "what-if": ("what-if", out, "gopher.min_words=30"),
        "sweep": ("what-if", out, "--sweep", "gopher.min_words=20:100:20"),
        "propose": ("propose", out),
        "rules diff": ("rules", "diff", "run", "gopher.min_words=5,gopher.min_stop_words=0", "--on", out),
        "diff": ("diff", out, out),
        "audit": ("audit", out),
        "verify": ("verify", out),
        "check": ("check", "configs/sample.yaml"),
        "stages": ("stages",),
        "gopher": ("stages", "gopher"),
        "config": ("stages", "--config"),
        "doctor": ("doctor",),
        "bands": ("bands",),
        "init": ("init", "--list"),
        "help": ("--help",),
    }


@pytest.mark.parametrize("name", asked_of(Path()))
def test_each_command_fits_80_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = asked_of(sample_run().folder)[name]
    printed = plain_lines(on_terminal(ROOT, *arguments))
    own = [line for line in printed if not re.match(r"page |address |reopen |\S*$", line)]  # what one copies is whole
    assert len(printed) > 1 and [line for line in own if len(line) > 80] == []


def test_a_pipe_gets_everything_and_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    out = sample_run().folder
    monkeypatch.setenv("COLUMNS", "40")
    printed = call("stats", out, "--by", "domain").output
    assert max(map(len, printed.splitlines())) > 80 and "\x1b" not in printed and screen.ELLIPSIS not in printed


def test_a_terminal_has_colours_unless_they_are_unwanted() -> None:
    arguments = asked_of(sample_run().folder)["why"]
    assert STYLE.search(on_terminal(ROOT, *arguments))
    assert not STYLE.search(on_terminal(ROOT, *arguments, surroundings={"NO_COLOR": "1"}))

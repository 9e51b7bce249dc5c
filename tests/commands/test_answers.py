"""Each command that reports has `--json`: one document with the keys that the docs list."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from curate.cli import cli
from curate.commands.answers import ANSWERS, MAKES
from tests.report.finished import ROOT, call, sample_run


def leaves(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command by its words behind `curate`."""
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, f"{name}{word} ")
        else:
            yield f"{name}{word}", command


COMMANDS = dict(leaves(cli))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_that_reports_has_json(name: str) -> None:
    flags = [word for parameter in COMMANDS[name].params for word in parameter.opts]
    assert ("--json" in flags) != (name in MAKES)


def test_all_answers_are_of_commands_and_none_lacks_one() -> None:
    ours = {name for name in COMMANDS if name.split()[0] not in ("scale", "train") and name not in MAKES}
    assert ours | {"train"} == set(ANSWERS)
    assert set(MAKES) <= set(COMMANDS)


def calls(out: Path) -> dict[str, tuple[object, ...]]:
    """A call of each command with an answer."""
    page = f"{ROOT}/sample_crawl/sample-00000.warc.gz:2374"
    return {
        "check": ("configs/sample.yaml",),
        "stages": ("gopher",),
        "try": (out, page),
        "top": (out,),
        "stats": (out,),
        "why": (out, page),
        "what-if": (out, "gopher.min_words=30"),
        "propose": (out,),
        "rules diff": ("run", "gopher.min_words=5", "--on", out),
        "sample": (out, "-n", "2"),
        "diff": (out, out),
        "audit": (out,),
        "compare": (out, out, "--target", out.parent / "target.jsonl", "--words", "1000"),
        "estimate": ("configs/sample.yaml",),
        "bands": (),
        "train": ("linear", out.parent / "target.jsonl", out.parent / "other.jsonl", "-o", out.parent / "model.npz"),
        "verify": (out,),
        "export": (out, "--format", "jsonl", "--to", out.parent / "export"),
        "doctor": (),
    }


@pytest.mark.parametrize("name", ANSWERS)
def test_the_document_has_the_keys_of_the_docs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    out = sample_run().folder
    for file, kind in (("target", "--kept"), ("other", "--stage=gopher")):
        (out.parent / f"{file}.jsonl").write_text(call("sample", out, kind, "--jsonl", "-n", 40).stdout)
    result = call(*name.split(), *calls(out)[name], "--json")
    document = json.loads(result.stdout)  # one document, whole
    found = document[0] if isinstance(document, list) else document
    assert set(found) == set(ANSWERS[name].keys)
    assert isinstance(document, list) == ANSWERS[name].of.startswith("a list")


def test_the_page_of_the_commands_lists_the_keys() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for name, answer in ANSWERS.items():
        section = next(part for part in page.split("\n## ") if re.match(rf"`curate {name}\b", part))
        assert all(f"| `{key}` | {meaning} |" in section for key, meaning in answer.keys.items())


def test_each_heading_is_what_one_types() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## `curate ([a-z0-9 -]+?)(?: [^a-z`][^`]*)?`$", page, re.MULTILINE)
    assert headings == list(COMMANDS)

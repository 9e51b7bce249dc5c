"""A model made of a few labelled pages of our own finds the text of another, and is the same in any order."""

from pathlib import Path

import pytest

from curate.errors import UserError
from stages.extraction.blocks.extractor import main
from stages.extraction.blocks.model import load
from stages.extraction.training.boosting import Boosting
from stages.extraction.training.teacher import ExtractorTrainer, Teacher, registered
from tests.stages.labelled import labelled

SMALL = Teacher(Boosting(trees=20, depth=3, rate=0.4, columns=0.4))


def trained(path: Path, numbers: list[int]) -> Path:
    trainer = ExtractorTrainer("made up", SMALL)
    for number in numbers:
        trainer.add(*labelled(number))
    trainer.finish().save(path)
    return path


def test_the_text_of_a_page_not_seen(tmp_path: Path) -> None:
    path = trained(tmp_path / "model.json", list(range(24)))
    assert load(str(path)).about == "made up: 24 labelled pages of 24 sites"
    _, html, truth = labelled(99)
    found = main(html.encode(), model=str(path), favor="none", tables=True, links=False)
    assert found.text.split() == truth.split()
    assert found.confidence > 0.8


def test_the_order_of_the_pages_changes_no_byte(tmp_path: Path) -> None:
    first = trained(tmp_path / "first.json", list(range(12)))
    second = trained(tmp_path / "second.json", list(reversed(range(12))))
    assert first.read_bytes() == second.read_bytes()


def test_what_can_not_be_learnt_from() -> None:
    trainer = ExtractorTrainer()
    with pytest.raises(ValueError, match="no text"):
        trainer.add("https://a.org/", "<body></body>", "truth")
    with pytest.raises(ValueError, match="no text"):
        trainer.add("https://a.org/", "<p>text</p>", "")
    trainer.add("https://a.org/", "<p>text</p>", "text")
    with pytest.raises(ValueError, match="1 sites"):
        trainer.finish()


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.forum.example.co.uk/a", "example"),
        ("http://Example.com:80/", "example"),
        ("example.org", "example"),
        ("localhost", "localhost"),
        ("https://news.example.de", "example"),
    ],
)
def test_the_name_of_a_domain(url: str, name: str) -> None:
    assert registered(url) == name


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "no model"), ("{}", "no model"), ('{"version": 99}', "version 99"), ("[1]", "no model")],
)
def test_a_file_that_is_no_model(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        load(str(path))


def test_a_model_that_asks_for_what_nobody_measures(tmp_path: Path) -> None:
    path = trained(tmp_path / "model.json", list(range(12)))
    path.write_text(path.read_text().replace('"words"', '"colour"'))
    with pytest.raises(UserError, match="colour"):
        load(str(path))

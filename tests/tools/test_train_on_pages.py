"""Training on labelled pages: what is read, what is refused, what is written."""

import gzip
import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from curate.errors import UserError
from curate.tools import train_on_pages as tool
from curate.tools.train_on_pages import PageTraining, train_on_pages


class Pages:
    makes: ClassVar[str] = "toy"

    def __init__(self, about: str) -> None:
        self.about, self.urls = about, [""][:0]

    def add(self, url: str, html: str, text: str) -> None:
        if not text:
            raise ValueError("no text")
        self.urls.append(url)

    def finish(self) -> "Pages":
        if not self.urls:
            raise ValueError("holds no page, give more")
        return self

    def save(self, path: Path) -> None:
        path.write_text(f"{self.about}: {' '.join(self.urls)}")


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "page_trainers", lambda: {"toy": Pages})


def jsonl(path: Path, *rows: Any) -> str:
    data = "".join(json.dumps(row) + "\n\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


ROW = {"url": "a", "html": "<p>x", "text": "x"}


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz"])
def test_pages_are_read_and_the_model_written(name: str, tmp_path: Path) -> None:
    pages = jsonl(tmp_path / name, ROW, {**ROW, "url": "b"}, {**ROW, "text": ""})
    out = tmp_path / "model"
    trained = train_on_pages("toy", pages, str(out), "ours")
    assert trained == PageTraining(2, 1)
    assert str(trained) == "trained on 2 pages; 1 page without text left out"
    assert out.read_text() == "ours: a b"


@pytest.mark.parametrize(
    ("rows", "message"),
    [([{"url": "a"}], "pages.jsonl:1: lacks one of url"), ([ROW, 3], "pages.jsonl:3: lacks"), ([], "holds no page")],
)
def test_what_is_refused(rows: list[Any], message: str, tmp_path: Path) -> None:
    pages = jsonl(tmp_path / "pages.jsonl", *rows)
    with pytest.raises(UserError, match=message):
        train_on_pages("toy", pages, str(tmp_path / "model"))
    assert not (tmp_path / "model").exists()


def test_a_missing_file_and_no_json(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read"):
        train_on_pages("toy", str(tmp_path / "none.jsonl"), str(tmp_path / "model"))
    (tmp_path / "odd.jsonl").write_text("{")
    with pytest.raises(UserError, match="is no JSON"):
        train_on_pages("toy", str(tmp_path / "odd.jsonl"), str(tmp_path / "model"))

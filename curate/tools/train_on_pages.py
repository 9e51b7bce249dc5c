"""Trains the model of a stage on pages whose true text is known: `curate train extractor pages.jsonl -o model.json`.

Which stages have one, and how it is trained, they declare themselves (`curate.stage.PageTrainer`).
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

from curate.durable import atomic
from curate.errors import UserError, cause
from curate.plug_ins.registry import installed, stage_class
from curate.sizes import numbered
from curate.stage import PageTrainer

COLUMNS = ("url", "html", "text")


@dataclass(frozen=True, slots=True)
class PageTraining:
    """How a training on pages went."""

    pages: int  # learnt from
    left_out: int  # without text, or without a true one

    def __str__(self) -> str:
        rest = f"; {numbered(self.left_out, 'page')} without text left out" if self.left_out else ""
        return f"trained on {numbered(self.pages, 'page')}{rest}"


def page_trainers() -> dict[str, Callable[[str], PageTrainer]]:
    """What trains on labelled pages, by the word of its command."""
    found = {}
    for name in installed():
        with suppress(UserError):  # one that can't be imported is told when a config asks for it
            trainer: Any = getattr(stage_class(name), "page_trainer", None)
            if trainer is not None:
                found[trainer.makes] = trainer
    return found


def train_on_pages(word: str, pages: str, out: str, about: str = "") -> PageTraining:
    """Trains on a JSONL file (also .gz, .zst) of objects with `url`, `html` and `text`, the true one; writes `out`.

    `about` says what the pages are and under which licence they stand; it is written into the model. Raises UserError
    for what can't be read or trained on.
    """
    trainer = page_trainers()[word](about)
    learnt = left_out = 0
    for url, html, text in _rows(pages):
        try:
            trainer.add(url, html, text)
            learnt += 1
        except ValueError:
            left_out += 1
    try:
        model = trainer.finish()
    except ValueError as error:
        raise UserError(f"{pages}: {error}") from None
    with atomic(Path(out)) as unfinished:
        model.save(unfinished)
    return PageTraining(learnt, left_out)


def _rows(path: str) -> Iterator[tuple[str, str, str]]:
    try:
        with fsspec.open(path, "rt", encoding="utf-8", compression="infer") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _row(line, f"{path}:{number}")
    except (OSError, EOFError, UnicodeDecodeError, ImportError) as error:
        raise UserError(f"{path}: can't be read ({cause(error)}); give a JSONL file of pages") from None


def _row(line: str, place: str) -> tuple[str, str, str]:
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise UserError(f"{place}: is no JSON ({error}); give one object a line") from None
    url, html, text = ((row.get(name) if isinstance(row, dict) else None) for name in COLUMNS)
    if not (isinstance(url, str) and isinstance(html, str) and isinstance(text, str)):
        raise UserError(f"{place}: lacks one of url, html and text, which must be texts")
    return url, html, text

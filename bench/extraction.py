"""Extraction against labelled pages: precision, recall, F1 and CPU time of each mode and engine.

    python bench/extraction.py FOLDER [FOLDER ...] [--every N] [--only NAME ...] [--model FILE] [--profile]

Folders as bench/labelled_pages.py says; nothing of them is part of this project. `stock` is the installed trafilatura
called as its documentation says, with comments off; `equal` is the share of pages whose text is the stock one's. The
model of `blocks` was trained on WCXB's part `dev`: there bench/extractor.py judges it, by folds. Configurations take
turns every 50 pages, so that load on the machine falls on all alike, and each turn begins without what was remembered
of class names and pages, so that none profits from another. `--profile` prints where a stock call spends its time.
"""

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trafilatura
from labelled_pages import Score, averaged, f1, pages

from stages.extract import Extract
from stages.extraction.article import _cascade
from stages.extraction.blocks.stream import stream
from stages.extraction.lean import Lean
from stages.extraction.source import decoded, encoded, source_text
from stages.extraction.visible import parsed

Extractor = Callable[[bytes], str]
TURN = 50  # pages


def extractors(model: str | None) -> dict[str, Extractor]:
    """The configurations compared, by name."""
    chosen: dict[str, dict[str, Any]] = {
        "full": {"mode": "full"},
        "fast": {"mode": "fast"},
        "auto": {"mode": "auto"},
        "precision": {"favor": "precision"},
        "recall": {"favor": "recall"},
        "resiliparse": {"engine": "resiliparse"},
        "blocks": {"engine": "blocks", "model": model},
        "blocks precision": {"engine": "blocks", "model": model, "favor": "precision"},
        "blocks recall": {"engine": "blocks", "model": model, "favor": "recall"},
    }
    ours = {name: Extract(memo_bytes=None, **fields).text for name, fields in chosen.items()}
    return {
        "stock": lambda html: stock(html),
        "stock fast": lambda html: stock(html, fast=True),
        "stock precision": lambda html: stock(html, favor_precision=True),
        **ours,
    }


def stock(html: bytes, **options: Any) -> str:
    """trafilatura itself, on the same repaired source."""
    return trafilatura.extract(source_text(html, None), include_comments=False, **options) or ""


@dataclass
class Tally:
    """What one configuration did on one set."""

    seconds: float = 0.0
    empty: int = 0
    equal: int = 0
    scores: list[Score] = field(default_factory=list)

    def row(self, name: str, mean: bool) -> str:
        """One line of the table; F1 as the mean over pages or that of the sums."""
        hits, wrong, missed = (sum(column) for column in zip(*self.scores))
        precision, recall = hits / ((hits + wrong) or 1), hits / ((hits + missed) or 1)
        count = len(self.scores)
        score = sum(f1(*each) for each in self.scores) / count if mean else f1(hits, wrong, missed)
        return (
            f"| {name} | {precision:.4f} | {recall:.4f} | {score:.4f} | {self.seconds / count * 1e3:.1f} "
            f"| {self.equal / count:.2%} | {self.empty} |"
        )

    def kinds(self, name: str, kinds: list[str]) -> str:
        """One line of the table by kinds of pages."""
        by: dict[str, list[float]] = {}
        for kind, score in zip(kinds, self.scores):
            by.setdefault(kind, []).append(f1(*score))
        return f"| {name} | " + " | ".join(f"{sum(each) / len(each):.3f}" for _, each in sorted(by.items())) + " |"


def forget() -> None:
    """Empties the memos that calls of one process share."""
    cascade = getattr(_cascade(), "__self__", None)
    if isinstance(cascade, Lean):
        for memo in cascade.marker.memos.values():
            memo.clear()
    for cache in (decoded, encoded, parsed, stream):
        cache.cache_clear()


def run(folder: Path, every: int, only: list[str], model: str | None) -> None:
    """Prints the table of one labelled set."""
    chosen = {name: call for name, call in extractors(model).items() if not only or name in only}
    tallies = {name: Tally() for name in chosen}
    labelled = list(pages(folder))[::every]
    for call in chosen.values():
        call(labelled[0].html)  # models and tables are loaded before the clock runs
    for first in range(0, len(labelled), TURN):
        turn = labelled[first : first + TURN]
        texts: dict[str, list[str]] = {}
        for name, call in chosen.items():
            forget()
            start = time.process_time()
            texts[name] = [call(page.html) for page in turn]
            tallies[name].seconds += time.process_time() - start
            tallies[name].scores += [page.score(text) for page, text in zip(turn, texts[name])]
            tallies[name].empty += texts[name].count("")
            model = "stock" if name in ("full", "auto") else f"stock {name}"
            tallies[name].equal += sum(a == b for a, b in zip(texts[name], texts.get(model, [])))
    print(f"\n{folder.name}: {len(labelled)} pages, {sum(len(p.html) for p in labelled) // len(labelled):,} bytes each")
    print("| | precision | recall | F1 | CPU ms a page | equal to stock | empty |\n|---|---|---|---|---|---|---|")
    for name, tally in tallies.items():
        print(tally.row(name, averaged(folder)))
    kinds = [page.kind for page in labelled]
    if len(set(kinds)) > 1:
        print("\n| F1 | " + " | ".join(sorted(set(kinds))) + " |\n|---" + "|---" * len(set(kinds)) + "|")
        for name, tally in tallies.items():
            print(tally.kinds(name, kinds))


# Functions of the libraries whose share docs/upstream-trafilatura.md gives: (file, name, with what it calls).
HOT = (
    ("lxml/html/__init__.py", "lookup", True),
    ("trafilatura/htmlprocessing.py", "prune_unwanted_nodes", True),
    ("trafilatura/baseline.py", "basic_cleaning", True),
    ("trafilatura/main_extractor.py", "_extract", False),
    ("trafilatura/external.py", "try_readability", True),
    ("copy.py", "copy", True),
    ("trafilatura/external.py", "try_justext", True),
    ("justext/core.py", "classify_paragraphs", True),
    ("justext/core.py", "make_paragraphs", True),
    ("trafilatura/baseline.py", "html2txt", True),
)


def profile(folder: Path, every: int) -> None:
    """Prints the shares of the hot functions in stock calls, under cProfile."""
    bodies = [page.html for page in pages(folder)][::every]
    stock(bodies[0])
    profiler = cProfile.Profile()
    profiler.enable()
    for html in bodies:
        stock(html)
    profiler.disable()
    stats: dict[Any, Any] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total = sum(own for _, _, own, _, _ in stats.values())
    print(f"\n{folder.name}: {len(bodies)} pages")
    for file, name, cumulative in HOT:
        entries = [value for key, value in stats.items() if key[0].endswith(file) and key[2] == name]
        spent = sum(value[3] if cumulative else value[2] for value in entries)
        calls = sum(value[1] for value in entries) / len(bodies)
        print(f"{spent / total:6.1%} {name} ({file}), {calls:,.1f} calls a page")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every Nth page")
    parser.add_argument("--only", nargs="*", default=[], help="names of configurations")
    parser.add_argument("--model", help="of the rows blocks; ours where it is left out")
    parser.add_argument("--profile", action="store_true", help="where a stock call spends its time")
    arguments = parser.parse_args()
    for each in arguments.folders:
        if arguments.profile:
            profile(each, arguments.every)
        else:
            run(each, arguments.every, arguments.only, arguments.model)

"""Extraction against labelled pages: precision, recall, F1 and CPU time of each mode and engine.

    python bench/extraction.py FOLDER [FOLDER ...] [--every N] [--only NAME ...]

A folder is a clone of github.com/adbar/trafilatura (its tests/evaldata.json: segments that must and must not be in
the text) or of github.com/scrapinghub/article-extraction-benchmark (ground-truth.json: whole article bodies). Nothing
of them is part of this project. `stock` is the installed trafilatura called as its documentation says, with comments
off; `equal` is the share of pages whose text is the stock one's to the byte. Modes take turns page by page, so that
load on the machine falls on all alike.
"""

import argparse
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import trafilatura

from curate.sources.charset import decode
from stages.extract import Extract
from stages.extraction.markup import repaired

Extractor = Callable[[bytes], str]
WORD = re.compile(r"\w+")
SHINGLE = 4  # words, as the article benchmark has it


def extractors() -> dict[str, Extractor]:
    """The configurations compared, by name."""
    chosen: dict[str, dict[str, Any]] = {
        "full": {}, "fast": {"mode": "fast"}, "auto": {"mode": "auto"}, "precision": {"favor": "precision"},
        "recall": {"favor": "recall"}, "resiliparse": {"engine": "resiliparse"},
    }  # fmt: skip
    ours = {name: Extract(memo_bytes=None, **fields).text for name, fields in chosen.items()}
    return {
        "stock": lambda html: stock(html),
        "stock fast": lambda html: stock(html, fast=True),
        "stock precision": lambda html: stock(html, favor_precision=True),
        **ours,
    }


def stock(html: bytes, **options: Any) -> str:
    """trafilatura itself, on the same repaired source."""
    source = repaired(decode(html)[0])
    return trafilatura.extract(source, include_comments=False, **options) or ""


@dataclass
class Page:
    """A labelled page; `score` turns a text into true positives, false positives and false negatives."""

    html: bytes
    score: Callable[[str], tuple[float, float, float]]


def pages(folder: Path) -> Iterator[Page]:
    """The labelled pages of a clone."""
    if (folder / "tests" / "evaldata.json").is_file():
        labels = json.loads((folder / "tests" / "evaldata.json").read_text())
        for url in sorted(labels):
            for place in ("cache", "eval"):
                file = folder / "tests" / place / labels[url]["file"]
                if file.is_file():
                    yield Page(file.read_bytes(), segments(labels[url]["with"], labels[url]["without"]))
                    break
    else:
        labels = json.loads((folder / "ground-truth.json").read_text())
        for key in sorted(labels):
            html = gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes())
            yield Page(html, shingles(labels[key]["articleBody"]))


def segments(wanted: list[str], unwanted: list[str]) -> Callable[[str], tuple[float, float, float]]:
    """Segments found, white space collapsed, counted over all pages."""

    def score(text: str) -> tuple[float, float, float]:
        text = " ".join(text.split())
        found = sum(" ".join(segment.split()) in text for segment in wanted)
        return found, sum(" ".join(segment.split()) in text for segment in unwanted), len(wanted) - found

    return score


def shingles(body: str) -> Callable[[str], tuple[float, float, float]]:
    """Shares of shingles of a page's text and its true body."""

    def counts(text: str) -> Counter[tuple[str, ...]]:
        words = WORD.findall(text.lower())
        return Counter(zip(*(words[start:] for start in range(min(SHINGLE, max(len(words), 1))))))

    true = counts(body)

    def score(text: str) -> tuple[float, float, float]:
        found = counts(text)
        hits = (true & found).total()
        total = (true | found).total() or 1
        return hits / total, (found.total() - hits) / total, (true.total() - hits) / total

    return score


@dataclass
class Tally:
    """What one configuration did on one set."""

    seconds: float = 0.0
    empty: int = 0
    equal: int = 0
    scores: list[tuple[float, float, float]] = field(default_factory=list)

    def row(self, name: str) -> str:
        """One line of the table."""
        hits, wrong, missed = (sum(column) for column in zip(*self.scores))
        precision, recall = hits / ((hits + wrong) or 1), hits / ((hits + missed) or 1)
        f1 = 2 * precision * recall / ((precision + recall) or 1)
        count = len(self.scores)
        return (
            f"| {name} | {precision:.4f} | {recall:.4f} | {f1:.4f} | {self.seconds / count * 1e3:.1f} "
            f"| {self.equal / count:.2%} | {self.empty} |"
        )


def run(folder: Path, every: int, only: list[str]) -> None:
    """Prints the table of one labelled set."""
    chosen = {name: call for name, call in extractors().items() if not only or name in only}
    tallies = {name: Tally() for name in chosen}
    labelled = list(pages(folder))[::every]
    for call in chosen.values():
        call(labelled[0].html)  # models and tables are loaded before the clock runs
    for page in labelled:
        texts: dict[str, str] = {}
        for name, call in chosen.items():
            start = time.process_time()
            texts[name] = call(page.html)
            tallies[name].seconds += time.process_time() - start
            tallies[name].scores.append(page.score(texts[name]))
            tallies[name].empty += not texts[name]
            model = "stock" if name in ("full", "auto") else f"stock {name}"
            tallies[name].equal += texts[name].split() == texts.get(model, "").split() if model in texts else 0
    print(f"\n{folder.name}: {len(labelled)} pages, {sum(len(p.html) for p in labelled) // len(labelled):,} bytes each")
    print("| | precision | recall | F1 | CPU ms a page | equal to stock | empty |\n|---|---|---|---|---|---|---|")
    for name, tally in tallies.items():
        print(tally.row(name))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every Nth page")
    parser.add_argument("--only", nargs="*", default=[], help="names of configurations")
    arguments = parser.parse_args()
    for each in arguments.folders:
        run(each, arguments.every, arguments.only)

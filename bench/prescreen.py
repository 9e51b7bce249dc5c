"""What prescreen costs, saves and loses, and from which share of target pages on it is pure cost.

    python bench/prescreen.py FOLDER [FOLDER ...] [--language en de] [--engine blocks] [--not-in FOLDER ...] [--every N]

A folder is a labelled set of bench/labelled_pages.py, whose labels are not used, or any folder with pages in it. Pages
that are equal but for their markup count once, and not at all where they are in a folder of `--not-in`, such as the one
that limits were chosen on. For each target language: the pages that extract and language keep without prescreen, how
many of them prescreen drops, with the 95 % interval of that share, and the CPU time with and without it as a function
of the share of pages in the target language (from the measured costs and pass rates of both kinds of pages).
"""

import argparse
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import xxhash
from labelled_pages import pages
from pages_to_crawl import pages_of

from curate.document import Address, Document, Drop
from stages.extract import Extract
from stages.extraction.source import decoded, encoded
from stages.language import Language
from stages.prescreen import Prescreen

SHARES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)
MARKUP = re.compile(rb"<[^>]*>|\s")
LEAST = 500  # bytes of a page


@dataclass
class Extracted:
    """A page, the language of its extracted text, and the CPU seconds that finding both took."""

    html: bytes
    language: str | None
    seconds: float


@dataclass
class Outcome:
    """What became of the pages of one target language and of the others."""

    kept: int = 0
    lost: int = 0
    others: int = 0
    passed: int = 0
    seconds: float = 0.0


def bodies(folders: list[Path]) -> Iterator[tuple[int, bytes]]:
    """The pages of some folders, with a number for what they are without markup."""
    for folder in folders:
        labelled = [page.html for page in pages(folder)]
        for html in labelled or [body for _, body in pages_of([folder])]:
            if len(html) >= LEAST:
                yield xxhash.xxh3_64_intdigest(MARKUP.sub(b"", html)), html


def extracted(folders: list[Path], left_out: list[Path], every: int, options: dict[str, Any]) -> list[Extracted]:
    """The different pages, each extracted once."""
    extract, identify = Extract(memo_bytes=None, **options), Language()
    seen = {number for number, _ in bodies(left_out)}
    wanted = {number: html for number, html in bodies(folders) if number not in seen}
    found = []
    for html in list(wanted.values())[::every]:
        document = Document(Address("pages", "", len(found)), html=html)
        forget()
        start = time.process_time()
        text = extract.apply(document)
        measures = None if isinstance(text, Drop) else identify.measure(text)
        seconds = time.process_time() - start
        sure = measures is not None and (measures["language_score"] or 0) >= (identify.min_score or 0)
        found.append(Extracted(html, measures["language"] if measures and sure else None, seconds))
    return found


def forget() -> None:
    """So that no stage has the last one's work done already."""
    for cache in (decoded, encoded):
        cache.cache_clear()


def run(all_pages: list[Extracted], language: str) -> Outcome:
    """Prescreen with one target language over all pages."""
    # Word rules are gopher's to repeat; here the language rule is what is asked.
    prescreen = Prescreen(languages=(language,), min_words=None, min_stop_words=None, audit=None)
    outcome = Outcome()
    for number, page in enumerate(all_pages):
        document = Document(Address("pages", "", number), html=page.html)
        forget()
        start = time.process_time()
        goes_on = isinstance(prescreen.apply(document), Document)
        outcome.seconds += time.process_time() - start
        if page.language == language:
            outcome.kept += 1
            outcome.lost += not goes_on
        else:
            outcome.others += 1
            outcome.passed += goes_on
    return outcome


def interval(lost: int, kept: int) -> str:
    """The 95 % interval of a share (Wilson 1927)."""
    z = 1.96
    middle, width = lost + z * z / 2, z * sqrt(lost * (kept - lost) / max(kept, 1) + z * z / 4)
    return f"{(middle - width) / (kept + z * z):.2%} to {(middle + width) / (kept + z * z):.2%}"


def report(language: str, all_pages: list[Extracted], outcome: Outcome) -> None:
    """Prints one language's figures and the gain over the target share."""
    total = len(all_pages)
    cheap, dear = outcome.seconds / total * 1e3, sum(page.seconds for page in all_pages) / total * 1e3
    kept, lost = outcome.kept, outcome.lost
    rates = {True: 1 - lost / max(kept, 1), False: outcome.passed / max(outcome.others, 1)}
    print(f"\ntarget {language}: {total} pages, {kept} kept without prescreen, {lost} of these lost", end=" ")
    print(f"({interval(lost, kept)})")
    print(f"CPU ms a page: prescreen {cheap:.2f}, extract and language {dear:.2f}")
    print(f"passed on: {rates[True]:.1%} of the target pages, {rates[False]:.1%} of the others")
    print("| target share | " + " | ".join(f"{share:.0%}" for share in SHARES) + " |")
    print("|---|" + "---|" * len(SHARES))
    through = [share * rates[True] + (1 - share) * rates[False] for share in SHARES]
    print("| gain | " + " | ".join(f"{dear / (cheap + some * dear):.2f}" for some in through) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--language", nargs="+", default=["en", "de"])
    parser.add_argument("--engine", default="trafilatura")
    parser.add_argument("--not-in", nargs="*", type=Path, default=[])
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    every_page = extracted(arguments.folders, arguments.not_in, arguments.every, {"engine": arguments.engine})
    done = {each: run(every_page, each) for each in arguments.language}
    for each, outcome in done.items():
        report(each, every_page, outcome)
    kept, lost = (sum(getattr(outcome, name) for outcome in done.values()) for name in ("kept", "lost"))
    print(f"\nall targets: {lost} of {kept} lost ({interval(lost, kept)})")

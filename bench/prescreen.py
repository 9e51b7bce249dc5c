"""What prescreen costs, saves and loses, and from which share of target pages on it is pure cost.

    python bench/prescreen.py FOLDER [FOLDER ...] [--language en de]

Folders as for bench/extraction.py; the labels are not used. For each target language: the pages that extract and
language keep without prescreen, how many of them prescreen drops, and the CPU time with and without it as a function
of the share of pages in the target language (from the measured costs and pass rates of both kinds of pages).
"""

import argparse
import time
from pathlib import Path

from labelled_pages import pages

from curate.document import Address, Document, Drop
from stages.extract import Extract
from stages.extraction.source import decoded
from stages.language import Language
from stages.prescreen import Prescreen

SHARES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)


def run(bodies: list[bytes], language: str) -> None:
    """Prints the figures for one target language."""
    # Word rules are gopher's to repeat; here the language rule is what is asked.
    prescreen = Prescreen(languages=(language,), min_words=None, min_stop_words=None, audit=None)
    extract, identify = Extract(memo_bytes=None), Language(keep=(language,))
    documents = [Document(Address("pages", "", place), html=html) for place, html in enumerate(bodies)]
    seconds = {"prescreen": 0.0, "extract": 0.0}
    passed = {True: 0, False: 0}
    count = {True: 0, False: 0}
    lost = 0
    for stage in (prescreen, extract, identify):
        stage.apply(documents[0])  # models and tables are loaded before the clock runs
    for document in documents:
        decoded.cache_clear()
        start = time.process_time()
        screened = prescreen.apply(document)
        middle = time.process_time()
        decoded.cache_clear()
        extracted = extract.apply(document)
        kept = extracted if isinstance(extracted, Drop) else identify.apply(extracted)
        end = time.process_time()
        target = isinstance(kept, Document)
        count[target] += 1
        passed[target] += isinstance(screened, Document)
        lost += target and isinstance(screened, Drop)
        seconds["prescreen"] += middle - start
        seconds["extract"] += end - middle
    report(language, len(documents), seconds, passed, count, lost)


def report(
    language: str, total: int, seconds: dict[str, float], passed: dict[bool, int], count: dict[bool, int], lost: int
) -> None:
    """Prints one language's figures and the gain over the target share."""
    cheap, dear = (seconds[name] / total * 1e3 for name in ("prescreen", "extract"))
    rates = {kind: passed[kind] / max(count[kind], 1) for kind in (True, False)}
    print(f"\ntarget {language}: {total} pages, {count[True]} kept without prescreen, {lost} of them lost")
    print(f"CPU ms a page: prescreen {cheap:.2f}, extract and language {dear:.2f}")
    print(f"passed on: {rates[True]:.1%} of the target pages, {rates[False]:.1%} of the others")
    print("| target share | " + " | ".join(f"{share:.0%}" for share in SHARES) + " |")
    print("|---|" + "---|" * len(SHARES))
    through = [share * rates[True] + (1 - share) * rates[False] for share in SHARES]
    print("| gain | " + " | ".join(f"{dear / (cheap + some * dear):.2f}" for some in through) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--language", nargs="+", default=["en", "de"])
    arguments = parser.parse_args()
    everything = [page.html for folder in arguments.folders for page in pages(folder)]
    for each in arguments.language:
        run(everything, each)

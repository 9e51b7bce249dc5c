"""Machine instructions of the hot functions, counted by valgrind: a regression shows on a busy machine too.

    python bench/instructions.py [NAME ...] [--save FILE] [--against FILE]

Each function runs a few times and then more times, in two processes under `valgrind --tool=cachegrind
--cache-sim=no`; the difference divided by the calls between is what one call takes, start-up and first-call caches
left out. Hash seeds are fixed, inputs are made from fixed seeds. `--save` stores the counts as JSON; `--against`
compares with such a file and exits with status 1 where a count grew by more than 3 %. Counts depend on the versions
of Python and the libraries: compare within one environment. About half a minute a function. Needs valgrind.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

FEW, MANY = 3, 13  # documents; the first ones fill caches
TOLERANCE = 0.03

Call = Callable[[int], object]  # the function on input number i


def _pages(count: int) -> list[bytes]:
    from make_crawl import made_pages

    make, dice = made_pages(1.0, 20), random.Random(1)
    return [make(number, dice).html.encode() for number in range(count)]


def _documents(count: int) -> list[Any]:
    from made_texts import texts

    from curate.document import Address, Document

    return [Document(Address("t", "f", n), text=text, url="") for n, text in enumerate(islice(texts(count, 1), count))]


def _extract(count: int, **fields: Any) -> Call:
    from stages.extract import Extract

    stage, pages = Extract(memo_bytes=None, **fields), _pages(count)
    return lambda n: stage.text(pages[n], "utf-8")


def _stage(module: str, name: str, **fields: Any) -> Callable[[int], Call]:
    def made(count: int) -> Call:
        stage = getattr(__import__(f"stages.{module}", fromlist=[name]), name)(**fields)
        documents = _documents(count)
        return lambda n: stage.apply(documents[n])

    return made


def _prescreen(count: int) -> Call:
    from curate.document import Address, Document
    from stages.prescreen import Prescreen

    stage = Prescreen()
    documents = [Document(Address("t", "f", n), html=page, charset="utf-8") for n, page in enumerate(_pages(count))]
    return lambda n: stage.apply(documents[n])


def _sketch(module: str, name: str) -> Callable[[int], Call]:
    def made(count: int) -> Call:
        stage = getattr(__import__(f"stages.{module}", fromlist=[name]), name)()
        documents = _documents(count * 20)
        return lambda n: [stage.sketch(doc) for doc in documents[20 * n : 20 * n + 20]]

    return made


def _read_warc(count: int) -> Call:
    from crawl_files import CrawlWriter, Visited

    from curate.sources import SourceConfig, find_files, reader
    from curate.sources.reader import Slice, settled

    folder = Path(tempfile.mkdtemp())  # read until the process ends
    with CrawlWriter(folder, "c", 10_000) as crawl:
        for number, page in enumerate(_pages(count)):
            crawl.add(Visited(url=f"https://a.example/{number}", body=page, truth={}))
    settings = SourceConfig(path=f"{folder}/*.warc.gz")
    file = find_files("c", settings)[0]
    spans = settled(reader(settings, file).read(file, Slice()))
    return lambda n: list(islice(spans, 3))


def _caps(count: int) -> Call:
    from curate.caps import Caps

    caps, pages = Caps(), _pages(count)
    return lambda n: caps.check_html(pages[n])


def _normalize(count: int) -> Call:
    from made_texts import texts

    from curate.text import normalize

    made = [text.replace("e", "é") for text in texts(count, 1)]
    return lambda n: normalize(made[n])


FUNCTIONS: dict[str, Callable[[int], Call]] = {
    "read a WARC record, 20 kB": _read_warc,
    "caps on a page": _caps,
    "prescreen a page": _prescreen,
    "extract, full": _extract,
    "extract, resiliparse": lambda count: _extract(count, engine="resiliparse"),
    "language of a text": _stage("language", "Language", keep=("en",), min_score=0.0),
    "gopher on a text": _stage("gopher", "Gopher"),
    "normalize a text, not ASCII": _normalize,
    "exact_dedup, 20 sketches": _sketch("exact_dedup", "ExactDedup"),
    "near_dedup, 20 sketches": _sketch("near_dedup", "NearDedup"),
}


def work(name: str, calls: int) -> None:
    """What the counted process does."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    call = FUNCTIONS[name](MANY)
    for number in range(calls):
        call(number)


def counted(name: str, calls: int) -> int:
    """Instructions of a process that makes so many calls."""
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command = [*valgrind, sys.executable, __file__, "--work", name, str(calls)]
    fixed = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **fixed})
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or not found:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    return int(found.group(1).replace(",", ""))


def compared(counts: dict[str, int], before: dict[str, int]) -> bool:
    """Prints what grew; returns whether anything did."""
    grown = {n: c / before[n] - 1 for n, c in counts.items() if n in before and c > before[n] * (1 + TOLERANCE)}
    for name, more in grown.items():
        print(f"{name}: {more:+.1%} instructions")
    return bool(grown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of: {', '.join(FUNCTIONS)}")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work[0], int(given.work[1]))
        return
    if not shutil.which("valgrind"):
        raise SystemExit("valgrind is not installed: apt-get install valgrind")
    counts: dict[str, int] = {}
    print("| function | million instructions |\n|---|---:|")
    for name in given.names or FUNCTIONS:
        counts[name] = (counted(name, MANY) - counted(name, FEW)) // (MANY - FEW)
        print(f"| {name} | {counts[name] / 1e6:.2f} |", flush=True)
    if given.save:
        given.save.write_text(json.dumps(counts, indent=1) + "\n")
    if given.against and compared(counts, json.loads(given.against.read_text())):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

"""Reading a WARC: our reader, FastWARC and warcio, each up to the decoded body of every response.

    python bench/reading.py FOLDER [--times 3]

FOLDER holds .warc.gz files (bench/make_crawl.py, bench/pages_to_crawl.py). All three inflate, find the records, split
the HTTP header off and undo its transfer and content encodings; ours also sees to it that the records tile the file.
FastWARC 2 comes with resiliparse. CPU seconds, medians; the pages and bytes must agree.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from curate.sources import SourceConfig
from curate.sources.reader import InputFile, Slice, settled
from curate.sources.warc import WarcReader

Bodies = Callable[[Path], Iterator[bytes]]


def ours(path: Path) -> Iterator[bytes]:
    """By curate's own reader."""
    file = InputFile("bench", str(path), path.stat().st_size, "")
    for span in settled(WarcReader(SourceConfig(path=str(path))).read(file, Slice())):
        if span.document is not None and span.document.html is not None:
            yield span.document.html


def by_warcio(path: Path) -> Iterator[bytes]:
    """By warcio's ArchiveIterator."""
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type == "response":
                yield record.content_stream().read()


def by_fastwarc(path: Path) -> Iterator[bytes]:
    """By FastWARC's ArchiveIterator."""
    from fastwarc.warc import ArchiveIterator as Fast
    from fastwarc.warc import WarcRecordType

    for record in Fast(str(path), record_types=WarcRecordType.response, parse_http=True, auto_decode="all"):
        yield bytes(record.reader.read())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    files = sorted(given.folder.glob("*.warc.gz"))
    readers: dict[str, Bodies] = {"curate": ours, "FastWARC": by_fastwarc, "warcio": by_warcio}
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    sizes: dict[str, tuple[int, int]] = {}
    for _ in range(given.times):
        for name, bodies in readers.items():
            start = time.process_time()
            lengths = [len(body) for path in files for body in bodies(path)]
            seconds[name].append(time.process_time() - start)
            sizes[name] = (len(lengths), sum(lengths))
    print("| reader | pages | MB | CPU s | ms a page | MB/s |\n|---|---:|---:|---:|---:|---:|")
    for name, spent in seconds.items():
        pages, size = sizes[name]
        middle = statistics.median(spent)
        rates = f"{middle / pages * 1e3:.2f} | {size / middle / 1e6:.0f}"
        print(f"| {name} | {pages:,} | {size / 1e6:.0f} | {middle:.2f} | {rates} |")


if __name__ == "__main__":
    main()

"""Extraction alone, in one process: `python bench/extract_alone.py CRAWL OUT [--plain] [--mode full] [--favor none]`.

Reads the pages of a crawl, extracts the text of each, and prints the CPU seconds of the extraction calls as JSON.
`--plain` calls trafilatura itself with the same options instead of our stage. OUT/texts.json.gz holds the texts by id.
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import trafilatura

from curate.sources import SourceConfig, find_files, reader
from curate.sources.charset import decode
from curate.sources.reader import Slice, settled
from stages.extract import Extract


def pages(folder: str) -> Iterator[tuple[str, bytes, str | None]]:
    """(id, bytes, charset declared) of the pages in a folder of WARC files."""
    settings = SourceConfig(path=f"{folder}/*.warc.gz")
    for file in find_files("crawl", settings):
        for span in settled(reader(settings, file).read(file, Slice())):
            if span.document is not None and span.drop is None and span.document.html is not None:
                yield span.document.id, span.document.html, span.document.charset


def plain(given: argparse.Namespace) -> Callable[[bytes, str | None], str]:
    """trafilatura as anyone calls it: decoded text in, text out."""
    options = {"include_comments": False, "fast": given.mode == "fast", "deduplicate": False}
    if given.favor != "none":
        options[f"favor_{given.favor}"] = True
    return lambda html, charset: trafilatura.extract(decode(html, charset)[0], **options) or ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crawl")
    parser.add_argument("out", type=Path)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--engine", default="trafilatura")
    parser.add_argument("--mode", default="full")
    parser.add_argument("--favor", default="none")
    given = parser.parse_args()
    stage = Extract(mode=given.mode, engine=given.engine, favor=given.favor, memo_bytes=None)
    extract = plain(given) if given.plain else stage.text
    texts: dict[str, str] = {}
    spent = 0.0
    for number, html, charset in pages(given.crawl):
        start = time.process_time()
        texts[number] = extract(html, charset)
        spent += time.process_time() - start
    given.out.mkdir(parents=True, exist_ok=True)
    with gzip.open(given.out / "texts.json.gz", "wt", compresslevel=1) as file:
        json.dump(texts, file)
    print(json.dumps({"read": len(texts), "cpu": round(spent, 3)}))


if __name__ == "__main__":
    main()

"""Turns a folder of HTML pages into WARC files as Common Crawl writes them.

    python bench/pages_to_crawl.py PAGES... --out crawl-real [--per-file 500] [--times 1]

PAGES are folders (searched for .html, .htm and .html.gz, at any depth) such as clones of public extraction
benchmarks: `trafilatura/tests` and `article-extraction-benchmark/html` hold 1,200 pages together. Files are taken
in the order of the SHA-256 of their bytes, so that sites and languages mix; equal files are taken once.
`--times N` makes N passes over the pages, each pass after the first with a comment of its own at the end of the page,
so that no memo of payloads helps. Same folder, same bytes.
"""

import argparse
import gzip
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path

from crawl_files import CrawlWriter, Visited

ENDINGS = (".html", ".htm", ".html.gz", ".htm.gz")


def pages_of(folders: list[Path]) -> Iterator[tuple[str, bytes]]:
    """(SHA-256, bytes) of each distinct page, in the order of the first."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and path.name.lower().endswith(ENDINGS):
                body = _read(path)
                if body.strip():
                    found.setdefault(hashlib.sha256(body).hexdigest(), path)
    for digest in sorted(found):
        yield digest, _read(found[digest])


def _read(path: Path) -> bytes:
    body = path.read_bytes()
    return gzip.decompress(body) if path.suffix == ".gz" else body


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--per-file", type=int, default=500)
    parser.add_argument("--times", type=int, default=1)
    given = parser.parse_args()
    size = 0
    with CrawlWriter(given.out, "real", given.per_file) as crawl:
        for turn in range(given.times):
            for digest, page in pages_of(given.pages):
                body = page + f"\n<!-- pass {turn} -->\n".encode() if turn else page
                site = zlib.crc32(digest.encode()) % 400
                url = f"https://site{site}.example/{turn}/{digest[:16]}.html"
                crawl.add(Visited(url=url, body=body, truth={"sha256": digest, "pass": turn}))
                size += len(body)
        print(f"{crawl.pages} pages, {size / 1e6:.1f} MB of HTML, in {given.out}")


if __name__ == "__main__":
    main()

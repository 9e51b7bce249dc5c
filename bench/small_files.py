"""What a file costs beside its pages: the same pages one a file, and all in one file.

    python bench/small_files.py --pages 20000 [--kinds warc.gz jsonl packed parquet http] [--workers 2] [--times 1]

Kinds: WARC files of one gzip member, JSON Lines of one line, WARC files as `curate pack` makes them of one page,
Parquet files of one row, and the WARC files behind an HTTP server of this machine. Counts the CPU seconds of the whole
process tree (`measured`); what a file costs is the difference between the two runs, by the number of files. Exits with
status 1 where the two runs do not keep the same texts.
"""

import argparse
import http.server
import json
import random
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from input_faults import WORDS, record
from measured import Cost, measure, middle, side_by_side

from curate.tools.pack import pack

STAGES = {
    "page": [{"extract": {"mode": "fast"}}, "language", {"gopher": {"annotate": True}}, "exact_dedup", "near_dedup"],
    "text": ["language", {"gopher": {"annotate": True}}, "exact_dedup", "near_dedup"],
}
PARAGRAPHS = 6


def paragraphs(number: int) -> list[str]:
    """A made-up article, another one for each number."""
    draw = random.Random(number)
    return [" ".join(draw.choices(WORDS, k=60)).capitalize() + "." for _ in range(PARAGRAPHS)]


def html(number: int) -> bytes:
    """The article as a page."""
    body = "".join(f"<p>{text}</p>" for text in paragraphs(number))
    return f"<html><head><title>{number}</title></head><body><article>{body}</article></body></html>".encode()


def warc(path: Path, numbers: range) -> None:
    """Pages as gzip members."""
    path.write_bytes(b"".join(record(html(number), f"http://site{number % 97}.example/{number}") for number in numbers))


def jsonl(path: Path, numbers: range) -> None:
    """Texts as lines."""
    path.write_text("".join(json.dumps({"text": "\n".join(paragraphs(number))}) + "\n" for number in numbers))


def parquet(path: Path, numbers: range) -> None:
    """Texts as rows."""
    pq.write_table(pa.table({"text": ["\n".join(paragraphs(number)) for number in numbers]}), path)


def packed(path: Path, numbers: range) -> None:
    """Pages in files of a folder, packed."""
    with tempfile.TemporaryDirectory() as name:
        for number in numbers:
            Path(name, f"{number:07d}.html").write_bytes(html(number))
        pack(Path(name), path)


KINDS: dict[str, tuple[str, str, Callable[[Path, range], None]]] = {  # ending, stages, what writes a file
    "warc.gz": ("warc.gz", "page", warc),
    "http": ("warc.gz", "page", warc),
    "packed": ("warc.gz", "page", packed),
    "jsonl": ("jsonl", "text", jsonl),
    "parquet": ("parquet", "text", parquet),
}


def made(folder: Path, kind: str, pages: int) -> tuple[Path, Path]:
    """The folder of many files and that of one, written where they are not there yet."""
    ending, _, write = KINDS[kind]
    many, one = folder / f"{write.__name__}-{pages}", folder / f"{write.__name__}-{pages}-in-one"
    if not one.exists():
        for place in (many, one):
            place.mkdir(parents=True)
        for number in range(pages):
            write(many / f"{number:07d}.{ending}", range(number, number + 1))
        write(one / f"all.{ending}", range(pages))
    return many, one


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A server of the folder's files; yields its URL."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Keeps silent."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def run(paths: Path, kind: str, out: Path, workers: int, url: str | None) -> Cost:
    """One run over the files of a folder, behind the server's URL where there is one."""
    names = sorted(path for path in paths.iterdir())
    source: dict[str, object] = {"path": f"{paths}/*"}
    if url is not None:
        listed = out.with_suffix(".paths")
        listed.write_text("".join(f"{path.parent.name}/{path.name}\n" for path in names))
        source = {"paths": str(listed), "prefix": f"{url}/"}
    config = out.with_suffix(".yaml")
    config.write_text(json.dumps({"input": {"web": source}, "output": str(out), "stages": STAGES[KINDS[kind][1]]}))
    command = [sys.executable, "-m", "curate", "run", config, "--quiet", "--fresh", "--workers", str(workers)]
    return measure(command)


def texts(out: Path) -> list[str]:
    """All kept texts, sorted."""
    return sorted(text for path in out.glob("shards/*.parquet") for text in pq.read_table(path)["text"].to_pylist())


def main() -> None:
    """Makes the files, runs both ways and prints a line of the table for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=["warc.gz", "jsonl"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("bench-small"))
    given = parser.parse_args()
    print("| kind | files | CPU s, one page a file | CPU s, one file | ms a file | wall s, one page a file |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    for kind in given.kinds:
        many, one = made(given.folder.resolve(), kind, given.pages)
        outs = (given.folder / f"out-{kind}-many", given.folder / f"out-{kind}-one")
        with served(many.parent) as url:
            where = url if kind == "http" else None
            work = {
                "many": partial(run, many, kind, outs[0], given.workers, where),
                "one": partial(run, one, kind, outs[1], given.workers, where),
            }
            costs = side_by_side(work, given.times, lambda sentence: print(sentence, file=sys.stderr))
        cpu = {name: middle(some, "cpu") for name, some in costs.items()}
        each = (cpu["many"] - cpu["one"]) / given.pages * 1000
        wall = middle(costs["many"], "wall")
        print(
            f"| {kind} | {given.pages:,} | {cpu['many']:.1f} | {cpu['one']:.1f} | {each:.2f} | {wall:.0f} |", flush=True
        )
        if texts(outs[0]) != texts(outs[1]):
            sys.exit(f"{kind}: the two runs keep other texts")


if __name__ == "__main__":
    main()

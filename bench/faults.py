"""A campaign of faults: kills at random moments, flipped bytes, cut files. Prints one table.

    python bench/faults.py --kills 500 --flips 2000 --cuts 500 --bombs 60 --busy 200 --small 400 --seed 1

Kills: a run of the sample crawl is killed with SIGKILL (its driver, one of its workers, or all of it) at a random
moment and started again, several times over, until it ends undisturbed; its tree hash must be that of a run that was
left alone. Flips and cuts: one byte of a crawl file is changed, or its tail cut off; every record that was not hit
must come out as before, and the spans must tile the file. Text bombs, busy servers and many small files: all pages
that are none must come; half as many kills fall over the small files, which share tasks. Damaged model files are
the matter of `bench/model_faults.py`.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import product
from pathlib import Path

import psutil
from input_faults import busy_servers, small_files, text_bombs

from curate.sources import SourceConfig, reader
from curate.sources.reader import InputFile, Slice, Span, settled

ROOT = Path(__file__).resolve().parent.parent
CONFIG = "input: {crawl}/*.warc*\noutput: {out}\nstages: {stages}\n"
STAGES = "[extract, language, gopher, exact_dedup, near_dedup]"
SMALL_STAGES = "[{extract: {mode: fast}}, exact_dedup, near_dedup]"  # which keep the made-up pages
HANG_SECONDS = 300
KILLS_A_RUN = 8


def tree_hash(folder: Path) -> str:
    """SHA-256 over all files of an output but timings, report and dot-files."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name in ("timings.json", "report.html") or any(part.startswith(".") for part in name.split("/")):
            continue
        total.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def start(config: Path, executor: str) -> subprocess.Popen[bytes]:
    """`curate run` in a process group of its own."""
    command = [
        sys.executable,
        "-c",
        "from curate.cli import main; main()",
        "run",
        str(config),
        "--quiet",
        "--executor",
        executor,
        "--workers",
        "2",
        "--slice-size",
        "40KB",
        "--partitions",
        "4",
    ]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE)


def victims(process: subprocess.Popen[bytes], rng: random.Random) -> list[int]:
    """The driver, one of its children, or all of them."""
    try:
        children = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
    choice = rng.randrange(3)
    if choice == 0 or not children:
        return [process.pid]
    return [rng.choice(children)] if choice == 1 else [process.pid, *children]


def kill_once(process: subprocess.Popen[bytes], seconds: float, rng: random.Random) -> bool:
    """Kills something of a run after some seconds; False when the run was over by then."""
    try:
        process.wait(rng.random() * seconds)
        return False
    except subprocess.TimeoutExpired:
        pass
    for pid in victims(process, rng):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return True


def kills(
    executor: str, count: int, folder: Path, crawl: Path, rng: random.Random, stages: str = STAGES
) -> Counter[str]:
    """Kills runs `count` times in all and compares what they end in."""
    counts: Counter[str] = Counter()
    config = folder / f"{executor}.yaml"
    config.write_text(CONFIG.format(crawl=crawl, out=folder / "out", stages=stages))
    began = time.monotonic()
    start(config, executor).communicate(timeout=HANG_SECONDS)
    seconds, expected = time.monotonic() - began, tree_hash(folder / "out")
    while counts["faults"] < count:
        shutil.rmtree(folder / "out")
        for _ in range(min(KILLS_A_RUN, count - counts["faults"])):
            process = start(config, executor)
            counts["faults"] += kill_once(process, seconds, rng)
            try:
                process.communicate(timeout=HANG_SECONDS)
            except subprocess.TimeoutExpired:
                counts["hangs"] += 1
                os.killpg(process.pid, signal.SIGKILL)
            if (folder / "out" / "manifest.json").exists():
                break
        process = start(config, executor)
        _, said = process.communicate(timeout=HANG_SECONDS)
        counts["runs"] += 1
        if process.returncode:
            counts["failed runs"] += 1
            print(executor, process.returncode, said.decode()[-600:], file=sys.stderr)
        elif tree_hash(folder / "out") != expected:
            counts["other bytes"] += 1
    shutil.rmtree(folder / "out", ignore_errors=True)
    return counts


def spans_of(path: Path) -> list[Span]:
    file = InputFile("crawl", str(path), path.stat().st_size, "")
    return list(settled(reader(SourceConfig(path=str(path)), file).read(file, Slice())))


def facts_of(span: Span) -> tuple[object, ...]:
    """What must not change of a record that was not hit."""
    doc = span.document
    return (
        span.length,
        span.type,
        span.drop.reason if span.drop else None,
        (doc.id, doc.url, doc.html, doc.text) if doc else None,
    )


def damage(kind: str, path: Path, count: int, folder: Path, rng: random.Random) -> Counter[str]:
    """Flips one byte or cuts the tail `count` times; the records not hit must come out as before."""
    counts: Counter[str] = Counter()
    whole = path.read_bytes()
    before = spans_of(path)
    hurt = folder / path.name
    for _ in range(count):
        place = rng.randrange(len(whole))
        if kind == "flip":
            data = bytearray(whole)
            data[place] ^= 1 << rng.randrange(8)
        else:
            data = bytearray(whole[:place])
        hurt.write_bytes(data)
        began = time.monotonic()
        after = spans_of(hurt)
        counts["hangs"] += time.monotonic() - began > HANG_SECONDS
        counts["faults"] += 1
        counts["not tiled"] += not tiles(after, len(data))
        counts["lost records"] += lost(before, after, place, kind)
    return counts


def tiles(spans: list[Span], size: int) -> bool:
    end = 0
    for span in spans:
        if span.offset != end:
            return False
        end += span.length
    return end == size


def lost(before: list[Span], after: list[Span], place: int, kind: str) -> int:
    """Records that the fault did not touch and that are not there as they were.

    A stretch that is damaged already is no record; damage beside it may become one stretch with it.
    """
    found = {span.offset: facts_of(span) for span in after}
    untouched = [
        span
        for span in before
        if span.length
        and span.type != "damaged"
        and not span.offset <= place < span.offset + span.length
        and (kind == "flip" or span.offset + span.length <= place)
    ]
    return sum(found.get(span.offset) != facts_of(span) for span in untouched)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500, help="in all, shared by the executors")
    parser.add_argument("--flips", type=int, default=2000)
    parser.add_argument("--cuts", type=int, default=500)
    parser.add_argument("--bombs", type=int, default=60, help="texts made to take long, between pages")
    parser.add_argument("--busy", type=int, default=200, help="requests that a server refuses")
    parser.add_argument("--small", type=int, default=400, help="files of one page each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--executors", nargs="*", default=["serial", "processes", "ray"])
    parser.add_argument("--crawl", type=Path, default=ROOT / "sample_crawl")
    given = parser.parse_args()
    columns = ("faults", "lost records", "other bytes", "hangs", "not tiled", "failed runs", "runs")
    print(f"seed {given.seed}\n| fault | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
    share = {"serial": 0.4, "processes": 0.4, "ray": 0.2}
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        files = sorted(given.crawl.glob("*.warc*"))
        for kind, count in (("flip", given.flips), ("cut", given.cuts)):
            for number, path in enumerate(files):
                part = count // len(files) + (number < count % len(files))
                show(
                    f"{kind} in {path.name}",
                    damage(kind, path, part, folder, random.Random(given.seed)),
                    columns,
                )
        for name_of, work, count in (
            ("text bombs", text_bombs, given.bombs),
            ("busy server", busy_servers, given.busy),
            ("small files", small_files, given.small),
        ):
            if count:
                show(name_of, work(count, folder, random.Random(given.seed)), columns)
        crawls = [("", given.crawl, 1.0, STAGES)]
        if given.small:
            crawls.append((", small files", folder / "many", 0.5, SMALL_STAGES))
        for executor, (over, crawl, part_of, stages) in product(given.executors, crawls):
            count = round(given.kills * share[executor] * part_of)
            if count:
                counts = kills(executor, count, folder, crawl, random.Random(given.seed), stages)
                show(f"kill -9, {executor}{over}", counts, columns)


def show(name: str, counts: Counter[str], columns: tuple[str, ...]) -> None:
    print(f"| {name} | " + " | ".join(str(counts[column]) for column in columns) + " |", flush=True)


if __name__ == "__main__":
    main()

"""Puts folders of small inputs to the command line, each with what is right, and says which hold.

    python bench/cases.py CASES/intake CASES/bugs

A case is a folder with `expect.json` (its inputs are run with 1 and 2 workers, and what it says of records, documents
and texts is held against the output) or with `note.json` and a config `c.yaml` of its own, of which the tests below
know what is right. A case of which neither tells is run and shown as `by hand`. Exit status 1 where one does not hold.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pyarrow.parquet as pq
import yaml

TEXT = {"language": {"keep": "all"}}
STAGES: dict[str, list[Any]] = {  # of cases with `expect.json` whose matter is not reading
    "31": ["extract", TEXT, "gopher"],
    "50": [TEXT, "gopher"],
    "55": ["near_dedup"],
    "56": ["extract", TEXT, "exact_dedup", "near_dedup"],
    "57": [{"near_dedup": {"threshold": 0.8}}],
}
SECONDS = 300


@dataclass
class Ran:
    """A run through the command line: its status, what it said, and its rows."""

    status: int
    said: str
    kept: list[dict[str, Any]] = field(default_factory=list)
    dropped: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)

    def texts(self, url: str) -> list[str]:
        """The kept texts of an address."""
        return [row["text"] for row in self.kept if row["url"] == url]

    def lost(self, reason: str) -> int:
        """Rows that were dropped for a reason."""
        return sum(row["reason"] == reason for row in self.dropped)


def command(folder: Path, *words: str, seed: str = "0") -> tuple[int, str]:
    """`curate` in a folder; its exit status and output."""
    ran = subprocess.run(
        [sys.executable, "-m", "curate", *words],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows of the Parquet files below a folder, in order."""
    return [row for path in sorted(folder.rglob("*.parquet")) for row in pq.read_table(path).to_pylist()]


def run(folder: Path, config: dict[str, Any], workers: int = 1, seed: str = "0") -> Ran:
    """Runs a config in a folder, from nothing."""
    (folder / "tried.yaml").write_text(yaml.safe_dump({**config, "output": "out/"}))
    status, said = command(folder, "run", "tried.yaml", "--fresh", "--workers", str(workers), seed=seed)
    out = folder / "out"
    return Ran(status, said, rows(out / "shards"), rows(out / "ledger"))


def wrong_records(found: Ran, expected: dict[str, Any]) -> Iterator[str]:
    """What of `records`, `documents`, `documents_for` and `language_for_all` does not hold."""
    if found.status not in (0, 1) or "Traceback" in found.said:
        at = found.said.find("Traceback")
        yield f"status {found.status}: {found.said[at:][:2000] if at >= 0 else found.said[-200:]}"
    for record in expected.get("records", ()):
        texts, outcome = found.texts(record["uri"]), record["outcome"]
        if (not texts and outcome.startswith("document")) or (texts and outcome == "no_document"):
            yield f"{record['uri']}: {len(texts)} documents"
        if not texts and outcome.startswith("dropped") and not found.lost("damaged"):
            yield f"{record['uri']}: lost without a row"
        for text in texts:
            yield from (
                f"{record['uri']} lacks {word!r}" for word in record.get("text_contains", ()) if word not in text
            )
            yield from (f"{record['uri']} has {word!r}" for word in record.get("text_lacks", ()) if word in text)
    if "documents" in expected and len(found.kept) != expected["documents"]:
        yield f"{len(found.kept)} documents of {expected['documents']}"
    for url, count in expected.get("documents_for", {}).items():
        if len(found.texts(url)) != count:
            yield f"{url}: {len(found.texts(url))} documents of {count}"
    for word in expected.get("text_lacks", ()):
        yield from (f"{row['url']} has {word!r}" for row in found.kept if word in row["text"])
    for row in found.kept:
        if any("\ud800" <= letter <= "\udfff" or letter == "\0" for letter in row["text"]):
            yield f"{row['url']} has a NUL or surrogates"
        if "language_for_all" in expected and row["language"] != expected["language_for_all"]:
            yield f"{row['url'] or row['id']}: language {row['language']}"


def expected_case(folder: Path) -> list[str]:
    """What does not hold of a case with `expect.json`; all its inputs together, but for those of the same pages."""
    expect = json.loads((folder / "expect.json").read_text())
    expected, number = expect["expect"], folder.name[:2]
    by_kind: dict[str, list[str]] = {}
    for name in expect["inputs"]:
        if not name.endswith((".json", "pairs.jsonl")):
            by_kind.setdefault(name if len(expect["inputs"]) == 2 else "all", []).append(name)
    wrong: list[str] = []
    texts: dict[str, set[str]] = {}
    for names in by_kind.values():
        stages = STAGES.get(number, [TEXT] if names[0].endswith(".jsonl") else ["extract", TEXT])
        runs = [run(folder, {"input": names, "stages": stages}, *how) for how in ((1, "0"), (2, "1"))]
        if names[0].endswith(".jsonl"):
            expected = {key: value for key, value in expected.items() if key != "records"}
        wrong += [f"{names[0]}: {fault}" for fault in wrong_records(runs[0], expected)]
        if runs[0].kept != runs[1].kept or runs[0].dropped != runs[1].dropped:
            wrong.append(f"{names[0]}: other rows with 2 workers and another hash seed")
        for row in runs[0].kept:
            texts.setdefault(row["url"] or row["id"], set()).add(row["text"])
        wrong += [f"{names[0]}: {fault}" for fault in MORE.get(number, lambda *_: [])(folder, runs[0])]
    if number == "39":
        wrong += [f"{url}: two texts" for url, found in texts.items() if len(found) > 1]
    return wrong


def short_texts(folder: Path, found: Ran) -> list[str]:
    missing = {str(number) for number in range(8)} - {row["id"] for row in found.kept}
    return [f"{sorted(missing)} are gone"] if missing else []


def pairs(folder: Path, found: Ran) -> list[str]:
    """At threshold 0.8: 95 % of the pairs of 0.9 and more, and no pair under 0.75 merged directly (one is, by the noise
    of 128 slots that the scheme fixes)."""
    made = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    kept = {row["id"] for row in found.kept}
    near = [pair for pair in made if pair["j"] >= 0.9]
    far = [pair for pair in made if pair["j"] < 0.75]
    apart = sum(pair["a"] in kept and pair["b"] in kept for pair in near)
    gone = [row for row in found.dropped if row["reason"] == "near_duplicate"]
    wrong = [f"{apart} of {len(near)} pairs are both kept"] if apart * 20 > len(near) else []
    truth = {(pair["a"], pair["b"]): pair["j"] for pair in far}
    lines = [json.loads(line)["id"] for line in (folder / "docs.jsonl").read_text().splitlines()]
    starts = {row["offset"]: row["record_id"] for row in found.dropped} | {
        row["offset"]: row["id"] for row in found.kept
    }
    merged = [
        pair
        for row in gone
        if (pair := (starts.get(row["matched_offset"]), row["record_id"])) in truth
        or (pair := (pair[1], pair[0])) in truth
    ]
    return wrong + ([f"{len(merged)} pairs under 0.75 merged"] if len(merged) > 1 or len(lines) < len(gone) else [])


def killed(folder: Path, found: Ran) -> list[str]:
    """Kills a run over the same files until one ends; its rows must be those of the undisturbed one."""
    for delay in (0.6, 1.0, 1.4, 1.8, 2.2):
        words = [sys.executable, "-m", "curate", "run", "tried.yaml", "--workers", "2"]
        words += ["--fresh"] if delay == 0.6 else []
        process = subprocess.Popen(words, cwd=folder, start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    status, said = command(folder, "run", "tried.yaml")
    same = rows(folder / "out" / "shards") == found.kept
    return [] if status == 0 and same else [f"after kills: status {status}, same rows {same}: {said[-200:]}"]


MORE: dict[str, Callable[[Path, Ran], list[str]]] = {"55": short_texts, "57": pairs, "65": killed}


class _Busy(BaseHTTPRequestHandler):
    """Answers the first two requests for each file with 503."""

    folder: ClassVar[Path] = Path()
    asked: ClassVar[dict[str, int]] = {}

    def log_message(self, *_: Any) -> None:
        """Keeps silent."""

    def do_GET(self) -> None:
        self.asked[self.path] = self.asked.get(self.path, 0) + 1
        data = b"" if self.asked[self.path] <= 2 else (self.folder / self.path.strip("/")).read_bytes()
        self.send_response(200 if data else 503)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET


def busy(folder: Path) -> list[str]:
    _Busy.folder = folder
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    paths = [f"http://127.0.0.1:{server.server_port}/f{number}.jsonl" for number in range(4)]
    found = run(folder, {"input": {"a": {"path": paths}}, "stages": [TEXT]})
    server.shutdown()
    return [] if found.status == 0 and len(found.kept) == 80 else [f"{len(found.kept)} of 80: {found.said[-200:]}"]


def arrays(folder: Path) -> list[str]:
    wrong = []
    for path in sorted(folder.glob("in*")):
        found = run(folder, {"input": path.name, "stages": [TEXT]})
        if found.status == 0 and (len(found.kept) != 6 or found.dropped):
            wrong.append(f"{path.name}: {len(found.kept)} of 6")
        if found.status not in (0, 2) or "Traceback" in found.said:
            wrong.append(f"{path.name}: status {found.status}")
    return wrong


def numbers(folder: Path) -> list[str]:
    given = [json.loads(line) for line in (folder / "in.jsonl").read_text().splitlines()]
    wrong = []
    for columns in (["hash"], {"hash": "uint64"}, {"hash": "string"}):
        found = run(folder, {"input": {"a": {"path": "in.jsonl", "columns": columns}}, "stages": [TEXT]})
        if [str(row["hash"]) for row in found.kept] != [str(line["hash"]) for line in given]:
            wrong.append(f"columns {columns}: {[row['hash'] for row in found.kept]}")
    return wrong


def as_noted(folder: Path) -> Ran:
    return run(folder, yaml.safe_load((folder / "c.yaml").read_text()))


def count(expected: int, holds: Callable[[Ran], bool] = lambda _: True) -> Callable[[Path], list[str]]:
    """A test that the case's own config keeps so many documents, and whatever else."""

    def test(folder: Path) -> list[str]:
        found = as_noted(folder)
        right = found.status == 0 and len(found.kept) == expected and holds(found)
        return [] if right else [f"status {found.status}, {len(found.kept)} of {expected} kept: {found.said[-300:]}"]

    return test


NOTED: dict[str, Callable[[Path], list[str]]] = {
    "07": arrays,
    "13": numbers,
    "15": count(1),
    "17": count(5, lambda found: found.lost("not_text") == 2 and found.kept[3]["text"].endswith("if a < b then")),
    "18": count(6, lambda found: all(isinstance(row["title"], str) for row in found.kept)),
    "37": count(4, lambda found: not any("\ufffd" in row["text"] for row in found.kept)),
    "40": count(150, lambda found: "ALARM" in found.said),
    "45": busy,
}


def main() -> None:
    bad = 0
    for case in sorted(path for given in sys.argv[1:] for path in Path(given).iterdir() if path.is_dir()):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / case.name
            shutil.copytree(case, folder, copy_function=shutil.copyfile)
            folder.chmod(0o755)
            if (folder / "expect.json").exists() and list(folder.glob("*.warc*")) + list(folder.glob("*.jsonl")):
                wrong = expected_case(folder)
            elif case.name[:2] in NOTED:
                wrong = NOTED[case.name[:2]](folder)
            else:
                print(f"{case.name}: by hand", flush=True)
                continue
        bad += bool(wrong)
        print(f"{case.name}: {'; '.join(wrong) or 'holds'}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()

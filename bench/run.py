"""Ours and the peers side by side, on the same input, on this machine, in one run: one table.

    python bench/run.py --crawl CRAWL... [--documents 20000 200000] [--times 3]
                        [--only crawl dedup gopher extraction after] [--work FOLDER]
                        [--datatrove VENV] [--text-dedup VENV] [--programs WORD ...]

CRAWL are folders of WARC files, made by bench/make_crawl.py or bench/pages_to_crawl.py. Peers run in environments
of their own, since two of their dependencies bring a module that ours brings too:

    python -m venv VENV && VENV/bin/pip install 'datatrove[processing,io]==0.10.*' spacy lxml_html_clean
    python -m venv VENV && VENV/bin/pip install text-dedup==0.4.0

Programs take turns, each uses one worker. Figures are medians: CPU seconds of the whole process tree from start-up to
exit, wall seconds, peak memory of the tree (PSS). With --crawl each program also runs over a crawl of one page: that is
its start-up, which ms a page and `×`, the reference's CPU divided by this row's, leave out. Linux only.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import made_texts
from measured import middle
from sections import Bench, Row, Section, after, crawl, dedup, extraction, gopher

AFTER = 5_000  # documents of 1,000 words for the stages after extraction
HEAD = "| program | read | kept | CPU s | of it start-up | ms a {unit} | × | wall s | peak MB | agreement |"


def table(section: Section) -> str:
    """A section as Markdown."""
    reference = next((_cpu(row) for row in section.rows if row.reference), None)
    lines = [f"### {section.title}", "", HEAD.format(unit=section.unit), "|---|" + "---:|" * 8 + "---|"]
    for row in section.rows:
        cpu = _cpu(row)
        ratio = f"{reference / cpu:.2f}" if reference else "-"
        each = f"{cpu / max(1, row.read) * 1000:.2f}"
        total = f"{cpu + row.start_up:.1f}"
        begin = f"{row.start_up:.1f}" if row.start_up else "-"
        peak, wall = middle(row.costs, "tree_mb"), middle(row.costs, "wall")
        cells = [row.program, f"{row.read:,}", f"{row.kept:,}", total, begin, each, ratio, f"{wall:.1f}", f"{peak:.0f}"]
        lines.append("| " + " | ".join([*cells, row.agreement]) + " |")
    return "\n".join(lines) + "\n"


def _cpu(row: Row) -> float:
    """CPU seconds without those of the start-up, where they are known."""
    return (middle(row.costs, "cpu") if row.cpu is None else row.cpu) - row.start_up


def _environment(folder: Path | None, name: str, install: str) -> Path | None:
    """The folder, where there is such an environment; else says what to install."""
    if folder is not None and (folder / "bin" / "python").exists():
        return folder
    print(f"without {name}: python -m venv VENV && VENV/bin/pip install {install}, then give --{name} VENV")
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crawl", type=Path, nargs="*", default=[])
    parser.add_argument("--documents", type=int, nargs="*", default=[20_000])
    parser.add_argument("--peers-up-to", type=int, default=10**9, help="documents that peers are given at most")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=["crawl", "dedup", "gopher", "extraction", "after"])
    parser.add_argument("--programs", nargs="*", default=[], help="of --crawl: words of which a program's name has one")
    parser.add_argument("--datatrove", type=Path)
    parser.add_argument("--text-dedup", type=Path)
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="curate-bench-"))
    work.mkdir(parents=True, exist_ok=True)
    bench = Bench(
        work=work.resolve(),
        times=given.times,
        programs=tuple(given.programs),
        say=lambda sentence: print(sentence, file=sys.stderr, flush=True),
        datatrove=_environment(
            given.datatrove, "datatrove", "'datatrove[processing,io]==0.10.*' spacy lxml_html_clean"
        ),
        text_dedup=_environment(given.text_dedup, "text-dedup", "text-dedup==0.4.0"),
    )
    for folder in given.crawl:
        if "extraction" in given.only:
            print(table(extraction(bench, folder.resolve(), folder.name)), flush=True)
        if "crawl" in given.only:
            print(table(crawl(bench, folder.resolve(), folder.name)), flush=True)
    if "after" in given.only:
        print(table(after(bench, _texts(work, AFTER, words=1_000), AFTER)), flush=True)
    for documents in given.documents:
        if "gopher" in given.only and documents == min(given.documents):
            print(table(gopher(bench, _texts(work, documents, 0.3), documents)), flush=True)
        if "dedup" in given.only:
            peers = documents <= given.peers_up_to
            print(table(dedup(bench, _texts(work, documents), f"dedup-{documents}", documents, peers)), flush=True)


def _texts(work: Path, documents: int, junk: float = 0.0, words: int | None = None) -> Path:
    folder = work.resolve() / f"texts-{documents}-{junk:g}-{words or 'mixed'}"
    if not folder.exists():
        made_texts.write(folder, made_texts.texts(documents, 3, junk, words))
    return folder


if __name__ == "__main__":
    main()

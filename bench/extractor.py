"""The model of `engine: blocks`: its training file, and its judgement by folds of registered domains.

    python bench/extractor.py pages WCXB -o pages.jsonl
    curate train extractor pages.jsonl -o stages/extraction/blocks/model.json
    python bench/extractor.py folds WCXB [--folds 5] [--only 0 1]

WCXB is a clone of github.com/Murrough-Foley/web-content-extraction-benchmark (CC-BY-4.0), whose part `dev` alone is
read. `folds` trains a model for each fold on the pages of the other folds; no name under which a domain was
registered is in two folds. The table is WCXB's own measure: the mean over pages of the F1 of words. `oracle` takes
the blocks by their labels, the ceiling of the cutting into blocks.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import numpy as np
import xxhash
from labelled_pages import Page, Score, averaged, f1, pages

from stages.extraction.blocks.around import BETA, choose
from stages.extraction.blocks.layout import block_texts, text
from stages.extraction.blocks.model import BlocksModel
from stages.extraction.source import decoded
from stages.extraction.training.teacher import Example, Teacher, example

Rows = dict[Path, dict[str, list[tuple[str, Score]]]]  # set -> way to choose -> kind and score of each page


def write(folders: list[Path], out: Path) -> None:
    """Writes labelled sets as `curate train extractor` reads them."""
    with out.open("w", encoding="utf-8") as file:
        for folder in folders:
            for page in pages(folder):
                row = {"url": page.url, "html": decoded(page.html, None), "text": page.truth}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def fold(group: str, folds: int) -> int:
    """The fold of a registered name."""
    return xxhash.xxh3_64_intdigest(group.encode(), seed=7) % folds


def judge(folders: list[Path], folds: int, only: list[int]) -> None:
    """Prints the scores of each set by kind, over the pages of the folds."""
    labelled = [(folder, page) for folder in folders for page in pages(folder)]
    made = [example(page.group, decoded(page.html, None), page.truth) for _, page in labelled]
    rows: Rows = {folder: defaultdict(list) for folder in folders}
    sure: list[tuple[float, float]] = []
    for held in only or range(folds):
        seen = [each for each in made if each and fold(each.group, folds) != held]
        model = Teacher().train(seen, "a fold")
        for (folder, page), each in zip(labelled, made):
            if fold(page.group, folds) == held:
                found = {name: page.score(text) for name, text in answers(model, page, each, sure)}
                for name, score in found.items():
                    rows[folder][name].append((page.kind, score))
        print(f"fold {held}: trained on {len(seen)} pages", flush=True)
        for folder in folders:
            table(rows[folder], folder)
    calibration(np.array(sure))


def answers(
    model: BlocksModel, page: Page, each: Example | None, sure: list[tuple[float, float]]
) -> Iterator[tuple[str, str]]:
    """The text of each way to choose; what `blocks` expects of its own and what it got is added to `sure`."""
    if each is None:
        yield from ((name, "") for name in (*BETA, "oracle"))
        return
    likely = model.probability(each.page)
    for name, beta in BETA.items():
        chosen, confidence = choose(likely, each.page.words, beta)
        made = text(each.page, chosen)
        yield name, made
        if name == "none":
            sure.append((confidence, f1(*page.score(made))))
    texts = np.array([unescape(raw) for raw in block_texts(each.page)], object)
    yield (
        "oracle",
        max((" ".join(texts[each.label > least]) for least in (0.3, 0.5, 0.7)), key=lambda t: f1(*page.score(t))),
    )


def table(rows: dict[str, list[tuple[str, Score]]], folder: Path) -> None:
    """F1 by kind of page."""
    if not rows:
        return
    kinds = sorted({kind for scored in rows.values() for kind, _ in scored} - {"all"})
    print(f"| {folder.name} | F1 | " + " | ".join(kinds) + " |\n|---|---" + "|---" * len(kinds) + "|")
    for name, scored in rows.items():
        if averaged(folder):
            of = [[f1(*score) for each, score in scored if kind in (None, each)] for kind in (None, *kinds)]
            means = [sum(each) / len(each) for each in of]
        else:
            means = [f1(*(sum(column) for column in zip(*(score for _, score in scored))))]
        print(f"| {name} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |", flush=True)


def calibration(sure: np.ndarray) -> None:
    """What F1 pages have whose text the model expects to have a certain one."""
    print("\n| confidence | pages | mean F1 | below F1 0.5 |\n|---|---|---|---|")
    for low, high in ((0.0, 0.4), (0.4, 0.5), (0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01)):
        scores = sure[(sure[:, 0] >= low) & (sure[:, 0] < high), 1]
        if len(scores):
            poor = (scores < 0.5).mean()
            print(f"| {low:.1f} to {min(high, 1):.1f} | {len(scores)} | {scores.mean():.3f} | {poor:.1%} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pages", "folds"))
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", type=int, nargs="*", default=[], help="numbers of folds")
    arguments = parser.parse_args()
    if arguments.what == "pages":
        write(arguments.folders, arguments.output)
    else:
        judge(arguments.folders, arguments.folds, arguments.only)

"""Microseconds of each rule stage for a document of 1,000 words: `python bench/rules.py [texts.jsonl]`.

Without a file the documents are made here: Zipf-distributed words in sentences, lines and some repetition,
from a fixed seed. Times are CPU time of this process, the best of five rounds; the split into words, which
all stages share, stands on a line of its own.
"""

import gzip
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from curate.document import Address, Document
from curate.stage import DocumentStage
from stages.c4 import C4
from stages.fineweb import FineWeb
from stages.gopher import Gopher, Profile
from stages.naive_bayes import NaiveBayes
from stages.rules.bayes_model import BayesTrainer
from stages.tokens import Tokens
from stages.url_filter import UrlFilter

ROUNDS = 5


def made_documents(count: int = 200, words: int = 1_000) -> list[str]:
    """Texts of so many words from a fixed seed."""
    draw = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    vocabulary = ["the", "of", "and", "to", "that", "with", "be", "have"]
    vocabulary += ["".join(draw.choices(letters, range(26, 0, -1), k=draw.randint(2, 11))) for _ in range(30_000)]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]
    texts = []
    for _ in range(count):
        drawn = draw.choices(vocabulary, weights, k=words)
        for place in range(0, words, 12):
            drawn[place] = drawn[place].capitalize()
            drawn[place - 1] += draw.choice([".", ".", ".\n", ",", "?"])
        drawn[40:48] = drawn[20:28]
        texts.append(" ".join(drawn))
    return texts


def read_documents(path: str) -> list[str]:
    """The field `text` of a JSONL file, plain or gzip."""
    with gzip.open(path, "rt") if path.endswith(".gz") else Path(path).open() as file:
        return [json.loads(line)["text"] for line in file]


def microseconds(work: Callable[[Document], object], documents: list[Document], words: int) -> float:
    """CPU time per 1,000 words, the best round."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for document in documents:
            work(document)
        best = min(best, time.process_time() - start)
    return best / words * 1e9


def main() -> None:
    texts = read_documents(sys.argv[1]) if len(sys.argv) > 1 else made_documents()
    documents = [
        Document(Address("web", "a.warc.gz", number), url=f"https://site{number}.example/page", text=text)
        for number, text in enumerate(texts)
    ]
    words = sum(len(document.words) for document in documents)
    print(f"{len(documents)} documents, {words / len(documents):.0f} words each on average")
    rows: list[tuple[str, Callable[[Document], Any]]] = [("split into words", lambda doc: doc.text.split())]
    with tempfile.TemporaryDirectory() as folder:
        stages: list[tuple[str, DocumentStage]] = [
            ("url_filter", UrlFilter(domains=("spam.example",), words=("casino",))),
            *((f"gopher {profile}", Gopher(profile=profile)) for profile in get_args(Profile)),
            ("c4", C4()),
            ("fineweb", FineWeb()),
            *((f"naive_bayes order {order}", trained(texts, folder, order)) for order in (1, 2)),
            ("tokens (estimate)", Tokens()),
        ]
        rows += [(name, stage.apply) for name, stage in stages]
        for name, work in rows:
            print(f"{name:24}{microseconds(work, documents, words):9.1f} µs per 1,000 words")


def trained(texts: list[str], folder: str, order: int) -> NaiveBayes:
    """A stage with a model of the first half of the texts against the second."""
    path, half = Path(folder, f"model{order}"), len(texts) // 2
    trainer = BayesTrainer(order=order).add_all(texts[:half], good=True).add_all(texts[half:], good=False)
    trainer.finish().save(path)
    return NaiveBayes(model=str(path))


if __name__ == "__main__":
    main()

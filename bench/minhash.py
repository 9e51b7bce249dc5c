"""CPU microseconds a document of 500 words for near_dedup, step by step: `python bench/minhash.py`.

Documents are made here: Zipf-distributed words from a fixed seed, 15 % of them near copies of an earlier one. Best of
the rounds, CPU time of this process. Beside it datasketch itself on the same shingle values, and end to end what
`--documents` documents cost from text to verdicts, without reading and writing text.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from datasketch import MinHash

from curate.decide.decide import decide
from curate.document import Address, Document
from curate.executors.executor import Serial
from curate.scan.sketch_writer import SketchWriter, sketch_all
from curate.scan.sketches import gather
from stages.exact_dedup import ExactDedup
from stages.near_dedup import NearDedup
from stages.resemblance import minhash
from stages.resemblance.word_hashes import _one_by_one, hashes_of

WORDS = 500
BLOCK = 256
ROUNDS = 5


def texts(count: int) -> list[str]:
    """Texts of WORDS words each."""
    rng = np.random.default_rng(1)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    vocabulary = np.array(["".join(rng.choice(letters, size)) for size in rng.integers(2, 11, 30_000)])
    chances = 1 / np.arange(1, len(vocabulary) + 1)
    made: list[Any] = []
    for number in range(count):
        if number and rng.random() < 0.15:
            words = made[int(rng.integers(number))].copy()
            words[rng.choice(WORDS, 8, replace=False)] = rng.integers(0, len(vocabulary), 8)
        else:
            words = rng.choice(len(vocabulary), WORDS, p=chances / chances.sum())
        made.append(words)
    return [" ".join(vocabulary[words].tolist()).capitalize() for words in made]


def documents(some: Sequence[str]) -> list[Document]:
    return [Document(Address("bench", "made", number), text=text) for number, text in enumerate(some)]


def report(name: str, count: int, run: Callable[[], object]) -> None:
    """Prints the best of ROUNDS in microseconds a document."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    print(f"{name:58}{1e6 * best / count:8.1f} us/document")


def steps(some: Sequence[str]) -> None:
    words = [text.split() for text in some]
    stage = NearDedup()
    values = [minhash.shingle_values(each, 5).tolist() for each in words[:200]]
    signatures = minhash.signatures(some, 5, 128, 1)

    def in_blocks(function: Callable[[int], object]) -> Callable[[], object]:
        return lambda: [function(start) for start in range(0, len(some), BLOCK)]

    def oracle() -> None:
        for each in values:
            MinHash(128, seed=1, scheme="affine32", hashfunc=int).update_batch(each)

    count = len(some)
    report("str.split", count, lambda: [text.split() for text in some])
    report("word hashes", count, in_blocks(lambda at: hashes_of(some[at : at + BLOCK])))
    report("word hashes, from words one by one", count, lambda: [_one_by_one(each) for each in words])
    report("signatures", count, in_blocks(lambda at: minhash.signatures(some[at : at + BLOCK], 5, 128, 1)))
    report("bucket keys", count, lambda: minhash.bucket_keys(signatures, 25, 5))
    report("near_dedup.sketch_all", count, in_blocks(lambda at: stage.sketch_all(documents(some[at : at + BLOCK]))))
    report("exact_dedup.sketch", count, lambda: [ExactDedup().sketch(doc) for doc in documents(some)])
    report("datasketch, shingle values to signature", len(values), oracle)


def end_to_end(some: Sequence[str]) -> None:
    stages = [("exact_dedup", ExactDedup()), ("near_dedup", NearDedup())]
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        task = Path(folder) / "task"
        task.mkdir()
        writers = [SketchWriter(task, name, stage) for name, stage in stages]
        for at in range(0, len(some), BLOCK):
            docs = documents(some[at : at + BLOCK])
            for writer, (_, stage) in zip(writers, stages):
                for number, sketch in enumerate(sketch_all(stage, docs), at):
                    writer.add(number, sketch)
        for writer in writers:
            writer.commit()
            writer.close()
        for name, stage in stages:
            gather(Serial(), Path(folder), name, stage, [task], [len(some)], 1)
        table = decide(Serial(), Path(folder), stages, len(some))
        spent = time.process_time() - start
    dropped = {name: table.notes[name]["dropped"] for name, _ in stages}
    print(f"{len(some):,} documents of {WORDS} words, text to verdicts: {spent:.2f} CPU seconds; dropped {dropped}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    options = parser.parse_args()
    some = texts(options.documents)
    steps(some[:4096])
    end_to_end(some)


if __name__ == "__main__":
    main()

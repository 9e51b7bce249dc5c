"""Model files that are cut, flipped or made up, put to the stages that read them: `python bench/model_faults.py`.

Each of a stage's model files is cut at a random place, or gets eight other bytes, so many times; or its first bytes
are kept and the rest is noise. What the stage's check says is counted: a sentence, or nothing where the file still
loads. Anything else, a crash, a hang or an error that is no sentence, ends the campaign. The longest check in seconds
and the most memory that a process came to stand below.
"""

import argparse
import io
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece

from curate.errors import UserError
from stages.edu import Edu
from stages.fasttext_quality import FastTextQuality
from stages.importance import Importance
from stages.language import Language
from stages.linear import Linear
from stages.models import fasttext_file, ngram_file, onnx_file, pieces
from stages.models.importance_model import ImportanceTrainer
from stages.models.linear_model import LinearTrainer
from stages.naive_bayes import NaiveBayes
from stages.perplexity import Perplexity
from stages.rules.bayes_model import BayesTrainer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the writers of small models are the tests' own

from tests.stages.models.model_files import write_fasttext
from tests.stages.models.ngram_files import write_arpa, write_probing, write_trie
from tests.stages.models.onnx_files import write_classifier, write_tokenizer
from tests.stages.models.test_ngram_file import random_grams

Check = Callable[[str], Any]  # a stage of a file's path
CACHES = (
    fasttext_file.load_model,
    fasttext_file.labels,
    ngram_file.load_ngrams,
    onnx_file.load_scorer,
    pieces.load_pieces,
    pieces.load_tokenizer,
)


def made(folder: Path) -> dict[str, tuple[str, Check]]:
    """A small model of each kind, and the stage that reads it."""
    texts = (
        [f"the river runs {number} miles" for number in range(40)],
        [f"click {number} times" for number in range(40)],
    )
    for trainer, name in (
        (LinearTrainer(bits=12), "linear"),
        (ImportanceTrainer(), "importance"),
        (BayesTrainer(), "bayes"),
    ):
        for some, good in zip(texts, (True, False), strict=True):
            for text in some:
                trainer.add(text, good)
        trainer.finish().save(folder / name)
    fasttext = write_fasttext(folder / "fasttext.bin", {"en": [1.0, 0.0]}, {"__label__en": [1.0, 0.0]})
    grams, content = random_grams(), io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(texts[0]), model_writer=content, vocab_size=30, minloglevel=2, hard_vocab_limit=False
    )
    (folder / "sp.model").write_bytes(content.getvalue())
    onnx, tokenizer = write_classifier(folder / "model.onnx"), write_tokenizer(folder / "tokenizer.json")
    arpa = write_arpa(folder / "en.arpa", grams)

    def ngrams(path: str) -> Perplexity:
        return Perplexity(models={"en": path})

    return {
        "language, fastText": (fasttext, lambda path: Language(model=path)),
        "fasttext_quality": (fasttext, lambda path: FastTextQuality(model=path, label="en", min_score=None)),
        "edu, ONNX": (onnx, lambda path: Edu(model=path, tokenizer=tokenizer)),
        "edu, tokenizer": (tokenizer, lambda path: Edu(model=onnx, tokenizer=path)),
        "perplexity, ARPA": (arpa, ngrams),
        "perplexity, probing": (write_probing(folder / "probing", grams), ngrams),
        "perplexity, trie": (write_trie(folder / "trie", grams, quantized=8, array=8), ngrams),
        "perplexity, SentencePiece": (
            str(folder / "sp.model"),
            lambda path: Perplexity(models={"en": arpa}, pieces={"en": path}),
        ),
        "linear": (str(folder / "linear"), lambda path: Linear(model=path)),
        "importance": (str(folder / "importance"), lambda path: Importance(model=path, documents=1)),
        "naive_bayes": (str(folder / "bayes"), lambda path: NaiveBayes(model=path)),
    }


def damaged(content: bytes, kind: str, draw: random.Random) -> bytes:
    if kind == "cut":
        return content[: draw.randrange(len(content))]
    if kind == "made up":
        kept = draw.randrange(min(200, len(content)))
        return content[:kept] + draw.randbytes(len(content) - kept)
    found = bytearray(content)
    for _ in range(8):
        found[draw.randrange(len(found))] = draw.randrange(256)
    return bytes(found)


def verdict(stage: Check, path: str) -> str:
    """What a stage with this model file says before a run."""
    for cache in CACHES:
        cache.cache_clear()
    try:
        stage(path).check([], [])
    except (ValueError, UserError) as error:
        return "no sentence" if "\n" in str(error) or len(str(error)) < 10 else "a sentence"
    return "loads"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50, help="files of each kind of damage")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw, longest = random.Random(given.seed), 0.0
    print(f"{'':26} {'damage':8} {'a sentence':>10} {'loads':>6} {'no sentence':>11}")
    with tempfile.TemporaryDirectory() as name:
        for reader, (path, stage) in made(Path(name)).items():
            content, broken = Path(path).read_bytes(), Path(name) / "broken"
            for kind in ("cut", "flipped", "made up"):
                counts: Counter[str] = Counter()
                for _ in range(given.times):
                    broken.write_bytes(damaged(content, kind, draw))
                    start = time.perf_counter()
                    counts[verdict(stage, str(broken))] += 1
                    longest = max(longest, time.perf_counter() - start)
                print(
                    f"{reader:26} {kind:8} {counts['a sentence']:10} {counts['loads']:6} {counts['no sentence']:11}",
                    flush=True,
                )
    memory = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"longest check {longest:.1f} s, most memory of a process {memory / 1024:.0f} MiB")


if __name__ == "__main__":
    main()

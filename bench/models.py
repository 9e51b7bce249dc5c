"""Documents a second of each stage that asks a model, at 500 words: `python bench/models.py [texts.jsonl]`.

The models are made here: a fastText file, an n-gram model as ARPA and as a trie, classifiers trained on half of the
texts against the other half, and an ONNX text classifier of one layer. So the figures of `linear` and `importance` are
those of any model; those of the others are the least that a model costs. CPU time of this process, best of five rounds.
"""

import random
import sys
import tempfile
from pathlib import Path

from rules import made_documents, microseconds, read_documents

from curate.document import Address, Document
from curate.stage import DocumentStage
from stages.edu import Edu
from stages.fasttext_quality import FastTextQuality
from stages.importance import Importance
from stages.linear import Linear
from stages.models.importance_model import ImportanceTrainer
from stages.models.linear_model import LinearTrainer
from stages.perplexity import Perplexity

sys.path.insert(0, str(Path(__file__).parents[1]))  # the writers of small models are the tests' own

from tests.stages.models.model_files import write_fasttext
from tests.stages.models.ngram_files import write_arpa, write_trie
from tests.stages.models.onnx_files import write_classifier, write_tokenizer

WORDS = 500
Grams = dict[tuple[str, ...], tuple[float, float]]


def grams_of(texts: list[str], order: int = 3, most: int = 3_000) -> Grams:
    """N-grams of the first texts with weights at random; endings are there, too."""
    draw = random.Random(0)
    found: Grams = {(word,): (-99.0, -0.5) for word in ("<unk>", "<s>", "</s>")}
    for text in texts:
        words = text.lower().split()
        for size in range(1, order + 1):
            for start in range(len(words) - size + 1):
                longer = 0.0 if size == order else -draw.random()
                found.setdefault(tuple(words[start : start + size]), (-3 * draw.random(), longer))
        if len(found) > most:
            break
    return found


def stages(folder: Path, texts: list[str]) -> list[tuple[str, DocumentStage | Importance]]:
    """Each stage with a model made of the texts."""
    linear, importance = LinearTrainer(), ImportanceTrainer()
    for number, text in enumerate(texts):
        linear.add(text, number % 2 == 0)
        importance.add(text, number % 2 == 0)
    linear.finish().save(folder / "linear.npz")
    importance.finish().save(folder / "importance.npz")
    draw, words = random.Random(0), sorted({word for text in texts for word in text.split()})
    vectors = {word: [draw.gauss(0, 1) for _ in range(100)] for word in words[:20_000]}
    labels = {f"__label__{name}": [draw.gauss(0, 1) for _ in range(100)] for name in ("hq", "cc")}
    fasttext = write_fasttext(folder / "model.bin", vectors, labels)
    grams = grams_of(texts)
    arpa, trie = write_arpa(folder / "en.arpa", grams), write_trie(folder / "en.bin", grams, quantized=12)
    onnx, tokenizer = write_classifier(folder / "edu.onnx"), write_tokenizer(folder / "tokenizer.json")
    return [
        ("linear", Linear(model=str(folder / "linear.npz"))),
        ("importance", Importance(model=str(folder / "importance.npz"), documents=1)),
        ("fasttext_quality", FastTextQuality(model=fasttext, label="hq", min_score=0.5)),
        ("perplexity, ARPA", Perplexity(models={"en": arpa}, max_perplexity=1e6)),
        ("perplexity, quantized trie", Perplexity(models={"en": trie}, max_perplexity=1e6)),
        ("edu, one layer of 48", Edu(model=onnx, tokenizer=tokenizer)),
    ]


def main() -> None:
    texts = read_documents(sys.argv[1]) if len(sys.argv) > 1 else made_documents(words=WORDS)
    documents = [Document(Address("web", "a.jsonl", number), text=text) for number, text in enumerate(texts)]
    words = sum(len(document.words) for document in documents)
    print(f"{len(documents)} documents, {words / len(documents):.0f} words each on average")
    with tempfile.TemporaryDirectory() as folder:
        for name, stage in stages(Path(folder), texts):
            work = stage.sketch if isinstance(stage, Importance) else stage.apply
            cost = microseconds(work, documents, words) / 1000 * WORDS
            print(f"{name:28} {cost:7.0f} µs a document, {1e6 / cost:7.0f} a second")


if __name__ == "__main__":
    main()

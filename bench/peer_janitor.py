"""Decontamination beside lm-evaluation-harness's janitor, which is GPT-3's filter rebuilt: which texts hold an example.

    python bench/peer_janitor.py --janitor OTHER_ENV/lib/python3.11/site-packages/lm_eval/decontamination/janitor.py

Makes 500 examples of 5 to 60 words and 4,000 texts, a third of which quote 8 to 30 words of an example, in other case,
with other punctuation and line breaks. Prints how many texts both, one or the other find, and CPU seconds.
"""

import argparse
import contextlib
import importlib.util
import io
import json
import random
import tempfile
from pathlib import Path
from time import process_time
from types import ModuleType

from curate.document import Address, Document
from stages.decontaminate import Decontaminate

WORDS = [f"word{number}" for number in range(3_000)]
MARKS = [",", ".", ";", "?", "!", '"', ")", ""]


def sentence(dice: random.Random, words: list[str]) -> str:
    """Words with marks, capitals and line breaks."""
    parts = [(word.upper() if dice.random() < 0.1 else word) + dice.choice(MARKS) for word in words]
    return "".join(word + dice.choice([" ", " ", " ", "\n"]) for word in parts).strip()


def made() -> tuple[list[str], list[str]]:
    """Examples and texts."""
    dice = random.Random(13)
    plain = [[dice.choice(WORDS) for _ in range(dice.randrange(5, 61))] for _ in range(500)]
    texts = []
    for number in range(4_000):
        words = [dice.choice(WORDS) for _ in range(500)]
        if number % 3 == 0:
            example = dice.choice(plain)
            start, count, place = dice.randrange(len(example)), dice.randrange(8, 31), dice.randrange(500)
            words[place:place] = example[start : start + count]
        texts.append(sentence(dice, words))
    return [sentence(dice, words) for words in plain], texts


def module(path: Path) -> ModuleType:
    """The peer's file, alone: its package imports much more."""
    spec = importlib.util.spec_from_file_location("janitor", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    found = importlib.util.module_from_spec(spec)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        spec.loader.exec_module(found)  # says that its C++ part is missing
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--janitor", type=Path, required=True)
    options = parser.parse_args()
    examples, texts = made()
    janitor = module(options.janitor).Janitor()
    for example in examples:
        janitor.register_contaminant_python(example)
    start = process_time()
    theirs = {number for number, text in enumerate(texts) if janitor.clean_python(text) != [text]}
    their_cpu = process_time() - start
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write("".join(json.dumps({"text": example}) + "\n" for example in examples))
        file.flush()
        stage = Decontaminate(sets={"made": file.name}, min_ngram=13)  # the janitor has no shorter ones
        stage.index()
        docs = [Document(Address("made", "", number), text=text) for number, text in enumerate(texts)]
        start = process_time()
        found = [sketch for first in range(0, len(docs), 256) for sketch in stage.sketch_all(docs[first : first + 256])]
        our_cpu = process_time() - start
    ours = {number for number, sketch in enumerate(found) if len(sketch.keys)}
    print(
        json.dumps(
            {
                "both": len(theirs & ours),
                "janitor_alone": len(theirs - ours),
                "ours_alone": len(ours - theirs),
                "neither": len(texts) - len(theirs | ours),
                "janitor_cpu_seconds": round(their_cpu, 2),
                "our_cpu_seconds": round(our_cpu, 2),
            }
        )
    )


if __name__ == "__main__":
    main()

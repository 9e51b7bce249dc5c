"""Makes JSONL documents with copies at all distances around the usual threshold, for dedup and tagging benches.

    python bench/made_texts.py --documents 20000 --out texts-20k [--per-file 5000] [--seed 3] [--junk 0] [--words N]

Writes `texts-000NN.jsonl.gz` with {id, text}. A document has 200 to 800 words (or --words), drawn by Zipf's law from
30,000, in sentences and lines. 80 % are fresh, 5 % exact copies of an earlier document, 15 % copies with words replaced
so that the Jaccard similarity of 5-word shingles lies evenly between 0.60 and 0.99. `--junk` is the share of texts that
are spoilt in one of six ways that quality rules look for: bullets, ellipses, symbols, repeated lines, long words, few
words. Same arguments, same bytes.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
STOP_WORDS = ["the", "of", "and", "to", "that", "with", "be", "have"]
EXACT, NEAR = 0.05, 0.15
SHINGLE = 5


def _vocabulary(dice: random.Random) -> tuple[list[str], list[float]]:
    words = list(STOP_WORDS)
    words += ["".join(dice.choices(LETTERS, range(26, 0, -1), k=dice.randint(2, 11))) for _ in range(30_000)]
    total, cumulated = 0.0, []
    for rank in range(len(words)):
        total += 1 / (rank + 2)
        cumulated.append(total)
    return words, cumulated


def _written(words: list[str]) -> str:
    """Words as sentences of 12, lines of 48."""
    parts = list(words)
    for place in range(0, len(parts), 12):
        parts[place] = parts[place].capitalize()
    for place in range(11, len(parts), 12):
        parts[place] += "." if (place + 1) % 48 else ".\n"
    return " ".join(parts).replace("\n ", "\n")


def _spoilt(text: str, dice: random.Random) -> str:
    """The text with a fault, more or less of it."""
    lines, much = text.split("\n"), dice.random()
    kind = int(dice.random() * 6)
    if kind == 0:
        return "\n".join(f"- {line}" if dice.random() < 0.8 + 0.2 * much else line for line in lines)
    if kind == 1:
        return "\n".join(f"{line}..." if dice.random() < 0.6 * much else line for line in lines)
    if kind == 2:
        return " ".join(f"#{word}" if dice.random() < 0.2 * much else word for word in text.split(" "))
    if kind == 3:
        return "\n".join(lines[0] if dice.random() < 0.6 * much else line for line in lines)
    if kind == 4:
        return " ".join(word * 4 if dice.random() < 0.5 * much else word for word in text.split(" "))
    return " ".join(text.split(" ")[: int(100 * much)])


def texts(documents: int, seed: int, junk: float = 0.0, words_each: int | None = None) -> Iterator[str]:
    """The texts in order."""
    dice = random.Random(seed)
    vocabulary, cumulated = _vocabulary(dice)
    drawn: list[list[str]] = []
    for _ in range(documents):
        how = dice.random()
        if drawn and how < EXACT + NEAR:
            words = list(drawn[int(dice.random() * len(drawn))])
            if how >= EXACT:
                similarity = 0.60 + 0.39 * dice.random()
                # m changes far apart break k·m of n shingles on either side: J = (n - km) / (n + km)
                changes = round(len(words) * (1 - similarity) / (SHINGLE * (1 + similarity)))
                for place in dice.sample(range(len(words)), changes):
                    words[place] = dice.choices(vocabulary, cum_weights=cumulated)[0]
        else:
            words = dice.choices(vocabulary, cum_weights=cumulated, k=words_each or dice.randint(200, 800))
            drawn.append(words)
        text = _written(words)
        yield _spoilt(text, dice) if junk and dice.random() < junk else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--per-file", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--junk", type=float, default=0.0)
    parser.add_argument("--words", type=int)
    given = parser.parse_args()
    made = texts(given.documents, given.seed, given.junk, given.words)
    write(given.out, made, given.per_file)


def write(folder: Path, made: Iterator[str], per_file: int = 5_000) -> None:
    """Writes texts as JSONL files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, some in enumerate(iter(lambda: list(islice(made, per_file)), [])):
        first = number * per_file
        lines = (json.dumps({"id": f"d{first + place:08d}", "text": text}) + "\n" for place, text in enumerate(some))
        (folder / f"texts-{number:05d}.jsonl.gz").write_bytes(gzip.compress("".join(lines).encode(), 6, mtime=0))


if __name__ == "__main__":
    main()

"""Texts with a grammar of their own: a chain in which each word has a few words that may follow it."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

WORDS = [f"{onset}{nucleus}{coda}" for onset in "bcdfglmnprst" for nucleus in "aeiou" for coda in ("n", "r", "st", "")]


def chained(count: int, seed: int, chain: int = 1, words: int = 120) -> list[str]:
    """Texts of one chain: the same `chain` has the same grammar, whatever the seed."""
    grammar = Random(f"chain {chain}")
    follows = {word: grammar.sample(WORDS, 16) for word in WORDS}
    dice = Random(f"texts {seed}")
    made = []
    for _ in range(count):
        text = [dice.choice(WORDS)]
        while len(text) < words:
            text.append(dice.choice(follows[text[-1]]))
        made.append(" ".join(text))
    return made


def shuffled(texts: Sequence[str], seed: int) -> list[str]:
    """The same words of each text in another order."""
    dice = Random(seed)
    return [" ".join(dice.sample(text.split(), len(text.split()))) for text in texts]


def near(text: str, number: int) -> str:
    """The text with one word changed at its end."""
    return f"{text.rpartition(' ')[0]} other{number}"


def write(path: Path, texts: Sequence[str], **columns: str) -> str:
    path.write_text("".join(json.dumps({"text": text, **columns}) + "\n" for text in texts))
    return str(path)

"""Tokenizers made for the tests: byte-level ones trained on a few lines, and one of words."""

import json
from pathlib import Path
from typing import Any

from curate.export.units import EXPRESSIONS

LINES = [
    "The river is wide, and the meadow lies under water in spring.",
    "It's 12345 steps from the harbour to the old engine; they've counted them twice!",
    "Zürich, Ångström, 東京 and Ελλάδα are words, too.\n\nA second paragraph follows.\n",
] * 3
END = "<|endoftext|>"


def byte_level(path: Path, expression: str | None = None, **added: Any) -> str:
    """A byte-level BPE; with GPT-2's own cutting where no expression is given."""
    from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    alone = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=expression is None)
    made.pre_tokenizer = (
        alone
        if expression is None
        else pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"), alone])
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        LINES, trainers.BpeTrainer(vocab_size=400, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    )
    for text, options in added.items():
        made.add_tokens([AddedToken(text, **options)])
    made.save(str(path))
    return str(path)


def all_byte_level(folder: Path) -> list[str]:
    """One of each kind that is encoded by units."""
    folder.mkdir(parents=True, exist_ok=True)
    numbered = enumerate([None, *sorted(EXPRESSIONS)])
    return [byte_level(folder / f"tokenizer-{number}.json", expression) for number, expression in numbered]


def of_words(path: Path, words: int = 40, gap: int = 0) -> str:
    """A tokenizer whose tokens are the words w0, w1, …, with ids 1, 2, …; END is 0. `gap` is added to the last id."""
    vocabulary = {"[U]": words + 1, **{f"w{number}": number + 1 for number in range(words)}}
    vocabulary[f"w{words - 1}"] += gap
    mark = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    content = {
        "version": "1.0",
        "added_tokens": [{"id": 0, "content": END, **mark}],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": {END: 0, **vocabulary}, "unk_token": "[U]"},
    }
    path.write_text(json.dumps(content))
    return str(path)

"""Texts into tokens by any `tokenizer.json`, without what a tokenizer adds, cuts or takes for a mark by itself."""

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from curate.errors import UserError, cause, hint
from curate.export.units import splits_into_units, units

INSTALL = "python -m pip install tokenizers"
ENDS = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<|eos|>", "<|im_end|>", "[EOS]")
U16 = 65_535  # vocabularies up to this size fit uint16, with one value left for readers that mask with it
KEPT = 1 << 18  # units remembered: about 60 MB
LONGEST_KEPT = 40  # characters; longer units seldom come again


class Tokenizer:
    """One tokenizer, as `load` reads it.

    A mark written out in a text, such as `<|endoftext|>`, is encoded as text: no page forges a document's end.
    """

    def __init__(self, path: str) -> None:
        read = _read(path)
        self.name = Path(path).name
        self._tokenizer = read
        vocabulary: dict[str, int] = read.get_vocab(with_added_tokens=True)
        self.vocabulary = max(vocabulary.values(), default=-1) + 1  # ids may have gaps
        self.dtype = np.dtype("<u2") if self.vocabulary <= U16 else np.dtype("<u4")
        self._marks = {token.content: number for number, token in read.get_added_tokens_decoder().items()}
        self._by_units = splits_into_units(json.loads(read.to_str()))
        self._known = _Known(self)

    def mark(self, text: str | None, option: str) -> int | None:
        """The token of a mark by its text; None for "". Raises UserError where the vocabulary has no such token."""
        if text == "":
            return None
        if text is None:
            found = [end for end in dict.fromkeys(ENDS) if end in self._marks]
            if len(found) != 1:
                marks = f"several ({', '.join(found)})" if found else "none that is known"
                raise UserError(
                    f"{self.name}: of marks that end a document it has {marks}; name one by '{option}', or give \"\" "
                    "for none"
                )
            return int(self._marks[found[0]])
        number = self._tokenizer.token_to_id(text)
        if number is None:
            raise UserError(f"{self.name}: '{option}': it has no token '{text}'; {hint(text, sorted(self._marks))}")
        return int(number)

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """The tokens of each text, as the bytes of `dtype`. Memory grows with the texts given at once."""
        return self._encode_by_units(texts) if self._by_units else self.encode_whole(texts)

    def encode_whole(self, texts: Sequence[str]) -> list[bytes]:
        """The same, by the library alone."""
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [np.fromiter(ids := one.ids, self.dtype, len(ids)).tobytes() for one in encoded]

    def _encode_by_units(self, texts: Sequence[str]) -> list[bytes]:
        parts = [units(text) for text in texts]
        self._known.learn(parts)
        get = self._known.tokens.__getitem__
        encoded = [b"".join(map(get, some)) for some in parts]
        self._known.forget()
        return encoded


class _Known:
    """Tokens of units met before, as their bytes. Its size is bounded, and it changes the time alone."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.tokens: dict[str, bytes] = {}
        self._passing: list[str] = []

    def learn(self, parts: Sequence[Sequence[str]]) -> None:
        tokens = self.tokens
        fresh = list({unit for some in parts for unit in some if unit not in tokens})
        tokens.update(zip(fresh, self.tokenizer.encode_whole(fresh), strict=True))
        self._passing = [unit for unit in fresh if len(unit) > LONGEST_KEPT]

    def forget(self) -> None:
        if len(self.tokens) > KEPT:
            self.tokens.clear()
            return
        for unit in self._passing:
            del self.tokens[unit]


def _read(path: str) -> Any:
    if find_spec("tokenizers") is None:
        raise UserError(f"the package tokenizers is missing; install it with: {INSTALL}")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # a worker has one core
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_buffer(Path(path).read_bytes())
    except OSError as error:
        raise UserError(f"{path}: can't be read ({cause(error)}); give a tokenizer.json") from None
    except ValueError as error:
        raise UserError(f"{path}: is no tokenizer ({error}); give a tokenizer.json") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    if getattr(tokenizer.model, "dropout", None):  # drawn anew each time: equal texts would not give equal tokens
        tokenizer.model.dropout = None
    return tokenizer


@lru_cache(maxsize=2)
def load(path: str) -> Tokenizer:
    """The tokenizer of a file, once a process. Raises UserError where it can't be had."""
    return Tokenizer(path)

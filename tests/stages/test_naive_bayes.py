"""The seed's classifier and its values; the stage at its limit; model files that are refused."""

import io
import json
import math
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document, Drop
from curate.errors import UserError
from stages.models.word_grams import buckets, plain_word, plain_words
from stages.naive_bayes import BAD_EXAMPLES, GOOD_EXAMPLES, NaiveBayes, QualityClassifier
from stages.rules.bayes_model import BayesModel, BayesTrainer, load_model, vote


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.warc", 0), text=text, attributes=attributes)


def small_model(**options: int) -> BayesModel:
    trainer = BayesTrainer(**options)
    trainer.add_all(["the river runs", "the hill stands, the river runs"], good=True)
    return trainer.add_all(["click the link", "click now"], good=False).finish()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.npz"
    small_model().save(path)
    return path


# The seed's values.


def test_seed_votes_s010_s011_s013() -> None:
    classifier = QualityClassifier.trained_on_examples()
    assert round(classifier.word_vote("river"), 3) == 1.158
    assert round(classifier.word_vote("click"), 3) == -1.837
    assert round(classifier.word_vote("zebra"), 6) == -0.227932
    assert vote(3, 0, 77, 45, 80) == classifier.word_vote("River,")


def test_seed_totals_s012() -> None:
    classifier = QualityClassifier.trained_on_examples()
    assert (classifier.N_good, classifier.N_bad, classifier.V) == (77, 45, 80)
    assert (classifier.counts["river"], classifier.counts["click"]) == ((3, 0), (0, 4))


@pytest.mark.parametrize("text", ["river", "The river! Click - here", "", "-- ...", *GOOD_EXAMPLES, *BAD_EXAMPLES])
def test_seed_score_is_the_sum_of_the_votes_s014(text: str) -> None:
    classifier = QualityClassifier.trained_on_examples()
    assert classifier.score(text) == pytest.approx(sum(map(classifier.word_vote, plain_words(text))), abs=1e-12)


def test_examples_score_on_their_own_side() -> None:
    classifier = QualityClassifier.trained_on_examples()
    assert min(map(classifier.score, GOOD_EXAMPLES)) > 0 > max(map(classifier.score, BAD_EXAMPLES))


# The stage.


@given(st.text())
def test_the_stage_scores_as_the_classifier_does_on_all_unicode(text: str) -> None:
    classifier = QualityClassifier.trained_on_examples()
    measured = NaiveBayes(model="examples").measure(page(text))
    votes = math.fsum(map(classifier.word_vote, plain_words(text)))
    assert measured == {"naive_bayes_score": pytest.approx(votes / max(len(text.split()), 1), abs=1e-12)}


def test_low_score_fires_under_the_limit_and_passes_at_it() -> None:
    river = QualityClassifier.trained_on_examples().word_vote("river")
    at = NaiveBayes(model="examples", min_score=river).apply(page("river river"))
    assert isinstance(at, Document) and at.attributes == {"naive_bayes_score": river}
    over = NaiveBayes(model="examples", min_score=math.nextafter(river, 2)).apply(page("river river"))
    assert over == Drop("low_score", river, math.nextafter(river, 2))
    assert NaiveBayes.reasons == ("low_score",)


def test_none_only_scores() -> None:
    spam = NaiveBayes(model="examples", min_score=None).apply(page("click click click"))
    assert isinstance(spam, Document) and spam.attributes["naive_bayes_score"] < -1


def test_an_empty_text_scores_0() -> None:
    assert NaiveBayes(model="examples").measure(page(" ")) == {"naive_bayes_score": 0.0}


def test_other_languages_pass_unscored() -> None:
    stage = NaiveBayes(model="examples", languages=("en",))
    kept = stage.apply(page("click click", language="de"))
    assert isinstance(kept, Document) and kept.attributes["naive_bayes_score"] is None
    assert isinstance(stage.apply(page("click click", language="en")), Drop)


def test_a_model_is_required() -> None:
    with pytest.raises(ValidationError, match="model"):
        TypeAdapter(NaiveBayes).validate_json("{}", strict=True)


# Models and their files.


@pytest.mark.parametrize("options", [{}, {"min_count": 2}, {"order": 2, "bits": 8}, {"order": 3, "bits": 12}])
def test_a_model_comes_back_from_its_file_as_it_was(options: dict[str, int], tmp_path: Path) -> None:
    before, path = small_model(**options), tmp_path / "model"
    before.save(path)
    after = load_model(str(path))
    assert (after.words, after.order, after.bits, after.totals) == (
        before.words,
        before.order,
        before.bits,
        before.totals,
    )
    words = "The river, click here now".split()
    assert after.total(words) == before.total(words) != 0
    small_model(**options).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["again", "model"]


def test_rare_words_are_left_out() -> None:
    assert small_model(min_count=2).words == ("click", "river", "runs", "the")


def test_n_grams_tell_apart_what_words_cannot() -> None:
    trainer = BayesTrainer(order=2, bits=16)
    trainer.add_all(["good not bad"] * 3, good=True)
    model = trainer.add_all(["bad not good"] * 3, good=False).finish()
    assert model.score(["good", "not", "bad"]) > 0 > model.score(["bad", "not", "good"])
    words = BayesTrainer().add_all(["good not bad"], good=True).add_all(["bad not good"], good=False).finish()
    assert words.score(["good", "not", "bad"]) == 0


@pytest.mark.parametrize(
    ("word", "plain"),
    [("River,", "river"), ("(_don't_)", "don't"), ("--", ""), ("½.", "½"), ("«É»", "é"), ("-" * 99 + "a", "a")],
)
def test_plain_words_lose_case_and_outer_punctuation(word: str, plain: str) -> None:
    assert plain_word(word) == plain


def test_words_too_long_to_remember_are_scored_all_the_same() -> None:
    long = "river" * 20
    model = BayesTrainer().add_all([long], good=True).add_all(["click"], good=False).finish()
    assert model.total([long]) == model.total([long]) == vote(1, 0, 1, 1, 2)
    assert buckets([long + "!"], 2, 20).tolist() == buckets([long], 2, 20).tolist()


def test_buckets_are_those_of_plain_words_in_order() -> None:
    assert len(buckets(["a", "b", "--", "c"], 3, 10)) == 3 + 2 + 1
    assert buckets(["A,", "b"], 2, 10).tolist() == buckets(["a", "(B)"], 2, 10).tolist()
    assert buckets(["a", "b"], 2, 20)[2] != buckets(["b", "a"], 2, 20)[2]
    assert len(buckets([], 2, 10)) == len(buckets(["a"], 2, 10)) - 1 == 0


def rewritten(path: Path, **arrays: np.ndarray | None) -> None:
    """The model file with parts replaced, or without them."""
    parts = {**np.load(path), **arrays}
    np.savez(path.open("wb"), **{name: part for name, part in parts.items() if part is not None})


def header(**changes: Any) -> np.ndarray:
    content = {"format": "curate naive_bayes", "version": 1, "order": 1, "bits": 0, **changes}
    return np.frombuffer(json.dumps(content).encode(), np.uint8)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"header": header(format="other")}, "no naive Bayes model"),
        ({"header": header(version=2)}, "version 2"),
        ({"header": header(bits=8)}, "lengths"),
        ({"header": header(order="x")}, "damaged"),
        ({"header": None}, "no naive Bayes model"),
        ({"good": None}, "damaged"),
        ({"good": np.array([1, 2])}, "lengths"),
        ({"good": np.array([-1] * 8)}, "whole numbers"),
        ({"good": np.array([0.5] * 8)}, "whole numbers"),
        ({"good": np.array([{}] * 8, dtype=object)}, "no naive Bayes model"),
    ],
)
def test_a_foreign_or_damaged_model_is_refused(parts: dict[str, Any], message: str, model: Path) -> None:
    rewritten(model, **parts)
    with pytest.raises(UserError, match=message):
        load_model(str(model))


class Trap:
    """Leaves a trace when it is unpickled."""

    sprung = False

    def __reduce__(self) -> tuple[Any, ...]:
        return (setattr, (Trap, "sprung", True))


def test_nothing_is_unpickled(model: Path) -> None:
    content = io.BytesIO()
    np.lib.format.write_array(content, np.array([Trap()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(model, "w") as file:
        file.writestr("header.npy", content.getvalue())
    with pytest.raises(UserError, match="no naive Bayes model"):
        load_model(str(model))
    model.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(UserError, match="no naive Bayes model"):
        load_model(str(model))
    assert not Trap.sprung


def test_a_missing_or_cut_model_is_an_error(model: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such model"):
        NaiveBayes(model=str(tmp_path / "gone")).check([], [])
    model.write_bytes(model.read_bytes()[:-30])
    with pytest.raises(UserError, match="no naive Bayes model"):
        load_model(str(model))
    NaiveBayes(model="examples").check([], [])

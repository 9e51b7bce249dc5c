"""The linear classifier: what is fitted, what is drawn, the limits, the file."""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curate.document import Address, Document, Drop
from curate.errors import UserError
from curate.tools.train import train
from stages.linear import Linear, draw, largest_alpha
from stages.models import arrays_file, linear_model
from stages.models.linear_model import LinearTrainer, _Examples, load_model
from stages.models.minimize import minimize
from tests.tools.test_train import BAD, GOOD, jsonl


def trained(**options: Any) -> linear_model.LinearModel:
    trainer = LinearTrainer(bits=12, **options)
    for texts, good in ((GOOD, True), (BAD, False)):
        for text in texts:
            trainer.add(text, good)
    return trainer.finish()


@pytest.fixture
def model(tmp_path: Path) -> str:
    trained().save(tmp_path / "model.npz")
    return str(tmp_path / "model.npz")


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.jsonl", 0), text=text, attributes=attributes)


def score(stage: Linear, text: str) -> float:
    found: float = stage.measure(page(text))["linear_score"]
    return found


# The fit.


def test_the_minimum_of_a_bowl_is_found() -> None:
    centre, widths = np.array([3.0, -2.0, 0.5]), np.array([1.0, 100.0, 0.1])
    found = minimize(lambda at: (float((widths * (at - centre) ** 2).sum()), 2 * widths * (at - centre)), np.zeros(3))
    assert found == pytest.approx(centre, abs=2e-3)  # 1e-6 of the first slope, 400, over the least width


def test_the_gradient_is_that_of_the_loss() -> None:
    draw_ = np.random.default_rng(0)
    examples = _Examples(
        np.array([1.0, 0.0, 1.0]),
        np.array([0, 0, 1, 2]),
        np.array([0, 2, 1, 2]),
        np.array([0.6, 0.8, 1.0, 1.0], np.float32),
        0.3,
    )
    at, step = draw_.normal(size=4), 1e-6
    _, gradient = examples.loss(at)
    for place in range(4):
        moved = np.eye(4)[place] * step
        slope = (examples.loss(at + moved)[0] - examples.loss(at - moved)[0]) / (2 * step)
        assert gradient[place] == pytest.approx(slope, abs=1e-5)


def test_without_features_the_bias_is_the_odds_of_the_examples() -> None:
    trainer = LinearTrainer(bits=8)
    for good, count in ((True, 30), (False, 10)):
        for _ in range(count):
            trainer.add("", good)
    assert trainer.finish().probability([]) == pytest.approx(0.75, abs=1e-4)


def test_n_grams_tell_apart_what_words_cannot() -> None:
    trainer = LinearTrainer(order=2, bits=16)
    for _ in range(3):
        trainer.add("good not bad", True)
        trainer.add("bad not good", False)
    fitted = trainer.finish()
    assert fitted.probability(["good", "not", "bad"]) > 0.9 > 0.1 > fitted.probability(["bad", "not", "good"])


def test_a_long_text_scores_like_a_short_one_of_the_same_words() -> None:
    fitted = trained(order=1)
    assert fitted.score(["river", "click"] * 50) == pytest.approx(fitted.score(["river", "click"]))


def test_order_of_the_examples_changes_no_byte(tmp_path: Path) -> None:
    models = []
    for shuffled in (False, True):
        texts = [(text, True) for text in GOOD] + [(text, False) for text in BAD]
        if shuffled:
            random.Random(1).shuffle(texts)
        trainer = LinearTrainer(bits=12)
        for text, good in texts:
            trainer.add(text, good)
        trainer.finish().save(tmp_path / "model")
        models.append((tmp_path / "model").read_bytes())
    assert models[0] == models[1]


def test_one_kind_of_examples_is_not_enough() -> None:
    trainer = LinearTrainer()
    trainer.add("river", True)
    with pytest.raises(UserError, match="examples of both kinds"):
        trainer.finish()


def test_the_command_trains_it(tmp_path: Path) -> None:
    good, bad = jsonl(tmp_path / "good.jsonl", GOOD), jsonl(tmp_path / "bad.jsonl", BAD)
    training = train("linear", good, bad, str(tmp_path / "model"), bits=12)
    assert (training.accuracy, training.auc) == (1.0, 1.0)
    Linear(model=str(tmp_path / "model")).check([], [])


# The draw.


@pytest.mark.parametrize(("p", "kept"), [(1.0, 1.0), (0.9, 0.424), (0.5, 0.026), (0.0, 0.00195)])
def test_pages_are_kept_as_gpt_3_kept_them(p: float, kept: float) -> None:
    """(2 - p)^-9, drawn over 50,000 texts; the spread of a share is sqrt(kept / 50,000) at the most."""
    assert (2 - p) ** -9 == pytest.approx(kept, rel=0.02)
    drawn = [largest_alpha(p, draw(f"text {number}", 0)) >= 9 for number in range(50_000)]
    assert sum(drawn) / len(drawn) == pytest.approx((2 - p) ** -9, abs=4 * math.sqrt(kept / 50_000) + 1e-9)


def test_the_draw_is_numpys_pareto_against_1_minus_p() -> None:
    for p, u in ((0.2, 0.3), (0.8, 0.9), (0.5, 0.999)):
        alpha = largest_alpha(p, u)
        assert (1 - u) ** (-1 / alpha) - 1 == pytest.approx(1 - p)


def test_the_draw_hangs_on_text_and_seed_alone() -> None:
    assert draw("a", 0) == draw("a", 0) != draw("a", 1)
    assert draw("a", 0) != draw("b", 0)
    assert 0 <= draw("", 0) < 1


# The stage.


def test_low_score_fires_below_the_limit_and_not_at_it(model: str) -> None:
    value = score(Linear(model=model), "click here and win")
    assert value < 0.5
    assert isinstance(Linear(model=model, min_score=value).apply(page("click here and win")), Document)
    above = math.nextafter(value, 1)
    assert Linear(model=model, min_score=above).apply(page("click here and win")) == Drop("low_score", value, above)


def test_not_drawn_fires_above_a_pages_own_alpha_and_not_at_it(model: str) -> None:
    text = "click the river"
    alpha = Linear(model=model).measure(page(text))["linear_pareto"]
    assert isinstance(Linear(model=model, min_score=None, min_pareto=alpha).apply(page(text)), Document)
    above = math.nextafter(alpha, 1e9)
    dropped = Linear(model=model, min_score=None, min_pareto=above).apply(page(text))
    assert dropped == Drop("not_drawn", alpha, above)
    assert Linear.reasons == ("low_score", "not_drawn")
    assert Linear.limits == ("min_score", "min_pareto")


def test_a_score_is_a_chance(model: str) -> None:
    stage = Linear(model=model)
    assert 0.5 < score(stage, "the river runs through the valley") <= 1
    assert 0 < score(stage, "") < 1
    kept = stage.apply(page("the river runs"))
    assert isinstance(kept, Document) and set(kept.attributes) == {"linear_score"}


def test_a_very_sure_model_gives_0_and_1(tmp_path: Path) -> None:
    for bias, p in ((-1e5, 0.0), (1e5, 1.0)):
        linear_model.LinearModel(np.zeros(256, np.float32), bias, 1, 8).save(tmp_path / "sure")
        assert load_model(str(tmp_path / "sure")).probability(["a"]) == pytest.approx(p)
    assert largest_alpha(1.0, 0.0) == 1e9


def test_other_languages_pass_unscored(model: str) -> None:
    stage = Linear(model=model, min_score=1.0, languages=("en",))
    kept = stage.apply(page("click", language="de"))
    assert isinstance(kept, Document) and kept.attributes["linear_score"] is None


# The file.


def test_a_model_comes_back_from_its_file_as_it_was(model: str, tmp_path: Path) -> None:
    after, before = load_model(model), trained()
    assert after.score(GOOD[0].split()) == before.score(GOOD[0].split()) != 0
    after.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == Path(model).read_bytes()


@pytest.mark.parametrize(
    ("header", "weights", "message"),
    [
        ({"bits": 9}, None, "of another number"),
        ({"order": 9}, None, "features are others"),
        ({"hash": "md5"}, None, "features are others"),
        ({"bias": "x"}, None, "damaged"),
        ({"bias": math.inf}, None, "no numbers"),
        ({}, np.full(256, np.nan, np.float32), "no numbers"),
        ({}, np.zeros(256), "of another number"),
    ],
)
def test_a_damaged_model_is_refused(header: dict[str, Any], weights: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    whole = {"hash": linear_model.HASH, "order": 1, "bits": 8, "bias": 0.0, **header}
    weights = np.zeros(256, np.float32) if weights is None else weights
    arrays_file.save(path, linear_model.KIND, whole, {"weights": weights})
    with pytest.raises(UserError, match=message):
        Linear(model=str(path)).check([], [])


def test_a_model_of_another_stage_is_refused(tmp_path: Path) -> None:
    good, bad = jsonl(tmp_path / "good.jsonl", GOOD), jsonl(tmp_path / "bad.jsonl", BAD)
    train("naive_bayes", good, bad, str(tmp_path / "model"))
    with pytest.raises(UserError, match=r"is no linear model of curate .*curate naive_bayes.*; train one with"):
        Linear(model=str(tmp_path / "model")).check([], [])
    with pytest.raises(UserError, match="there is no such model"):
        Linear(model=str(tmp_path / "gone")).check([], [])


def test_a_file_with_any_byte_changed_is_refused_or_read(model: str, tmp_path: Path) -> None:
    """zipfile and NumPy raise errors of seven kinds on damage; each is one sentence."""
    content, draw_ = Path(model).read_bytes(), random.Random(4)
    for _ in range(300):
        changed = bytearray(content)
        for _ in range(4):
            changed[draw_.randrange(len(changed))] = draw_.randrange(256)
        (tmp_path / "changed").write_bytes(changed)
        try:
            load_model(str(tmp_path / "changed"))
        except UserError as error:
            assert "\n" not in str(error) and "train one with" in str(error)

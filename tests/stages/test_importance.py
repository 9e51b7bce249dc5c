"""importance: log-weights by hand, the draw against a plain sort and against its frequencies, the budget."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from curate.decide.verdicts import VerdictTable
from curate.errors import UserError
from curate.stage import CorpusStage
from curate.tools.train import train
from stages.importance import Importance, descending, gumbel
from stages.models import arrays_file, importance_model
from stages.models.importance_model import SMOOTHING, ImportanceModel, ImportanceTrainer, load_model
from tests.decided import decided, documents
from tests.tools.test_train import BAD, GOOD, jsonl


def model_of(path: Path, weights: dict[str, float]) -> str:
    """A model of single words with these log-weights; others count 0."""
    ratios = np.zeros(1 << 20)
    for word, weight in weights.items():
        [bucket] = importance_model._buckets(word, 1, len(ratios))
        ratios[bucket] = weight
    ImportanceModel(ratios, 1).save(path)
    return str(path)


@pytest.fixture
def model(tmp_path: Path) -> str:
    return model_of(tmp_path / "model.npz", {"river": 1.0, "click": -1.0})


def run(work: Path, stage: Importance, texts: list[str], tokens: list[int] | None = None, **how: Any) -> VerdictTable:
    columns = {} if tokens is None else {"token_count": tokens}
    return decided(work, [("importance", stage)], documents(texts, **columns), **how)


def kept(table: VerdictTable) -> list[int]:
    return np.flatnonzero(table.columns["stage"] == 0).tolist()


# The model.


def test_the_log_weight_is_the_sum_over_the_n_grams() -> None:
    trainer = ImportanceTrainer(order=1, buckets=1 << 20)
    trainer.add("river river click", True)
    trainer.add("river click click click", False)
    fitted = trainer.finish()
    river = math.log(2 / 3 + SMOOTHING) - math.log(1 / 4 + SMOOTHING)
    click = math.log(1 / 3 + SMOOTHING) - math.log(3 / 4 + SMOOTHING)
    assert fitted.log_weight("River, river! Click") == pytest.approx(2 * river + click)  # "," and "!": in neither
    assert fitted.log_weight("") == 0
    assert fitted.log_weight("river " * 100) == pytest.approx(100 * river)  # no length norm


def test_pairs_are_counted_too() -> None:
    trainer = ImportanceTrainer(order=2)
    trainer.add("good not bad", True)
    trainer.add("bad not good", False)
    fitted = trainer.finish()
    assert fitted.log_weight("good not bad") > 20 > -20 > fitted.log_weight("bad not good")


def test_the_command_trains_it(tmp_path: Path) -> None:
    target, raw = jsonl(tmp_path / "target.jsonl", GOOD), jsonl(tmp_path / "raw.jsonl", BAD)
    trained = train("importance", target, raw, str(tmp_path / "model"), buckets=1000)
    assert str(trained).startswith("trained on 72 documents; on 5 target and 3 raw ones held out: accuracy 1.000")
    Importance(model=str(tmp_path / "model"), documents=1).check([], [])
    assert len(load_model(str(tmp_path / "model")).ratios) == 1000


def test_a_training_without_words_is_refused() -> None:
    trainer = ImportanceTrainer()
    trainer.add("river", True)
    trainer.add(" ", False)
    with pytest.raises(UserError, match="hold no words"):
        trainer.finish()


@pytest.mark.parametrize(
    ("header", "ratios", "message"),
    [
        ({"hash": "md5"}, np.zeros(10), "features are others"),
        ({"order": 0}, np.zeros(10), "features are others"),
        ({}, np.zeros(10, np.float32), "of another kind"),
        ({}, np.array([np.inf]), "no numbers"),
    ],
)
def test_a_damaged_model_is_refused(header: dict[str, Any], ratios: Any, message: str, tmp_path: Path) -> None:
    whole = {"hash": importance_model.HASH, "order": 1, **header}
    arrays_file.save(tmp_path / "model", importance_model.KIND, whole, {"ratios": ratios})
    with pytest.raises(UserError, match=message):
        Importance(model=str(tmp_path / "model"), documents=1).check([], [])


# The draw.


def test_smaller_keys_are_larger_values() -> None:
    values = np.array([-np.inf, -2.5, -1e-300, 0.0, 1e-300, 3.0, 1e300])
    assert np.argsort(descending(values)).tolist() == list(range(len(values)))[::-1]


def test_the_noise_is_gumbels() -> None:
    """Its mean is Euler's constant, its variance pi^2 / 6."""
    noise = gumbel(np.random.default_rng(0).integers(0, 1 << 64, 200_000, np.uint64))
    assert noise.mean() == pytest.approx(0.57722, abs=4 * math.sqrt(math.pi**2 / 6 / 200_000))
    assert noise.var() == pytest.approx(math.pi**2 / 6, rel=0.03)
    assert np.isfinite(gumbel(np.array([0, (1 << 64) - 1], np.uint64))).all()


def test_pages_are_drawn_by_their_weights(tmp_path: Path) -> None:
    """One page of four under 4,000 seeds: the chance of each is its weight over the sum of all."""
    path = model_of(tmp_path / "m", {"a": 0.0, "b": math.log(2), "c": math.log(3), "d": math.log(4)})
    weights = np.array([load_model(path).log_weight(text) for text in "abcd"])
    drawn: Counter[int] = Counter()
    for seed in range(4000):
        hashes = np.array(
            [
                Importance(model=path, documents=1, seed=seed).sketch(doc).record["hash"][0]  # type: ignore[index]
                for doc in documents(list("abcd"))
            ]
        )
        drawn[int(np.argmax(weights + gumbel(hashes)))] += 1
    for place, share in enumerate((0.1, 0.2, 0.3, 0.4)):
        assert drawn[place] / 4000 == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 4000))


def plain(stage: Importance, texts: list[str], tokens: list[int]) -> list[int]:
    """The pages drawn, by sorting them and walking along."""
    docs = documents(texts, token_count=tokens)
    records = np.concatenate([np.asarray(stage.sketch(doc).record) for doc in docs])
    keys = records["weight"] + gumbel(records["hash"])
    room, found = stage.tokens or stage.documents or 0, []
    for place in sorted(range(len(texts)), key=lambda n: (-keys[n], n)):
        room -= tokens[place] if stage.tokens else 1
        if room < 0:
            break
        found.append(place)
    return sorted(found)


@pytest.mark.parametrize("budget", [{"documents": 1}, {"documents": 37}, {"tokens": 1000.0}, {"tokens": 5.0}])
def test_the_budget_is_filled_in_the_order_of_the_keys(budget: dict[str, Any], model: str, tmp_path: Path) -> None:
    texts = [f"river {n % 40} " * (n % 5) + "click " * (n % 3) for n in range(120)]  # copies among them
    tokens = [10 + n % 7 for n in range(120)]
    stage = Importance(model=model, min_words=None, **budget)
    table = run(tmp_path / "a", stage, texts, tokens, task=50)
    assert kept(table) == plain(stage, texts, tokens)
    again = run(tmp_path / "b", stage, texts, tokens, task=7, partitions=3)
    assert kept(again) == kept(table)


def test_a_budget_that_holds_all_keeps_all(model: str, tmp_path: Path) -> None:
    table = run(tmp_path / "a", Importance(model=model, min_words=None, documents=3), ["river", "click", "x"])
    assert kept(table) == [0, 1, 2]
    assert table.columns["importance"].tolist() == [1.0, -1.0, 0.0]
    assert table.notes["importance"] == {
        "dropped": 0,
        "drawn_from": 3,
        "drawn": 3,
        "mean_words_before": 1,
        "mean_words_after": 1,
    }


def test_not_drawn_and_too_few_words(model: str, tmp_path: Path) -> None:
    texts = ["river " * 30, "click " * 30, "river " * 20, "river " * 19]
    table = run(tmp_path / "a", Importance(model=model, min_words=20, documents=2), texts)
    dropped, reasons = table.columns["stage"], table.columns["reason"]
    verdicts = [Importance.reasons[code] if by else None for by, code in zip(dropped, reasons, strict=True)]
    assert verdicts == [None, "not_drawn", None, "too_few_words"]


def test_another_seed_draws_others(model: str, tmp_path: Path) -> None:
    texts = [f"page {n}" for n in range(60)]
    drawn = [
        kept(run(tmp_path / f"{seed}", Importance(model=model, min_words=None, documents=20, seed=seed), texts))
        for seed in (0, 1)
    ]
    assert drawn[0] != drawn[1] and len(drawn[0]) == len(drawn[1]) == 20


def test_without_token_counts_it_says_what_is_missing(model: str, tmp_path: Path) -> None:
    stage = Importance(model=model, tokens=100)
    assert stage.needs == ("token_count",) and Importance(model=model, documents=1).needs == ()
    with pytest.raises(UserError, match="has no token_count; put the stage `tokens` before it"):
        run(tmp_path / "a", stage, ["river"])


def test_one_budget_is_given(model: str) -> None:
    for fields in ("{}", '{"tokens": 5, "documents": 5}', '{"documents": 0}'):
        with pytest.raises(ValidationError):
            TypeAdapter(Importance).validate_json(f'{{"model": "m", {fields[1:]}'.replace(", }", "}"), strict=True)
    assert isinstance(Importance(model=model, documents=1), CorpusStage)

"""Training from JSONL files: what is held out, what is measured, what is refused."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import zstandard

from curate.errors import UserError
from curate.tools.train import Training, accuracy, auc, train
from stages.naive_bayes import NaiveBayes

GOOD = [f"the river {number} runs through the valley" for number in range(50)]
BAD = [f"click here {number} and win free cash" for number in range(30)]


def jsonl(path: Path, texts: list[str], field: str = "text") -> str:
    data = "".join(json.dumps({field: text}) + "\n\n" for text in texts).encode()
    if path.suffix == ".gz":
        data = gzip.compress(data)
    if path.suffix == ".zst":
        data = zstandard.compress(data)
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_tenth_is_held_out_and_measured(suffix: str, tmp_path: Path) -> None:
    good, bad = jsonl(tmp_path / f"good.jsonl{suffix}", GOOD), jsonl(tmp_path / f"bad.jsonl{suffix}", BAD)
    out = str(tmp_path / "model")
    trained = train("naive_bayes", good, bad, out)
    assert trained == Training(50, 30, 5, 3, accuracy=1.0, auc=1.0)
    assert str(trained) == "trained on 72 documents; on 5 good and 3 bad ones held out: accuracy 1.000, AUC 1.000"
    NaiveBayes(model=out).check([], [])


def test_order_of_the_documents_changes_nothing(tmp_path: Path) -> None:
    models = []
    for name, texts in (("a", GOOD), ("b", GOOD[::-1])):
        out = tmp_path / f"model-{name}"
        good, bad = jsonl(tmp_path / f"{name}.jsonl", texts), jsonl(tmp_path / "bad.jsonl", BAD)
        models.append((train("naive_bayes", good, bad, str(out), order=2, bits=12), out.read_bytes()))
    assert models[0] == models[1]


def test_the_seed_chooses_what_is_held_out(tmp_path: Path) -> None:
    files = jsonl(tmp_path / "good.jsonl", GOOD), jsonl(tmp_path / "bad.jsonl", BAD)
    models = set()
    for seed in range(3):
        train("naive_bayes", *files, str(tmp_path / "model"), seed=seed)
        models.add((tmp_path / "model").read_bytes())
    assert len(models) == 3


def test_no_held_out_document_is_trained_on(tmp_path: Path) -> None:
    good = jsonl(tmp_path / "good.jsonl", [f"word{number}" for number in range(100)])
    bad = jsonl(tmp_path / "bad.jsonl", [f"term{number}" for number in range(100)])
    trained = train("naive_bayes", good, bad, str(tmp_path / "model"))
    words = bytes(np.load(tmp_path / "model")["words"]).decode().split("\n")
    assert (trained.held_out_good, trained.held_out_bad, len(words)) == (10, 10, 180)
    assert trained.auc == 0.5  # none of its words was ever seen


def test_auc_is_the_chance_of_the_right_order() -> None:
    good, bad = np.array([3.0, 1.0, 1.0]), np.array([1.0, 0.0])
    pairs = [(g > b) + (g == b) / 2 for g in good for b in bad]
    assert auc(good, bad) == sum(pairs) / len(pairs)
    assert accuracy(np.array([0.0, -1.0]), np.array([0.0, -0.1])) == 0.5


def test_what_cannot_be_read_or_trained_on_is_refused(tmp_path: Path) -> None:
    good, bad, out = (
        jsonl(tmp_path / "good.jsonl", GOOD),
        jsonl(tmp_path / "bad.jsonl", BAD),
        str(tmp_path / "model"),
    )
    for texts in ([], ["one"], ["one", "one"]):
        with pytest.raises(UserError, match="two different"):
            train("naive_bayes", good, jsonl(tmp_path / "few.jsonl", texts), out)
    with pytest.raises(UserError, match=r"gone\.jsonl"):
        train("naive_bayes", str(tmp_path / "gone.jsonl"), bad, out)
    with pytest.raises(UserError, match=r"other\.jsonl:1.*'text'.*--text"):
        train("naive_bayes", jsonl(tmp_path / "other.jsonl", GOOD, "body"), bad, out)
    (tmp_path / "broken.jsonl").write_text('{"text": "a"}\n{"text"\n')
    with pytest.raises(UserError, match=r"broken\.jsonl:2.*JSON"):
        train("naive_bayes", str(tmp_path / "broken.jsonl"), bad, out)
    (tmp_path / "bytes.jsonl").write_bytes(b'{"text": "\xff"}\n')
    with pytest.raises(UserError, match=r"bytes\.jsonl"):
        train("naive_bayes", str(tmp_path / "bytes.jsonl"), bad, out)
    for option in ({"order": 0}, {"bits": 40}, {"min_count": 0}):
        with pytest.raises(UserError, match=next(iter(option)).replace("_", "-")):
            train("naive_bayes", good, bad, out, **option)
    assert not (tmp_path / "model").exists()


def test_the_field_can_be_named(tmp_path: Path) -> None:
    files = jsonl(tmp_path / "good.jsonl", GOOD, "body"), jsonl(tmp_path / "bad.jsonl", BAD, "body")
    assert train("naive_bayes", *files, str(tmp_path / "model"), text="body").good == 50

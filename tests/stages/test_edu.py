"""edu: a score that depends on the text alone, the limit, columns in place of a model, files of strangers."""

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document, Drop
from curate.errors import UserError
from stages.edu import Edu
from stages.models import onnx_file
from stages.models.onnx_file import STEP, load_scorer
from tests.engine import run_it, settings, table, tree_hash, write_jsonl
from tests.stages.models.onnx_files import WORDS, write_classifier, write_tokenizer


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("classifier")
    return {
        "model": write_classifier(folder / "model.onnx"),
        "tokenizer": write_tokenizer(folder / "tokenizer.json"),
    }


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.jsonl", 0), text=text, attributes=attributes)


def made_texts(count: int, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS[3:], k=draw.choice([0, 1, 5, 60, 62, 63, 130, 700]))) for _ in range(count)]


def test_a_score_is_the_same_bits_whatever_stands_beside_the_text(files: dict[str, str]) -> None:
    stage = Edu(min_score=None, **files)
    pages = [page(text) for text in made_texts(60)]
    alone = [stage.measure(one)["edu_score"] for one in pages]
    assert len(set(alone)) > 40
    draw = random.Random(1)
    for _ in range(5):
        order = draw.sample(range(60), 60)
        together = stage.measure_all([pages[place] for place in order])
        assert [measures["edu_score"] for measures in together] == [alone[place] for place in order]
    assert [measures["edu_score"] for measures in stage.measure_all(pages[7:12])] == alone[7:12]


def test_texts_go_together_where_the_model_lets_them(files: dict[str, str]) -> None:
    assert load_scorer(files["model"], files["tokenizer"], 512, 0).rows == onnx_file.ROWS


def test_a_model_whose_rows_hang_on_each_other_gets_one_text_at_a_time(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_file.TextScorer, "hangs_on_neighbours", lambda self: True)
    scorer = load_scorer.__wrapped__(files["model"], files["tokenizer"], 512, 0)
    assert scorer.rows == 1
    texts = made_texts(10)
    assert scorer.scores(texts) == [scorer.scores([text])[0] for text in texts]


def test_neighbours_are_found_out() -> None:
    """A session whose rows get a part of the row before them, and one whose rows do not."""

    class Session:
        def __init__(self, leak: float) -> None:
            self.leak = leak

        def run(self, _: None, given: dict[str, np.ndarray]) -> list[np.ndarray]:
            rows = given["input_ids"].sum(1).astype(np.float32)
            return [rows + self.leak * np.roll(rows, 1)]

    class Splitter:
        padding = None

        def token_to_id(self, mark: str) -> int:
            return 0

        def encode(self, text: str) -> Any:
            return type("Encoding", (), {"ids": [len(word) for word in text.split()], "overflowing": []})

    for leak, hangs in ((0.0, False), (1e-3, True)):
        scorer = onnx_file.TextScorer(Session(leak), Splitter(), ("input_ids",), 512, 0)
        assert scorer.hangs_on_neighbours() == hangs


def test_the_score_is_the_models(files: dict[str, str]) -> None:
    """Against the same session asked with the text alone and no padding."""
    stage = Edu(min_score=None, **files)
    scorer = load_scorer(files["model"], files["tokenizer"], 512, 0)
    ids = np.array([[1, 8, 4, 9, 2]], np.int64)  # [CLS] the river runs [SEP]
    [plain] = scorer.session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
    assert stage.measure(page("the river runs"))["edu_score"] == pytest.approx(float(plain[0, 0]), abs=1e-5)


def test_the_first_tokens_count_and_no_others(files: dict[str, str]) -> None:
    stage = Edu(min_score=None, max_tokens=STEP, **files)
    inside = STEP - 2  # the marks around the text are among the tokens
    text = " ".join(["river"] * inside)
    assert stage.measure(page(text + " cash" * 500)) == stage.measure(page(text))
    assert stage.measure(page(text[: -len(" river")] + " cash")) != stage.measure(page(text))


def test_long_words_are_read_as_far_as_the_tokens_need(files: dict[str, str]) -> None:
    """Fewer tokens than characters / 8: the head of the text is looked at again, longer."""
    scorer = load_scorer(files["model"], files["tokenizer"], 8, 0)
    text = " ".join(["x" * 100, "y" * 1000, "z" * 5000, *["river"] * 9])
    assert scorer._tokens(text) == scorer.tokenizer.encode(text).ids == [1, 3, 3, 3, 4, 4, 4, 2]


def test_low_score_fires_below_the_limit_and_not_at_it(files: dict[str, str]) -> None:
    value = Edu(min_score=None, **files).measure(page("the river runs"))["edu_score"]
    kept = Edu(min_score=value, **files).apply(page("the river runs"))
    assert isinstance(kept, Document) and kept.attributes == {"edu_score": value}
    above = math.nextafter(value, 9)
    assert Edu(min_score=above, **files).apply(page("the river runs")) == Drop("low_score", value, above)
    assert Edu.reasons == ("low_score",)
    assert Edu(**files).min_score == 2.5


def test_a_column_takes_the_place_of_the_model() -> None:
    stage = Edu(column="score", min_score=3)
    assert stage.needs == stage.needs_numbers == ("score",)
    assert stage.apply(page("a", score=2)) == Drop("low_score", 2.0, 3)
    kept = stage.apply(page("a", score=3))
    assert isinstance(kept, Document) and kept.attributes["edu_score"] == 3.0
    assert isinstance(stage.apply(page("a", score=None)), Document)
    assert stage.measure(page("a", score=math.nan)) == {"edu_score": None}


def test_other_languages_pass_unscored(files: dict[str, str]) -> None:
    stage = Edu(min_score=1e9, languages=("en",), **files)
    measures = stage.measure_all([page("river", language="de"), page("river", language="en")])
    assert measures[0] == {"edu_score": None} and measures[1]["edu_score"] is not None


def test_one_of_several_outputs_is_the_score(files: dict[str, str], tmp_path: Path) -> None:
    three = write_classifier(tmp_path / "three.onnx", outputs=3)
    scores = [
        Edu(model=three, tokenizer=files["tokenizer"], output=output).measure(page("river"))["edu_score"]
        for output in range(3)
    ]
    assert len(set(scores)) == 3
    with pytest.raises(UserError, match="it gives 3 numbers a text, and number 3 is asked for"):
        Edu(model=three, tokenizer=files["tokenizer"], output=3).check([], [])


def test_files_that_cannot_be_used_are_told_before_a_page_is_read(files: dict[str, str], tmp_path: Path) -> None:
    Edu(**files).check([], [])
    content = Path(files["model"]).read_bytes()
    (tmp_path / "cut.onnx").write_bytes(content[: len(content) // 2])
    (tmp_path / "text.onnx").write_text("no model")
    (tmp_path / "empty.onnx").write_bytes(b"")
    for name in ("cut.onnx", "text.onnx", "empty.onnx"):
        with pytest.raises(UserError, match=name + r": can't be used as a text classifier \(.+\); give") as refused:
            Edu(model=str(tmp_path / name), tokenizer=files["tokenizer"]).check([], [])
        assert "\n" not in str(refused.value)
    other = write_classifier(tmp_path / "other.onnx", inputs=("input_ids", "attention_mask", "pixels"))
    with pytest.raises(UserError, match="it asks for the input pixels"):
        Edu(model=other, tokenizer=files["tokenizer"]).check([], [])
    with pytest.raises(UserError, match=r"gone\.onnx: there is no such model"):
        Edu(model=str(tmp_path / "gone.onnx"), tokenizer=files["tokenizer"]).check([], [])
    with pytest.raises(UserError, match=r"text\.onnx: is no tokenizer"):
        Edu(model=files["model"], tokenizer=str(tmp_path / "text.onnx")).check([], [])


def test_without_the_package_the_error_holds_the_install_command(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    load_scorer.cache_clear()
    monkeypatch.setattr(onnx_file, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install onnxruntime"):
        Edu(**files).check([], [])
    load_scorer.cache_clear()


@pytest.mark.parametrize(
    "fields", [{}, {"model": "m"}, {"tokenizer": "t"}, {"model": "m", "tokenizer": "t", "column": "c"}]
)
def test_the_score_comes_from_one_place(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="give"):
        TypeAdapter(Edu).validate_json(json.dumps(fields), strict=True)


def test_a_run_gives_the_same_bytes_however_the_pages_lie(files: dict[str, str], tmp_path: Path) -> None:
    texts = [text for text in made_texts(80, seed=5) if text]
    found = {}
    for name, size in (("one", 80), ("many", 3)):
        folder = tmp_path / name
        folder.mkdir()
        for start in range(0, len(texts), size):
            write_jsonl(folder / f"{start:03}.jsonl", texts[start : start + size])
        out = folder / "out"
        run_it(settings(f"{folder}/*.jsonl", out, stages=[{"edu": {**files, "min_score": 0.0}}]))
        rows = table(out, "shards").to_pylist()
        found[name] = {row["text"]: row["edu_score"] for row in rows}
        assert tree_hash(out)
    assert found["one"] == found["many"]

"""fastText files: what is read, and what strangers' files may not do."""

import math
import mmap
import struct
from pathlib import Path

import pytest

from curate.errors import UserError
from stages.language import packaged_model
from stages.models import fasttext_header
from stages.models.fasttext_file import answers, labels, load_model, predict
from tests.stages.models.model_files import write_fasttext

WORDS = {"good": [4.0, 0.0], "bad": [0.0, 4.0]}
LABELS = {"__label__hq": [1.0, 0.0], "__label__cc": [0.0, 1.0]}


def packaged() -> Path:
    found = packaged_model()
    assert found is not None
    return found


@pytest.fixture
def path(tmp_path: Path) -> str:
    return write_fasttext(tmp_path / "small.bin", WORDS, LABELS)


def test_a_line_is_the_mean_of_its_words(path: str) -> None:
    model = load_model(path)
    found = dict(answers(model, "good good good bad unknown", -1))
    logits = 3.0, 1.0  # three fourths and one fourth of 4
    hq = math.exp(logits[0]) / sum(map(math.exp, logits))
    assert found["__label__hq"] == pytest.approx(hq, abs=1e-4)
    assert found["__label__cc"] == pytest.approx(1 - hq, abs=1e-4)
    assert predict(model, "bad") == ("cc", pytest.approx(1 / (1 + math.exp(-4)), abs=1e-4))


def test_labels_are_those_of_the_dictionary(path: str) -> None:
    assert labels(path) == ("__label__hq", "__label__cc")


@pytest.mark.parametrize("kept", [0, 4, 20, 56, 84, 100, 120, 150, -1])
def test_a_model_cut_anywhere_costs_one_sentence(path: str, kept: int, tmp_path: Path) -> None:
    cut = tmp_path / "cut.bin"
    cut.write_bytes(Path(path).read_bytes()[:kept])
    message = r"cut\.bin: is no fastText model \(it ends after .+\); give another file"
    with pytest.raises(UserError, match=message) as caught:
        load_model(str(cut))
    assert "\n" not in str(caught.value)


def changed(path: str, at: int, content: bytes) -> str:
    """The file with some bytes overwritten."""
    found = bytearray(Path(path).read_bytes())
    found[at : at + len(content)] = content
    Path(path).write_bytes(found)
    return path


@pytest.mark.parametrize(
    ("at", "number", "message"),
    [
        (0, 5, "it does not begin like one"),
        (4, 99, "it does not begin like one"),
        (36, 1, "it is one of skip-gram, not a classifier"),
        (8, 0, "its header contradicts itself"),
        (8, 3, "another size than its dictionary"),
        (64, 2_000_000_000, "its header contradicts itself"),
    ],
)
def test_a_header_that_contradicts_the_rest_is_refused(path: str, at: int, number: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_model(changed(path, at, struct.pack("<i", number)))


def test_a_matrix_that_is_made_up_never_reaches_the_library(path: str) -> None:
    rows = Path(path).read_bytes().index(struct.pack("<qq", 2, 2))
    with pytest.raises(UserError, match="within what its header announces"):
        load_model(changed(path, rows, struct.pack("<q", 1 << 40)))


def test_the_packaged_model_is_what_its_header_says() -> None:
    assert len(labels(str(packaged()))) == 176
    with packaged().open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        reader = fasttext_header._HeaderCursor(content)
        fasttext_header._header(reader)
        assert reader.at == len(content)


def test_a_missing_model_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no model at .*gone\.bin; give `model: FILE`"):
        load_model(str(tmp_path / "gone.bin"))

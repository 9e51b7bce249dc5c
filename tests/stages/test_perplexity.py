"""Perplexity: the formula, CCNet's buckets and text, each reason at its limit."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from curate.config.file import parse_config
from curate.document import Address, Document, Drop
from curate.errors import UserError
from curate.output.fingerprint import named_files
from stages.models.ccnet_text import ccnet_text
from stages.perplexity import Perplexity
from tests.stages.models.ngram_files import Grams, write_arpa, write_trie

# Each word costs a factor of 10, an unknown one 1,000, the end of a sentence 1.
PLAIN: Grams = {
    ("<unk>",): (-3.0, 0.0),
    ("<s>",): (-99.0, 0.0),
    ("</s>",): (0.0, 0.0),
    ("river",): (-1.0, 0.0),
    ("</s>", "<s>"): (-9.0, 0.0),
}


@pytest.fixture
def model(tmp_path: Path) -> str:
    return write_arpa(tmp_path / "en.arpa", PLAIN)


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.jsonl", 0), text=text, attributes=attributes)


def measured(stage: Perplexity, text: str, **attributes: Any) -> tuple[Any, Any]:
    found = stage.measure(page(text, **attributes))
    return found["perplexity"], found["perplexity_bucket"]


def test_the_mean_is_over_words_and_ends_of_sentences(model: str) -> None:
    stage = Perplexity(models={"en": model})
    assert measured(stage, "river") == (round(10 ** (1 / 2), 1), "all")
    assert measured(stage, "river sea") == (round(10 ** (4 / 3), 1), "all")
    assert measured(stage, "river\n\nriver river\n") == (round(10 ** (3 / 5), 1), "all")
    assert measured(stage, " \n") == (None, "all")


def test_a_text_as_one_sentence_loses_its_line_breaks_as_in_cc_net(model: str) -> None:
    stage = Perplexity(models={"en": model}, unit="text")
    assert measured(stage, "river \nriver") == (round(10 ** (2 / 3), 1), "all")
    assert measured(stage, "river\nriver")[0] == round(10 ** (3 / 2), 1)  # one word, and unknown


def test_any_file_of_kenlm_will_do(model: str, tmp_path: Path) -> None:
    binary = write_trie(tmp_path / "en.bin", PLAIN, quantized=4, array=8)
    assert measured(Perplexity(models={"en": binary}), "river sea") == measured(
        Perplexity(models={"en": model}), "river sea"
    )


def test_buckets_begin_at_their_cuts(model: str) -> None:
    value = measured(Perplexity(models={"en": model}), "river sea")[0]
    for cuts, bucket in (((value + 0.1, 99), "head"), ((value, value + 0.1), "middle"), ((1, value), "tail")):
        stage = Perplexity(models={"en": model}, cuts={"en": cuts}, keep=("head", "middle"))
        assert measured(stage, "river sea") == (value, bucket)
        dropped = stage.apply(page("river sea"))
        assert (dropped == Drop("other_bucket", cause="tail")) == (bucket == "tail")


def test_a_language_without_a_model_is_in_the_bucket_all(model: str) -> None:
    stage = Perplexity(models={"en": model, "fr": model}, cuts={"en": (1, 2)}, keep=("head", "all"))
    assert measured(stage, "river", language="de") == (None, "all")
    assert measured(stage, "river", language="fr")[1] == "all"
    assert measured(stage, "river", language="eng_Latn")[1] == "tail"
    assert measured(stage, "river") == (None, "all")  # of two models neither is meant
    assert isinstance(stage.apply(page("river", language="de")), Document)


def test_too_perplexing_fires_above_the_limit_and_too_predictable_below(model: str) -> None:
    value = measured(Perplexity(models={"en": model}), "river")[0]
    assert isinstance(
        Perplexity(models={"en": model}, min_perplexity=value, max_perplexity=value).apply(page("river")), Document
    )
    assert Perplexity(models={"en": model}, max_perplexity=value - 0.1).apply(page("river")) == Drop(
        "too_perplexing", value, value - 0.1
    )
    assert Perplexity(models={"en": model}, min_perplexity=value + 0.1).apply(page("river")) == Drop(
        "too_predictable", value, value + 0.1
    )
    assert Perplexity.reasons == ("other_bucket", "too_predictable", "too_perplexing")
    assert Perplexity.limits == ("keep", "min_perplexity", "max_perplexity")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("  Größe 12,5 \t", "große 00,0"),  # ß has no mark to lose
        ("Été à Łódź", "ete a łodz"),
        ("“a” — ‘b’…", '"a"  -  ‘b\'...'),
        ("１２\u0085。", "00."),
        ("a\nb", "ab"),
    ],
)
def test_text_is_normalised_as_ccnets_models_saw_it(text: str, seen: str) -> None:
    assert ccnet_text(text) == seen


def test_normalising_can_be_left_out(model: str) -> None:
    assert measured(Perplexity(models={"en": model}), "RIVER") == (3.2, "all")
    assert measured(Perplexity(models={"en": model}, normalize=False), "RIVER") == (31.6, "all")


def test_pieces_by_sentencepiece_and_by_tokenizer_json(tmp_path: Path) -> None:
    import sentencepiece
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    made = io.BytesIO()
    lines = ["river sea river"] * 50
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(lines), model_writer=made, vocab_size=14, minloglevel=2, hard_vocab_limit=False
    )
    (tmp_path / "en.model").write_bytes(made.getvalue())
    pieces = sentencepiece.SentencePieceProcessor(model_proto=made.getvalue()).EncodeAsPieces("river")
    grams = {**PLAIN, **{(piece,): (-2.0, 0.0) for piece in pieces}}
    stage = Perplexity(
        models={"en": write_arpa(tmp_path / "sp.arpa", grams)}, pieces={"en": str(tmp_path / "en.model")}
    )
    assert measured(stage, "river")[0] == round(10 ** (2 * len(pieces) / (len(pieces) + 1)), 1)
    tokenizer = Tokenizer(WordLevel({"river": 0, ",": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    stage = Perplexity(
        models={"en": write_arpa(tmp_path / "en.arpa", {**PLAIN, (",",): (-1.0, 0.0)})},
        pieces={"en": str(tmp_path / "tokenizer.json")},
    )
    assert measured(stage, "river,")[0] == round(10 ** (2 / 3), 1)


def test_mistakes_are_told_before_a_page_is_read(model: str, tmp_path: Path) -> None:
    Perplexity(models={"en": model}).check([], [])
    (tmp_path / "no.model").write_bytes(b"\x0e no model")
    with pytest.raises(UserError, match="is no SentencePiece model"):
        Perplexity(models={"en": model}, pieces={"en": str(tmp_path / "no.model")}).check([], [])
    with pytest.raises(UserError, match=r"gone\.model: can't be read"):
        Perplexity(models={"en": model}, pieces={"en": str(tmp_path / "gone.model")}).check([], [])
    with pytest.raises(UserError, match=r"gone\.arpa: there is no such model"):
        Perplexity(models={"en": str(tmp_path / "gone.arpa")}).check([], [])
    for fields in (
        {"models": {}},
        {"models": {"en": model}, "cuts": {"en": [520, 340]}},
        {"models": {"en": model}, "cuts": {"de": [340, 520]}},
        {"models": {"en": model}, "pieces": {"de": "de.model"}},
        {"models": {"en": model}, "keep": []},
        {"models": {"en": model}, "keep": ["best"]},
        {"models": {"en": model}, "min_perplexity": 9, "max_perplexity": 8},
    ):
        with pytest.raises(ValidationError):
            TypeAdapter(Perplexity).validate_json(json.dumps(fields), strict=True)


def test_the_content_of_all_its_files_belongs_to_the_fingerprint(model: str, tmp_path: Path) -> None:
    stages = [{"perplexity": {"models": {"en": model, "de": model}}}]
    config = parse_config({"input": "a.jsonl", "output": str(tmp_path / "out"), "stages": stages})
    assert list(named_files(config)) == [model]

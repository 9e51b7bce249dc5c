"""Token counts: by a tokenizer file, or estimated and said so."""

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document
from curate.errors import UserError
from curate.plug_ins.named_files import files_of
from curate.text import estimated_tokens
from stages.models import pieces
from stages.tokens import Tokens, unspaced


def page(text: str) -> Document:
    return Document(Address("web", "a.warc", 0), text=text)


def counted(stage: Tokens, text: str) -> dict[str, Any]:
    doc = stage.apply(page(text))
    assert isinstance(doc, Document)
    return dict(doc.attributes)


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """A tokenizer.json that takes words and marks apart and puts [S] in front of a text."""
    vocabulary = {"[U]": 0, "[S]": 1, "river": 2, ",": 3}
    mark = {"id": "[S]", "ids": [1], "tokens": ["[S]"]}
    path = tmp_path / "tokenizer.json"
    path.write_text(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "pre_tokenizer": {"type": "Whitespace"},
                "post_processor": {
                    "type": "TemplateProcessing",
                    "single": [
                        {"SpecialToken": {"id": "[S]", "type_id": 0}},
                        {"Sequence": {"id": "A", "type_id": 0}},
                    ],
                    "pair": [
                        {"Sequence": {"id": "A", "type_id": 0}},
                        {"Sequence": {"id": "B", "type_id": 0}},
                    ],
                    "special_tokens": {"[S]": mark},
                },
                "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[U]"},
            }
        )
    )
    return str(path)


def test_a_tokenizer_counts_without_special_tokens_and_says_it_is_no_estimate(tokenizer: str) -> None:
    stage = Tokens(tokenizer=tokenizer)
    assert counted(stage, "river, unknown river") == {"token_count": 4, "token_count_estimated": False}
    assert counted(stage, "") == {"token_count": 0, "token_count_estimated": False}
    assert counted(stage, "river \ud800")["token_count"] == 2


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("one", 1),
        ("one two", 3),
        ("one two three", 4),
        ("a " * 750, 1000),
        ("水が流れる", 6),
        ("κάθε μέρα νερό", 4),
    ],
)
def test_the_estimate_is_four_thirds_of_the_words_and_says_so(text: str, count: int) -> None:
    assert counted(Tokens(), text) == {"token_count": count, "token_count_estimated": True}


def test_tokens_per_word_is_an_option() -> None:
    assert counted(Tokens(tokens_per_word=2), "one two")["token_count"] == 4


@given(st.text())
def test_the_estimate_takes_any_text(text: str) -> None:
    assert estimated_tokens(len(text.split()), unspaced(text)) >= len(text.split())


def test_attributes_are_declared() -> None:
    assert set(counted(Tokens(), "one")) == set(Tokens.adds)
    assert files_of(Tokens(tokenizer="t.json")) == {"tokenizer": ["t.json"]}


def test_a_missing_or_foreign_tokenizer_is_refused(tmp_path: Path, tokenizer: str) -> None:
    Tokens(tokenizer=tokenizer).check([], [])
    Tokens().check([], [])
    foreign = tmp_path / "foreign.json"
    foreign.write_text('{"model": 1}')
    for path in (foreign, tmp_path / "gone.json", tmp_path):
        with pytest.raises(UserError, match=path.name):
            Tokens(tokenizer=str(path)).check([], [])


def test_without_the_package_the_error_holds_the_install_command(
    tokenizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces.load_tokenizer.cache_clear()
    monkeypatch.setattr(pieces, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install tokenizers"):
        Tokens(tokenizer=tokenizer).apply(page("river"))


def test_estimates_need_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        assert name != "tokenizers"
        return plain(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    assert counted(Tokens(), "one two three")["token_count"] == 4


def test_a_wrong_option_is_refused() -> None:
    with pytest.raises(ValidationError, match="tokens_per_word"):
        TypeAdapter(Tokens).validate_json('{"tokens_per_word": 0}', strict=True)
    with pytest.raises(ValidationError, match="tokens_per_word"):
        TypeAdapter(Tokens).validate_json('{"tokens_per_word": 1e30}', strict=True)

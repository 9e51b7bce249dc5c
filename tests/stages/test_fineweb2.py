"""FineWeb-2's rules: whose limits hold for a page, words in every script, each rule at its limit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document, Drop
from curate.errors import UserError
from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import Recorded
from curate.plug_ins.named_files import files_of
from curate.what_if.redecide import redecide
from stages.fineweb2 import FIXED, LIMITS, RULES, FineWeb2, alphabetic_ratio, measured, words_of
from stages.languages.table import LanguageRow, load_table
from tests.engine import run_it, settings, write_jsonl

GERMAN = (
    "Die alte Mühle steht seit langer Zeit am Ufer des Flusses, und die Kinder gehen dort jeden Abend vorbei.\n"
    "Im Winter friert das Wasser zu, aber der Müller wartet auf den Frühling und zählt die Säcke im Keller.\n"
    "Wer den schmalen Weg kennt, findet hinter dem Haus einen Garten mit Äpfeln, Birnen und einer kleinen Bank.\n"
    "Nachts hört man nur den Wind, der durch die Bäume zieht, und manchmal ein Boot, das langsam vorüber fährt."
)
CHINESE = (
    "河边的老房子里住着一位修船的人，他每天早上都会走到桥上看水。\n"
    "春天的时候，山里的雪慢慢融化，水也就变得很急，船不能靠岸。\n"
    "孩子们在学校后面的田里种了一些花，等到夏天就可以看见颜色。\n"
    "晚上大家坐在门前，说起从前的故事，谁也不想先回去睡觉呢。"
)


def page(text: str, language: str | None = "de", **attributes: Any) -> Document:
    return Document(Address("web", "a.jsonl", 0), text=text, attributes={"language": language, **attributes})


def reason(outcome: Document | Drop) -> str | None:
    return outcome.reason if isinstance(outcome, Drop) else None


def test_prose_passes_under_its_own_language_and_not_under_another() -> None:
    stage = FineWeb2()
    assert reason(stage.apply(page(GERMAN, "de"))) is None
    assert reason(stage.apply(page(GERMAN, "deu_Latn"))) is None
    assert reason(stage.apply(page(GERMAN, "fr"))) == "too_few_stop_words"
    assert reason(stage.apply(page(CHINESE, "zho_Hans"))) is None
    assert reason(stage.apply(page(CHINESE, "de"))) == "words_too_short"


def test_words_are_parted_by_spaces_or_have_a_words_length() -> None:
    assert words_of("the river, the valley") == ["the", "river,", "the", "valley"]
    assert words_of("河边的老房子。里 Linux系统") == ["河边", "的老", "房子", "。", "里", "Linux", "系统"]
    assert words_of("แม่น้ำสายนี้") == ["แม่น", "้ำสา", "ยนี้"]
    assert words_of("नदी के किनारे") == ["नदी", "के", "किनारे"]


def test_marks_at_the_ends_of_words_count_beside_words() -> None:
    assert alphabetic_ratio("the river, (the valley) - 12".split()) == 4 / (5 + 4)
    assert alphabetic_ratio(words_of("河边的老房子。")) == 3 / (3 + 1)
    assert alphabetic_ratio([]) == 0.0


def test_repeats_are_seen_in_scripts_without_spaces() -> None:
    once = measured(CHINESE, LanguageRow())
    twice = measured(CHINESE + "\n" + CHINESE, LanguageRow())
    assert once["duplicate_10_gram_ratio"] == 0
    assert twice["duplicate_10_gram_ratio"] == pytest.approx(0.5, abs=0.03)
    assert twice["duplicate_line_ratio"] == 0.5


def test_stop_words_lie_among_the_words_or_anywhere_in_the_text() -> None:
    assert measured("Der (Fluss) und: die", LanguageRow(("der", "und", "die", "das")))["stop_words"] == 3
    assert measured("undder", LanguageRow(("der", "und")))["stop_words"] == 0
    assert measured("河边的房子是", LanguageRow(("的", "是", "在"), in_text=True))["stop_words"] == 2


def test_a_page_in_a_language_without_a_row_passes_unmeasured_or_is_dropped() -> None:
    assert reason(FineWeb2().apply(page("x", "eo"))) is None
    assert FineWeb2().measure(page("x", "eo")) == dict.fromkeys(FineWeb2.measures)
    assert FineWeb2(other="drop").apply(page("x", "eo")) == Drop("no_rules")
    assert FineWeb2(other="drop").apply(page("x", None)) == Drop("no_rules")
    assert reason(FineWeb2(language="de").apply(page(GERMAN, None))) is None
    assert FineWeb2(language="fr").measure(page(GERMAN, "de"))["row"] == "de"


PASSING: Mapping[str, Any] = {
    "row": "de",
    **{rule.measure: 0.5 if (rule.option or "").startswith("min_") else 0.0 for rule in RULES},
    "language_score": 1.0,
    "words": 500,
    "mean_word_length": 6.0,
    "alphabetic_word_ratio": 1.0,
    "stop_words": 5,
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.reason)
def test_each_rule_fires_beyond_its_limit_and_not_at_it(rule: Any, tmp_path: Path) -> None:
    row = load_table(None, LIMITS)["fr"].limits
    limit = row.get(rule.option, FIXED.get(rule.option))
    assert limit is not None
    step = 1e-6 if rule.option.startswith("max_") else -1e-6
    inside = {**PASSING, "row": "fr", rule.measure: limit}
    beyond = {**inside, rule.measure: limit + step}
    assert FineWeb2().judge(inside) is None
    assert FineWeb2().judge(beyond) == Drop(rule.reason, limit + step, limit)


def test_a_limit_in_the_config_holds_for_every_language() -> None:
    broken = {**PASSING, "top_2_gram_ratio": 0.19}
    assert reason(FineWeb2().judge(broken) or page("")) == "top_2_gram"  # German's is 0.169
    assert FineWeb2(max_top_2_gram_ratio=0.2).judge(broken) is None
    assert FineWeb2(max_top_2_gram_ratio=0.0).judge({**PASSING, "top_2_gram_ratio": 0.01}) is not None


def test_a_cell_of_a_dash_turns_a_rule_off(tmp_path: Path) -> None:
    assert FineWeb2().judge({**PASSING, "end_mark_line_ratio": 0.0}) is None  # German's row has a dash
    mine = tmp_path / "mine.tsv"
    mine.write_text("language\tmin_words\nde\t-\nfr\t600\n")
    assert FineWeb2(table=str(mine)).judge({**PASSING, "words": 1}) is None
    drop = FineWeb2(table=str(mine)).judge({**PASSING, "row": "fr"})
    assert drop == Drop("too_few_words", 500, 600)


def test_language_scores_count_when_they_are_asked_for() -> None:
    low = page(GERMAN, "de", language_score=0.82)
    assert reason(FineWeb2().apply(low)) is None
    assert FineWeb2(language_scores=True).apply(low) == Drop("low_language_score", 0.82, 0.821)


def test_a_table_that_cannot_be_read_is_told_before_a_page_is_read(tmp_path: Path) -> None:
    FineWeb2().check([], [])
    with pytest.raises(UserError, match=r"gone\.tsv: can't be read"):
        FineWeb2(table=str(tmp_path / "gone.tsv")).check([], [])
    assert files_of(FineWeb2(table="mine.tsv")) == {"table": ["mine.tsv"]}
    with pytest.raises(ValidationError):
        TypeAdapter(FineWeb2).validate_json(json.dumps({"max_top_2_gram_ratio": 2}), strict=True)


def test_what_if_asks_for_another_limit_than_the_tables(tmp_path: Path) -> None:
    """A null in the config is no rule turned off here: each page has the limit of its row."""
    pages = write_jsonl(tmp_path / "a.jsonl", [f"{GERMAN} {n}" for n in range(6)], language=["de", "fr"] * 3)
    source = {"a": {"path": str(pages), "columns": ["language"]}}
    run_it(settings(source, tmp_path / "out", stages=["fineweb2"]))
    recorded = Recorded.of(OpenedRun(tmp_path / "out"))
    for changes, kept in (({}, 3), ({"min_stop_words": 0}, 6), ({"min_stop_words": 5}, 3), ({"min_words": 500}, 0)):
        decided = redecide(recorded, {"fineweb2": changes} if changes else {})
        assert decided.passed.sum() == kept


def test_every_reason_has_a_rule() -> None:
    assert FineWeb2.reasons == ("no_rules", *(rule.reason for rule in RULES))
    assert FineWeb2.limits == LIMITS

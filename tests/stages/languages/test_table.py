"""Tables of languages: what is shipped, how one's own extends it, what is refused."""

from pathlib import Path

import pytest

from curate.errors import UserError
from stages.fineweb2 import LIMITS, RULES
from stages.languages.codes import short_code
from stages.languages.table import SHIPPED, load_table, row_of

TWENTY = "ar cs de es fa fr hi id it ja ko nl pl pt ru th tr uk vi zh".split()


def test_the_shipped_table_has_english_and_the_twenty_largest_beside_it() -> None:
    table = load_table(None, LIMITS)
    assert set(table) == {"en", *TWENTY}
    assert all(short_code(name) == name for name in table)


def test_every_shipped_row_says_enough() -> None:
    for name, row in load_table(None, LIMITS).items():
        assert 8 <= len(set(row.stop_words)) == len(row.stop_words), name
        given = [
            row.limits.get(option) for option in LIMITS if "_gram_" in option or option == "max_duplicate_line_ratio"
        ]
        assert all(limit is not None and 0 < limit < 0.5 for limit in given), name
        tops = [row.limits[f"max_top_{n}_gram_ratio"] for n in (2, 3, 4)]
        assert tops == sorted(tops, key=lambda limit: -(limit or 0)), name
        low, high = row.limits["min_mean_word_length"], row.limits["max_mean_word_length"]
        assert (low is None) == (high is None) == (name in ("ja", "th", "zh"))
        assert low is None or high is None or 2 * low < high


def test_no_language_has_a_frequent_english_word_as_its_own() -> None:
    english = {"the", "to", "and", "of", "in", "is", "for", "that", "you", "it", "on", "with", "this"}
    for name, row in load_table(None, LIMITS).items():
        assert name in ("en",) or not english & set(row.stop_words), name


def test_a_language_is_found_by_any_of_its_names() -> None:
    table = load_table(None, LIMITS)
    assert row_of(table, "fra_Latn")[0] == row_of(table, "fr")[0] == row_of(table, "fra")[0] == "fr"
    assert row_of(table, "cmn_Hani")[0] == "zh"
    assert row_of(table, "eo") == row_of(table, None) == (None, None)


def test_a_table_of_ones_own_extends_the_shipped_one_cell_by_cell(tmp_path: Path) -> None:
    mine = tmp_path / "mine.tsv"
    mine.write_text(
        "# notes\nlanguage\tstop_words\tmax_top_2_gram_ratio\tmin_end_mark_line_ratio\n"
        "fra_Latn\t\t0.5\t-\n\neo\tla kaj de estas\t\t\n"
    )
    table, shipped = load_table(str(mine), LIMITS), load_table(None, LIMITS)
    assert table["fr"].stop_words == shipped["fr"].stop_words
    assert table["fr"].limits["max_top_2_gram_ratio"] == 0.5
    assert table["fr"].limits["min_end_mark_line_ratio"] is None
    assert table["fr"].limits["max_top_3_gram_ratio"] == shipped["fr"].limits["max_top_3_gram_ratio"]
    assert table["eo"].stop_words == ("la", "kaj", "de", "estas") and not table["eo"].limits
    assert table["de"] == shipped["de"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no rows"),
        ("# only\n", "holds no rows"),
        ("stop_words\nla\n", r"mine\.tsv:1: has no column language"),
        ("language\tmax_top_9_gram_ratio\n", r":1: unknown column 'max_top_9_gram_ratio', did you mean"),
        ("#\nlanguage\tmin_words\nfr\tmany\n", r":3: min_words: many is no limit; write a number from 0 up, or -"),
        ("language\tmin_words\nfr\t-5\n", ":2: min_words: -5 is no limit"),
        ("language\tmin_words\nfr\t5\t6\n", ":2: has more cells than columns"),
        ("language\tmin_words\n\t5\n", ":2: names no language"),
        ("language\tstop_words_in\nfr\tlines\n", ":2: stop_words_in is words or text, not lines"),
    ],
)
def test_a_fault_names_its_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.tsv").write_text(text)
    with pytest.raises(UserError, match=message):
        load_table(str(tmp_path / "mine.tsv"), LIMITS)
    with pytest.raises(UserError, match="can't be read as a table of languages"):
        load_table(str(tmp_path / "gone.tsv"), LIMITS)


def test_the_columns_of_the_shipped_table_are_limits_of_rules() -> None:
    lines = SHIPPED.read_text("utf-8").splitlines()
    columns = next(line for line in lines if not line.startswith("#")).split("\t")
    assert set(columns) - {"language", "stop_words", "stop_words_in"} <= {rule.option for rule in RULES}

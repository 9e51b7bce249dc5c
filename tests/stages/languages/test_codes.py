"""Names of languages: which are one."""

import pytest

from curate.document import Address, Document
from stages.languages.codes import same_language, script, short_code
from stages.rules.scope import in_scope


@pytest.mark.parametrize(
    ("label", "short", "its_script"),
    [
        ("en", "en", None),
        ("eng", "en", None),
        ("eng_Latn", "en", "Latn"),
        ("cmn_Hani", "zh", "Hani"),
        ("zho_Hans", "zh", "Hans"),
        ("arb_Arab", "ar", "Arab"),
        ("arz_Arab", "arz", "Arab"),  # Egyptian Arabic is a language of its own
        ("ceb", "ceb", None),
        ("zh-Hant", "zh", "Hant"),
    ],
)
def test_labels_of_all_kinds(label: str, short: str, its_script: str | None) -> None:
    assert (short_code(label), script(label)) == (short, its_script)


def test_a_script_counts_where_both_name_one() -> None:
    assert same_language("eng_Latn", "en")
    assert same_language("srp_Cyrl", "sr") and same_language("srp_Latn", "srp")
    assert not same_language("srp_Cyrl", "srp_Latn")
    assert not same_language("en", "de")


def test_rules_for_en_are_for_eng_latn() -> None:
    def page(language: str | None) -> Document:
        return Document(Address("web", "a.jsonl", 0), attributes={"language": language})

    assert in_scope(("en",), page("eng_Latn")) and in_scope(("eng_Latn",), page("en"))
    assert not in_scope(("en",), page("deu_Latn"))
    assert in_scope(("en",), page(None)) and in_scope(None, page("deu_Latn"))

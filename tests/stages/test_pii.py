"""Masking, counts by kind, and the limit."""

from typing import Any

import pytest

from curate.document import Address, Document, Drop
from stages.pii import Pii

TEXT = "Ask anna@kern.net or bob@kern.net at +49 30 901820."


def page(text: str) -> Document:
    return Document(Address("web", "a.warc", 0), text=text)


def kept(stage: Pii, text: str) -> Document:
    outcome = stage.apply(page(text))
    assert isinstance(outcome, Document)
    return outcome


def test_text_is_masked_and_counted_by_kind() -> None:
    outcome = kept(Pii(), TEXT)
    assert outcome.text == "Ask <EMAIL> or <EMAIL> at <PHONE>."
    counts = {"pii_emails": 2, "pii_ips": 0, "pii_phones": 1, "pii_ibans": 0, "pii_cards": 0, "pii_spans": 3}
    assert outcome.attributes == counts


def test_masking_again_finds_nothing_more() -> None:
    assert kept(Pii(), kept(Pii(), TEXT).text).attributes["pii_spans"] == 0
    assert kept(Pii(), kept(Pii(replace="hash"), TEXT).text).attributes["pii_spans"] == 0


def test_a_page_with_more_than_max_spans_goes_and_one_with_as_many_stays() -> None:
    assert Pii(max_spans=2).apply(page(TEXT)) == Drop("too_many_pii_spans", 3, 2)
    assert kept(Pii(max_spans=3), TEXT)
    assert Pii(max_spans=0).apply(page("anna@kern.net")) == Drop("too_many_pii_spans", 1, 0)


def test_without_mask_the_text_stays_and_is_counted() -> None:
    outcome = kept(Pii(mask=False), TEXT)
    assert outcome.text == TEXT and outcome.attributes["pii_spans"] == 3


def test_equal_values_have_equal_hashes_in_every_document() -> None:
    stage = Pii(replace="hash", salt="pepper")
    one, two = kept(stage, "anna@kern.net").text, kept(stage, "ANNA@kern.net, ").text
    assert two == f"{one}, " and one.startswith("<EMAIL:")


def test_kinds_not_looked_for_are_not_measured() -> None:
    outcome = kept(Pii(kinds=("phone",)), TEXT)
    assert outcome.attributes["pii_emails"] is None and "anna@kern.net" in outcome.text


@pytest.mark.parametrize(("options", "words"), [({"kinds": ()}, "kinds is empty"), ({"salt": "x"}, "replace: hash")])
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Pii(**options)

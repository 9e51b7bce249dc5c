"""URLs by domain, whole URL and words, in any case; each reason at its limit and over it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.document import Address, Document, Drop
from curate.errors import UserError
from curate.plug_ins.named_files import files_of
from stages.rules.scope import entries
from stages.url_filter import UrlFilter, host_of, same_url


def page(url: str) -> Document:
    return Document(Address("web", "a.warc", 0), url=url)


@pytest.fixture
def lists(tmp_path: Path) -> dict[str, Any]:
    texts = {
        "domains_file": "# spam\nSpam.example\n*.wild.example\nwww.shop.example\nbücher.example\n",
        "urls_file": "http://blog.example/Post/1\n",
        "words_file": "Casino\n",
        "soft_words_file": "win\ncash\nfree\n",
        "subwords_file": "free-pills\n",
    }
    for field, text in texts.items():
        (tmp_path / field).write_text(text)
    return {**{field: str(tmp_path / field) for field in texts}, "suffixes": ("zip", "co.uk")}


# For each reason the URL that fires it and one just outside.
AT_THE_LIMIT = {
    "listed_domain": ("https://SPAM.example:8080/", "https://notspam.example/"),
    "listed_suffix": ("https://a.CO.UK/", "https://a.example/co.uk"),
    "listed_url": ("https://www.blog.example/post/1/#top", "https://blog.example/post/11"),
    "listed_word": ("https://a.example/best_CASINO.html", "https://a.example/casinos"),
    "too_many_soft_words": ("https://a.example/win-CASH", "https://a.example/win-win-winner"),
    "listed_subword": ("https://a.example/my.Free_Pills2", "https://a.example/free-pill/s"[:-2]),
}


@pytest.mark.parametrize("reason", UrlFilter.reasons)
def test_each_reason_fires_and_passes_just_outside(reason: str, lists: dict[str, Any]) -> None:
    hit, miss = AT_THE_LIMIT[reason]
    dropped = UrlFilter(**lists).apply(page(hit))
    assert isinstance(dropped, Drop) and dropped.reason == reason
    assert isinstance(UrlFilter(**lists).apply(page(miss)), Document)


@pytest.mark.parametrize(
    "url",
    [
        "http://spam.example",
        "https://a.b.spam.example./x",
        "https://user:pass@spam.example/",
        "HTTPS://x.WILD.EXAMPLE/",
        "https://wild.example/",
        "https://shop.example/",
        "https://BÜCHER.example/",
        "https://xn--bcher-kva.example/",
    ],
)
def test_a_listed_domain_covers_all_below_it(url: str, lists: dict[str, Any]) -> None:
    dropped = UrlFilter(domains_file=lists["domains_file"]).apply(page(url))
    assert isinstance(dropped, Drop) and dropped.reason == "listed_domain"
    assert host_of(url).endswith(dropped.cause)


@pytest.mark.parametrize(
    "url",
    ["", "https://example/", "https://spam.example.org/", "https://a.example/spam.example", "http://[::1"],
)
def test_what_only_looks_like_a_listed_domain_passes(url: str, lists: dict[str, Any]) -> None:
    assert isinstance(UrlFilter(domains_file=lists["domains_file"]).apply(page(url)), Document)


def test_lists_in_the_config_itself() -> None:
    stage = UrlFilter(domains=("Spam.example",), words=("Poker",))
    assert stage.apply(page("https://a.spam.example/")) == Drop("listed_domain", cause="spam.example")
    assert stage.apply(page("https://a.example/poker%20night")) == Drop("listed_word", cause="poker")


def test_measures_tell_what_was_met(lists: dict[str, Any]) -> None:
    measured = UrlFilter(**lists).measure(page("https://x.spam.example/casino/win/cash/free"))
    assert measured == {
        "site": "spam.example",
        "suffix": None,
        "domain": "spam.example",
        "url": None,
        "word": "casino",
        "soft_words": 3,
        "subword": None,
    }
    assert UrlFilter(words=("x",)).measure(page("https://a.example/"))["soft_words"] is None


def test_soft_words_off_with_none_and_strict_with_0(lists: dict[str, Any]) -> None:
    soft = {"soft_words_file": lists["soft_words_file"]}
    assert isinstance(UrlFilter(**soft, max_soft_words=None).apply(page("https://a.example/win/cash/free")), Document)
    assert UrlFilter(**soft, max_soft_words=0).apply(page("https://a.example/win")) == Drop("too_many_soft_words", 1, 0)


def test_the_same_url_in_many_spellings() -> None:
    spellings = [
        "http://www.A.example/b%20c/",
        "a.example/B c",
        "https://a.example:443/b c#d",
        "https://a.example/b c",
    ]
    assert {same_url(url) for url in spellings} == {"a.example/b c"}
    assert same_url("https://a.example/b?c=1") != same_url("https://a.example/b?c=2")


@given(st.text())
def test_any_url_is_taken(url: str) -> None:
    assert isinstance(UrlFilter(domains=("spam.example",)).apply(page(url)), Document | Drop)


def test_lists_that_are_missing_or_broken_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="words_file"):
        UrlFilter(words_file=str(tmp_path / "gone")).check([], [])
    with pytest.raises(ValueError, match="no list"):
        UrlFilter().check([], [])
    with pytest.raises(ValueError, match="single words"):
        UrlFilter(words=("two words",))
    (tmp_path / "latin1").write_bytes(b"caf\xe9\n")
    with pytest.raises(UserError, match="latin1"):
        entries(str(tmp_path / "latin1"))


def test_files_are_named_for_the_fingerprint() -> None:
    assert set(files_of(UrlFilter())) == {field for field in UrlFilter.__dataclass_fields__ if field.endswith("_file")}


@pytest.mark.parametrize(
    ("listed", "host", "hit"),
    [
        ("github.io", "github.io", True),
        ("github.io", "www.github.io", True),
        ("github.io", "jo.github.io", False),
        ("*.github.io", "jo.github.io", True),
        (".co.uk", "jo.co.uk", True),
        ("co.uk", "jo.co.uk", False),
        ("jo.github.io", "a.jo.github.io", True),
    ],
)
def test_a_listed_public_suffix_is_the_host_alone_unless_it_says_all_below(listed: str, host: str, hit: bool) -> None:
    assert isinstance(UrlFilter(domains=(listed,)).apply(page(f"https://{host}/")), Drop) == hit


@pytest.mark.parametrize(
    ("suffix", "host", "hit"),
    [
        ("uk", "jo.co.uk", True),
        ("co.uk", "jo.org.uk", False),
        ("zip", "jo.zip.example", False),
        ("zip", "1.2.3.4", False),
    ],
)
def test_pages_under_a_listed_suffix_go(suffix: str, host: str, hit: bool) -> None:
    assert isinstance(UrlFilter(suffixes=(suffix,)).apply(page(f"https://{host}/")), Drop) == hit


def test_a_suffix_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'spam\.com' is no public suffix"):
        UrlFilter(suffixes=("spam.com",))


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://a.b.co.uk/x", "b.co.uk"),
        ("https://jo.github.io", "jo.github.io"),
        ("https://1.2.3.4/", "1.2.3.4"),
        ("", None),
    ],
)
def test_the_site_of_a_page_is_measured(url: str, site: str | None) -> None:
    assert UrlFilter(words=("x",)).measure(page(url))["site"] == site

"""Charset decisions: what wins, what falls through, and that nothing raises."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.sources.charset import CODECS, broken_share, decode, whatwg_name

GERMAN = "Die größte Mühle stand früher am Fluss; Äpfel und Nüsse lagen im Hof."
RUSSIAN = "Старая мельница стояла у реки, и каждый вечер мы ходили туда пешком."
CHINESE = "河边有一座古老的磨坊，我们每天晚上都走到那里去看水。" * 2
JAPANESE = "川のそばに古い水車小屋があり、毎晩そこまで歩いて行きました。" * 2
KOREAN = "강가에 오래된 방앗간이 있었고 우리는 매일 저녁 그곳까지 걸어갔다." * 2


def page(text: str, meta: str = "") -> str:
    return f"<html><head>{meta}<title>t</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("latin1", "windows-1252"),
        ("ISO-8859-1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("gb2312", "gb18030"),
        ("GBK", "gb18030"),
        ("x-sjis", "shift_jis"),
        ("UTF8", "utf-8"),
        (' "utf-8"; ', "utf-8"),
        ("ks_c_5601-1987", "euc-kr"),
        ("iso-8859-9", "windows-1254"),
        ("tis-620", "windows-874"),
        ("cp1251", "windows-1251"),
        ("utf-16", "utf-16le"),
        ("iso-8859-5", "iso-8859-5"),
        ("utf-7", None),
        ("rot13", None),
        ("unicode_escape", None),
        ("nonsense", None),
        ("", None),
        ("a\0b", None),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, name: str | None) -> None:
    assert whatwg_name(label) == name


@pytest.mark.parametrize(
    ("text", "codec", "declared"),
    [
        (GERMAN, "cp1252", "iso-8859-1"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (CHINESE, "gbk", "gb2312"),
        (CHINESE, "big5hkscs", "big5"),
        (JAPANESE, "cp932", "shift_jis"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        (KOREAN, "cp949", "euc-kr"),
        (GERMAN, "utf-16-le", "utf-16"),
        (GERMAN, "utf-8", "utf-8"),
    ],
)
def test_a_true_header_is_followed(text: str, codec: str, declared: str) -> None:
    if text is CHINESE and codec == "big5hkscs":
        text = "河邊有一座古老的磨坊，我們每天晚上都走到那裡去看水。"
    assert decode(page(text).encode(codec), declared)[0] == page(text)


def test_meta_alone_is_followed() -> None:
    for meta in (
        '<meta charset="windows-1252">',
        "<META http-equiv='Content-Type' content='text/html; charset=latin1'>",
        '<meta content="text/html; charset=ISO-8859-1" http-equiv="content-type">',
    ):
        html = page(GERMAN, meta).encode("cp1252")
        assert decode(html, None) == (page(GERMAN, meta), "windows-1252")
    html = page(RUSSIAN, "<!-- <meta charset=latin1> --><meta charset=koi8-r>").encode("koi8-r")
    assert decode(html, None)[1] == "koi8-r"
    html = ('<?xml version="1.0" encoding="windows-1251"?>' + page(RUSSIAN)).encode("cp1251")
    assert decode(html, None)[1] == "windows-1251"


def test_a_byte_order_mark_wins_and_is_not_text() -> None:
    assert decode(b"\xef\xbb\xbf" + GERMAN.encode(), "windows-1251") == (GERMAN, "utf-8")
    assert decode(b"\xff\xfe" + GERMAN.encode("utf-16-le"), "utf-8") == (GERMAN, "utf-16le")
    assert decode(b"\xfe\xff" + GERMAN.encode("utf-16-be"), None) == (GERMAN, "utf-16be")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_mark_or_header_is_seen(codec: str) -> None:
    assert decode(page(GERMAN).encode(codec), None)[0] == page(GERMAN)


@pytest.mark.parametrize(
    ("text", "codec", "declared", "meta"),
    [
        (GERMAN, "utf-8", "iso-8859-1", ""),  # server default
        (GERMAN, "cp1252", "utf-8", '<meta charset="windows-1252">'),  # header lies, page does not
        (GERMAN, "cp1252", "utf-8", ""),  # nobody says the truth
        (CHINESE, "gbk", "iso-8859-1", '<meta charset="gb2312">'),
        (RUSSIAN, "cp1251", "iso-8859-1", ""),
        ("Дом, лес, река, поле, село, мост. " * 9, "cp1251", "iso-8859-1", ""),
        ("Το σπίτι στο δάσος κοντά στη λίμνη. " * 9, "cp1253", "iso-8859-1", '<meta charset="windows-1253">'),
        (GERMAN, "cp1252", "utf-16", ""),
        (GERMAN, "cp1252", "no-such-charset", '<meta charset="windows-1252">'),
        (CHINESE, "gbk", "utf-8", ""),
    ],
)
def test_a_wrong_declaration_falls_through(text: str, codec: str, declared: str, meta: str) -> None:
    assert decode(page(text, meta).encode(codec), declared)[0] == page(text, meta)


def test_one_broken_character_does_not_overrule_the_header() -> None:
    html = page(RUSSIAN).encode() + b"\xd0"
    assert decode(html, "utf-8") == (page(RUSSIAN) + "\ufffd", "utf-8")


def test_utf8_that_is_mostly_whole_stays_utf8() -> None:
    html = page(GERMAN).encode() + b" \x93quoted\x94"
    for declared in ("utf-8", None):
        assert decode(html, declared) == (page(GERMAN) + " \ufffdquoted\ufffd", "utf-8")
    assert decode(b"<p>it\x92s one mark \x96 no more</p>", "utf-8")[0] == "<p>it\u2019s one mark \u2013 no more</p>"


def test_surrogates_coded_one_by_one_are_joined() -> None:
    html = b"<p>smile \xed\xa0\xbd\xed\xb8\x80 and half \xed\xa0\xbd here \xc3\xa9" + "ü".encode() * 20
    text, name = decode(html, "utf-8")
    assert name == "utf-8" and "smile \U0001f600 and half \ufffd here é" in text
    text.encode("utf-8")


def test_surrogates_coded_one_by_one_are_no_evidence_against_utf8() -> None:
    pair, half = b"\xed\xa0\xbd\xed\xb8\x80", b"\xed\xb0\x80"
    for declared in ("utf-8", None):
        assert decode(b"<p>a " + pair + b" b " + half + half, declared) == ("<p>a \U0001f600 b \ufffd\ufffd", "utf-8")
    html = page(GERMAN).encode() + pair + b" \xff " + half
    assert decode(html, "utf-8") == (page(GERMAN) + "\U0001f600 \ufffd \ufffd", "utf-8")


def test_open_bytes_of_a_code_page_become_controls() -> None:
    assert decode(b"caf\xe9 \x81 \x93ok\x94", "latin1")[0] == "caf\xe9 \x81 \u201cok\u201d"


@given(st.binary(max_size=400), st.one_of(st.none(), st.text(max_size=12), st.sampled_from(sorted(CODECS))))
def test_never_raises_and_is_a_pure_function(html: bytes, declared: str | None) -> None:
    text, name = decode(html, declared)
    assert name in CODECS
    assert decode(html, declared) == (text, name)
    text.encode("utf-8", "surrogatepass")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=0, max_size=200))
def test_utf8_comes_back_whole(text: str) -> None:
    assert decode(page(text).encode(), "utf-8")[0] == page(text)


KOREAN = "한국어 문서의 첫 번째 문장이다. 날씨가 맑은 날에는 강가를 따라 걷는 사람들이 많다."
RUSSIAN = "Это первое предложение русского документа. В ясную погоду по берегу реки гуляет много людей."
JAPANESE = "日本語の文書の最初の文である。天気の良い日には川沿いを歩く人が多い。"


@pytest.mark.parametrize("declared", [None, "utf-8"])
@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (KOREAN, "cp949", "euc-kr"),
        (KOREAN[:12], "euc_kr", "euc-kr"),
        (KOREAN, "iso2022_kr", "iso-2022-kr"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        (RUSSIAN, "mac-cyrillic", "x-mac-cyrillic"),
        (RUSSIAN[:25], "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (RUSSIAN, "cp866", "ibm866"),
    ],
)
def test_what_no_detector_knows_is_known_by_its_letters(text: str, codec: str, name: str, declared: str | None) -> None:
    html = f"<html><head><title>a</title></head><body><p>{text}</p></body></html>"
    assert decode(html.encode(codec), declared) == (html, name)
    assert broken_share(html.encode(codec), declared) == 0


def test_bytes_that_no_encoding_fits_are_known_by_what_is_broken() -> None:
    noise = Random(1).randbytes(4000).translate(bytes(range(0x80, 0x100)) * 2)
    assert broken_share(b"<p>" + noise + b"</p>", "utf-8") > 0.2
    assert broken_share("<p>\ufffd\ufffd é</p>".encode()) == 0
    assert broken_share(b"<p>caf\xe9 and plain words</p>") == 0


def test_a_few_broken_characters_spoil_no_page() -> None:
    page = b"<html><meta charset=utf-8><p>Words about honey and a garden wall. \xed\xa0\xbd, and \xed\xb0\x80\xff</p>"
    assert broken_share(page, "utf-8") == 0.0
    assert broken_share(page * 6, "utf-8") > 0.2

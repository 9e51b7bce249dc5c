"""Caps: each reason has the smallest page that fires it and one just inside the limit; ordinary markup never does."""

import pytest

from curate.caps import REASONS, Caps
from curate.document import Drop

OFF = Caps(bytes=None, tags=None, attributes=None, depth=None, text_node=None, output_text=None)


@pytest.mark.parametrize(
    ("caps", "inside", "outside", "expected"),
    [
        (Caps(bytes=5), b"12345", b"123456", Drop("too_many_bytes", 6, 5)),
        (Caps(tags=2), b"<p>a</p>", b"<p>a</p><p>", Drop("too_many_tags", 3, 2)),
        (Caps(attributes=2), b"<p a b=c>a</p>", b"<p a b=c d>a</p>", Drop("too_many_attributes", 3, 2)),
        (Caps(attributes=2), b"<p a b='> c d e'>", b"<p a='>' b='<b>' c d>a</p>", Drop("too_many_attributes", 4, 2)),
        (Caps(depth=2), b"<div><i>x</i><i>", b"<div><i><b>", Drop("too_deep", 3, 2)),
        (Caps(text_node=3), b"<p>abc</p>", b"<p>abcd</p>", Drop("text_node_too_long", 4, 3)),
    ],
)
def test_each_cap_of_a_page(caps: Caps, inside: bytes, outside: bytes, expected: Drop) -> None:
    assert caps.check_html(inside) is None
    assert caps.check_html(outside) == expected
    assert OFF.check_html(outside) is None
    assert expected.reason in REASONS


def test_the_cap_of_a_text() -> None:
    caps = Caps(output_text=3)
    assert caps.check_text("äöü") is None
    assert caps.check_text("äöü!") == Drop("too_much_text", 4, 3)
    assert OFF.check_text("äöü!") is None
    assert "too_much_text" in REASONS


def test_a_limit_of_zero_is_a_limit() -> None:
    assert Caps(tags=0).check_html(b"<p>") == Drop("too_many_tags", 1, 0)
    assert Caps(bytes=0).check_html(b"") is None


def test_unclosed_paragraphs_items_and_cells_do_not_nest() -> None:
    caps = Caps(depth=8)
    assert caps.check_html(b"<html><body>" + b"<p>one<br>two<img src=x>" * 500) is None
    assert caps.check_html(b"<ul>" + b"<li>one" * 500 + b"</ul>") is None
    assert caps.check_html(b"<table>" + b"<tr><td>a<td>b" * 500 + b"</table>") is None
    assert caps.check_html(b"<dl>" + b"<dt>a<dd>b" * 500 + b"</dl>") is None
    assert caps.check_html(b"<select>" + b"<option>a" * 500 + b"</select>") is None


def test_scripts_and_comments_are_no_markup() -> None:
    caps = Caps(depth=8, text_node=100)
    script = b"<script>" + b"document.write('<div><b>');" * 100 + b"</script>"
    assert caps.check_html(b"<body>" + script) is None
    assert caps.check_html(b"<body><!--" + b"<div>" * 100 + b"--><p>text</p>") is None
    assert caps.check_html(b"<body><style>" + b"a>b{color:red}<i>" * 100 + b"</style>") is None
    assert caps.check_html(b"<p title='" + b"<div>" * 100 + b"'>text</p>") is None


@pytest.mark.parametrize(
    "deep",
    [
        b"<div>" * 2000,
        b"<b>x" * 2000,
        b"</x>" * 5000 + b"<div>" * 2000,
        b"<div></x>" * 2000,
        b"<ul><li>" * 1000,
        b"<table><tr><td>" * 700,
        b"<DIV\n class='a>b'>" * 2000,
        b"<!-- a --><section>" * 2000,
        b"<script>if (a<b) {}</script><span>" * 2000,
    ],
)
def test_no_stray_end_tag_hides_depth(deep: bytes) -> None:
    verdict = Caps().check_html(deep)
    assert verdict is not None
    assert verdict.reason == "too_deep"


def test_what_is_no_markup_at_all() -> None:
    for html in (b"", b"<", b"</", b"<!", b"a < b", b"\0" * 100, bytes(range(256)), b"<!-- never closed <div>"):
        assert Caps().check_html(html) is None


def test_brackets_in_values_hide_no_attribute_and_cost_no_time() -> None:
    for value in ("", "='>'", '="<b>"', '="x"'):
        page = f"<p><a {' '.join(f'a{n}{value}' for n in range(1001))}>x</a></p>".encode()
        assert Caps().check_html(page) == Drop("too_many_attributes", 1001, 1000)
    assert Caps().check_html(b'a=">" ' * 200_000) is None  # was n^2: looked back over all of it for each value


@pytest.mark.parametrize("name", ["header", "parent", "optgroups", "td-x", "p-x", "HeadX"])
def test_a_name_that_begins_like_a_flat_one_nests(name: str) -> None:
    verdict = Caps(depth=100).check_html(f"<{name}>".encode() * 200)
    assert verdict is not None and (verdict.reason, verdict.value) == ("too_deep", 200)


@pytest.mark.parametrize("name", ["td", "HEAD", "optgroup", "br"])
def test_what_needs_no_end_tag_does_not_nest_in_its_like(name: str) -> None:
    assert Caps(depth=100).check_html(f"<{name}>".encode() * 200) is None

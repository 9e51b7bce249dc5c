"""Text from a place of a page without a parse."""

import pytest

from stages.extraction.glimpse import body, glimpse, middle


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<body><p>a\n b</p> <i>c</i> d <p> </p></body>", "a b c d"),
        ("<body><p>a &amp; b&nbsp;c</p></body>", "a & b c"),
        ("<body><script>if (a > b) { x('<p>no</p>') }</script><p>yes</p></body>", "yes"),
        ("<body><STYLE>p > a { }</STYLE><p>yes</p></body>", "yes"),
        ("<body><STYLE>p > a { }</style><p>lost</p></body>", ""),  # it ends otherwise than it begins
        ("<body><!-- <p>no</p> --><p>yes</p></body>", "yes"),
        ("<body><p>before</p><script>never ends > and more", "before"),
        ("<body><p>größe 汉字</p></body>", "größe 汉字"),
        ("no tag at all", ""),
        ("", ""),
    ],
)
def test_text_is_what_stands_between_tags(html: str, expected: str) -> None:
    assert glimpse(html.encode(), body(html.encode()), 100) == expected


def test_a_place_within_a_script_or_comment_is_moved_to_its_end() -> None:
    for begin, end in (("<script>", "</script>"), ("<!--", "-->")):
        html = f"<body><p>first</p>{begin} {'x > y < z ' * 50}{end}<p>last</p></body>".encode()
        assert glimpse(html, middle(html), 100) == "last"
        assert glimpse(html, body(html), 100) == "first last"


def test_no_more_than_asked_for_and_whole_characters() -> None:
    html = ("<body>" + "<p>ä汉 word</p>" * 200 + "</body>").encode()
    for chars in (1, 7, 50):
        assert len(glimpse(html, body(html), chars)) == chars
    for at in range(40, 60):
        assert "\ufffd" not in glimpse(html, at, 30)

"""Marks: expressions with marks find the same elements as the expressions themselves, on trees of any kind."""

import random
import re
from copy import copy

import pytest
import trafilatura.xpaths
from lxml.etree import XPath, _Element
from trafilatura.settings import BASIC_CLEAN_XPATH

from stages.extraction.article import parsed
from stages.extraction.attribute_tests import Unsupported, ValueMemo, ValueTest, _literal, _Strings, regular, translated
from stages.extraction.expressions import Marked, marked
from stages.extraction.marks import MARKS, PAGE_MARKS, Marker

EXPRESSIONS = [
    *trafilatura.xpaths.BODY_XPATH,
    *trafilatura.xpaths.REMOVE_COMMENTS_XPATH,
    *trafilatura.xpaths.REMOVE_COMMENTS_AND_LISTS_XPATH,
    *trafilatura.xpaths.RAW_TREE_PRUNE_XPATH,
    *trafilatura.xpaths.OVERALL_DISCARD_XPATH,
    *trafilatura.xpaths.TEASER_DISCARD_XPATH,
    *trafilatura.xpaths.PRECISION_DISCARD_XPATH,
    *trafilatura.xpaths.DISCARD_IMAGE_ELEMENTS,
    BASIC_CLEAN_XPATH,
]
NAMES = ("class", "id", "style", "role", "itemprop", "aria-hidden", "data-component", "data-lp-replacement-content")
TAGS = ("div", "section", "article", "main", "p", "span", "ul", "ol", "aside", "footer", "h1", "a", "details", "header")
# Words in which the expressions' own strings occur, at a start, at an end, inside and in another case.
WORDS = sorted({word for e in EXPRESSIONS for word in re.findall(r"[A-Za-z][\w-]+", e.path)})


def random_page(source: random.Random) -> str:
    def value() -> str:
        words = [source.choice(WORDS) for _ in range(source.choice((1, 1, 1, 2, 3)))]
        words = [source.choice((w, w.lower(), w.title(), f"x{w}", f"{w}-7", w[:-1])) for w in words]
        return source.choice((" ", " ", "\n", "\t", "-")).join(words) + source.choice(("", "", " "))

    def element(depth: int) -> str:
        tag = source.choice(TAGS)
        names = source.sample(NAMES, source.choice((0, 1, 1, 2, 3)))
        attributes = "".join(f' {name}="{value()}"' for name in names)
        inner = "".join(element(depth + 1) for _ in range(source.choice((0, 1, 2)) if depth < 6 else 0))
        return f"<{tag}{attributes}>text {inner}</{tag}> tail"

    return f"<html><body>{''.join(element(0) for _ in range(8))}</body></html>"


def tree_of(html: str) -> _Element:
    tree = parsed(html)
    assert tree is not None
    return tree


@pytest.mark.parametrize("seed", range(25))
def test_marked_expressions_find_the_same(seed: int) -> None:
    source = random.Random(seed)
    marker = Marker()
    pairs = [(expression, marked(expression, marker)) for expression in EXPRESSIONS]
    assert all(isinstance(with_marks, Marked) for _, with_marks in pairs)
    for _ in range(4):
        tree = tree_of(random_page(source))
        marker.mark(tree)
        twin = copy(tree)
        for expression, with_marks in pairs:
            assert with_marks(tree) == expression(tree), expression.path
            assert len(with_marks(twin)) == len(expression(twin)), expression.path
        part = tree.find(".//div")
        if part is not None:
            assert [e(part) for e, _ in pairs] == [m(part) for _, m in pairs]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("(.//p|.//div)[contains(@class, 'menu')]", ["a", "c", "e"]),
        ("(.//p[contains(@id, 'x')])[contains(@class, 'menu')][1]", ["c"]),
        (".//*[self::p or self::div][contains(@class, 'menu')][1]", ["a", "e"]),
    ],
)
def test_conditions_on_a_bracket_and_the_first_of_each_parent(path: str, found: list[str]) -> None:
    marker = Marker()
    with_marks = marked(XPath(path), marker)
    tree = tree_of(
        "<html><body><p class='menu'>a</p><p id='x'>b</p><p id='x' class='menu'>c</p>"
        "<section><b>d</b><div class='menu'>e</div></section></body></html>"
    )
    marker.mark(tree)
    assert isinstance(with_marks, Marked)
    assert [element.text for element in with_marks(tree)] == [element.text for element in XPath(path)(tree)] == found


def test_a_tree_without_marks_is_asked_itself() -> None:
    marker = Marker()
    expression = XPath(".//*[self::div][contains(@class, 'menu')]")
    with_marks = marked(expression, marker)
    tree = tree_of("<html><body><div class='menu'>a</div></body></html>")
    assert with_marks(tree) == expression(tree) != []
    marker.mark(tree)
    assert tree.get(PAGE_MARKS) == tree.find(".//div").get(MARKS) == "a"
    assert with_marks(tree) == expression(tree)


def test_an_expression_outside_the_subset_stays_itself() -> None:
    for path in (".//div[count(p) > 1]", "//div", ".//div[@class='a' and @id='b']", ".//div[re:test(@id, 'x', 'g')]"):
        namespaces = {"re": "http://exslt.org/regular-expressions"}
        expression = XPath(path, namespaces=namespaces)
        assert marked(expression, Marker()) is expression


def test_the_first_attribute_in_source_order_is_meant() -> None:
    marker = Marker()
    with_marks = marked(XPath(".//*[contains(@id|@class, 'cookie')]"), marker)
    tree = tree_of("<html><body><p id='cookie' class='x'>a</p><p class='x' id='cookie'>b</p></body></html>")
    marker.mark(tree)
    assert [element.text for element in with_marks(tree)] == ["a"]


@pytest.mark.parametrize(
    "pattern",
    [
        "ab|cd",
        "^ab|c",
        "a-?b",
        "a[-_]?b",
        "(?:ab|c)-d",
        "(?:^| )ad-",
        "[Aa]b(?!c)",
        "^(?:ab|cd)",
        r"(^|\s)ab(\s|$)",
        "a{0,2}b",
        "[a-c]",
        "a+|b*",
    ],
)
def test_patterns_are_answered_as_re_does(pattern: str) -> None:
    source = random.Random(3)
    values = ["".join(source.choices("abcdA-_ \n", k=source.randrange(1, 8))) for _ in range(3_000)]
    memo = ValueMemo()
    memo.add(1, regular(pattern))
    memo.learn(dict.fromkeys(values))
    assert [memo[value] for value in values] == [int(re.search(pattern, value) is not None) for value in values]


def test_translation_is_undone_in_the_text() -> None:
    memo = ValueMemo()
    memo.add(1, translated("in", "main-content", "CM", "cm"))
    values = ["Main-Content", "main-content", "MAIN-content", "mMain-contenT", "xmain-Contents"]
    memo.learn(values)
    assert [memo[v] for v in values] == [int("main-content" in v.translate(str.maketrans("CM", "cm"))) for v in values]
    assert translated("equal", "aB", "B", "b") == [ValueTest("equal", ())]


def test_what_a_pattern_stands_for() -> None:
    assert _Strings("post[-_]?content").all() == ["post-content", "post_content", "postcontent"]
    assert _Strings("(?:a|b)c?").all() == ["ac", "a", "bc", "b"]
    for pattern in ("a*", "a+", "(a)", "a.b", "x?", "(?:a", "a^b", "[^a]", "a$"):
        with pytest.raises(Unsupported):
            _Strings(pattern).all()
    assert [_literal(p) for p in (r"(^|\s)link(\s|$)", "a?bcd", "[Cc]omment", "a|b", "no(t(e))d*x")] == [
        "link",
        "bcd",
        "omment",
        "",
        "no",
    ]

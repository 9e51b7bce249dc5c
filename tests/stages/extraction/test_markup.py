"""What no parser shows is cut from a source as a parser would end it."""

import pytest

from stages.extraction.markup import without_scripts


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a<script>x</script>b", "ab"),
        ("a<script src='x'>'<p>'</script >b<style>p{}</style>c", "abc"),
        ("a<!-- <script> -->b<script>c</script>", "ab"),
        ("<script>'<!--'</script>b<!-- x -->", "b"),
        ("a<!-->b<!--->c", "abc"),
        ("<scripted>a</scripted>", "<scripted>a</scripted>"),
        ("a<script>never closed", "a<script>never closed"),
        ("a<!-- never closed", "a<!-- never closed"),
        ("a<!-- b --!> c <!-- d -->", "a<!-- b --!> c <!-- d -->"),  # the parser knows how that ends
        ("<script>a</SCRIPT>b<script>c</script>", "<script>a</SCRIPT>b<script>c</script>"),
        ("", ""),
    ],
)
def test_cut(source: str, expected: str) -> None:
    assert without_scripts(source) == expected


def test_many_that_are_never_closed_cost_one_look() -> None:
    source = "<script>" * 200_000
    assert without_scripts(source) == source

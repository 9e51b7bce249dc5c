"""Start and end tags are paired as a browser pairs them where authors leave ends out."""

import numpy as np
import pytest

from stages.extraction.blocks.nesting import FAR, nest
from stages.extraction.blocks.tags import NUMBER


def parents(tags: str) -> list[str]:
    """Each element with those around it, the innermost first."""
    names = tags.split()
    codes = np.array([~NUMBER[name[1:]] if name[0] == "/" else NUMBER[name] for name in names], np.int64)
    made = nest(codes)
    started = [name for name in names if name[0] != "/"]
    paths: list[str] = []
    for number, parent in enumerate(made.parent.tolist()):
        paths.append(started[number] + ("" if parent == len(started) else "<" + paths[parent]))
    return paths


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("div p /p p /p /div p /p", ["div", "p<div", "p<div", "p"]),
        ("p p div p", ["p", "p", "div", "p<div"]),
        ("ul li li ul li /ul li", ["ul", "li<ul", "li<ul", "ul<li<ul", "li<ul<li<ul", "li<ul"]),
        ("li p li", ["li", "p<li", "li"]),
        ("dl dt dd dt", ["dl", "dt<dl", "dd<dl", "dt<dl"]),
        (
            "table tr td td tr td p /table p",
            ["table", "tr<table", "td<tr<table", "td<tr<table", "tr<table", "td<tr<table", "p<td<tr<table", "p"],
        ),
        ("div section /div p", ["div", "section<div", "p"]),
        ("div /section /p p", ["div", "p<div"]),  # ends of what is not open
        ("div table td /div p", ["div", "table<div", "td<table<div", "p<td<table<div"]),  # not out of a cell
        ("h2 h3", ["h2", "h3"]),
        ("", []),
    ],
)
def test_what_stands_in_what(tags: str, expected: list[str]) -> None:
    assert parents(tags) == expected


def test_the_innermost_element_after_each_tag() -> None:
    codes = [NUMBER["div"], NUMBER["p"], ~NUMBER["p"], NUMBER["p"], NUMBER["div"], ~NUMBER["div"], ~NUMBER["div"]]
    made = nest(np.array(codes))
    assert made.inner.tolist() == [0, 1, 0, 2, 3, 0, 4]
    assert made.start.tolist() == [0, 1, 3, 4]
    assert made.end.tolist() == [6, 2, 4, 5]


def test_an_end_tag_looks_no_farther_than_a_bound() -> None:
    near, far = (f"main {'div ' * count}/main p" for count in (FAR - 1, FAR))
    assert parents(near)[-1] == "p"
    assert parents(far)[-1].startswith("p<div")

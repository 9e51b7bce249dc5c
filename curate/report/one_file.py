"""A page that needs nothing else: sections, style, scripts and charts in one file.

A content security policy in the page forbids all network and every script and style but the three it brings, which
are named by their hashes. Vega would compile its expressions with `new Function`; it is told to interpret them.
"""

from base64 import b64encode
from hashlib import sha256
from importlib import resources
from pathlib import Path
from string import Template
from typing import NamedTuple

from markupsafe import Markup

from curate.durable import atomic
from curate.report import charts
from curate.report.figures import Figures
from curate.report.markup import element, join, text

SCRIPTS = ("page.js", "tables.js", "search.js")


class Section(NamedTuple):
    """A part of the page; `name` is its id."""

    name: str
    title: str
    content: Markup


def one_file(title: str, heading: object, head: Markup, sections: list[Section], figures: Figures) -> str:
    """The HTML of a page with these sections in order."""
    style, script, library = _packaged("page.css"), "".join(map(_packaged, SCRIPTS)), charts.library()
    navigation = [element("li", element("a", section.title, href=f"#{section.name}")) for section in sections]
    return Template(_packaged("template.html")).substitute(
        policy=Markup(_policy([library, script], style)),
        title=text(title),
        heading=join([heading]),
        head=head,
        style=style,
        navigation=join(navigation),
        body=join(map(_shown, sections)),
        charts=figures.json(),
        library=library,
        script=script,
        versions=charts.versions(),
    )


def write(target: Path, html: str) -> int:
    """Writes a page under a temporary name and renames it; returns its bytes."""
    data = html.encode()
    with atomic(target) as temporary:
        temporary.write_bytes(data)
    return len(data)


def _shown(section: Section) -> Markup:
    title = element("h2", section.title, id=f"{section.name}-title")
    return element("section", title, section.content, id=section.name, aria_labelledby=f"{section.name}-title")


def _policy(scripts: list[str], style: str) -> str:
    sources = " ".join(_hash(script) for script in scripts)
    return f"default-src 'none'; script-src {sources}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _packaged(name: str) -> str:
    return resources.files("curate.report").joinpath(name).read_text(encoding="utf-8")

"""`report.html`: the whole run on one page that needs nothing else.

A content security policy in the page forbids all network and every script and style but the three it brings, which
are named by their hashes. Vega would compile its expressions with `new Function`; it is told to interpret them.
"""

from base64 import b64encode
from hashlib import sha256
from importlib import resources
from pathlib import Path
from string import Template

from markupsafe import Markup

from curate.durable import atomic
from curate.inspect.opened import OpenedRun
from curate.report import (
    charts,
    section_drops,
    section_duplicates,
    section_measures,
    section_origins,
    section_overview,
    section_run,
)
from curate.report.distributions import distributions
from curate.report.figures import Figures
from curate.report.markup import element, join

NAME = "report.html"
SAMPLES = 6


def write(run: OpenedRun, target: Path, most_samples: int = SAMPLES) -> int:
    """Writes the report under a temporary name and renames it; returns its bytes. Equal runs give equal bytes."""
    data = page(run, most_samples).encode()
    with atomic(target) as temporary:
        temporary.write_bytes(data)
    return len(data)


def page(run: OpenedRun, most_samples: int = SAMPLES) -> str:
    """The report of a run as HTML, with at most `most_samples` dropped pages of each rule."""
    figures = Figures()
    sections = _sections(run, figures, most_samples)
    style, script, library = _packaged("page.css"), _packaged("page.js"), charts.library()
    navigation = [element("li", element("a", title, href=f"#{name}")) for name, title, _ in sections]
    body = [
        element("section", element("h2", title, id=f"{name}-title"), content, id=name, aria_labelledby=f"{name}-title")
        for name, title, content in sections
    ]
    return Template(_packaged("template.html")).substitute(
        policy=Markup(_policy([library, script], style)),
        style=style,
        navigation=join(navigation),
        body=join(body),
        fingerprint=run.manifest["fingerprint"][:12],
        curate=Markup(run.manifest["curate"]),
        charts=figures.json(),
        library=library,
        script=script,
        versions=charts.versions(),
    )


def _sections(run: OpenedRun, figures: Figures, most_samples: int) -> list[tuple[str, str, Markup]]:
    """(id, title, content) in the order of the page."""
    found = distributions(run)
    return [
        ("overview", "Overview", section_overview.overview(run)),
        ("alarms", "Alarms", section_overview.alarms(run)),
        ("funnel", "Funnel", section_overview.funnel_section(run, figures)),
        ("lengths", "Lengths", section_measures.lengths(found, figures)),
        ("measures", "Measures and limits", section_measures.measures(found, figures)),
        ("languages", "Languages", section_origins.languages(run, figures)),
        ("domains", "Domains", section_origins.sources(run, figures)),
        ("duplicates", "Duplicates", section_duplicates.copies(run, figures)),
        ("drops", "Sampled drops", section_drops.drops(run, most_samples)),
        ("timings", "Timings", section_run.timings(run, figures)),
        ("config", "Config and files", section_run.config(run)),
    ]


def _policy(scripts: list[str], style: str) -> str:
    sources = " ".join(_hash(script) for script in scripts)
    return f"default-src 'none'; script-src {sources}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _packaged(name: str) -> str:
    return resources.files("curate.report").joinpath(name).read_text(encoding="utf-8")

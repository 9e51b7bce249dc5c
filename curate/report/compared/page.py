"""`comparison.html`: two runs on one page, A and B."""

from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from curate.compare.compare import compare
from curate.compare.sample import sample
from curate.inspect.difference import Difference
from curate.inspect.opened import OpenedRun
from curate.report import one_file, section_head
from curate.report.compared import (
    section_counts,
    section_origins,
    section_quality,
    section_values,
    section_verdicts,
)
from curate.report.figures import Figures
from curate.report.markup import element, join
from curate.report.one_file import Section

NAME = "comparison.html"
WORDS = 300_000  # of each sample that is compared with a target


class TargetTexts(NamedTuple):
    """A file of texts as the data should be, for the section on quality."""

    path: str
    words: int = WORDS
    seed: int = 0


def write(a: OpenedRun, b: OpenedRun, file: Path, target: TargetTexts | None = None) -> int:
    """Writes the comparison under a temporary name and renames it; returns its bytes."""
    return one_file.write(file, page(a, b, target))


def page(a: OpenedRun, b: OpenedRun, target: TargetTexts | None = None) -> str:
    """The comparison of two runs as HTML."""
    figures, compared = Figures(), Difference(a, b)
    sections = [
        Section("overview", "Overview", section_counts.overview(a, b)),
        Section("config", "Config", section_counts.config(compared)),
        Section("funnel", "Stages and reasons", section_counts.stages(compared, figures)),
        Section("verdicts", "Changed verdicts", section_verdicts.verdicts(compared)),
        Section("values", "Lengths and measures", section_values.values(a, b, figures)),
        Section("languages", "Languages", section_origins.groups(a, b, "language", figures)),
        Section("domains", "Domains", section_origins.origins(a, b, figures)),
    ]
    if target:
        places = (str(a.folder), str(b.folder), target.path)
        own, other, aim = (sample(place, target.words, target.seed) for place in places)
        sections.append(Section("quality", "Quality", section_quality.quality(compare(own, other, aim), target.path)))
    names = section_head.name_of(a), section_head.name_of(b)
    heading = ["Comparison: ", section_head.named(names[0]), " and ", section_head.named(names[1])]
    return one_file.one_file(f"Comparison: {names[0]} and {names[1]}", heading, _heads(a, b), sections, figures)


def _heads(a: OpenedRun, b: OpenedRun) -> Markup:
    sides = [
        element("div", element("p", _side(letter), " ", section_head.named(str(run.folder))), section_head.head(run))
        for letter, run in (("A", a), ("B", b))
    ]
    return element("div", join(sides), class_="sides")


def _side(letter: str) -> Markup:
    return element("strong", letter, class_=f"side {letter.lower()}")

"""`report.html`: the whole run on one page."""

from pathlib import Path

from curate.inspect.opened import OpenedRun
from curate.report import (
    one_file,
    section_drops,
    section_duplicates,
    section_head,
    section_measures,
    section_origins,
    section_overview,
    section_pages,
    section_run,
)
from curate.report.distributions import distributions
from curate.report.figures import Figures
from curate.report.kept_pages import KeptPages
from curate.report.one_file import Section

NAME = "report.html"
SAMPLES = 6


def write(run: OpenedRun, target: Path, most_samples: int = SAMPLES) -> int:
    """Writes the report under a temporary name and renames it; returns its bytes. Equal runs give equal bytes."""
    return one_file.write(target, page(run, most_samples))


def page(run: OpenedRun, most_samples: int = SAMPLES) -> str:
    """The report of a run as HTML, with at most `most_samples` dropped pages of each rule."""
    figures = Figures()
    name = section_head.name_of(run)
    heading = ["Curation report: ", section_head.named(name)]
    sections = _sections(run, figures, most_samples)
    return one_file.one_file(f"Curation report: {name}", heading, section_head.head(run), sections, figures)


def _sections(run: OpenedRun, figures: Figures, most_samples: int) -> list[Section]:
    """The sections in the order of the page."""
    kept = KeptPages(run)
    found = distributions(run, kept)
    return [
        Section("overview", "Overview", section_overview.overview(run)),
        Section("alarms", "Alarms", section_overview.alarms(run)),
        Section("funnel", "Funnel", section_overview.funnel_section(run, figures)),
        Section("lengths", "Lengths", section_measures.lengths(found, figures)),
        Section("measures", "Measures and limits", section_measures.measures(found, figures)),
        Section("languages", "Languages", section_origins.languages(run, figures)),
        Section("domains", "Domains", section_origins.sources(run, figures)),
        Section("duplicates", "Duplicates", section_duplicates.copies(run, figures)),
        Section("samples", "Kept and dropped", section_drops.drops(run, most_samples, kept)),
        Section("pages", "Pages", section_pages.pages(run)),
        Section("timings", "Timings", section_run.timings(run, figures)),
        Section("config", "Config and files", section_run.config(run)),
    ]

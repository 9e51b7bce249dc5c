"""Texts of dropped pages that a run stored."""

from curate.report.lookup import Found, row_at
from curate.report.opened import OpenedRun


def sampled_text(run: OpenedRun, found: Found) -> str | None:
    """The text of a dropped page where it is among the run's samples."""
    row = row_at(run, "samples", found.file, found.offset)
    return str(row["text"]) if row else None

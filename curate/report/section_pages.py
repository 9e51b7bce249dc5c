"""Pages to look up: all of a small run, of a large one some from all over the crawl."""

from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from curate.inspect.opened import OpenedRun
from curate.report.addresses import spread
from curate.report.markup import count, element, join, table, url, words

MOST = 400  # of the kept pages, and as many of the dropped ones
LEDGER = ["url", "stage", "reason", "language"]


def pages(run: OpenedRun) -> Markup:
    """URL, verdict, reason and language of some kept and dropped pages."""
    rows = [*_kept(run), *_dropped(run)]
    if not rows:
        return element("p", "No page was read.")
    read = run.stats["read"]["documents"]
    of = f"All {count(read)}" if len(rows) >= read else f"{count(len(rows))} of the {count(read)}"
    how = "" if len(rows) >= read else " They stand evenly in a few parts of the output, not at random."
    why = element("code", "curate why OUT URL")
    said = element("p", f"{of} pages.{how} ", why, " tells the whole path of any page, listed or not.")
    head = ["page", "verdict", "reason", "language", "address"]
    return join([said, table("Pages", head, rows, len(head), kind="pages", found="page")])


def _kept(run: OpenedRun) -> Iterator[list[object]]:
    for row in spread(run, "shards", ["url", "language"], MOST):
        yield _line(row, "kept", "")


def _dropped(run: OpenedRun) -> Iterator[list[object]]:
    for row in spread(run, "ledger", LEDGER, MOST):
        yield _line(row, row["stage"], words(row["reason"]))


def _line(row: dict[str, Any], verdict: str, reason: str) -> list[object]:
    address = element("code", f"{row['file_path']}:{row['offset']}")
    return [url(row["url"]), verdict, reason, row["language"] or "", address]

"""The head of the report: which run this is."""

from itertools import groupby

from markupsafe import Markup

from curate.inspect.opened import OpenedRun
from curate.report.markup import count, element, join, size
from curate.sizes import numbered

MOST_SOURCES = 8


def name_of(run: OpenedRun) -> str:
    """A run is called as its output folder."""
    return run.folder.resolve().name


def named(name: str) -> Markup:
    """The name of a run in a heading."""
    return element("span", name, class_="name", dir="auto")


def head(run: OpenedRun) -> Markup:
    """Name, inputs, recipe, date and version."""
    timings, manifest = run.timings, run.manifest
    rows = [
        ("Recipe", recipe(run)),
        ("Inputs", inputs(run)),
        ("Date", date(timings.get("finished"))),
        ("Version", [f"curate {manifest['curate']}, run ", element("code", manifest["fingerprint"][:12])]),
    ]
    if run.limit is not None:
        rows.append(("Trial", f"a run with --limit {run.limit}: not the whole input"))
    entries = [element("div", element("dt", name), element("dd", value)) for name, value in rows if value]
    return element("dl", *entries, class_="about")


def recipe(run: OpenedRun) -> Markup:
    """The config's file, and the stages in their order."""
    name = run.timings.get("recipe")
    stages = element("ol", [element("li", stage) for stage in run.options], class_="stages")
    return join([element("code", name) if name else None, stages])


def date(finished: str | None) -> str | None:
    """Day and minute of a time in UTC."""
    return finished and f"{finished[:16].replace('T', ' ')} UTC"


def inputs(run: OpenedRun) -> Markup:
    """Files, bytes and documents of each source."""
    documents: dict[str, int] = {}
    for row in [*run.stats["kept_by"], *run.stats["dropped"]]:
        documents[row["source"]] = documents.get(row["source"], 0) + row["documents"]
    sizes: dict[str, list[int]] = {}
    for source, of_source in groupby(run.manifest["inputs"], key=lambda entry: str(entry[0])):
        sizes.setdefault(source, []).extend(int(entry[2]) for entry in of_source)
    lines = [
        element(
            "li",
            element("strong", source),
            f": {numbered(documents.get(source, 0), 'document')} in {numbered(len(some), 'file')} of {size(sum(some))}",
            *_pattern(run, source),
        )
        for source, some in list(sizes.items())[:MOST_SOURCES]
    ]
    more = len(sizes) - MOST_SOURCES
    return element("ul", lines, element("li", f"and {count(more)} more sources") if more > 0 else None)


def _pattern(run: OpenedRun, source: str) -> list[object]:
    settings = run.manifest["config"]["input"].get(source, {})
    pattern = settings.get("path") or settings.get("paths")
    return [" (", element("code", str(pattern)), ")"] if pattern else []

"""How the run was made: timings, config, inputs, versions, outputs."""

from collections.abc import Iterable

import yaml
from markupsafe import Markup

from curate.inspect.costs import REST, stage_costs
from curate.inspect.opened import OpenedRun
from curate.report import charts
from curate.report.figures import Figures
from curate.report.markup import count, element, folded, join, measured, size, table
from curate.sizes import numbered

MOST_ROWS = 60


def timings(run: OpenedRun, figures: Figures) -> Markup:
    """Wall time by phase, CPU time by stage."""
    taken = run.timings
    total = sum(taken["wall_seconds"].values())
    costs = stage_costs(run.stats, taken)
    read = run.stats["read"]["documents"]
    workers = numbered(taken["workers"], "worker")
    speed = f", {count(read / total)} pages a second" if total else ""
    said = f"{measured(round(total, 1))} s in all with {workers}{speed}."
    bars = [(row["stage"], row["cpu_seconds"]) for row in costs]
    title = "CPU time of the scan by stage"
    chart = figures.chart(
        charts.single(title, bars, "CPU seconds"), f"{title}; “{REST}” is reading, decoding and sketches."
    )
    wall = [(phase, measured(spent)) for phase, spent in taken["wall_seconds"].items()]
    lines = [
        (row["stage"], count(row["pages"]), measured(row["cpu_seconds"]), measured(row["cpu_seconds_per_1000"]))
        for row in costs
    ]
    return join(
        [
            element("p", said),
            chart,
            element(
                "div",
                table("Wall time by phase", ["phase", "seconds"], wall),
                table("CPU time by stage", ["stage", "pages in", "CPU seconds", "per 1,000 pages read"], lines),
                class_="grid two",
            ),
        ]
    )


def config(run: OpenedRun) -> Markup:
    """The config with every default, what was read and written, and by which versions."""
    manifest = run.manifest
    written = yaml.safe_dump(manifest["config"], sort_keys=False, allow_unicode=True, width=100)
    inputs = [(name, source, size(length)) for source, name, length in (entry[:3] for entry in manifest["inputs"])]
    shards = [
        (shard["name"], count(shard["rows"]), size(shard["bytes"]), shard["sha256"][:16])
        for shard in manifest["shards"]
    ]
    records = [(kind, count(counts["records"]), size(counts["bytes"])) for kind, counts in run.stats["records"].items()]
    return join(
        [
            element("p", f"Format {manifest['format']}, fingerprint ", element("code", manifest["fingerprint"]), "."),
            folded(
                "The config with every default",
                element("pre", element("code", written), tabindex="0", aria_label="Config as YAML"),
            ),
            _list(numbered(len(inputs), "input file"), "Input files", ["file", "source", "size"], inputs, 2),
            _list(numbered(len(shards), "shard"), "Shards", ["shard", "rows", "size", "SHA-256 begins"], shards),
            _list("Other records in the input", "Records that hold no page", ["type", "records", "size"], records)
            if records
            else None,
            _list("Versions", "Versions that the run used", ["package", "version"], manifest["versions"].items()),
        ]
    )


def _list(summary: str, caption: str, head: list[str], rows: Iterable[tuple[object, ...]], texts: int = 1) -> Markup:
    lines = list(rows)
    more = len(lines) - MOST_ROWS
    return folded(
        summary,
        table(caption, head, lines[:MOST_ROWS], texts),
        element("p", f"and {count(more)} more, in manifest.json") if more > 0 else None,
    )

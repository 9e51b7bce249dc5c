"""What a run cost: wall time by phase, CPU time by stage, and the price of a million tokens."""

from typing import Any

from curate.inspect.funnel import funnel, kept_tokens
from curate.inspect.tables import lines
from curate.output.facts import Stats, Timings
from curate.sizes import numbered

REST = "the rest"  # reading, decoding, sketches, spilling


def stage_costs(stats: Stats, timings: Timings) -> list[dict[str, Any]]:
    """CPU seconds of each document stage in the scan, in all and per 1,000 documents read; REST makes up the total."""
    read = stats["read"]["documents"]
    spent = dict(timings["stage_cpu_seconds"])
    spent[REST] = max(0.0, timings["scan_cpu_seconds"] - sum(spent.values()))
    pages = {row["stage"]: row["in"] for row in funnel(stats)}
    return [
        {
            "stage": stage,
            "pages": pages.get(stage),
            "cpu_seconds": round(seconds, 3),
            "cpu_seconds_per_1000": round(seconds * 1000 / read, 3) if read else None,
        }
        for stage, seconds in spent.items()
    ]


def cpu_hours(timings: Timings) -> float:
    """CPU hours paid for: the scan's CPU time, and all workers for as long as decide and write took."""
    wall = timings["wall_seconds"]
    held = sum(seconds for phase, seconds in wall.items() if phase != "scan") * timings["workers"]
    return float(timings["scan_cpu_seconds"] + held) / 3600


def price_per_million(stats: Stats, timings: Timings, price: float) -> float | None:
    """Dollars for a million kept tokens at `price` dollars a CPU hour; None where nothing was kept."""
    tokens = kept_tokens(stats)
    return cpu_hours(timings) * price / tokens * 1e6 if tokens else None


def cost_lines(stats: Stats, timings: Timings, price: float | None) -> list[str]:
    """The costs as text."""
    read, wall = stats["read"], timings["wall_seconds"]
    phases = ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in wall.items())
    report = [f"wall time: {phases} ({numbered(timings['workers'], 'worker')})"]
    if wall["scan"]:
        pages, size = read["documents"] / wall["scan"], read["bytes"] / wall["scan"] / 1e6
        report.append(f"the scan read {pages:,.0f} pages/s, {size:,.2f} MB/s")
    titles = {"stage": "", "cpu_seconds": "CPU s", "cpu_seconds_per_1000": "per 1,000 pages read"}
    report += lines(stage_costs(stats, timings), ("stage", "pages", "cpu_seconds", "cpu_seconds_per_1000"), titles)
    if price is not None:
        each = price_per_million(stats, timings, price)
        counted = "counted" if stats["kept"]["tokens"] else "estimated"
        worth = "nothing was kept" if each is None else f"${each:.4g} for a million kept tokens ({counted})"
        report.append(f"cost: {cpu_hours(timings):.4g} CPU hours at ${price:g}, {worth}")
    return report

"""One limit swept over many values: a table, a curve for the terminal, and an image."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from curate.config.file import Config
from curate.durable import atomic
from curate.errors import UserError
from curate.inspect.tables import lines
from curate.what_if.redecide import Changes, check_limit, new_stage
from curate.what_if.what_if import WhatIf, about
from curate.what_if.which import named

MOST_POINTS = 200
HEIGHT, WIDTH = 12, 60


@dataclass(frozen=True)
class Point:
    """One value of the limit: what passes the document stages, and about what is kept at the end."""

    value: float
    documents: int
    words: int
    unknown: int
    kept: int
    exact: bool


def parse_sweep(config: Config, word: str) -> tuple[str, str, list[float]]:
    """`stage.option=from:to:step`. Raises UserError. Steps are decimal, so those of 0.1 end where they should."""
    place, _, text = word.partition("=")
    stage, option = named(config, place, word)
    parts = text.split(":")
    check_limit(config, stage, option, word)
    try:
        start, stop, step = (Decimal(part) for part in parts)
    except (InvalidOperation, ValueError):
        raise UserError(f"'{word}': give STAGE.OPTION=FROM:TO:STEP, for example gopher.min_words=20:100:10") from None
    finite = all(part.is_finite() for part in (start, stop, step))
    if not finite or step <= 0 or stop < start or (stop - start) / step >= MOST_POINTS:
        raise UserError(f"'{word}': FROM must be below TO and STEP above 0, with at most {MOST_POINTS} values")
    values = [start + number * step for number in range(int((stop - start) / step) + 1)]
    return stage, option, [int(value) if value == int(value) else float(value) for value in values]


def curve(asked: WhatIf, given: Changes, stage: str, option: str, values: Sequence[float]) -> list[Point]:
    """What is kept at each value, other limits as `given`."""
    points = []
    for value in values:
        changes = {**given, stage: {**given.get(stage, {}), option: value}}
        new_stage(asked.recorded.config, stage, changes[stage])
        outcome = asked.ask(changes, with_groups=False)
        passed, unknown = outcome.passed, outcome.unknown[0]
        last = outcome.corpus[-1:]
        kept, exact = (last[0].after[0], last[0].exact) if last else (passed[0], not unknown)
        points.append(Point(value, *passed, unknown, kept, exact))
    return points


def curve_lines(points: Sequence[Point], title: str, now: Any) -> list[str]:
    """A table and a curve of the documents that pass; `*` marks the run's own value where it is one of them."""
    rows = [
        {
            title: f"{point.value}{' *' if point.value == now else '  '}",
            "pass the document stages": point.documents,
            "words": point.words,
            "not known": point.unknown or None,
            "kept at the end": about(point.kept, point.exact),
        }
        for point in points
    ]
    columns = [title, "pass the document stages", "words", "not known", "kept at the end"]
    if not any(row["not known"] for row in rows):
        columns.remove("not known")
    return [*lines(rows, columns), "", *drawn([point.value for point in points], [point.documents for point in points])]


def drawn(values: Sequence[float], heights: Sequence[int]) -> list[str]:
    """A bar for each value, on a scale from 0, in block characters of eighths."""
    most = max(heights, default=0) or 1
    wide = max(1, min(6, WIDTH // max(1, len(values))))
    blocks = " ▁▂▃▄▅▆▇█"
    rows = []
    for level in range(HEIGHT - 1, -1, -1):
        cells = [blocks[max(0, min(8, round(height / most * HEIGHT * 8) - level * 8))] * wide for height in heights]
        label = f"{most * (level + 1) // HEIGHT:,}" if level in (HEIGHT - 1, HEIGHT // 2 - 1) else ""
        rows.append(f"{label:>12} │" + "".join(cells).rstrip())
    ends = f"{values[0]}".ljust(max(1, wide * len(values) - len(f"{values[-1]}"))) + f"{values[-1]}"
    return [*rows, f"{'0':>12} └" + "─" * (wide * len(values)), f"{'':>14}{ends}"]


def write_plot(points: Sequence[Point], title: str, path: Path) -> None:
    """The curves as an image. Raises UserError without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise UserError("--plot needs matplotlib: python -m pip install matplotlib") from error
    figure, axes = pyplot.subplots(figsize=(7, 4))
    values = [point.value for point in points]
    axes.plot(values, [point.documents for point in points], marker="o", label="pass the document stages")
    axes.plot(values, [point.kept for point in points], linestyle="--", label="kept at the end, about")
    axes.set(xlabel=title, ylabel="documents", ylim=(0, None))
    axes.legend()
    kind = path.suffix.lstrip(".")
    try:
        if kind not in figure.canvas.get_supported_filetypes():
            raise UserError(f"{path}: is no name of a picture; give one that ends in .svg or .png")
        with atomic(path) as temporary:
            figure.savefig(temporary, format=kind, bbox_inches="tight")
    finally:
        pyplot.close(figure)

"""A page's path as people read it, and as plain JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from curate.errors import one_line
from curate.inspect.limits import Limit, absence, alike_from
from curate.inspect.path import DROPPED, Measure, PagePath, Station, Twin
from curate.inspect.reopen import plain
from curate.inspect.tables import lines, shown
from curate.output.facts import Options
from curate.sizes import numbered

NONE_APPLIES = "(none applies)"
EXCERPT = 300  # characters of a text
BROKEN = "< broken"
MOST_CUTS, CUT_EXCERPT = 10, 80


def verdict(path: PagePath, options: Mapping[str, Options]) -> str:
    """What became of the page, with value and limit. `options` are those of each stage of the run."""
    if path.kept:
        return "kept"
    row = path.found.row
    sentence = f"dropped by {row['stage']}: {row['reason']}"
    if path.twin and path.twin.score is not None:
        threshold = alike_from(row["stage"], options.get(row["stage"], {}))
        return f"{sentence}, {shown(float(path.twin.score))} alike" + (
            f" where threshold is {threshold}" if threshold else ""
        )
    sentence += dropped_for(path.stations, row["value"], row["limit"])
    return sentence + (f" ({plain(row['cause'])})" if row.get("cause") else "")


def dropped_for(stations: Sequence[Station], value: float | None, limit: float | None) -> str:
    """Value and limit of a verdict, by the name of the option where a measure of the stage breaks one."""
    station = next((station for station in stations if station.verdict == DROPPED), None)
    broken = [(measure, option) for measure in station.measures for option in measure.broken] if station else []
    exact = [(measure, option) for measure, option in broken if measure.value == value and option.value == limit]
    for measure, option in exact or broken:
        return f", {measure.name} {shown(measure.value)} where {option.field} is {option.value_text}"
    if value is None:
        return ""
    return f", {shown(value)}" + ("" if limit is None else f" where the limit is {shown(limit)}")


def station_lines(stations: Sequence[Station]) -> list[str]:
    """The stages as a table: one line a measure, limits beside it, `<` where one is broken."""
    rows: list[dict[str, str]] = []
    for station in stations:
        first = {"stage": station.stage, "verdict": f"{station.verdict} {station.reason or ''}".rstrip()}
        rows += [
            {**(first if number == 0 else {"stage": "", "verdict": ""}), **_cells(station.stage, measure)}
            for number, measure in enumerate(_applying(station.measures))
        ] or [{**first, "measure": "", "value": "", "limits": ""}]
    return lines(rows, ("stage", "verdict", "measure", "value", "limits"), heads=2)


def _applying(measures: Sequence[Measure]) -> Sequence[Measure]:
    """The measures; one line for all where none applied to the page (a language that the rules are not for)."""
    if len(measures) > 1 and all(measure.value is None for measure in measures):
        return (Measure(NONE_APPLIES, None),)
    return measures


def _cells(stage: str, measure: Measure) -> dict[str, str]:
    value = "-" if measure.value is None else shown(measure.value)
    limits = ", ".join(f"{limit} {BROKEN}" if limit in measure.broken else str(limit) for limit in measure.limits)
    if measure.value is None and measure.name != NONE_APPLIES:
        limits = f"{limits} ({absence(stage, measure.name)})".strip()
    return {"measure": measure.name, "value": value, "limits": limits}


def path_lines(path: PagePath, options: Mapping[str, Options]) -> list[str]:
    """Where the page lies, what became of it, and every stage."""
    row = path.found.row
    rows = [f"page     {plain(row['url'] or '(no URL)')}", _where(path)]
    about = [
        row.get("record_id") or row.get("id"),
        row.get("date"),
        f"status {row['status']}" if row.get("status") else None,
    ]
    rows += [f"record   {one_line(', '.join(filter(None, about)))}"] if any(about) else []
    rows.append(f"verdict  {verdict(path, options)}")
    if path.twin:
        rows.append(f"copy of  {_twin_text(path.twin)}, {path.twin.fate}")
    if path.copies_in_all:
        rows.append(f"copies   {_were(path.copies_in_all)} dropped as copies of it:")
        rows += [f"         {_twin_text(twin)}, {twin.fate}" for twin in path.copies]
        rows += ["         …"] if path.copies_in_all > len(path.copies) else []
    rows += _cut_lines(path)
    if path.words is not None:
        rows.append(
            f"size     {numbered(path.words, 'word')}, {numbered(path.bytes or 0, 'byte')} of text, "
            f"language {path.language or 'not known'}"
        )
    if path.columns:
        rows.append("columns  " + ", ".join(f"{one_line(name)} {shown(value)}" for name, value in path.columns.items()))
    return [*rows, "", *station_lines(path.stations)]


def _where(path: PagePath) -> str:
    return f"address  {one_line(path.found.address)}, source {one_line(path.found.row['source'])}"


def _cut_lines(path: PagePath) -> list[str]:
    rows = []
    itself = (path.found.file, path.found.offset)
    for cut in path.cuts[:MOST_CUTS]:
        where = "" if cut.file is None else f", also in {one_line(cut.file)}:{cut.offset}"
        where = ", also elsewhere in it" if (cut.file, cut.offset) == itself else where
        cause = f", {plain(cut.cause)}" if cut.cause else ""
        size = f"{numbered(cut.words, 'word')} at {cut.start}"
        rows.append(f"cut      by {cut.stage}: {size}{where}{cause}: {excerpt(cut.text, CUT_EXCERPT)}")
    left = len(path.cuts) - MOST_CUTS
    return [*rows, f"cut      and {numbered(left, 'span')} more (--json has all)"] if left > 0 else rows


def _were(pages: int) -> str:
    return f"{numbered(pages, 'page')} {'was' if pages == 1 else 'were'}"


def _twin_text(twin: Twin) -> str:
    score = "" if twin.score is None else f"{shown(float(twin.score))} alike: "
    return f"{score}{plain(twin.url or '(no URL)')} ({one_line(twin.file)}:{twin.offset})"


def excerpt(text: str, characters: int = EXCERPT) -> str:
    """The beginning of a text in one line."""
    line = plain(text[: 2 * characters])
    return line if len(line) <= characters else f"{line[:characters]}…"


def path_json(path: PagePath) -> dict[str, Any]:
    """The path as plain JSON."""
    row = {name: value for name, value in path.found.row.items() if name != "text"}
    return {
        "kept": path.kept,
        "row": row,
        "language": path.language,
        "words": path.words,
        "bytes": path.bytes,
        "twin": asdict(path.twin) if path.twin else None,
        "copies": [asdict(twin) for twin in path.copies],
        "copies_in_all": path.copies_in_all,
        **({"cuts": [asdict(cut) for cut in path.cuts]} if path.cuts else {}),
        "stages": [stage_json(station) for station in path.stations],
    }


def stage_json(station: Station) -> dict[str, Any]:
    """A station as plain JSON."""
    measures = [
        {
            "measure": measure.name,
            "value": measure.value,
            "limits": [_limit_json(measure, limit) for limit in measure.limits],
        }
        for measure in station.measures
    ]
    return {"stage": station.stage, "verdict": station.verdict.lower(), "reason": station.reason, "measures": measures}


def _limit_json(measure: Measure, limit: Limit) -> dict[str, Any]:
    value = list(limit.value) if isinstance(limit.value, tuple) else limit.value
    return {"option": limit.field, "value": value, "broken": limit in measure.broken}

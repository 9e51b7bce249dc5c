"""What each rule threw away, with the cause in sight."""

from markupsafe import Markup

from curate.inspect.funnel import funnel
from curate.inspect.opened import OpenedRun
from curate.report.drops import Sample, samples
from curate.report.markup import count, element, folded, join, measured, url, words
from curate.sizes import numbered

NONE = "No dropped text is recorded (samples: 0, or nothing with a text was dropped)."
WHOLE_PAGE = "The rule is about the page as a whole."


def drops(run: OpenedRun, most: int) -> Markup:
    """Sampled drops of every rule, in the order of the funnel."""
    found = samples(run, most)
    if not found:
        return element("p", NONE)
    chosen = (
        f"Up to {most} pages of every rule, chosen by a hash of their address and the seed. What a rule is about is "
    )
    why = element("code", "curate why OUT ADDRESS")
    said = element("p", chosen, element("mark", "marked"), "; ", why, " tells the whole path of a page.")
    rules = [
        _rule(row["stage"], reason, total["documents"], found[row["stage"], reason])
        for row in funnel(run.stats)
        for reason, total in row["reasons"].items()
        if (row["stage"], reason) in found
    ]
    return join([said, *rules])


def _rule(stage: str, reason: str, total: int, group: list[Sample]) -> Markup:
    title = [element("strong", words(reason)), f" ({stage}): {len(group)} of {count(total)}"]
    return folded(title, *map(_sample, group), class_="rule")


def _sample(one: Sample) -> Markup:
    row = one.row
    lang = row.get("language")
    pre = {"class_": "page", "dir": "auto", "lang": lang, "tabindex": 0, "aria_label": "Text of the page"}
    return element(
        "article",
        element("p", *[part for fact in _facts(one) for part in (fact, " ")], class_="sample-facts"),
        _cause(one),
        element("pre", _excerpt(one), **pre),
        element("p", element("code", f"{row['file_path']}:{row['offset']}"), class_="note"),
        class_="sample",
    )


def _facts(one: Sample) -> list[Markup]:
    recorded = {name: one.row.get(name) for name in ("value", "limit", "cause", "language", "score")}
    shown = {
        {"score": "similarity"}.get(name, name): value if isinstance(value, str) else measured(value)
        for name, value in recorded.items()
        if value is not None and value != ""
    }
    facts = [element("span", f"{name} ", element("strong", value)) for name, value in shown.items()]
    return [url(one.row["url"]), *facts]


def _cause(one: Sample) -> Markup:
    """The twin and what sets the page apart from it, or how many places are marked."""
    if one.row.get("matched_file"):
        twin = element("code", f"{one.row['matched_file']}:{one.row['matched_offset']}")
        said = (
            "; marked is what that page has not"
            if one.found
            else "; that page has all of its words"
            if one.compared
            else ""
        )
        return element("p", "Dropped for ", twin, f"{said}.", class_="note")
    said = f"{numbered(one.found, 'place')} marked." if one.found else WHOLE_PAGE
    return element("p", said, class_="note")


def _excerpt(one: Sample) -> list[object]:
    parts: list[object] = ["… " if one.before else ""]
    at = 0
    for start, end in one.evidence:
        parts += [one.excerpt[at:start], element("mark", one.excerpt[start:end])]
        at = end
    return [*parts, one.excerpt[at:], " …" if one.after else ""]

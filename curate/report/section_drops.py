"""What each rule threw away, with the cause in sight, and what it let pass."""

from markupsafe import Markup

from curate.inspect.evidence import Span
from curate.inspect.funnel import funnel
from curate.inspect.opened import OpenedRun
from curate.report.drops import Beside, DroppedPage, samples
from curate.report.kept_pages import KeptPages
from curate.report.markup import count, element, folded, join, measured, url, words
from curate.sizes import numbered

NONE = "No dropped text is recorded (samples: 0, or nothing with a text was dropped)."
WHOLE_PAGE = "The rule is about the page as a whole."


def drops(run: OpenedRun, most: int, kept: KeptPages) -> Markup:
    """Sampled drops of every rule beside kept pages, in the order of the funnel."""
    found = samples(run, most, kept)
    if not found:
        return element("p", NONE)
    chosen = (
        f"Left: up to {most} dropped pages of every rule, chosen by a hash of their address and the seed. What a rule "
        "is about is "
    )
    beside = (
        ". Right: kept pages; of a copy the page that it is a copy of, of a rule with a limit those that came nearest "
        "to it. "
    )
    why = element("code", "curate why OUT ADDRESS")
    said = element("p", chosen, element("mark", "marked"), beside, why, " tells the whole path of a page.")
    rules = [
        _rule(row["stage"], reason, total["documents"], found[row["stage"], reason])
        for row in funnel(run.stats)
        for reason, total in row["reasons"].items()
        if (row["stage"], reason) in found
    ]
    return join([said, *rules])


def _rule(stage: str, reason: str, total: int, group: list[DroppedPage]) -> Markup:
    title = [element("strong", words(reason)), f" ({stage}): {len(group)} of {count(total)}"]
    return folded(title, *[element("div", _dropped(one), _kept(one), class_="pair") for one in group], class_="rule")


def _dropped(one: DroppedPage) -> Markup:
    lang = one.row.get("language")
    place = f"{one.row['file_path']}:{one.row['offset']}"
    return element(
        "article",
        element("p", *[part for fact in _facts(one) for part in (fact, " ")], class_="sample-facts"),
        _cause(one),
        _text(_excerpt(one.excerpt, one.evidence, one.before, one.after), "Text of the dropped page", lang),
        element("p", element("code", place), class_="note"),
        class_="sample dropped",
        data_found="dropped page",
    )


def _kept(one: DroppedPage) -> Markup:
    beside = one.beside
    if beside is None:
        none = "The page that it is a copy of is not among the texts that were read."
        return element("article", element("p", none, class_="note"), class_="sample kept")
    excerpt = _excerpt(beside.excerpt, beside.evidence, beside.before, beside.after)
    return element(
        "article",
        element("p", element("strong", "kept", class_="verdict"), " ", url(beside.url), class_="sample-facts"),
        element("p", _why(beside), class_="note"),
        _text(excerpt, "Text of the kept page", None),
        element("p", element("code", f"{beside.place[0]}:{beside.place[1]}"), class_="note"),
        class_="sample kept",
        data_found="kept page",
    )


def _why(beside: Beside) -> str:
    """Why a kept page stands beside a dropped one."""
    if beside.near is None:
        own = "marked is what the dropped page has not" if beside.evidence else "it has no word more"
        return f"The page that it is a copy of; {own}."
    if not beside.near.measure:
        return "Some kept page."
    near = beside.near
    return f"Passed with {words(near.measure)} {measured(near.value)}, limit {measured(near.limit)}."


def _text(excerpt: list[object], label: str, lang: str | None) -> Markup:
    return element("pre", excerpt, class_="page", dir="auto", lang=lang, tabindex=0, aria_label=label)


def _facts(one: DroppedPage) -> list[Markup]:
    recorded = {name: one.row.get(name) for name in ("value", "limit", "cause", "language", "score")}
    shown = {
        {"score": "similarity"}.get(name, name): value if isinstance(value, str) else measured(value)
        for name, value in recorded.items()
        if value is not None and value != ""
    }
    facts = [element("span", f"{name} ", element("strong", value)) for name, value in shown.items()]
    return [element("strong", "dropped", class_="verdict"), url(one.row["url"]), *facts]


def _cause(one: DroppedPage) -> Markup:
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


def _excerpt(excerpt: str, evidence: tuple[Span, ...], before: bool, after: bool) -> list[object]:
    parts: list[object] = ["… " if before else ""]
    at = 0
    for start, end in evidence:
        parts += [excerpt[at:start], element("mark", excerpt[start:end])]
        at = end
    return [*parts, excerpt[at:], " …" if after else ""]

"""What alarms say, in a sentence: the engine's own here, those of a stage's notes as the stage declares them."""

from curate.inspect.limits import declared_of
from curate.output.facts import AlarmRow, Stats

# What an alarm of each kind says after its name: `dropped`, `of` and their share.
ALARMS = {
    "source_lost": "the corpus stages dropped {dropped} of the {of} pages of this source that reached them ({share})",
    "domain_lost": "the corpus stages dropped {dropped} of the {of} pages of this domain that reached them ({share})",
    "column_unfit": "{dropped} of the {of} documents of this source hold a value that does not fit its type "
    "(such as a number written as text); it is null there, so declare the type under `columns`: string holds any",
    "column_unseen": "{dropped} of the {of} documents of this source hold this key, which no first line had; it is not "
    "carried, so name it under `columns`",
}
OTHER_ALARM = "{kind}: {dropped} of {of} ({share})"


def sentences(stats: Stats) -> list[tuple[str, str]]:
    """What each alarm is about, and what it says of it."""
    says = dict(ALARMS)
    for stage in stats["stages"]:
        says |= declared_of(stage).alarms
    return [(alarm["name"], _said(alarm, says.get(alarm["alarm"], OTHER_ALARM))) for alarm in stats["alarms"]]


def _said(alarm: AlarmRow, says: str) -> str:
    part, total = alarm["dropped"], alarm["of"]
    kind = alarm["alarm"].replace("_", " ")
    return says.format(dropped=f"{part:,}", of=f"{total:,}", share=f"{part / max(1, total):.1%}", kind=kind)

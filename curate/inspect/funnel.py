"""The drop report: in, kept and dropped by stage and reason, in documents, words, bytes and tokens."""

from typing import TypedDict, cast

from curate.inspect.alarms import sentences
from curate.inspect.tables import lines
from curate.output.facts import Stats
from curate.stage import OPENING
from curate.text import estimated_tokens

TITLES = {"bytes": "text bytes", "stage": ""}


class Lost(TypedDict):
    """What one reason cost."""

    documents: int
    words: int
    bytes: int
    crawl_bytes: int


# `in`: documents that a stage saw. A class can't have a field of that name.
Passed = TypedDict("Passed", {"stage": str, "in": int, "kept": int, "dropped": int, "reasons": dict[str, Lost]})
FlatRow = TypedDict(
    "FlatRow",
    {
        "stage": str,
        "reason": str | None,
        "in": int | None,
        "dropped": int | None,
        "kept": int | None,
        "words": int,
        "bytes": int,
        "tokens": int,
    },
)
FUNNEL = tuple(FlatRow.__annotations__)


def funnel(stats: Stats) -> list[Passed]:
    """One row a stage that saw documents: documents in and out, and what it dropped by reason.

    Words and bytes are those of texts; what was dropped before it had a text has none.
    """
    dropped = stats["dropped"]
    left = stats["read"]["documents"]
    rows: list[Passed] = []
    order = [*stats["stages"], *sorted({row["stage"] for row in dropped} - set(stats["stages"]))]
    for stage in order:
        reasons: dict[str, Lost] = {}
        for row in dropped:
            if row["stage"] == stage:
                total = reasons.setdefault(row["reason"], {"documents": 0, "words": 0, "bytes": 0, "crawl_bytes": 0})
                total["documents"] += row["documents"]
                total["words"] += row["words"]
                total["bytes"] += row["bytes"]
                total["crawl_bytes"] += row["crawl_bytes"]
        lost = sum(total["documents"] for total in reasons.values())
        if lost or stage not in OPENING:
            ordered = sorted(reasons.items(), key=lambda item: (-item[1]["documents"], item[0]))
            rows.append({"stage": stage, "in": left, "kept": left - lost, "dropped": lost, "reasons": dict(ordered)})
        left -= lost
    return rows


def tokens(stats: Stats, words: int) -> int:
    """Tokens to expect of so many words: at the rate of the kept documents where they were counted, else 4 to 3."""
    kept = stats["kept"]
    if kept["tokens"] and kept["words"]:
        return int(words * kept["tokens"] // kept["words"])
    return estimated_tokens(words)


def kept_tokens(stats: Stats) -> int:
    """Tokens of the kept documents: counted, or estimated from the words."""
    return int(stats["kept"]["tokens"]) or tokens(stats, stats["kept"]["words"])


def rows(stats: Stats) -> list[FlatRow]:
    """The funnel as flat rows: each stage with its total (reason None), then its reasons; at the end what was kept.

    `words`, `bytes` and `tokens` are those of the documents dropped, in the last row those kept.
    """
    flat: list[FlatRow] = []
    for row in funnel(stats):
        lost = row["reasons"].items()
        words, size = (sum(total[unit] for _, total in lost) for unit in ("words", "bytes"))
        flat.append(
            _flat(row["stage"], None, row["in"], row["dropped"], row["kept"], words, size, tokens(stats, words))
        )
        for reason, total in lost:
            sizes = total["words"], total["bytes"], tokens(stats, total["words"])
            flat.append(_flat(row["stage"], reason, None, total["documents"], None, *sizes))
    kept = stats["kept"]
    sizes = kept["words"], kept["bytes"], kept_tokens(stats)
    return [*flat, _flat("kept", None, None, None, kept["documents"], *sizes)]


def _flat(*values: object) -> FlatRow:
    return cast(FlatRow, dict(zip(FUNNEL, values, strict=True)))


def _cells(row: FlatRow, counted: bool) -> dict[str, object]:
    cells: dict[str, object] = {**row, "stage": f"  {row['reason']}" if row["reason"] else row["stage"]}
    if row["stage"] != "kept" and not row["bytes"]:  # dropped before there was a text, or nothing was dropped
        return cells | {"words": None, "bytes": None, "tokens": None}
    return cells | {"tokens": f"{'' if counted else '~'}{row['tokens']:,}"}


def cut_out(stats: Stats) -> list[str]:
    """What stages cut out of texts that they kept: the words that neither the drops nor the kept texts hold."""
    return [
        f"{stage} cut {notes['cut_words']:,} words out of {notes['edited']:,} of the documents that it kept"
        for stage, notes in stats["notes"].items()
        if notes.get("cut_words")
    ]


def summary(stats: Stats, counted: bool = False) -> str:
    """The drop report as one text."""
    return "\n".join(summary_lines(stats, counted))


def summary_lines(stats: Stats, counted: bool = False) -> list[str]:
    """The drop report as text. Words, bytes and tokens are those dropped, in the last line those kept.

    `counted`: whether the tokens of what was kept are more than an estimate; those of drops are one always.
    """
    cells = [_cells(row, counted and row["stage"] == "kept") for row in rows(stats)]
    text = lines(cells, [name for name in FUNNEL if name != "reason"], TITLES)
    if stats["kept"]["rows"] > stats["kept"]["documents"]:
        text.append(f"{stats['kept']['rows']:,} rows in the shards, as documents that are repeated stand there again")
    text += cut_out(stats)
    return text + [f"ALARM {name}: {said}" for name, said in sentences(stats)]

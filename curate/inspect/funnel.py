"""The drop report: in, kept and dropped by stage and reason, in documents, words, bytes and tokens."""

from collections.abc import Mapping
from typing import Any

from curate.inspect.tables import lines
from curate.stage import OPENING
from curate.text import estimated_tokens

COLUMNS = ("documents", "words", "bytes")
FUNNEL = ("stage", "reason", "in", "dropped", "kept", "words", "bytes", "tokens")
TITLES = {"bytes": "text bytes", "tokens": "~tokens", "stage": ""}


def funnel(stats: dict[str, Any]) -> list[dict[str, Any]]:
    """One row a stage that saw documents: documents in and out, and what it dropped by reason.

    Words and bytes are those of texts; what was dropped before it had a text has none.
    """
    dropped = stats["dropped"]
    left = stats["read"]["documents"]
    rows = []
    order = [*stats["stages"], *sorted({row["stage"] for row in dropped} - set(stats["stages"]))]
    for stage in order:
        reasons: dict[str, dict[str, int]] = {}
        for row in dropped:
            if row["stage"] == stage:
                total = reasons.setdefault(row["reason"], dict.fromkeys((*COLUMNS, "crawl_bytes"), 0))
                for name in total:
                    total[name] += row[name]
        lost = sum(total["documents"] for total in reasons.values())
        if lost or stage not in OPENING:
            ordered = sorted(reasons.items(), key=lambda item: (-item[1]["documents"], item[0]))
            rows.append({"stage": stage, "in": left, "kept": left - lost, "dropped": lost, "reasons": dict(ordered)})
        left -= lost
    return rows


def tokens(stats: Mapping[str, Any], words: int) -> int:
    """Tokens to expect of so many words: at the rate of the kept documents where they were counted, else 4 to 3."""
    kept = stats["kept"]
    if kept["tokens"] and kept["words"]:
        return int(words * kept["tokens"] // kept["words"])
    return estimated_tokens(words)


def kept_tokens(stats: Mapping[str, Any]) -> int:
    """Tokens of the kept documents: counted, or estimated from the words."""
    return int(stats["kept"]["tokens"]) or tokens(stats, stats["kept"]["words"])


def rows(stats: dict[str, Any]) -> list[dict[str, Any]]:
    """The funnel as flat rows: each stage with its total (reason None), then its reasons; at the end what was kept.

    `words`, `bytes` and `tokens` are those of the documents dropped, in the last row those kept.
    """
    flat: list[dict[str, Any]] = []
    for row in funnel(stats):
        sums = {name: sum(total[name] for total in row["reasons"].values()) for name in ("words", "bytes")}
        flat.append({"stage": row["stage"], "reason": None, "in": row["in"], "dropped": row["dropped"],
                     "kept": row["kept"], **sums, "tokens": tokens(stats, sums["words"])})  # fmt: skip
        for reason, total in row["reasons"].items():
            flat.append({"stage": row["stage"], "reason": reason, "in": None, "dropped": total["documents"],
                         "kept": None, "words": total["words"], "bytes": total["bytes"],
                         "tokens": tokens(stats, total["words"])})  # fmt: skip
    kept = stats["kept"]
    flat.append({"stage": "kept", "reason": None, "in": None, "dropped": None, "kept": kept["documents"],
                 "words": kept["words"], "bytes": kept["bytes"], "tokens": kept_tokens(stats)})  # fmt: skip
    return flat


def cut_out(stats: Mapping[str, Any]) -> list[str]:
    """What stages cut out of texts that they kept: the words that neither the drops nor the kept texts hold."""
    return [
        f"{stage} cut {notes['cut_words']:,} words out of {notes['edited']:,} of the documents that it kept"
        for stage, notes in stats["notes"].items()
        if notes.get("cut_words")
    ]


def summary(stats: dict[str, Any]) -> str:
    """The drop report as text. Words, bytes and tokens are those dropped, in the last line those kept."""
    told = [{**row, "stage": f"  {row['reason']}" if row["reason"] else row["stage"]} for row in rows(stats)]
    text = lines(told, [name for name in FUNNEL if name != "reason"], TITLES)
    text += cut_out(stats)
    text += [
        f"ALARM {alarm['alarm']}: {alarm['name']}: {alarm['dropped']:,} of {alarm['of']:,}" for alarm in stats["alarms"]
    ]
    return "\n".join(text)

"""The drop report: in, kept and dropped by stage and reason."""

from typing import Any

COLUMNS = ("documents", "words", "bytes")


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
        if lost or stage in stats["stages"][3:]:
            rows.append({"stage": stage, "in": left, "kept": left - lost, "dropped": lost,
                         "reasons": dict(sorted(reasons.items(), key=lambda item: (-item[1]["documents"], item[0])))})
        left -= lost
    return rows


def summary(stats: dict[str, Any]) -> str:
    """The drop report as text."""
    lines = [f"{'stage':<14}{'reason':<30}{'in':>11}{'dropped':>11}{'kept':>11}{'words':>14}{'text bytes':>15}",
             f"{'read':<14}{'':<30}{stats['read']['documents']:>11,}"]
    for row in funnel(stats):
        lines.append(f"{row['stage']:<14}{'':<30}{row['in']:>11,}{row['dropped']:>11,}{row['kept']:>11,}")
        for reason, total in row["reasons"].items():
            lines.append(f"{'':<14}{reason:<30}{'':>11}{total['documents']:>11,}{'':>11}{total['words']:>14,}{total['bytes']:>15,}")
    kept = stats["kept"]
    lines.append(f"{'kept':<14}{'':<30}{'':>11}{'':>11}{kept['documents']:>11,}{kept['words']:>14,}{kept['bytes']:>15,}")
    lines += [f"ALARM {alarm['alarm']}: {alarm['name']}: {alarm['dropped']:,} of {alarm['of']:,}" for alarm in stats["alarms"]]
    return "\n".join(lines)

"""The funnel adds up: what goes in comes out as kept or as dropped, at every stage."""

from curate.inspect.costs import price_per_million, stage_costs
from curate.inspect.funnel import funnel, kept_tokens, rows, summary, tokens
from tests.report.finished import sample_run, truth


def test_each_stage_passes_on_what_it_does_not_drop() -> None:
    stats = sample_run().stats
    left = len(truth())
    for row in funnel(stats):
        assert row["in"] == left and row["kept"] == left - row["dropped"]
        assert row["dropped"] == sum(total["documents"] for total in row["reasons"].values())
        left = row["kept"]
    assert left == stats["kept"]["documents"] == sum(row["expect"] == "kept" for row in truth())


def test_flat_rows_hold_every_reason_of_the_truth() -> None:
    dropped = {f"{row['stage']}.{row['reason']}": row["dropped"] for row in rows(sample_run().stats) if row["reason"]}
    expected: dict[str, int] = {}
    for row in truth():
        if row["expect"] != "kept":
            expected[row["expect"]] = expected.get(row["expect"], 0) + 1
    assert dropped == expected


def test_tokens_are_counted_or_four_to_three_words() -> None:
    estimated = {"kept": {"tokens": 0, "words": 300}}
    counted = {"kept": {"tokens": 450, "words": 300}}
    assert (tokens(estimated, 30), kept_tokens(estimated)) == (40, 400)
    assert (tokens(counted, 30), kept_tokens(counted)) == (45, 450)


def test_the_summary_has_a_line_for_each_row() -> None:
    stats = sample_run().stats
    text = summary(stats).splitlines()
    assert len(text) == 1 + len(rows(stats)) + len(stats["alarms"])
    assert text[-1].split()[:2] == ["kept", f"{stats['kept']['documents']:,}"]


def test_what_is_estimated_is_marked_and_what_was_not_measured_is_blank() -> None:
    stats = sample_run().stats
    guessed, counted = summary(stats).splitlines(), summary(stats, counted=True).splitlines()
    assert guessed[-1].split()[-1].startswith("~") and not counted[-1].split()[-1].startswith("~")
    drop = next(line for line in counted if line.strip().startswith("too_few_words"))
    assert drop.split()[-1].startswith("~") and len(drop.split()) == 5
    assert next(line for line in guessed if "bad_status" in line).split() == ["bad_status", "9"]
    repeated = {**stats, "kept": {**stats["kept"], "rows": stats["kept"]["documents"] + 1_000}}
    assert "1,075 rows in the shards" in summary(repeated).splitlines()[-1]


def test_an_alarm_is_a_sentence_with_its_unit() -> None:
    alarm = {"alarm": "shortfall", "name": "mixture wiki", "dropped": 900_000, "of": 900_000}
    stats = {**sample_run().stats, "alarms": [alarm]}
    stats["stages"] = [*stats["stages"], "mixture"]
    said = "ALARM mixture wiki: 900,000 of the 900,000 tokens wanted are missing (100.0%)"
    assert summary(stats).splitlines()[-1] == said


def test_the_price_of_a_million_tokens() -> None:
    stats = {"kept": {"tokens": 2_000_000, "words": 1}, "read": {"documents": 0}, "stages": [], "dropped": []}
    timings = {
        "scan_cpu_seconds": 3000.0,
        "wall_seconds": {"scan": 9.0, "decide": 100.0, "write": 200.0},
        "workers": 2,
        "stage_cpu_seconds": {},
    }
    assert price_per_million(stats, timings, 0.5) == 0.25  # 1 CPU hour at 50 cents for 2 million
    assert price_per_million({**stats, "kept": {"tokens": 0, "words": 0}}, timings, 0.5) is None


def test_stage_costs_add_up_to_the_scan() -> None:
    run = sample_run()
    costs = stage_costs(run.stats, run.timings)
    total = sum(row["cpu_seconds"] for row in costs)
    assert abs(total - run.timings["scan_cpu_seconds"]) < 0.01 * len(costs)

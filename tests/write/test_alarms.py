"""Alarms fire on a source, a domain or a cluster that is nearly everything, and on nothing less."""

from pathlib import Path

from tests.engine import run_it, settings, text, write_jsonl

BASE = text(1, 300)


def near(number: int) -> str:
    return f"{BASE} {text(1000 + number, 4)}"


def test_a_source_and_its_domain_that_are_all_copies(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "copies.jsonl", [near(number) for number in range(160)])
    write_jsonl(tmp_path / "fine.jsonl", [text(number) for number in range(20)])
    sources = {name: {"path": str(tmp_path / f"{name}.jsonl"), "url": "url"} for name in ("copies", "fine")}
    stats = run_it(settings(sources, tmp_path / "out", stages=["near_dedup"])).stats
    (alarm,) = stats["alarms"]  # its seven domains lost fewer than a hundred each
    assert alarm == {"alarm": "source_lost", "name": "copies", "dropped": 159, "of": 160}


def test_a_domain(tmp_path: Path) -> None:
    lines = [near(number) for number in range(120)]
    urls = ["http://www.mill.example/"] * 120
    path = write_jsonl(tmp_path / "a.jsonl", lines, url=urls)
    write_jsonl(tmp_path / "b.jsonl", [text(number) for number in range(60)])
    config = settings({"web": {"path": [str(path), str(tmp_path / "b.jsonl")], "url": "url"}}, tmp_path / "out")
    stats = run_it({**config, "stages": ["near_dedup"]}).stats
    assert [alarm["alarm"] for alarm in stats["alarms"]] == ["domain_lost"]
    assert stats["alarms"][0]["name"] == "mill.example"


def test_a_giant_cluster(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [near(number) for number in range(1100)])
    stats = run_it(settings(str(tmp_path / "a.jsonl"), tmp_path / "out", stages=["near_dedup"])).stats
    assert "giant_cluster" in [alarm["alarm"] for alarm in stats["alarms"]]


def test_few_documents_give_none(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [near(number) for number in range(60)])
    assert run_it(settings(str(tmp_path / "a.jsonl"), tmp_path / "out", stages=["near_dedup"])).stats["alarms"] == []


def test_a_mixture_that_lacks_tokens_or_repeats_too_often(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "web.jsonl", [text(number, 100) for number in range(100)])
    write_jsonl(tmp_path / "wiki.jsonl", [text(1000 + number, 100) for number in range(5)])
    sources = {name: {"path": str(tmp_path / f"{name}.jsonl"), "url": "url"} for name in ("web", "wiki")}
    for repeat, alarm in (("copies", "over_4_epochs"), ("never", "shortfall")):
        mixture = {"mixture": {"weights": {"web": 0.6, "wiki": 0.4}, "tokens": 20_000, "repeat": repeat}}
        stats = run_it(settings(sources, tmp_path / repeat, stages=["tokens", mixture])).stats
        assert [found["alarm"] for found in stats["alarms"] if found["alarm"] == alarm] == [alarm]

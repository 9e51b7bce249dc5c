"""Options far from the usual: absurd numbers of slices and partitions, attributes of any kind to route by."""

import json
from pathlib import Path
from typing import Any

import pytest

from curate.routed.names import NULL
from curate.routed.routed_file import RoutedFile
from curate.scan.crawl import MOST_TASKS, slice_size
from tests.commands.calling import Calling
from tests.engine import crawl, run_it, settings, text, tree_hash


def test_slices_are_never_more_than_a_run_can_plan() -> None:
    assert slice_size(10**12, 4, wanted=1) == 10**12 // MOST_TASKS
    assert slice_size(1000, 4, wanted=1) == 1
    assert slice_size(1000, 4, wanted=77) == 77


def test_partitions_beyond_the_documents_cost_nothing_and_change_nothing(tmp_path: Path) -> None:
    config = settings(crawl(tmp_path / "in", files=1, each=12), tmp_path / "out")
    run_it(config, keep_work=True)
    expected = tree_hash(tmp_path / "out")
    run_it(config, partitions=65_536, fresh=True, keep_work=True)
    assert tree_hash(tmp_path / "out") == expected
    gathered = json.loads((tmp_path / "out/.work/decide/near_dedup/gathered.json").read_text())
    assert gathered["partitions"] == gathered["sizes"][0]


@pytest.mark.parametrize(
    ("values", "folders"),
    [
        ([1.5, None, float("inf"), -0.0], ["v=-0.0", "v=1.5", f"v={NULL}", "v=inf"]),
        ([True, False, None, True], ["v=False", "v=True", f"v={NULL}"]),
        (
            [NULL, None, "n"],
            ["v=%5F%5F%48%49%56%45%5F%44%45%46%41%55%4C%54%5F%50%41%52%54%49%54%49%4F%4E%5F%5F", f"v={NULL}", "v=n"],
        ),
        (["EN", "en", "eN", "US", "%4E"], ["v=%254E", "v=%45%4E", "v=US", "v=e%4E", "v=en"]),
        (["a/b", "..", "", "é"], ["v=", "v=%C3%A9", "v=..", "v=a%2Fb"]),
        (["x" * 400, "é" * 60, "x" * 399, "y"], ["v=%s", "v=%s", "v=%s", "v=y"]),
    ],
)
@pytest.mark.parametrize("order", ["crawl", "shuffle"])
def test_any_attribute_can_be_routed_by(tmp_path: Path, values: list[Any], folders: list[str], order: str) -> None:
    rows = [json.dumps({"text": text(number), "v": value}) for number, value in enumerate(values)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    source = {"web": {"path": str(tmp_path / "a.jsonl"), "columns": ["v"]}}
    run_it(settings(source, tmp_path / "out", stages=["exact_dedup"], write={"by": "v", "order": order}))
    found = sorted(path.name for path in (tmp_path / "out/shards").iterdir())
    assert len(found) == len(folders)
    assert set(folders) - set(found) <= {"v=%s"}
    parts = [RoutedFile(path).read() for path in (tmp_path / "out/shards").rglob("*.parquet")]
    kept = [value for part in parts for value in part.column("v").to_pylist()]
    assert sorted(map(repr, kept)) == sorted(map(repr, values))


@pytest.mark.parametrize(
    "line",
    [
        ["estimate", "c.yaml", "--share", "nan"],
        ["stats", "out", "--price", "inf"],
        ["propose", "out", "--keep", "nan"],
        ["export", "out", "--format", "jsonl", "--to", "e", "--validation", "nan"],
        ["bands", "--threshold", "nan"],
        ["what-if", "out", "--sweep", "gopher.min_words=nan:1:1"],
        ["what-if", "out", f"gopher.min_words={'9' * 5000}"],
        ["run", "c.yaml", "--memory", "9e30GiB"],
        ["run", "c.yaml", "--memory", "9" * 400 + "GiB"],
        ["bands", "--perms", "99999999999"],
        ["run", "c.yaml", "--work", "s3://bucket/x"],
        ["pack", "in", "-o", ""],
        ["why", "out", "\udcff"],
        ["try", "c.yaml", "\ud800"],
        ["scale", "budget", "--flops", "5e-324"],
        ["train", "naive-bayes", "in/part-0.jsonl", "in/part-0.jsonl", "-o", "m.npz", "--min-count", "100000"],
    ],
    ids=lambda line: " ".join(line)[:40].encode("ascii", "replace").decode(),
)
def test_odd_numbers_and_names_are_sentences(
    line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config = settings(crawl(tmp_path / "in", files=1, each=10), tmp_path / "out", stages=["gopher"])
    run_it(config)
    (tmp_path / "c.yaml").write_text(json.dumps(config))
    told = Calling(capsys)(*line)
    assert told.status == 2 and told.err.strip() and "Traceback" not in told.err and len(told.err) < 1000

"""The dataset card: `load_dataset` reads a run by it, and a README of a person stays."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from curate.output import card
from tests.engine import crawl, run_it, settings, text, tree_hash

LOADING = """
import json, os, sys
from datasets import load_dataset
out = sys.argv[1]
counts = {name or "": len(load_dataset(out, name, split="train")) for name in (None, "ledger", "measures", "samples")}
print(json.dumps(counts), flush=True)
os._exit(0)  # at the interpreter's end a reading thread of datasets now and then aborts the process
"""


def test_load_dataset_finds_shards_and_ledger(tmp_path: Path) -> None:
    stages = [{"language": {"keep": ["en", "de"]}}, "gopher", "exact_dedup", "near_dedup"]
    config = settings(crawl(tmp_path / "in"), tmp_path / "out", write={"by": "language"}, stages=stages)
    report = run_it(config).stats
    around = {**os.environ, "HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(tmp_path / "out")], capture_output=True, text=True, env=around, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts[""] == report["kept"]["rows"]
    assert counts["ledger"] == sum(row["documents"] for row in report["dropped"])
    assert counts["measures"] and counts["samples"]


BY_VALUE = """
import json, os, re, sys
from pathlib import Path
from datasets import load_dataset
card = Path(sys.argv[1], "README.md").read_text()
lines = re.findall("```python\\n(.*?)```", card, re.DOTALL)[1]
exec(lines.replace('"out"', repr(sys.argv[1])))
null = load_dataset(sys.argv[1], "language=__HIVE_DEFAULT_PARTITION__", split="train")
print(json.dumps([documents["language"][:], documents.num_rows, null.num_rows]), flush=True)
os._exit(0)
"""


def test_each_folder_is_a_configuration(tmp_path: Path) -> None:
    rows = [{"text": text(number), "language": ["default", "de", None, "a/b"][number % 4]} for number in range(8)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    source = {"web": {"path": str(tmp_path / "a.jsonl"), "columns": ["language"]}}
    run_it(settings(source, tmp_path / "out", stages=["exact_dedup"], write={"by": "language"}))
    head = (tmp_path / "out/README.md").read_text().split("---\n", 2)[1]
    names = [config["config_name"] for config in yaml.safe_load(head)["configs"]]
    assert names[0] == "default"
    assert names[-4:] == ["language=__HIVE_DEFAULT_PARTITION__", "language=a%2Fb", "de", "language=default"]
    around = {**os.environ, "HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", BY_VALUE, str(tmp_path / "out")],
        capture_output=True,
        text=True,
        env=around,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [["de", "de"], 2, 2]


def test_the_card_tells_counts_languages_and_config(tmp_path: Path) -> None:
    report = run_it(settings(crawl(tmp_path / "in"), tmp_path / "out")).stats
    page = (tmp_path / "out/README.md").read_text()
    _, head, body = page.split("---\n", 2)
    assert [config["config_name"] for config in yaml.safe_load(head)["configs"]] == [
        "default",
        "ledger",
        "measures",
        "samples",
    ]
    assert yaml.safe_load(head)["size_categories"] == ["n<1K"]
    assert f"{report['kept']['documents']:,} documents" in body and "## Licences" in body
    assert json.loads(body.partition("```json\n")[2].partition("\n```")[0])["stages"][-1]["near_dedup"]["seed"] == 1
    assert str(tmp_path / "out") not in page


def test_the_card_does_not_follow_the_slices(tmp_path: Path) -> None:
    source = crawl(tmp_path / "in")
    for name, size in (("one", None), ("other", 5000)):
        run_it(settings(source, tmp_path / name), slice_bytes=size)
    assert tree_hash(tmp_path / "one") == tree_hash(tmp_path / "other")
    assert (tmp_path / "one/README.md").read_bytes() == (tmp_path / "other/README.md").read_bytes()


@pytest.mark.parametrize("mine", ["# My data\n", "---\nlicense: odc-by\n---\n"])
def test_a_readme_of_a_person_stays(mine: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_text(mine)
    run_it(settings(crawl(tmp_path / "in"), out))
    run_it(settings(crawl(tmp_path / "in"), out), fresh=True)
    assert (out / "README.md").read_text() == mine


def test_our_own_card_is_renewed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    source = crawl(tmp_path / "in")
    run_it(settings(source, out))
    before = (out / "README.md").read_text()
    run_it(settings(source, out, stages=["exact_dedup"]), fresh=True)
    assert card.is_ours(out) and (out / "README.md").read_text() != before

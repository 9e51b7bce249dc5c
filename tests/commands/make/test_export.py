"""`curate export` as a person calls it, the same beside a run, and the way back by `curate why` and `verify`."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from curate.errors import UserError
from curate.export.formats import installed
from curate.inspect.opened import OpenedRun
from curate.tools.verify import verify
from tests.engine import crawl, run_it, settings, tree_hash
from tests.export.tokenizers_made import byte_level
from tests.report.finished import call


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer, a run, and a run that exported."""
    folder = tmp_path_factory.mktemp("export")
    tokenizer = byte_level(folder / "tokenizer.json")
    run_it(settings(crawl(folder / "in", files=2, each=30), folder / "plain"))
    write = {"export": {"format": "megatron", "tokenizer": tokenizer, "validation": 0.2}}
    run_it(settings(f"{folder}/in/*.jsonl", folder / "out", write=write))
    return folder


def test_help_names_the_formats() -> None:
    assert ", ".join(installed()) in " ".join(call("export", "--help").output.split())


def test_a_run_that_exports_writes_what_the_command_writes(made: Path, tmp_path: Path) -> None:
    done = call(
        "export",
        made / "plain",
        "--format",
        "megatron",
        "--tokenizer",
        made / "tokenizer.json",
        "--validation",
        "0.2",
        "--to",
        tmp_path / "there",
        "--workers",
        "1",
    )
    assert done.exit_code == 0 and "validation: " in done.output
    names = {path.relative_to(tmp_path / "there") for path in (tmp_path / "there").rglob("*.*")}
    for name in names - {Path(".export.lock")}:
        assert (made / "out/export/megatron" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    assert {"train.bin", "train.idx", "validation.bin", "export.json"} <= {name.as_posix() for name in names}


def test_the_shards_stay_and_the_manifest_lists_the_export(made: Path) -> None:
    plain, exporting = (OpenedRun.of(str(made / name)).manifest for name in ("plain", "out"))
    assert plain["shards"] == exporting["shards"] and "export" not in plain
    listed = {file["name"] for file in exporting["export"]}
    there = {path.relative_to(made / "out").as_posix() for path in (made / "out/export").rglob("*.*")}
    assert listed == there - {"export/megatron/.export.lock"}


def test_the_export_does_not_follow_the_slices(made: Path, tmp_path: Path) -> None:
    write = {"export": {"format": "megatron", "tokenizer": str(made / "tokenizer.json"), "validation": 0.2}}
    run_it(settings(f"{made}/in/*.jsonl", tmp_path / "out", write=write), slice_bytes=5000)
    assert tree_hash(tmp_path / "out") == tree_hash(made / "out")


def test_why_names_the_page_of_a_token(made: Path) -> None:
    folder = made / "out/export/megatron"
    lengths = np.frombuffer((folder / "train.idx").read_bytes(), "<i4", 3, 34)
    second = pq.read_table(folder / "index/train-00000.parquet").slice(1, 1).to_pylist()[0]
    for token, place in ((lengths[0], 0), (lengths[:2].sum() - 1, lengths[1] - 1)):
        output = call("why", made / "out", f"megatron/train.bin:{token}").output
        assert f"is token {place} of {lengths[1]} of {second['file_path']}:{second['offset']}\n" in output
        assert f"page     {second['url']}" in output
    total = len((folder / "train.bin").read_bytes()) // 2
    with pytest.raises(UserError, match=f"has {total} tokens, from 0 to {total - 1}; there is none at {total}"):
        call("why", made / "out", f"{folder}/train.bin:{total}")


def test_why_refuses_the_export_of_another_run(made: Path, tmp_path: Path) -> None:
    run_it(settings(f"{made}/in/*.jsonl", tmp_path / "out"), limit=20)
    with pytest.raises(UserError, match="is the export of another run"):
        call("why", tmp_path / "out", f"{made}/out/export/megatron/train.bin:0")


def test_verify_finds_a_changed_export(made: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(made / "out", tmp_path / "out"))
    assert not list(verify(OpenedRun.of(str(out))))
    file = out / "export/megatron/train.bin"
    file.write_bytes(file.read_bytes()[:-1] + b"\x01")
    assert list(verify(OpenedRun.of(str(out)))) == ["export/megatron/train.bin: its SHA-256 is not the manifest's"]
    file.unlink()
    assert list(verify(OpenedRun.of(str(out)))) == ["export/megatron/train.bin: is missing"]


def test_verify_looks_at_an_export_made_later(made: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(made / "plain", tmp_path / "out"))
    assert call("export", out, "--format", "jsonl", "--workers", "1").exit_code == 0
    assert not list(verify(OpenedRun.of(str(out))))
    (out / "export/jsonl/train-00000.jsonl").write_text("{}")
    fault = "export/jsonl/train-00000.jsonl: its SHA-256 is not the manifest's"
    assert list(verify(OpenedRun.of(str(out)))) == [fault]


def test_a_tokenizer_that_is_not_there_stops_the_run_before_it_begins(made: Path, tmp_path: Path) -> None:
    write = {"export": {"format": "mds", "tokenizer": "nowhere.json"}}
    with pytest.raises(UserError, match=r"nowhere\.json: can't be read"):
        run_it(settings(f"{made}/in/*.jsonl", tmp_path / "out", write=write))
    assert not (tmp_path / "out").exists()


def test_another_tokenizer_is_another_run(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes((made / "tokenizer.json").read_bytes())
    write = {"export": {"format": "bin", "tokenizer": str(path)}}
    config = settings(f"{made}/in/*.jsonl", tmp_path / "out", write=write)
    run_it(config)
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "truncation": None}, indent=1))
    with pytest.raises(UserError, match=r"the file .*tokenizer\.json has changed"):
        run_it(config)


def test_fresh_removes_exports_and_spares_other_folders(made: Path, tmp_path: Path) -> None:
    config = settings(f"{made}/in/*.jsonl", tmp_path / "out")
    run_it(config)
    assert call("export", tmp_path / "out", "--format", "jsonl", "--workers", "1").exit_code == 0
    run_it(config, fresh=True)
    assert not (tmp_path / "out/export").exists()
    (tmp_path / "out/export/mine").mkdir(parents=True)
    with pytest.raises(UserError, match="mine: no run made this file"):
        run_it(config, fresh=True)

"""The recipes in configs/: each is a right config without what it can't bring, and names what that is."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from curate import yaml12
from curate.cli import cli
from curate.config.file import parse_config
from curate.config.recipes import Recipe, names, recipe
from curate.errors import UserError

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "configs").glob("*.yaml"))


@pytest.fixture(autouse=True)
def in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def bare(name: str) -> Recipe:
    """A recipe without the stages that need a file of the user's."""
    chosen = recipe(name)
    return chosen.without([need.stage for need in chosen.needs])


def test_the_recipes_of_the_folder_are_those_that_init_knows() -> None:
    assert names() == NAMES
    wanted = "fineweb fineweb-edu fineweb2 c4 gopher refinedweb dclm-baseline dolma gpt3 ccnet redpajama-v2"
    assert {*wanted.split(), "dedup-only", "fast"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_recipe_is_a_right_config_without_what_it_can_not_bring(name: str, tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"text": "a", "id": "1", "quality": 1.0}\n')
    asked = [arg for need in recipe(name).needs for arg in ("--without", need.stage)]
    reads = ["--input", str(texts)] if name in ("dedup-only", "ccnet-buckets", "start") else []
    written = CliRunner().invoke(cli, ["init", name, "-o", str(tmp_path / "my.yaml"), *asked, *reads])
    assert written.exit_code == 0, written.output
    checked = CliRunner().invoke(cli, ["check", str(tmp_path / "my.yaml")])
    assert checked.output.rstrip().endswith("this config is right"), (checked.output, checked.exception)


@pytest.mark.parametrize("name", [name for name in NAMES if recipe(name).needs])
def test_what_a_recipe_lacks_is_a_file_that_its_comment_names(name: str) -> None:
    chosen = recipe(name)
    for need in chosen.needs:
        others = [other.stage for other in chosen.needs if other.stage != need.stage]
        with pytest.raises(UserError) as refused:
            parse_config(yaml12.load(chosen.without(others).text, name), name)
        assert any(word.strip(",:;") in str(refused.value) for word in need.comment.split() if "/" in word), (
            refused.value
        )


@pytest.mark.parametrize("name", NAMES)
def test_each_recipe_says_in_one_line_what_it_is(name: str) -> None:
    assert 20 <= len(recipe(name).about) <= 120 and not recipe(name).about.endswith(",")


def test_stages_left_out_stay_as_comments_and_unknown_ones_are_refused() -> None:
    text = recipe("gpt3").without(["decontaminate"]).text
    assert "  # - decontaminate:\n  #     sets:" in text and text.count("\n") == recipe("gpt3").text.count("\n")
    with pytest.raises(UserError, match="has no such stage; it has extract"):
        recipe("gpt3").without(["gopher"])
    with pytest.raises(UserError, match="did you mean 'fineweb'"):
        recipe("finweb")


def test_init_writes_lists_beside_the_config_and_no_file_over_another(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    ended = CliRunner().invoke(cli, ["init", "fineweb-edu", "-o", str(mine), "--input", "it's/*.gz"])
    assert "edu needs models/fineweb-edu/model.onnx" in ended.output
    assert f"curate init fineweb-edu --without edu -o {mine} --force" in ended.output
    text = mine.read_text()
    assert (tmp_path / "mine-lists" / "domains.txt").exists() and f"{tmp_path}/mine-lists/words.txt" in text
    assert yaml12.load(text, "mine")["input"] == "it's/*.gz"
    again = CliRunner().invoke(cli, ["init", "c4", "-o", str(mine)])
    assert isinstance(again.exception, UserError) and "is there already" in str(again.exception)


def test_the_recipes_are_listed() -> None:
    output = CliRunner().invoke(cli, ["init", "--list"]).output
    assert all(name in output for name in NAMES)


def test_init_alone_writes_a_config_and_with_sample_what_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain = CliRunner().invoke(cli, ["init"])
    assert plain.exit_code == 0 and [path.name for path in tmp_path.iterdir()] == ["curate.yaml"]
    assert "#" in (tmp_path / "curate.yaml").read_text() and "next: curate check curate.yaml" in plain.output
    ended = CliRunner().invoke(cli, ["init", "--sample", "--force"])
    assert ended.exit_code == 0, ended.output
    run = CliRunner().invoke(cli, ["run", "curate.yaml", "--executor", "serial"])
    assert run.exit_code == 0, (run.output, run.exception)
    assert pq.read_table(tmp_path / "out" / "shards").num_rows > 50
    both = CliRunner().invoke(cli, ["init", "--sample", "--input", "x", "--force"])
    assert isinstance(both.exception, UserError) and "give one of the two" in str(both.exception)


def test_the_two_runs_of_ccnet_follow_one_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tmp_path / "ccnet.yaml"
    first.write_text(bare("ccnet").text.replace("sample_crawl/", f"{ROOT}/sample_crawl/"))
    second = tmp_path / "buckets.yaml"
    second.write_text(bare("ccnet-buckets").text)
    monkeypatch.chdir(tmp_path)
    for config in (first, second):
        done = CliRunner().invoke(cli, ["run", str(config), "--workers", "1"])
        assert done.exit_code == 0, (done.output, done.exception)
    shards = (tmp_path / "out-ccnet-buckets" / "shards").rglob("*.parquet")
    assert sum(pq.read_metadata(path).num_rows for path in shards) > 10 and (tmp_path / "out-ccnet" / "cuts").exists()

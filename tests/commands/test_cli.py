"""The command line: help, exit status, and one sentence for every mistake."""

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate import durable
from curate.cli import COMMANDS, EXIT_STATUS, cli, first_sentence
from curate.output.manifest import NAME
from curate.plug_ins.registry import stage_class
from tests.commands.calling import Calling, written
from tests.engine import crawl, settings, text, write_jsonl

FINAL = ("shards", "ledger", "measures", "samples", "stats.json", NAME)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calling:
    """Calls `curate` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Calling(capsys)


@pytest.fixture
def good(tmp_path: Path) -> dict[str, Any]:
    glob = crawl(tmp_path / "in", files=1, each=20)
    pq.write_table(pa.table({"text": [text(1)]}), tmp_path / "in" / "a.parquet")
    return settings(glob, tmp_path / "out")


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command, or the commands of a group."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            found = command.get_command(context, word)
            assert found is not None
            yield from leaves(f"{name} {word}", found)
    else:
        yield name, command


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_a_command_does_and_shows_an_example(name: str, call: Calling) -> None:
    assert call(name, "--help").status == 0
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    for line, leaf in leaves(name, command):
        output = call(*line.split(), "--help").out
        assert leaf.help and leaf.help.split("\n")[0] in " ".join(output.split())
        assert "Example:" in output, line
        examples = [row.strip() for row in output.partition("Example:")[2].splitlines() if row.strip()]
        assert examples and all(name.split()[0] in row or "scale" in row for row in examples), line
        for parameter in leaf.params:
            assert not isinstance(parameter, click.Option) or parameter.help or isinstance(parameter.type, click.Choice)


def test_the_first_help_says_what_each_help_does_without_importing_commands(call: Calling) -> None:
    for name, module in COMMANDS.items():
        command = cli.get_command(click.Context(cli), name)
        assert command and first_sentence(module) == command.get_short_help_str(300) != "", name
    program = "import sys; from curate.cli import cli; cli(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split()
    assert not {"pyarrow", "pydantic", "tqdm", "yaml", "trafilatura"} & set(modules)


def test_the_first_help_names_all_commands_and_exit_codes(call: Calling) -> None:
    ended = call("--help")
    assert ended.status == 0
    for name in COMMANDS:
        assert f"  {name}" in ended.out
    for code, meaning in EXIT_STATUS.items():
        assert code in ended.out and meaning in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stat", "out"], "did you mean 'stats'"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["run"], "Missing argument 'CONFIG'"),
        (["run", "a.yaml", "--wokers", "2"], "--workers"),
        (["run", "a.yaml", "--workers", "0"], "--workers"),
        (["run", "a.yaml", "--workers", "two"], "is not a valid integer"),
        (["run", "a.yaml", "--limit", "-1"], "--limit"),
        (["run", "a.yaml", "--executor", "spark"], "'spark' is not one of"),
        (["run", "a.yaml", "--memory", "lots"], "'lots' is no size; write it like 64MiB"),
        (["run", "a.yaml", "--slice-size", "0"], "'0' is too small"),
        (["run", "a.yaml", "--slice-size", "4095"], "'4095' is too small; each slice costs files of its own"),
        (["run", "a.yaml", "--partitions", "0"], "--partitions"),
        (["stages", "gofer"], "did you mean 'gopher'"),
        (["bands", "--threshold", "2"], "threshold"),
        (["bands", "--bands", "20", "--rows", "10"], "need 200 permutations, more than 128; give --perms 200"),
        (["completion", "csh"], "'csh' is not one of"),
        (["check", "nowhere.yaml"], "nowhere.yaml: can't be read"),
        (["verify", "."], "no finished run here"),
        (["stats", "nowhere"], "no finished run here"),
        (["why", "nowhere", "http://a/"], "no finished run here"),
        (["report", "nowhere"], "no finished run here"),
        (["quarantine", "nowhere", "-o", "x.warc.gz"], "no finished run here"),
    ],
)
def test_wrong_arguments_are_told(arguments: list[str], message: str, call: Calling, tmp_path: Path) -> None:
    done = call(*arguments)
    assert done.status == 2
    assert message in done.err and "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


def changed(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda good: {**good, **changes}


def stages(*entries: Any) -> Callable[[dict[str, Any]], Any]:
    return changed(stages=list(entries))


CONFIGS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no mapping": (lambda good: "[1, 2]", "must be a mapping"),
    "empty": (lambda good: "", "must be a mapping"),
    "no YAML": (lambda good: "input: [\n", "run.yaml"),
    "a tag": (lambda good: "input: !!python/object:os.system x\n", "run.yaml"),
    "a key twice": (lambda good: "input: a\ninput: b\n", "input"),
    "unknown key": (changed(inputs="x"), "unknown option 'inputs', did you mean 'input'"),
    "no input": (changed(input=None), "'input' is missing"),
    "no stages": (changed(stages=[]), "'stages' is missing"),
    "no output": (changed(output=""), "'output' is missing; it is a folder"),
    "output of a wrong type": (changed(output=3), "'output' must be a folder"),
    "seed of a wrong type": (changed(seed="x"), "seed: input should be a valid integer"),
    "share out of range": (changed(max_failed=2), "max_failed: input should be less than or equal to 1"),
    "negative time": (changed(cpu_seconds=-1), "cpu_seconds: input should be greater than 0"),
    "unknown stage": (stages("gofer"), "stages[0]: unknown stage 'gofer', did you mean 'gopher'"),
    "unknown option": (
        stages({"near_dedup": {"treshold": 0.8}}),
        "stages[0] near_dedup: unknown option 'treshold', did you mean",
    ),
    "option of a wrong type": (stages({"gopher": {"min_words": "many"}}), "stages[0] gopher: min_words: input should"),
    "option out of range": (stages({"near_dedup": {"threshold": 1.5}}), "stages[0] near_dedup: threshold: "),
    "bool for a number": (stages({"gopher": {"min_words": True}}), "stages[0] gopher: min_words: "),
    "options of a wrong type": (stages({"gopher": 5}), "stages[0] gopher: options must be a mapping"),
    "two names in an entry": (stages({"gopher": {}, "language": {}}), "stages[0]: must be a stage's name"),
    "stages no list": (changed(stages="gopher"), "'stages' must be a list"),
    "a stage twice": (stages("gopher", "gopher"), "stages[1] gopher: stands twice"),
    "document after corpus": (stages("exact_dedup", "gopher"), "stages[1] gopher: looks at one document at a time"),
    "import path to nowhere": (stages("no_such:Stage"), "can't import 'no_such'"),
    "unknown write option": (changed(write={"ordr": "crawl"}), "write: unknown option 'ordr', did you mean 'order'"),
    "unknown order": (changed(write={"order": "random"}), "write: order: input should be 'crawl' or 'shuffle'"),
    "zstd out of range": (changed(write={"zstd_level": 99}), "write: zstd_level: "),
    "unknown attribute": (changed(write={"by": "colour"}), "declares the attribute 'colour'"),
    "unknown cap": (changed(caps={"max_tag": 5}), "caps: unknown option 'max_tag', known are bytes, tags, "),
    "unknown source option": (changed(input={"a": {"path": "x.jsonl", "colums": "all"}}), "input.a: unknown option"),
    "a source's name": (changed(input={"a/b": "x.jsonl"}), "'a/b' is no name for a source"),
    "input of a wrong type": (changed(input=5), "'input' must be a path"),
    "missing input": (changed(input="nowhere.warc.gz"), "nowhere.warc.gz"),
    "empty glob": (changed(input="nowhere/*.warc.gz"), "no file matches 'nowhere/*.warc.gz'; check the pattern"),
    "an unknown kind of input": (changed(input="run.yaml"), "'run.yaml' has none of the known endings"),
    "a missing list of paths": (changed(input={"cc": {"paths": "nowhere.gz"}}), "the path list 'nowhere.gz'"),
    "an unknown scheme": (changed(input="gopher://host/a.warc.gz"), "gopher://host/a.warc.gz"),
    "the same file twice": (changed(input={"a": "in/*.jsonl", "b": "in/*.jsonl"}), "is read twice"),
    "a missing column": (changed(input={"a": {"path": "in/a.parquet", "columns": ["colour"]}}), "colour"),
    "a missing model": (stages({"language": {"model": "nowhere.ftz"}}), "no model at nowhere.ftz"),
    "no model": (stages({"language": {"model": "run.yaml"}}), "run.yaml: is no fastText model"),
    "a missing classifier": (stages({"naive_bayes": {"model": "nowhere.npz"}}), "nowhere.npz"),
    "a missing list": (stages({"url_filter": {"domains": "nowhere.txt"}}), "nowhere.txt"),
    "a file as output": (changed(output="run.yaml"), "output 'run.yaml': can't be written"),
    "an output inside a file": (changed(output="run.yaml/out"), "output 'run.yaml/out': can't be written"),
    "a remote output without --work": (changed(output="memory://a/b"), "is remote: give a local folder for the work"),
    "an output of an unknown scheme": (changed(output="gopher://host/out"), "gopher://host/out"),
}


@pytest.mark.parametrize("fault", CONFIGS)
def test_a_mistake_is_one_sentence_and_nothing_is_written(
    fault: str, call: Calling, good: dict[str, Any], tmp_path: Path
) -> None:
    change, message = CONFIGS[fault]
    path = written(tmp_path, change(good))
    for command in (["check", "run.yaml"], ["run", path, "--executor", "serial"]):
        done = call(*command)
        if command[0] == "check" and ("output" in fault or "list" in fault):
            continue  # found when a run opens them
        assert done.status == 2, done
        assert message in done.err
        assert done.err.startswith("curate: ") and done.err.count("\n") == 1, done.err
        assert "Traceback" not in done.err and done.out == ""
    assert not [name for name in FINAL if (tmp_path / "out" / name).exists()]


def test_workers_tell_the_same_sentence(call: Calling, good: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "in" / "part-0.jsonl").write_text('{"no": "text"}\n' * 5)
    bad = {**good, "stages": ["tests.hostile:Hostile"]}
    write_jsonl(tmp_path / "in" / "part-0.jsonl", [text(number) for number in range(4)])
    done = call("run", written(tmp_path, bad), "--workers", "2", "--quiet")
    assert done.status == 2
    assert done.err.startswith("curate: stages failed on 4 of 4 documents") and done.err.count("\n") == 1


def test_an_input_that_may_not_be_read(
    call: Calling, good: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plainly = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "part-0" not in str(path) and plainly(path, mode))
    done = call("run", written(tmp_path, good))
    assert done.status == 2 and "may not be read by this user" in done.err
    assert not (tmp_path / "out").exists()


def test_the_output_of_another_config_is_refused_and_left_alone(
    call: Calling, good: dict[str, Any], tmp_path: Path
) -> None:
    serial = ["--executor", "serial", "--quiet"]
    assert call("run", written(tmp_path, good), *serial).status == 0
    before = (tmp_path / "out" / NAME).read_bytes()
    done = call("run", written(tmp_path, {**good, "seed": 1}), *serial)
    assert done.status == 2
    assert done.err.startswith("curate: ") and "holds a run that differs: config: seed was 0, is 1" in done.err
    assert "give --fresh to start anew, or another output" in done.err
    assert (tmp_path / "out" / NAME).read_bytes() == before
    assert call("run", written(tmp_path, {**good, "seed": 1}), *serial, "--fresh").status == 0


def test_check_tells_what_a_run_would_find_in_its_output(
    call: Calling, good: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def checked(**changes: Any) -> tuple[int, str]:
        done = call("check", written(tmp_path, {**good, **changes}))
        return done.status, " ".join((done.out + done.err).split())

    assert checked()[0] == 0 and "holds" not in checked()[1]
    assert call("run", written(tmp_path, good), "--executor", "serial", "--quiet").status == 0
    assert "holds this very run, complete" in checked()[1]
    assert "holds a run that differs: config: seed was 0, is 1; give --fresh" in checked(seed=1)[1]
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "out" / "shards").mkdir(parents=True)
    assert "no trace of which; give --fresh" in checked()[1]
    (tmp_path / "file").touch()
    for below in ("file", "file/out"):
        status, said = checked(output=str(tmp_path / below))
        assert status == 2 and f"can't be written ({tmp_path / 'file'} is a file); give another folder" in said
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write anywhere
    status, said = checked(output=str(tmp_path / "new" / "out"))
    assert status == 2 and f"{tmp_path} is not writable; give another folder" in said
    assert not (tmp_path / "new").exists()


def test_an_unknown_reason_is_told(call: Calling, good: dict[str, Any], tmp_path: Path) -> None:
    call("run", written(tmp_path, good), "--executor", "serial", "--quiet")
    done = call("quarantine", "out", "-o", "x.warc.gz", "--reason", "too_few_word")
    assert done.status == 2 and "did you mean 'too_few_words'" in done.err
    assert not (tmp_path / "x.warc.gz").exists()


@pytest.fixture
def full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A disk of 128 KiB; where this user may not mount one, writes that say it is full."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)], capture_output=True
        ).returncode
        == 0
    )
    if not mounted:
        plainly = durable.write_json

        def write_json(path: Path, value: Any) -> None:
            if path.name == "state.json":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            plainly(path, value)

        monkeypatch.setattr("curate.scan.blocks.write_json", write_json)
    yield folder
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_no_space_on_the_disk(
    executor: str, call: Calling, good: dict[str, Any], full_disk: Path, tmp_path: Path
) -> None:
    glob = crawl(tmp_path / "large", files=2, each=300)
    path = written(tmp_path, settings(glob, full_disk / "out", stages=["gopher"]))
    workers = ["--workers", "2"] if full_disk.is_mount() and executor == "processes" else ["--executor", "serial"]
    done = call("run", path, "--quiet", *workers)
    assert done.status == 2, done
    assert "no space left on the disk; free some and run again, the run goes on where it was" in done.err
    assert done.err.startswith("curate: ") and done.err.count("\n") == 1
    assert not [name for name in FINAL if (full_disk / "out" / name).exists()]


def test_a_run_that_keeps_nothing_is_loud(call: Calling, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", ["too short", "this one as well"])
    path = written(tmp_path, settings(str(source), tmp_path / "out"))
    for again in (False, True):  # also when there is nothing left to do
        done = call("run", path, "--executor", "serial")
        assert done.status == 1
        assert "NOTHING WAS KEPT" in done.err and "--allow-empty" in done.err
        assert ("complete already" in done.err) == again
    assert call("run", path, "--executor", "serial", "--allow-empty").status == 0


@pytest.mark.parametrize(
    ("options", "content", "message"),
    [
        ((), "", "NO PAGE WAS READ: the input holds none; check the files that 'input' names"),
        (("--limit", 0), '{"text": "a b"}', "NO PAGE WAS READ, as --limit 0 wants it"),
        ((), '{"text": "a b"}', "NOTHING WAS KEPT. The table above says which stage took what"),
        (("--quiet",), '{"text": "a b"}', "NOTHING WAS KEPT. `curate stats out` says which stage took what"),
    ],
)
def test_nothing_read_is_told_apart_from_nothing_kept(
    options: tuple[Any, ...], content: str, message: str, call: Calling
) -> None:
    Path("a.jsonl").write_text(content)
    path = written(Path(), {"input": "a.jsonl", "output": "out", "stages": ["gopher"]})
    done = call("run", path, "--executor", "serial", *options)
    assert (done.status, done.err.splitlines()[-1]) == (1, f"curate: {message}; --allow-empty accepts it")


def test_a_finished_run_called_again_leaves_no_work_folder(call: Calling, tmp_path: Path) -> None:
    path = written(
        tmp_path, {"input": str(write_jsonl(tmp_path / "a.jsonl", [text(1)])), "output": "out", "stages": ["gopher"]}
    )
    trees = []
    for _ in range(2):
        assert call("run", path, "--executor", "serial", "--quiet").status == 0
        trees.append(sorted(found.name for found in Path("out").iterdir()))
    assert trees[0] == trees[1] and ".work" not in trees[1]


def test_check_fits_into_a_terminal_and_counts_right(call: Calling, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "a.jsonl", [text(1)])
    output = call(
        "check", written(tmp_path, {"input": str(source), "output": "out", "stages": ["language", "gopher"]})
    ).out
    assert max(len(line) for line in output.splitlines() if str(source) not in line) <= 110
    assert "crawl: 1 file, " in output
    assert "\nstage   language (document)\n          drops for unknown_language, other_language, low_score\n" in output
    for reason in stage_class("gopher").reasons:
        assert reason in output


def test_strict_makes_damage_a_failure(call: Calling, tmp_path: Path) -> None:
    lines = "".join(json.dumps({"text": text(number)}) + "\n" for number in range(3))
    (tmp_path / "a.jsonl").write_text(lines + '{"text": "torn\n')
    path = written(tmp_path, {"input": "a.jsonl", "output": "out", "stages": ["gopher"]})
    assert call("run", path, "--executor", "serial").status == 0
    done = call("run", path, "--executor", "serial", "--strict")
    assert done.status == 3 and "1 damaged place in the input" in done.err
    assert (tmp_path / "out" / NAME).exists()


def test_a_dry_run_reports_and_leaves_nothing(call: Calling, good: dict[str, Any], tmp_path: Path) -> None:
    done = call("run", written(tmp_path, good), "--executor", "serial", "--dry-run")
    assert done.status == 0 and "near_duplicate" in done.out
    assert not (tmp_path / "out").exists()


def test_a_trial_run_reads_so_many_documents(call: Calling, good: dict[str, Any], tmp_path: Path) -> None:
    assert call("run", written(tmp_path, good), "--executor", "serial", "--limit", "7").status == 0
    assert json.loads((tmp_path / "out" / NAME).read_text())["rows"]["read"] == 7


def test_quiet_is_silent(call: Calling, good: dict[str, Any], tmp_path: Path) -> None:
    assert call("run", written(tmp_path, good), "--workers", "2", "--quiet") == (0, "", "")


def test_an_address_without_ray_is_refused(call: Calling, good: dict[str, Any], tmp_path: Path) -> None:
    for executor in ("serial", "processes"):
        done = call("run", written(tmp_path, good), "--executor", executor, "--address", "ray://me:secret@head:10001")
        assert done.status == 2 and "--address ray://***@head:10001 goes with --executor ray" in done.err
    assert not (tmp_path / "out" / NAME).exists()


def test_options_that_do_nothing_in_one_process_are_told(call: Calling, good: dict[str, Any], tmp_path: Path) -> None:
    done = call("run", written(tmp_path, good), "--executor", "serial", "--workers", "2", "--memory", "2GiB")
    assert done.status == 0
    for option in ("--workers", "--memory"):
        assert f"{option} does nothing with --executor serial" in done.err

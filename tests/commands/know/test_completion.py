"""Shell completion, in a real bash that evaluates the script."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
eval "$({name} completion bash)"
COMP_WORDS=({words}) COMP_CWORD={place}
_{name}_completion {name}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """A PATH with `curate` and `scale` on it."""
    for name in ("curate", "scale"):
        program = tmp_path / name
        program.write_text(f"#!{sys.executable}\nfrom {name}.cli import main\nmain()\n")
        program.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def completed(words: str, surroundings: dict[str, str]) -> list[str]:
    """What bash offers for the last of the words."""
    place = len(words.split()) - (not words.endswith(" "))
    script = PROGRAM.format(words=words, place=place, name=words.split()[0])
    done = subprocess.run(["bash", "-c", script], env=surroundings, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("curate sta", {"stages", "stats"}),
        ("curate doc", {"doctor"}),
        ("curate run --exec", {"--executor"}),
        ("curate run --executor s", {"serial"}),
        ("curate stats out --by lang", {"language"}),
        ("curate completion ", {"bash", "zsh", "fish"}),
        ("curate scale bud", {"budget"}),
        ("scale pl", {"plan"}),
        ("scale plan --ex", {"--explain"}),
        ("scale completion ", {"bash", "zsh", "fish"}),
    ],
)
def test_bash_completes(words: str, offered: set[str], surroundings: dict[str, str]) -> None:
    assert set(completed(words, surroundings)) == offered


RUN = "out"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, a config and something else."""
    folder = tmp_path_factory.mktemp("completing")
    (folder / RUN).mkdir()
    (folder / RUN / "manifest.json").write_text("{}")
    dropped = [
        {"stage": stage, "reason": reason} for stage, reason in (("gopher", "too_few_words"), ("read", "damaged"))
    ]
    stats = {"stages": ["read", "extract", "gopher", "exact_dedup", "my_rules:Exotic"], "dropped": dropped}
    (folder / RUN / "stats.json").write_text(json.dumps(stats))
    (folder / "other").mkdir()
    (folder / "outer.yaml").write_text("input: a.jsonl")
    (folder / "outer.txt").write_text("")
    return folder


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("curate stats o", {"out"}),
        ("curate run o", {"outer.yaml"}),
        ("curate try o", {"out", "outer.yaml"}),
        ("curate stages gop", {"gopher"}),
        ("curate stages near", {"near_dedup"}),
        ("curate init fineweb-", {"fineweb-edu"}),
        ("curate init --without gop", {"gopher"}),
        ("curate sample out --reason ", {"too_few_words", "damaged"}),
        ("curate sample out --stage my", {"my_rules:Exotic"}),
        ("curate sample out --stage read --reason ", {"damaged"}),
        ("curate propose out --stage g", {"gopher"}),
        ("curate what-if out gopher.min_st", {"gopher.min_stop_words="}),
        ("curate quarantine out --reason t", {"too_few_words"}),
        ("curate rules diff ru", {"run"}),
        ("curate rules diff run c", {"c4", "ccnet", "ccnet-buckets"}),
        ("curate export out --format mega", {"megatron"}),
        ("scale memory config.json --gpu b3", {"B300-SXM-288GB"}),
    ],
)
def test_bash_completes_what_is_there(
    words: str, offered: set[str], surroundings: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert set(completed(words, surroundings)) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_their_own_script(shell: str, surroundings: dict[str, str]) -> None:
    for name in ("curate", "scale"):
        done = subprocess.run([name, "completion", shell], env=surroundings, capture_output=True, text=True)
        assert done.returncode == 0 and f"_{name.upper()}_COMPLETE={shell}_complete" in done.stdout

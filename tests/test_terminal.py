"""Names are data: nothing that a run met does anything to a terminal, and programs still read the right values."""

import ast
import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from curate.errors import UNSEEN, one_line
from curate.inspect.tables import comma_separated
from tests.commands.calling import Calling, written
from tests.engine import crawl, run_it, settings, text, texts, write_jsonl

ROOT = Path(__file__).parents[1]
ODD = "a\x1b[31m\x07b\x9b2Jc\u202ed\u2066e\x7f"
OUTSIDE = {"curate/terminal.py", "curate/commands/make/progress.py", "curate/executors/bystander.py"}
"""What prints for itself: the one way out, the bar, and a program that imports nothing."""


def prints(path: Path) -> list[int]:
    """Lines of a file on which something is printed without passing curate/terminal.py."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if called in ("print", "click.echo", "click.secho") or called.startswith(("sys.stdout.", "sys.stderr.w")):
            found.append(node.lineno)
    return found


def test_all_output_of_commands_passes_one_place() -> None:
    paths = {str(path.relative_to(ROOT)): path for path in (ROOT / "curate").rglob("*.py")}
    assert {name for name, path in paths.items() if prints(path)} <= OUTSIDE
    assert "curate/terminal.py" in {name for name, path in paths.items() if prints(path)}


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calling:
    monkeypatch.chdir(tmp_path)
    return Calling(capsys)


def odd_run(folder: Path) -> str:
    """A finished run whose file names and URLs hold what a terminal obeys; returns the address of its first page."""
    (folder / "in").mkdir()
    path = folder / "in" / f"{ODD}.jsonl"
    write_jsonl(path, [text(1), text(1), *texts(30)], url=[f"http://{ODD}.example/{ODD}{n}" for n in range(32)])
    config = settings({"crawl": {"path": "in/*.jsonl", "url": "url"}}, folder / "out")
    run_it(config)
    (folder / "run.yaml").write_text(json.dumps(config))
    return f"in/{ODD}.jsonl:0"


def test_no_command_lets_a_name_reach_the_terminal(call: Calling, tmp_path: Path) -> None:
    place = odd_run(tmp_path)
    write_jsonl(tmp_path / "target.jsonl", [text(number, 400) for number in range(20)])
    for line in (
        ["check", "run.yaml"],
        ["run", "run.yaml", "--workers", "1"],
        ["run", f"{ODD}.yaml"],
        ["verify", "out"],
        ["why", "out", place],
        ["why", "out", place, "--text"],
        ["why", "out", place, "--json"],
        ["why", "out", ODD],
        ["sample", "out", "-n", "30"],
        ["sample", "out", "--kept", "--jsonl"],
        ["sample", "out", "--reason", ODD],
        *(["stats", "out", "--by", by, *more] for by in ("stage", "domain", "language") for more in ([], ["--json"])),
        ["what-if", "out", "gopher.min_words=30"],
        ["what-if", "out", f"gopher.{ODD}=1"],
        ["propose", "out"],
        ["rules", "diff", "gopher.min_words=100", "gopher.min_words=200", "--on", "out"],
        ["audit", "out"],
        ["compare", "out", "out", "--target", "target.jsonl", "--words", "1000"],
        ["diff", "out", "out"],
        ["diff", "out", "out", "--jsonl"],
        ["try", "out", place, "--against", "out"],
        ["try", "run.yaml", place],
        ["estimate", "run.yaml"],
        ["bands", "--perms", ODD],
        [ODD],
        ["run", f"--{ODD}"],
        ["scale", ODD],
        ["scale", "plan", f"{ODD}.yaml"],
        ["scale", "memory", f"--{ODD}"],
        ["quarantine", "out", "-o", f"{ODD}.gz"],
        ["export", "out", "--to", ODD, "-o", "there"],
        ["init", ODD],
        ["pack", ODD, "-o", "there.warc.gz"],
    ):
        ended = call(*line)
        assert not UNSEEN.search(ended.out), line
        assert not UNSEEN.search(ended.err), line
    assert "\\x1b[31m\\x07b\\x9b2Jc\\u202ed" in call("why", "out", place).out
    assert json.loads(call("sample", "out", "--kept", "--jsonl").out.splitlines()[0])["file_path"] == place[:-2]


def test_a_name_stays_in_its_cell() -> None:
    assert one_line("a\nverdict  kept\t\r") == "a\\nverdict  kept\\t\\r"


def test_a_config_key_does_nothing_to_the_terminal(call: Calling, tmp_path: Path) -> None:
    config = settings(crawl(tmp_path / "in", files=1, each=5), tmp_path / "out", **{ODD: 1})
    ended = call("check", written(tmp_path, config))
    assert ended.status == 2 and "\\x1b" in ended.err and not UNSEEN.search(ended.err)


def test_cells_of_csv_are_no_formulas() -> None:
    words = ["=1+1", "+1", "-1", "@a", "\tx", "\rx", "plain", "a=b"]
    as_csv = comma_separated([{"a": word, "b": -5, "c": -0.5} for word in words], ("a", "b", "c"))
    rows = list(csv.DictReader(io.StringIO(as_csv, newline="")))
    assert [row["a"] for row in rows] == ["'=1+1", "'+1", "'-1", "'@a", "'\tx", "'\rx", "plain", "a=b"]
    assert {(row["b"], row["c"]) for row in rows} == {("-5", "-0.5")}


def on_terminal(*arguments: str) -> bytes:
    """What `curate` prints where its output is a terminal."""
    ours, theirs = os.openpty()
    with subprocess.Popen([sys.executable, "-m", "curate", *arguments], stdout=theirs) as process:
        os.close(theirs)
        output = b""
        while True:
            try:
                block = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            output += block
        assert process.wait() == 0
    os.close(ours)
    return output


@pytest.mark.parametrize("what", ["--html", "--text"])
def test_a_page_does_nothing_to_a_terminal_and_its_bytes_go_to_a_pipe(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body = f"<p>{text(1)} \u202e \x1b[2J é \xff</p>".encode("latin-1", "ignore")
    Path("page.html").write_bytes(body)
    config = settings(crawl(tmp_path / "in", files=1, each=5), tmp_path / "out", stages=["extract"])
    call = ["try", written(tmp_path, config), "page.html", what]
    assert b"\x1b" not in on_terminal(*call)
    piped = subprocess.run([sys.executable, "-m", "curate", *call], stdout=subprocess.PIPE, check=True).stdout
    assert what == "--text" or piped == body


def test_output_in_an_encoding_that_lacks_a_letter_is_no_traceback(tmp_path: Path) -> None:
    config = settings(crawl(tmp_path / "in", files=1, each=5), tmp_path / "é漢", stages=["exact_dedup"])
    call = [sys.executable, "-m", "curate", "check", written(tmp_path, config)]
    ended = subprocess.run(call, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "latin-1:strict"})
    assert ended.returncode == 0, ended.stderr
    assert b"\xe9\\u6f22" in ended.stdout

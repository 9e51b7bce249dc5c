"""What differs between two fingerprints, in words for people."""

from pathlib import Path
from typing import Any

import pytest

from curate.output import fingerprint
from curate.output.fingerprint import difference

BEFORE: dict[str, Any] = {
    "config": {"seed": 0},
    "inputs": [["web", "a.jsonl", 10, "t1"]],
    "named_files": {"bad.txt": "0" * 64},
    "code": {"curate": "1" * 64, "mine:Stage": "2" * 64},
    "versions": {"numpy": "2.1"},
    "limit": None,
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"limit": 5}, "--limit was not given, is 5"),
        ({"config": {"seed": 1}}, "config: seed was 0, is 1"),
        ({"versions": {"numpy": "2.2"}}, 'versions: numpy was "2.1", is "2.2"'),
        ({"named_files": {"bad.txt": "3" * 64}}, "the file bad.txt has changed"),
        ({"named_files": {}}, "the file bad.txt is gone"),
        ({"named_files": {"bad.txt": "0" * 64, "new.txt": "4" * 64}}, "the file new.txt is new"),
        (
            {"code": {"curate": "5" * 64, "mine:Stage": "6" * 64}},
            "the code of curate has changed, the code of mine:Stage has changed",
        ),
        ({"inputs": [["web", "a.jsonl", 11, "t2"]]}, "input files: 1 changed (first: a.jsonl)"),
        ({"inputs": []}, "input files: 1 gone (first: a.jsonl)"),
        ({"limit": 3, "config": {"seed": 2}}, "config: seed was 0, is 2; --limit was not given, is 3"),
    ],
)
def test_a_difference_is_told_without_hashes_and_nones(changed: dict[str, Any], message: str) -> None:
    assert difference(BEFORE, {**BEFORE, **changed}) == message
    assert "None" not in difference({**BEFORE, **changed}, BEFORE)


def test_a_part_that_one_of_both_lacks() -> None:
    less = {name: value for name, value in BEFORE.items() if name not in ("named_files", "limit", "inputs")}
    assert difference(less, BEFORE) == "input files: 1 added (first: a.jsonl); the file bad.txt is new"


def test_many_changes_are_cut_short() -> None:
    files = {f"{number}.txt": "7" * 64 for number in range(5)}
    assert difference({"named_files": {}}, {"named_files": files}).endswith("the file 2.txt is new and 2 more")


def test_our_own_code_is_all_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each file of both packages, wherever this module lies; one that differs gives another digest."""
    files = fingerprint.own_files()
    root = Path(__file__).parents[2]
    there = {path.relative_to(root).as_posix() for name in ("curate", "stages") for path in (root / name).rglob("*.py")}
    assert files.keys() == there and {"curate/run.py", "stages/near_dedup.py"} <= there
    before = fingerprint.own_code()
    changed = tmp_path / "run.py"
    changed.write_bytes(files["curate/run.py"].read_bytes() + b"\n")
    monkeypatch.setattr(fingerprint, "own_files", lambda: {**files, "curate/run.py": changed})
    assert fingerprint.own_code.__wrapped__() != before

"""docs/inside.md shows every command that looks inside a run, with what it prints."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tests.report.finished import finished, pages
from tests.test_readme import begun, check_commands, commands

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    check_commands(PAGE, tmp_path, begun(tmp_path))


def test_each_command_is_on_the_page() -> None:
    shown = {match for command in commands(PAGE) for match in re.findall(r"curate ([\w-]+)", command.line)}
    assert {"stats", "why", "try", "what-if", "sample", "diff", "audit"} <= shown
    assert any("--canaries" in command.line for command in commands(PAGE))


def test_the_tables_are_read_as_the_page_says(tmp_path: Path) -> None:
    rows = [{"text": f"text {number}", "language": ["en", "fr"][number % 2]} for number in range(8)]
    source = {"path": pages(tmp_path, [*rows, rows[0]]), "columns": ["language"]}
    finished(tmp_path, ["exact_dedup"], {"web": source}, write={"by": "language"})
    (block,) = re.findall(r"<!-- readers -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    by_library = {line.partition(".")[0]: line.replace("out/", f"{tmp_path}/out/") for line in block.splitlines()}
    assert list(by_library) == ["pyarrow", "pandas", "polars", "duckdb", "datasets"]
    by_library.pop("datasets")  # its threads want a process of their own: tests/test_opening.py
    for name in filter(find_spec, by_library):
        import_module("pyarrow.parquet" if name == "pyarrow" else name)
        read = eval(by_library[name], {name: import_module(name)})
        assert len(read) == (1 if name == "duckdb" else 8), name

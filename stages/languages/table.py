"""What rules take from a page's language: a table of limits and stop words, which a table of one's own extends.

The file has tab-separated columns and a row a language; lines that begin with `#` are comments. The columns are
`language`, `stop_words` (at white space), `stop_words_in` (words: among the words; text: anywhere in it, for languages
whose words are not parted by spaces), and any limit that the reader of the table knows.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from curate.errors import UserError, cause, hint
from stages.languages.codes import same_language

SHIPPED = Path(__file__).with_name("table.tsv")
OFF = "-"  # a cell that turns a rule off
PLACES = ("words", "text")


@dataclass(frozen=True)
class LanguageRow:
    """One language. `limits` holds those given, None for a rule turned off."""

    stop_words: tuple[str, ...] = ()
    in_text: bool = False  # stop words are looked for anywhere in the text
    limits: Mapping[str, float | None] = field(default_factory=dict)


Table = Mapping[str, LanguageRow]


def row_of(table: Table, language: str | None) -> tuple[str | None, LanguageRow | None]:
    """The name and the row of a language by any of its names (`fr`, `fra_Latn`); (None, None) where there is none."""
    if language is None or language in table:
        return (language, table[language]) if language else (None, None)
    return next(((name, row) for name, row in table.items() if same_language(name, language)), (None, None))


@lru_cache(maxsize=16)
def load_table(path: str | None, limits: tuple[str, ...]) -> Table:
    """The shipped table with the rows of a file over it, cell by cell. Raises UserError, with the line, for a fault."""
    rows = _read(SHIPPED, limits)
    if path is not None:
        for language, cells in _read(Path(path), limits).items():
            name = next((name for name in rows if same_language(name, language)), language)
            rows[name] = {**rows.get(name, {}), **cells}
    return {language: _row(cells) for language, cells in rows.items()}


def _row(cells: Mapping[str, str]) -> LanguageRow:
    found = {
        name: None if cell == OFF else float(cell) for name, cell in cells.items() if name.startswith(("min_", "max_"))
    }
    words = cells.get("stop_words", "")
    return LanguageRow(
        tuple(words.lower().split()) if words != OFF else (), cells.get("stop_words_in") == "text", found
    )


def _read(path: Path, limits: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """The cells that say something, by language and column."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: can't be read as a table of languages ({cause(error)}); give another file") from None
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if not numbered:
        raise UserError(f"{path}: holds no rows; its first line names the columns, such as language and stop_words")
    known = ("language", "stop_words", "stop_words_in", *limits)
    table = list(csv.reader((line for _, line in numbered), delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = [cell.strip() for cell in table[0]]
    for column in columns:
        if column not in known:
            raise UserError(f"{path}:{numbered[0][0]}: unknown column '{column}', {hint(column, known)}")
    if "language" not in columns:
        raise UserError(f"{path}:{numbered[0][0]}: has no column language; it says whom a row is for")
    found = {}
    for (number, _), cells in zip(numbered[1:], table[1:], strict=True):
        row = {name: cell.strip() for name, cell in zip(columns, cells) if cell.strip()}
        fault = "has more cells than columns" if len(cells) > len(columns) else _fault(row)
        if fault:
            raise UserError(f"{path}:{number}: {fault}")
        found[row.pop("language")] = row
    return found


def _fault(cells: Mapping[str, str]) -> str | None:
    """What is wrong with a row, or None."""
    if "language" not in cells:
        return "names no language"
    if cells.get("stop_words_in", "words") not in PLACES:
        return f"stop_words_in is {' or '.join(PLACES)}, not {cells['stop_words_in']}"
    for name, cell in cells.items():
        if name.startswith(("min_", "max_")) and cell != OFF and not _is_limit(cell):
            return f"{name}: {cell} is no limit; write a number from 0 up, or {OFF} to turn the rule off"
    return None


def _is_limit(cell: str) -> bool:
    try:
        return float(cell) >= 0
    except ValueError:
        return False

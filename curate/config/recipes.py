"""The recipes that come along: configs of known data sets, with the source of each number in their comments."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from curate.errors import UserError
from curate.shipped import shipped

BESIDE = re.compile(r"configs/([\w./-]+\.txt)")  # files that a recipe names and that come along
ENTRY = re.compile(r"  - (\w+)\b")
NEEDS = re.compile(r"  # Needs (.*)")


class Need(NamedTuple):
    """What an entry needs and is not to be had here: the stage's name, the files and where they come from."""

    stage: str
    comment: str


@dataclass(frozen=True)
class Recipe:
    """One config with its comments."""

    name: str
    text: str

    @property
    def about(self) -> str:
        """Its first line."""
        return self.text.partition("\n")[0].removeprefix("# ").rstrip(".")

    @property
    def stages(self) -> list[str]:
        """The names of its entries, in order."""
        return [found[1] for line in self.text.splitlines() if (found := ENTRY.match(line))]

    @property
    def needs(self) -> list[Need]:
        """What must be fetched or made before it runs."""
        return list(self._needs())

    def _needs(self) -> Iterator[Need]:
        comment = ""
        for line in self.text.splitlines():
            entry = ENTRY.match(line)
            if found := NEEDS.match(line):
                comment = found[1]
            elif entry and comment:
                yield Need(entry[1], comment)
                comment = ""
            elif comment:
                comment += f" {line.strip().removeprefix('#').strip()}"

    def without(self, names: Sequence[str]) -> "Recipe":
        """The recipe with some entries as comments. Raises UserError where it has no such entry."""
        for name in names:
            if name not in self.stages:
                known = ", ".join(self.stages)
                raise UserError(f"--without {name}: the recipe '{self.name}' has no such stage; it has {known}")
        lines, leaving = [], False
        for line in self.text.splitlines():
            entry = ENTRY.match(line)
            if entry:
                leaving = entry[1] in names
            elif not line.startswith("   "):  # blank, a comment or another key: the entry is over
                leaving = False
            lines.append(f"  # {line[2:]}" if leaving else line)
        return Recipe(self.name, "\n".join(lines) + "\n")


def folder() -> Path:
    """Where the recipes lie."""
    return shipped("configs")


def names() -> list[str]:
    """The names of all recipes."""
    return sorted(path.stem for path in folder().glob("*.yaml"))


def recipe(name: str) -> Recipe:
    """A recipe by name. Raises UserError where there is none."""
    path = folder() / f"{name}.yaml"
    if name not in names():
        near = get_close_matches(name, names(), 1)
        hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(names()) or 'none'}"
        raise UserError(f"no recipe '{name}', {hint}")
    return Recipe(name, path.read_text(encoding="utf-8"))

"""Which limit of a stage judges which of its measures.

By name: `min_words` and `max_words` judge `words`, `min_score` judges `language_score` where no measure is called
`score`, and a limit without such a prefix (`keep`) judges the measure that is called as the stage.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from curate.errors import UserError
from curate.plug_ins.registry import stage_class
from curate.stage import breaks, rules_of


class Limit(NamedTuple):
    """A limit of the config: the option and its value (None is off)."""

    field: str
    value: Any

    def broken(self, value: Any) -> bool:
        """Whether a measured value breaks it; a value equal to the limit passes."""
        if value is None or self.value is None:
            return False
        if self.field.startswith(("min_", "max_")):
            return bool(breaks(self.field, value, self.value))
        return isinstance(self.value, list | tuple) and value not in self.value

    @property
    def value_text(self) -> str:
        """The value as a config has it."""
        value = self.value
        return "off" if value is None else ", ".join(map(str, value)) if isinstance(value, list | tuple) else f"{value}"

    def __str__(self) -> str:
        return f"{self.field} {self.value_text}"


def limit_fields(stage: str, options: Iterable[str]) -> tuple[str, ...]:
    """The options of a stage that its verdict alone reads; told from their names where the stage can't be imported."""
    try:
        return tuple(rules_of(stage_class(stage)).limits)
    except UserError:
        return tuple(option for option in options if option.startswith(("min_", "max_")))


def absence(stage: str, measure: str) -> str:
    """Why a page may lack a measure, as the stage tells; that it was not taken where the stage does not."""
    try:
        told = rules_of(stage_class(stage)).absent
    except UserError:
        told = {}
    return told.get(measure, "not taken of this page")


def measure_of(field: str, stage: str, measures: Iterable[str]) -> str | None:
    """The measure that a limit judges, or None."""
    names = list(measures)
    if not field.startswith(("min_", "max_")):
        return stage if stage in names else None
    bare = field[4:]
    if bare in names:
        return bare
    ending = [name for name in names if name.endswith(f"_{bare}")]
    return ending[0] if len(ending) == 1 else None


def limits_of(stage: str, options: Mapping[str, Any], measures: Iterable[str]) -> dict[str, list[Limit]]:
    """Limits of each measure of a stage, in the order of its limits; under "" those that judge no single one."""
    names = list(measures)
    found: dict[str, list[Limit]] = {name: [] for name in names}
    for field in limit_fields(stage, options):
        if field in options:
            found.setdefault(measure_of(field, stage, names) or "", []).append(Limit(field, options[field]))
    return found

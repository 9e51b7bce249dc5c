"""Which limit of a stage judges which of its measures, as the stage's rules declare it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from curate.errors import UserError
from curate.plug_ins.registry import stage_class
from curate.stage import broken, rules_of


class Limit(NamedTuple):
    """A limit of the config: the option and its value (None is off)."""

    field: str
    value: Any

    def broken(self, value: Any) -> bool:
        """Whether a measured value breaks it; a value equal to the limit passes."""
        return broken(self.field, value, self.value)

    @property
    def value_text(self) -> str:
        """The value as a config has it."""
        value = self.value
        return "off" if value is None else ", ".join(map(str, value)) if isinstance(value, list | tuple) else f"{value}"

    def __str__(self) -> str:
        return f"{self.field} {self.value_text}"


def absence(stage: str, measure: str) -> str:
    """Why a page may lack a measure, as the stage tells; that it was not taken where the stage does not."""
    try:
        told = rules_of(stage_class(stage)).absent
    except UserError:
        told = {}
    return told.get(measure, "not taken of this page")


def limits_of(stage: str, options: Mapping[str, Any], measures: Iterable[str]) -> dict[str, list[Limit]]:
    """Limits of each measure of a stage, in the order of its rules; none where the stage can't be imported."""
    found: dict[str, list[Limit]] = {name: [] for name in measures}
    try:
        rules = rules_of(stage_class(stage)).rules
    except UserError:
        return found
    for measure, option in dict.fromkeys((rule.measure, rule.option) for rule in rules):
        if option is not None and option in options and measure in found:
            found[measure].append(Limit(option, options[option]))
    return found

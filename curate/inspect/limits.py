"""What the stages of a run declare, asked by their names: limits of each measure, and the rest of the contract.

A run is looked into where a stage of its config may be gone: then it declares nothing.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from curate.config.file import entry_of
from curate.errors import UserError
from curate.output.facts import Options
from curate.plug_ins.registry import stage_class
from curate.rules import broken, rules_of
from curate.stage import Declared, declared


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


@cache
def declared_of(stage: str) -> Declared:
    """What the class of a stage declares."""
    try:
        return declared(stage_class(stage))
    except UserError:
        return Declared()


def alike_from(stage: str, options: Options) -> float | None:
    """The similarity from which a stage with these options takes two documents for twins; None where it names none."""
    try:
        return declared(entry_of(stage, options, "stored config").stage).alike_from
    except UserError:
        return None


def absence(stage: str, measure: str) -> str:
    """Why a page may lack a measure, as the stage tells; that it was not taken where the stage does not."""
    try:
        reasons = rules_of(stage_class(stage)).absent
    except UserError:
        reasons = {}
    return reasons.get(measure, "not taken of this page")


def only_names(stage: str, measure: str) -> bool:
    """Whether a stage says of a measure that it only names things."""
    try:
        return measure in rules_of(stage_class(stage)).categories
    except UserError:
        return False


def limits_of(stage: str, options: Options, measures: Iterable[str]) -> dict[str, list[Limit]]:
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


def options_of(stage: str, reason: str) -> list[str]:
    """The options whose limits a page breaks that a stage drops for a reason."""
    try:
        rules = rules_of(stage_class(stage)).rules
    except UserError:
        return []
    return [rule.option for rule in rules if rule.reason == reason and rule.option is not None]

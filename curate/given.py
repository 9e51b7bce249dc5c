"""Numbers as they are given on the command line."""

import math
from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A range of numbers in which nan and inf, which compare with nothing or with all, have no place."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or click's own sentence."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is no finite number.", param, ctx)
        return number

"""Which rules of a set the measures of a page break."""

from collections.abc import Iterable, Iterator

from curate.document import Drop
from curate.stage import Measures, breaks

Rule = tuple[str, str, str]  # reason, measure, field of the stage with the limit: `min_...` or `max_...`


def failures(rules: Iterable[Rule], stage: object, measures: Measures) -> Iterator[Drop]:
    """A verdict for each rule that the measures break, in the order of the rules.

    A value equal to the limit passes; a limit of None turns its rule off, a value of None was not measured.
    """
    for reason, measure, field in rules:
        value, limit = measures[measure], getattr(stage, field)
        if value is not None and limit is not None and breaks(field, value, limit):
            yield Drop(reason, value, limit)

"""Which rules of a set the measures of a page break, for rules that are plain tuples."""

from collections.abc import Iterable, Iterator

from curate.document import Drop
from curate.stage import Measures
from curate.stage import Rule as OwnRule
from curate.stage import failures as judged

Rule = tuple[str, str, str]  # as `curate.stage.Rule`


def failures(rules: Iterable[Rule], own: object, measures: Measures) -> Iterator[Drop]:
    """A verdict for each rule that the measures break, in the order of the rules."""
    return judged([OwnRule(*rule) for rule in rules], own, measures)

"""What can only be seen with all stages of a config at hand: their order, and what each says of the others."""

from collections.abc import Sequence

from curate.errors import UserError, cause
from curate.plug_ins.contract import Blamed
from curate.stage import CorpusStage, Stage, declared


def check_together(stages: Sequence[tuple[str, Stage]], name: str) -> None:
    """Raises UserError, with the place in the config `name`, where stages can't stand in this order."""
    corpus_seen = ""
    for index, (word, stage) in enumerate(stages):
        place = f"{name}: stages[{index}] {word}"
        if isinstance(stage, CorpusStage):
            corpus_seen = word
        elif corpus_seen:
            message = f"looks at one document at a time, so it must stand before '{corpus_seen}', which needs them all"
            raise UserError(f"{place}: {message}")
        elif declared(stage).gives_text:
            early = next((other for other, one in stages[:index] if declared(one).reads_text), None)
            if early is not None:
                raise UserError(f"{place}: must stand before '{early}', which judges the text{_way_out(early)}")
    for index, (word, stage) in enumerate(stages):
        _check_one(f"{name}: stages[{index}] {word}", stage, stages[:index], stages[index + 1 :])


def _way_out(name: str) -> str:
    """For a stage of somebody else, which may look at URLs and HTML alone and not have said so."""
    return " (unless it declares `reads_text = False`)" if ":" in name else ""


def _check_one(
    place: str, stage: Stage, before: Sequence[tuple[str, Stage]], after: Sequence[tuple[str, Stage]]
) -> None:
    """What a stage says of those around it and of the files that it needs."""
    with Blamed(place, passing=(UserError,)):
        try:
            check = declared(stage).check
            if check is not None:
                check(before, after)
        except (UserError, ValueError) as error:
            raise UserError(f"{place}: {error}") from error.__cause__
        except OSError as error:
            at = f"{error.filename}: " if error.filename else ""
            raise UserError(f"{place}: {at}can't be read ({cause(error)})") from None

"""Which stage and option a word of the command line means, as short as it can be said."""

from collections.abc import Sequence
from dataclasses import fields

from curate.config.file import Config
from curate.errors import UserError, hint
from curate.rules import rules_of


def named(config: Config, place: str, word: str) -> tuple[str, str]:
    """Stage and option of STAGE.OPTION, where a plug-in's class or an option alone will do if no other has the name.

    Raises UserError, with the candidates, where several have it.
    """
    stage, dot, option = place.strip().rpartition(".")
    if not dot:
        return _option_alone(config, option, word)
    names = [entry.name for entry in config.stages]
    same = [name for name in names if name.rpartition(":")[2] == stage]
    if stage in names or not same:
        return stage, option
    return _only([(name, option) for name in same], word)


def _option_alone(config: Config, option: str, word: str) -> tuple[str, str]:
    limits = [(entry.name, name) for entry in config.stages for name in rules_of(type(entry.stage)).limits]
    options = [
        (entry.name, field.name)
        for entry in config.stages
        for field in fields(entry.stage)  # type: ignore[arg-type]
        if field.init
    ]
    found = [pair for pair in limits if pair[1] == option] or [pair for pair in options if pair[1] == option]
    if not found:
        known = hint(option, [name for _, name in limits])
        raise UserError(f"'{word}': no stage of the run has an option '{option}', {known}; give STAGE.OPTION=VALUE")
    return _only(found, word)


def _only(found: Sequence[tuple[str, str]], word: str) -> tuple[str, str]:
    if len(found) > 1:
        raise UserError(
            f"'{word}': may be {' or '.join(f'{stage}.{option}' for stage, option in found)}; name the stage"
        )
    return found[0]

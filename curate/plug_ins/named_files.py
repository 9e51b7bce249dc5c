"""The files that a stage's options name: those whose type is marked as `curate.stage.FileName`."""

from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from curate.stage import NamedFile


def files_of(stage: object) -> dict[str, list[str]]:
    """The files that a stage's options name, by option, as they are written there."""
    hints = get_type_hints(type(stage), include_extras=True)
    options = [option for option, hint in hints.items() if hasattr(stage, option) and _names_files(hint)]
    return {option: _texts(getattr(stage, option)) for option in options}


def _names_files(hint: Any) -> bool:
    marked = any(isinstance(mark, NamedFile) for mark in getattr(hint, "__metadata__", ()))
    return marked or any(_names_files(part) for part in (*get_args(hint), getattr(hint, "__origin__", None)) if part)


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    return [text for part in (value.values() if isinstance(value, Mapping) else value) for text in _texts(part)]

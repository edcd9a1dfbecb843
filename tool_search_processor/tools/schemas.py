"""JSON Schemas of tools: foreign type words, and the form in which a schema is sent to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from tool_search_processor.tools.dialects import (
    DEFINITIONS,
    WELL_FORMED,
    modern,
    nullable,
    with_exclusive_limits,
)
from tool_search_processor.tools.frozen import FrozenDict, freeze
from tool_search_processor.tools.names import is_property_name, make_property_name
from tool_search_processor.tools.patterns import is_readable

Schema = Mapping[str, Any]
Path = tuple[str | int, ...]

EMPTY_PARAMETERS: FrozenDict = freeze({"type": "object", "properties": {}})
"""The schema of a tool that takes no arguments."""

_JSON_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})

_TYPE_WORDS = {word: word for word in _JSON_TYPES} | {
    **dict.fromkeys(("dict", "dictionary", "map", "mapping", "struct", "record", "json"), "object"),
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "sequence", "iterable"), "array"),
    **dict.fromkeys(("str", "text", "char", "bytes", "file", "date", "datetime", "uuid", "enum"), "string"),
    **dict.fromkeys(("float", "double", "decimal", "num"), "number"),
    **dict.fromkeys(("int", "long", "short", "int32", "int64"), "integer"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("none", "nonetype", "nil"), "null"),
}

SINGLE_KEYWORDS = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
        "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords whose value is one schema (`items` may also be a list of them)."""

LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""

MAP_KEYWORDS = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)
"""Keywords whose value maps names to schemas."""

# What OpenAI and Anthropic refuse at the root of a tool's parameters.
_ROOT_COMBINATORS = frozenset(
    {"$dynamicRef", "$recursiveRef", "$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"}
)
_HOISTED = ("$schema", "$id", "$defs", "definitions")
_BESIDE_REF = frozenset(
    {"$ref", "$comment", "title", "description", "default", "deprecated", "examples", *_HOISTED}
)
_WRAPPER_NAMES = ("input", "arguments", "value", "payload")


@dataclass(frozen=True, slots=True, kw_only=True)
class WireSchema:
    """The schema as it is sent to a model."""

    schema: FrozenDict
    """Always an object with `properties`, and no combinator at its root."""
    wrapper: str | None = None
    """The one property that holds the real arguments, when the real root is not such an object."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The real names of parameters that providers would refuse, by those that are sent."""

    def unwrap(self, arguments: Any) -> tuple[Any, Callable[[Path], Path]]:
        """Return the real arguments, and what makes a path of them the one that the model sees.

        Arguments that come without the wrapper, or under their real names, are taken as they are: no schema
        that is wrapped has a property of the wrapper's name.
        """
        if not isinstance(arguments, Mapping):
            return arguments, _same
        if self.wrapper is not None and set(arguments) == {self.wrapper}:
            return arguments[self.wrapper], lambda path: (str(self.wrapper), *path)
        sent = {real: name for name, real in self.names.items() if name in arguments}
        if not sent:
            return arguments, _same
        values = {self.names.get(name, name): value for name, value in arguments.items()}
        return values, lambda path: (*(sent.get(part, part) for part in path[:1]), *path[1:])


def _same(path: Path) -> Path:
    return path


def edit_schemas(schema: Any, edit: Callable[[Schema], Schema]) -> Any:
    """Return the schema with `edit` applied to it and to every schema in it, innermost first.

    Only places where a schema stands are visited: never the data in `enum`, `const`, `default` or
    `examples`, and never a property for its mere name. Where nothing changes the same object is returned.
    """
    if not isinstance(schema, dict):
        return schema
    changes: dict[str, Any] = {}
    for key, value in schema.items():
        edited = value
        if isinstance(value, dict):
            if key in MAP_KEYWORDS:
                edited = _edit_values(value, edit)
            elif key in SINGLE_KEYWORDS:
                edited = edit_schemas(value, edit)
        elif isinstance(value, list) and (key in LIST_KEYWORDS or key == "items"):
            items = [edit_schemas(item, edit) for item in value]
            edited = value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if edited is not value:
            changes[key] = edited
    return edit({**schema, **changes} if changes else schema)


def _edit_values(schemas: dict[str, Any], edit: Callable[[Schema], Schema]) -> dict[str, Any]:
    edited = {name: edit_schemas(value, edit) for name, value in schemas.items()}
    return schemas if all(edited[name] is value for name, value in schemas.items()) else edited


def map_types(schema: Any) -> Any:
    """Return the schema with foreign type words (`dict`, `float`, `STRING`, `list[str]` …) in JSON Schema's.

    `any`, and words that name no JSON type, drop the `type` keyword: whatever comes is accepted.
    """
    return edit_schemas(schema, with_json_types)


def with_json_types(schema: Schema) -> Schema:
    """Return one schema with the words of its `type` in JSON Schema's; see `map_types`."""
    if "type" not in schema:
        return schema
    given = schema["type"]
    if isinstance(given, str):
        if given in _JSON_TYPES:
            return schema
        mapped: Any = _json_type(given)
    elif isinstance(given, list) and given and all(isinstance(word, str) for word in given):
        words = dict.fromkeys(_json_type(word) for word in given)
        mapped = None if None in words else list(words)
        if mapped == given:
            return schema
    else:
        mapped = None
    if mapped is None:
        return {key: value for key, value in schema.items() if key != "type"}
    return {**schema, "type": mapped}


def _json_type(word: str) -> str | None:
    base = word.strip().lower().removeprefix("typing.").partition("[")[0].partition("<")[0]
    return _TYPE_WORDS.get(base)


def wire_schema(parameters: Schema) -> WireSchema:
    """Return the form of a schema that model providers accept, whatever it is.

    The root is always `{"type": "object", "properties": {...}}`: a `$ref` root to an object is inlined,
    and a root that is no object, or a combinator, becomes the one property of a wrapper, with its `$defs`
    at the new root. Parameters have names that providers take, arrays have `items`, and patterns that engines
    of linear time can't read are left out. The rest is as it was, but for `mend_schema`.
    """
    schema = edit_schemas(mend_schema(parameters), lambda part: _without_patterns(_with_items(part)))
    inlined = _inline_root(schema)
    if not _is_object_root(inlined):
        return _wrapped(schema)
    if inlined.get("type") != "object" or "properties" not in inlined:
        inlined = {"type": "object", "properties": {}, **inlined} | {"type": "object"}
    names = _names_sent(inlined["properties"])
    return WireSchema(schema=freeze(_with_names(inlined, names)), names={v: k for k, v in names.items()})


def mend_schema(schema: Any) -> Any:
    """Return the schema as one of the draft 2020-12, without what no provider and no validator can read.

    Types are mapped, older spellings rewritten (`modern`, `exclusiveMinimum: true`, `nullable`), and keywords
    dropped whose value has no form that they may have, or that refer to other documents or to nothing. Where
    nothing changes the same object is returned.
    """

    def mended(part: Schema) -> Schema:
        part = modern(with_json_types(part))
        wrong = [key for key, value in part.items() if key in _FORMS and not _FORMS[key](value)]
        if "$ref" in part and not _is_reference(part["$ref"], schema):
            wrong.append("$ref")
        if wrong:
            part = with_exclusive_limits(part, {k: v for k, v in part.items() if k not in wrong})
        return nullable(dict(part)) if part.get("nullable") is True and "type" in part else part

    return edit_schemas(schema, mended)


_FORMS = {**WELL_FORMED, **DEFINITIONS}


def _is_reference(pointer: object, root: Schema) -> bool:
    return isinstance(resolve_pointer(root, pointer), dict | bool)


def _with_items(schema: Schema) -> Schema:
    """Return a schema of an array with `items` that is an object."""
    kind, items = schema.get("type"), schema.get("items", True)
    if not isinstance(items, bool) or not (kind == "array" or (isinstance(kind, list) and "array" in kind)):
        return schema
    if items:
        return {**schema, "items": {}}
    longest = len(schema.get("prefixItems", ()))
    return {**schema, "items": {}, "maxItems": min(longest, schema.get("maxItems", longest))}


def _without_patterns(schema: Schema) -> Schema:
    """Return a schema without regular expressions of which providers refuse some, look-arounds among them."""
    if "pattern" in schema and not is_readable(schema["pattern"]):
        schema = {key: value for key, value in schema.items() if key != "pattern"}
    patterns = schema.get("patternProperties", {})
    if all(map(is_readable, patterns)):
        return schema
    # Fields that matched what is dropped now must not be told to be unknown.
    rest = {k: v for k, v in schema.items() if k not in ("patternProperties", "additionalProperties")}
    return {**rest, "patternProperties": {k: v for k, v in patterns.items() if is_readable(k)}}


def _names_sent(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return other names, by the real ones, for those that providers would refuse."""
    taken, names = set(properties), {}
    for real in properties:
        if not is_property_name(real):
            stem, number = make_property_name(real), 1
            name = stem
            while name in taken:
                number += 1
                name = f"{stem[:60]}_{number}"
            taken.add(name)
            names[real] = name
    return names


def _with_names(schema: Schema, names: Mapping[str, str]) -> Schema:
    if not names:
        return schema
    properties = {names.get(name, name): value for name, value in schema["properties"].items()}
    required = [names.get(name, name) for name in schema.get("required", ())]
    renamed = {**schema, "properties": properties, **({"required": required} if required else {})}
    # once more: a reference may have led to one of them; a nullable root is an object all the same
    return {**mend_schema(renamed), "type": "object"}


def _is_object_root(schema: Schema) -> bool:
    if not _ROOT_COMBINATORS.isdisjoint(schema):
        return False
    kind = schema.get("type", "object")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _inline_root(schema: Schema) -> Schema:
    """Replace a `$ref` root by what it points to; one that leads nowhere is dropped."""
    root, seen = schema, set()
    while "$ref" in schema and _BESIDE_REF.issuperset(schema):
        pointer = schema["$ref"]
        target = resolve_pointer(root, pointer)
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        if pointer in seen or pointer == "#" or not isinstance(target, dict):
            return rest
        seen.add(pointer)
        schema = {**target, **rest}
    return schema


def _wrapped(schema: Schema) -> WireSchema:
    name = _wrapper_name(schema)

    def rebased(part: Schema) -> Schema:
        pointer = part.get("$ref")
        if not isinstance(pointer, str) or not (pointer == "#" or pointer.startswith("#/")):
            return part
        if pointer.startswith(("#/$defs/", "#/definitions/")):
            return part
        return {**part, "$ref": f"#/properties/{name}{pointer[1:]}"}

    schema = edit_schemas(schema, rebased)
    hoisted = {key: schema[key] for key in _HOISTED if key in schema}
    inner = {key: value for key, value in schema.items() if key not in hoisted}
    root = {"type": "object", "properties": {name: inner}, "required": [name], **hoisted}
    return WireSchema(schema=freeze(root), wrapper=name)


def _wrapper_name(schema: Schema) -> str:
    taken: set[str] = set()

    def note(part: Schema) -> Schema:
        taken.update(part.get("properties", ()))
        return part

    edit_schemas(schema, note)
    free = (name for name in _WRAPPER_NAMES if name not in taken)
    return next(free, None) or "_".join(("input", *sorted(taken)))


def resolve_pointer(root: Any, pointer: object) -> Any:
    """Return what a local reference such as `#/$defs/Item` points to, or None."""
    if not isinstance(pointer, str) or not pointer.startswith("#"):
        return None
    target = root
    for part in pointer[1:].split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping):
            target = target.get(key)
        elif isinstance(target, list) and key.isdecimal() and int(key) < len(target):
            target = target[int(key)]
        else:
            return None
    return target

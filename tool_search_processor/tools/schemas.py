"""JSON Schemas of tools: foreign type words, and the form in which a schema is sent to a model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.tools.dialects import (
    ANNOTATIONS,
    NOTHING_FITS,
    OTHER_FORMS,
    WELL_FORMED,
    modern,
    nullable,
    with_exclusive_limits,
    without_booleans,
)
from tool_search_processor.tools.frozen import FrozenDict, freeze
from tool_search_processor.tools.loosening import leave_out
from tool_search_processor.tools.misread import without_misread
from tool_search_processor.tools.schema_walk import (
    BRANCH_KEYWORDS,
    INNER_KEYWORDS,
    Edit,
    References,
    Schema,
    edit_schemas,
    is_pointer,
    resolve_pointer,
    schemas_in,
)
from tool_search_processor.tools.tool_names import is_property_name, make_property_name
from tool_search_processor.tools.unsent import (
    has_definitions,
    has_unreadable,
    may_have_ghosts,
    without_ghosts,
    without_unreadable,
    without_unused_definitions,
)
from tool_search_processor.wire.plain import items_of

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

_ANY_WORDS = frozenset({"any", "anything", "mixed", "unknown", "type_unspecified", "*"})

# OpenAI and Anthropic refuse these at the root of a tool's parameters.
_ROOT_COMBINATORS = frozenset(
    {"$dynamicRef", "$recursiveRef", "$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"}
)
_HOISTED = ("$schema", "$id", "$defs", "definitions")
_BESIDE_REF = frozenset(
    {"$ref", "$comment", "title", "description", "default", "deprecated", "examples", *_HOISTED}
)
_UNEVALUATED = ("unevaluatedItems", "unevaluatedProperties")
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
        """Return the real arguments, and a function that turns a path in them into the path the model sees.

        Arguments without the wrapper, or under their real names, are taken as they are: no wrapped schema has
        a property of the wrapper's name.
        """
        given: Mapping[str, Any] = arguments if isinstance(arguments, Mapping) else {}
        if self.wrapper is not None and set(given) == {self.wrapper}:
            return given[self.wrapper], lambda path: (str(self.wrapper), *path)
        sent = {real: name for name, real in self.names.items() if name in given}
        if not sent:
            return arguments, lambda path: path
        values = {self.names.get(name, name): value for name, value in given.items()}
        return values, lambda path: (*(sent.get(part, part) for part in path[:1]), *path[1:])


def map_types(schema: Any) -> Any:
    """Return the schema with foreign type words (`dict`, `float`, `STRING`, `list[str]` …) in JSON Schema's.

    `any`, and a word that names no JSON type, drop the `type` keyword: any value is accepted. Of a list
    of types, the known ones are kept.
    """
    return edit_schemas(schema, with_json_types)


def with_json_types(schema: Schema) -> Schema:
    """Return one schema with its `type` in JSON Schema's words; see `map_types`."""
    if "type" not in schema:
        return schema
    given = schema["type"]
    if isinstance(given, str) and given in _JSON_TYPES:
        return schema
    mapped = _json_types(given) if isinstance(given, list) else _json_type(given)
    if not mapped:
        return {key: value for key, value in schema.items() if key != "type"}
    return schema if mapped == given else {**schema, "type": mapped}


def _json_types(words: list[Any]) -> list[str]:
    """Return the types that the words name, each once; none if a word means any value."""
    if _is_any_type(words):
        return []
    # YAML reads `[string, null]` as a word and a null.
    mapped = ("null" if word is None else _json_type(word) for word in words)
    return list(dict.fromkeys(word for word in mapped if word is not None))


def _json_type(word: object) -> str | None:
    return _TYPE_WORDS.get(_base_word(word)) if isinstance(word, str) else None


@functools.lru_cache(256)
def _base_word(word: str) -> str:
    return word.strip().lower().removeprefix("typing.").partition("[")[0].partition("<")[0]


def wire_schema(parameters: Schema) -> WireSchema:
    """Return the form of a schema that model providers accept, whatever the schema is.

    The root is always `{"type": "object", "properties": {...}}`: a `$ref` root to an object is inlined, and
    any other root becomes the one property of a wrapper, with its `$defs` at the new root. Parameters get
    names that providers take, arrays have `items`, and inner schemas are objects. What would fail on the way
    is left out: patterns that linear-time engines can't read, names in `required` that no property has,
    definitions that nothing refers to, and what `misread` describes. The rest is as `mend_schema` returns it.
    """
    schema = _mended(parameters, _sendable)
    inlined = _inline_root(schema)
    if not _is_object_root(inlined):
        name = _wrapper_name(schema)
        return WireSchema(schema=_trimmed(wrapped_root(schema, name)), wrapper=name)
    if inlined.get("type") != "object" or "properties" not in inlined:
        inlined = {"type": "object", "properties": {}, **inlined} | {"type": "object"}
    names = _names_sent(inlined["properties"])
    sent = _trimmed(_with_names(inlined, names))
    return WireSchema(schema=sent, names={name: real for real, name in names.items()})


def _trimmed(schema: Schema) -> FrozenDict:
    schema = without_misread(schema)
    parts = list(schemas_in(schema))
    if any(map(has_unreadable, parts)):
        schema = without_unreadable(schema)
        parts = list(schemas_in(schema))
    if any(map(may_have_ghosts, parts)):
        schema = without_ghosts(schema)
    if any(map(has_definitions, parts)):
        schema = without_unused_definitions(schema)
    frozen: FrozenDict = freeze(schema)
    return frozen


def _sendable(part: Schema) -> Schema:
    part = _with_items(part)
    if INNER_KEYWORDS.isdisjoint(part):
        return part  # as most are, and each of thousands of tools has dozens
    return without_booleans(_without_unevaluated_booleans(part))


def mend_schema(schema: Any) -> Any:
    """Return the schema as one of the draft 2020-12, without what no provider and no validator can read.

    Types are mapped, older spellings rewritten (`modern`, `exclusiveMinimum: true`, `nullable`), and keywords
    dropped whose value has no form that they may have, or that refer to other documents or to nothing. All
    that the schema accepts is accepted. Where nothing changes the same object is returned.
    """
    return _mended(schema, lambda part: part)


def _mended(schema: Any, then: Edit) -> Any:
    """Return the schema with each schema in it mended and then edited."""
    mender = _Mender(schema)

    def edit(part: Schema) -> Schema:
        return then(mender.mend(part))

    edited = edit_schemas(schema, edit)
    losing = [part for part in schemas_in(schema) if mender.loses(part)] if mender.has_changed else ()
    return leave_out(schema, edit, losing=losing) if losing else edited


class _Mender:
    """Mends the schemas that stand in one root."""

    def __init__(self, root: Any) -> None:
        self._references = References(root)
        self.has_changed = False

    def mend(self, part: Schema) -> Schema:
        """Return a schema without what is wrong in it itself."""
        given, part = part, modern(with_json_types(part))
        wrong = self._wrong(part)
        if wrong:
            gone = {*wrong, *(key for one in wrong if part[one] for key in _NEED.get(one, ()))}
            part = with_exclusive_limits(part, {k: v for k, v in part.items() if k not in gone})
        self.has_changed = self.has_changed or part is not given
        return nullable(dict(part)) if part.get("nullable") is True and "type" in part else part

    def loses(self, part: Schema) -> bool:
        """Return True if a schema, as it was given, accepts more once it is mended."""
        return loses_check(part, self._wrong(part))

    def _wrong(self, part: Schema) -> list[str]:
        """Return the keywords whose value has no form that they may have, or that refer to nothing."""
        wrong = [key for key, value in part.items() if (fits := _FORMS.get(key)) and not fits(value)]
        if "$ref" in part and not isinstance(self._references.target(part["$ref"]), dict | bool):
            wrong.append("$ref")
        return wrong


def loses_check(part: Schema, wrong: Iterable[str]) -> bool:
    """Return True if a schema accepts more without these keywords and any unknown words in its `type`.

    Older drafts' forms of a keyword, and empty values, check nothing that gets lost.
    """
    if "type" in part and "type" not in with_json_types(part) and not _is_any_type(part["type"]):
        return True
    checks = (key for key in wrong if key not in _CHECKING_NOTHING)
    return any(part[key] and not _is_rewritten(key, part[key]) for key in checks)


def _is_any_type(given: object) -> bool:
    words = items_of(given) or (given,)
    return any(isinstance(word, str) and _base_word(word) in _ANY_WORDS for word in words)


def _is_rewritten(key: str, value: object) -> bool:
    """Return True if a value in a wrong form gets another form, or if older drafts check nothing by it."""
    if isinstance(value, bool) or (key == "items" and isinstance(value, list)):
        return True
    return key == "required" and isinstance(value, list) and all(isinstance(name, str) for name in value)


_CHECKING_NOTHING = frozenset({*ANNOTATIONS, "type", "format", "contentEncoding", "contentMediaType"})
_NEED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("properties", "patternProperties"), ("additionalProperties", "unevaluatedProperties")),
    "prefixItems": ("items", "unevaluatedItems"),
    **dict.fromkeys(BRANCH_KEYWORDS, _UNEVALUATED),
}
"""By keyword: those that would refuse what it had allowed, and so are left out with it."""

_FORMS = {**WELL_FORMED, **OTHER_FORMS}


def _with_items(schema: Schema) -> Schema:
    """Return a schema of an array with `items` that is an object."""
    kind, items = schema.get("type"), schema.get("items", True)
    if not isinstance(items, bool) or not (kind == "array" or (isinstance(kind, list) and "array" in kind)):
        return schema
    if items:
        return {**schema, "items": {}}
    longest = len(schema.get("prefixItems", ()))
    return {**schema, "items": {}, "maxItems": min(longest, schema.get("maxItems", longest))}


def _without_unevaluated_booleans(schema: Schema) -> Schema:
    """Return a schema whose `unevaluated…` keywords hold schemas that are objects; true is their default."""
    given = [key for key in _UNEVALUATED if isinstance(schema.get(key), bool)]
    if not given:
        return schema
    rest = {key: value for key, value in schema.items() if key not in given}
    return {**rest, **{key: {**NOTHING_FITS} for key in given if schema[key] is False}}


def _names_sent(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return a replacement for each name that providers would refuse, by the real name."""
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
    # What is said of the real names may not fit the ones sent.
    rest = {key: value for key, value in schema.items() if key != "propertyNames"}
    renamed = {**rest, "properties": properties, **({"required": required} if required else {})}
    # again: a reference may have led to one of them; a nullable root is an object all the same
    return {**mend_schema(renamed), "type": "object"}


def _is_object_root(schema: Schema) -> bool:
    if not _ROOT_COMBINATORS.isdisjoint(schema):
        return False
    kind = schema.get("type", "object")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _inline_root(schema: Schema) -> Schema:
    """Return the schema with a `$ref` root replaced by its target, or dropped if it leads nowhere."""
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


def wrapped_root(schema: Schema, name: str) -> dict[str, Any]:
    """Return the schema of an object whose one property has this schema, with its `$defs` at the root."""

    def rebased(part: Schema) -> Schema:
        pointer = part.get("$ref")
        if not is_pointer(pointer) or pointer.startswith(("#/$defs/", "#/definitions/")):
            return part
        return {**part, "$ref": f"#/properties/{name}{pointer[1:]}"}

    schema = edit_schemas(schema, rebased)
    hoisted = {key: schema[key] for key in _HOISTED if key in schema}
    inner = {key: value for key, value in schema.items() if key not in hoisted}
    return {"type": "object", "properties": {name: inner}, "required": [name], **hoisted}


def _wrapper_name(schema: Schema) -> str:
    taken = {name for part in schemas_in(schema) for name in part.get("properties", ())}
    free = (name for name in _WRAPPER_NAMES if name not in taken)
    return next(free, None) or "_".join(("input", *sorted(taken)))

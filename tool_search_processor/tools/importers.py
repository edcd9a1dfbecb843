"""Reads tool definitions of other systems: OpenAI, Anthropic, Model Context Protocol."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypedDict

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.tools.foreign import (
    check_foreign_name,
    foreign_json,
    foreign_line,
    foreign_requests,
    foreign_schema,
    foreign_tags,
    foreign_text,
)
from tool_search_processor.tools.frozen import freeze
from tool_search_processor.tools.schemas import map_types
from tool_search_processor.tools.tool_names import make_tool_name
from tool_search_processor.tools.wording import near_name
from tool_search_processor.wire.plain import items_of, mapping_of

Fields = dict[str, Any]
"""Fields of a `Tool`, by name."""

MCP_PASSED_ON = ("icons", "execution")
"""Parts of an MCP definition for clients only, kept in a tool's metadata for `to_mcp`."""

_REQUEST_KEYS = ("example_requests", "x-example-requests", "tool-search/example_requests")
"""What example requests are called in a definition, or in the `_meta` of one."""

_IMPORTERS = {"parameters": "from_openai", "input_schema": "from_anthropic", "inputSchema": "from_mcp"}
"""Where a definition's schema stands, and which importer reads it there."""


class ToolFields(TypedDict, total=False):
    """Options of `@tool(...)`, `Tool.from_function` and the importers; each overrides what they find."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    namespace: str | None
    tags: Iterable[str]
    keywords: Iterable[str]
    pinned: bool
    requires_approval: bool
    tool_type: str
    output_schema: Mapping[str, Any] | None
    annotations: Mapping[str, Any]
    metadata: Mapping[str, Any]
    example_requests: Iterable[str]


def named(original: object, metadata: Mapping[str, Any] | None = None) -> Fields:
    """Return `name` and `metadata` for a foreign name; the original is kept if it differs."""
    if not isinstance(original, str) or not original:
        raise InvalidToolError(f"a tool's definition needs a name, found {original!r:.100}: add one")
    check_foreign_name(original)
    name = make_tool_name(original)
    kept = dict(metadata or {})
    return {"name": name, "metadata": kept if name == original else {**kept, "original_name": original}}


def check_options(fields: Iterable[str], known: Collection[str]) -> None:
    """Refuse options that a tool doesn't have.

    Raises:
        InvalidToolError: Names the option that may have been meant, or all that exist.
    """
    for name in fields:
        if name not in known:
            near = near_name(name, [*known])
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
            raise InvalidToolError(f"a tool has no option {name!r}: {hint}")


def merged(found: Mapping[str, Any], fields: Mapping[str, Any]) -> Fields:
    """Return what was found, overridden by `fields`.

    Metadata of both sides is kept, and so is the found name if another one is given.
    """
    metadata = {**found.get("metadata", {}), **(fields.get("metadata") or {})}
    if fields.get("name", found.get("name")) != found.get("name") and "name" in found:
        metadata.setdefault("original_name", found["name"])
    return {**found, **fields, "metadata": metadata}


def read_openai(definition: Mapping[str, Any]) -> Fields:
    """Return the fields of an OpenAI definition in any of its shapes."""
    _check_kind(definition, "OpenAI", kind="function", key="parameters")
    function = definition.get("function", definition)
    strict = function.get("strict", definition.get("strict"))
    return {
        **named(function.get("name"), {} if strict is None else {"strict": strict}),
        "description": _text(function.get("description")),
        "parameters": _schema(function.get("parameters"), function),
        "example_requests": foreign_requests(_requests(function) or _requests(definition)),
    }


def read_anthropic(definition: Mapping[str, Any]) -> Fields:
    """Return the fields of an Anthropic definition."""
    _check_kind(definition, "Anthropic", kind="custom", key="input_schema")
    return {
        **named(definition.get("name")),
        "description": _text(definition.get("description")),
        "parameters": _schema(definition.get("input_schema"), definition),
        "example_requests": foreign_requests(_requests(definition)),
    }


def read_mcp(definition: object) -> Fields:
    """Return the fields of an MCP tool, an object of the SDK or a dict."""
    if isinstance(definition, Mapping):
        _check_schema_key(definition.get("function", definition), "inputSchema", "input_schema")
    title, meta = _get(definition, "title"), _clean(_get(definition, "_meta", "meta"))
    metadata: Fields = {"title": foreign_line(str(title))} if title else {}
    passed_on = {key: _clean(_get(definition, key)) for key in MCP_PASSED_ON}
    metadata |= {key: value for key, value in {**passed_on, "_meta": meta}.items() if value}
    schema = _get(definition, "inputSchema", "input_schema")
    if not schema and not isinstance(schema, Mapping):
        schema = None  # an empty list, say, as PHP writes an empty object
    return {
        **named(_get(definition, "name"), metadata),
        "description": _text(_get(definition, "description")),
        "parameters": _schema(schema, definition),
        "output_schema": _schema(_get(definition, "outputSchema", "output_schema"), definition),
        "annotations": _clean(_get(definition, "annotations")) or {},
        "tags": _fastmcp_tags(meta),
        "tool_type": "external_mcp",
        "example_requests": foreign_requests(_requests(meta) or _requests(definition)),
    }


def _check_kind(definition: object, owner: str, *, kind: str, key: str) -> None:
    """Raise for a definition of anything but a tool that the caller runs, or of another importer."""
    if not isinstance(definition, Mapping):
        raise InvalidToolError(f"an {owner} definition is a mapping, found {definition!r:.100}")
    _check_schema_key(definition.get("function", definition), key)
    if definition.get("type", kind) != kind or not isinstance(definition.get(kind, {}), Mapping):
        raise InvalidToolError(
            f"only definitions of type {kind!r} are tools, found type {definition.get('type')!r}: "
            "pass what the provider runs itself to it next to the tools"
        )


def _check_schema_key(definition: object, *keys: str) -> None:
    """Raise where the schema stands where another importer reads it: the tool would take nothing."""
    if not isinstance(definition, Mapping) or any(definition.get(key) is not None for key in keys):
        return
    for key, importer in _IMPORTERS.items():
        if definition.get(key) is not None and key not in keys:
            raise InvalidToolError(
                f"the definition of {definition.get('name')!r} has no {keys[0]!r}, found {key!r}: "
                f"use Tool.{importer}"
            )


def _schema(schema: Any, definition: object) -> Any:
    """Return a foreign schema, safe, with its type words mapped; `Tool` judges what is not a schema."""
    try:
        safe = foreign_schema(_plain(schema), tool=str(_get(definition, "name")))
        return map_types(freeze(safe, json_only=True))
    except (RecursionError, TypeError):
        return schema


def _text(description: Any) -> Any:
    """Return a foreign description, safe; `Tool` judges what is not a string."""
    return foreign_text(description) if isinstance(description, str) else description or ""


def _clean(value: Any) -> Any:
    """Return foreign JSON that is passed on, safe; `Tool` judges what is nested too deeply."""
    try:
        return foreign_json([*map(_plain, value)] if isinstance(value, list) else _plain(value))
    except RecursionError:
        return value


def _get(definition: object, *names: str) -> Any:
    """Return the first of several keys or attributes that is there and not None."""
    if isinstance(definition, Mapping):
        return next((definition[name] for name in names if definition.get(name) is not None), None)
    # FastMCP warns of every name that a model of the SDK had once, so only those that it has are asked for.
    fields = getattr(type(definition), "model_fields", names)
    values = (getattr(definition, name, None) for name in names if name in fields)
    return next((value for value in values if value is not None), None)


def _plain(value: Any) -> Any:
    """Return a pydantic object as the dict that is sent for it; other values unchanged."""
    dump = getattr(value, "model_dump", None)
    if dump is None or isinstance(value, type):
        return value
    return dump(mode="json", by_alias=True, exclude_none=True)


def _requests(part: Any) -> Any:
    """Return the example requests in a part of a definition, if it has any."""
    return next(filter(None, map(mapping_of(part).get, _REQUEST_KEYS)), ())


def _fastmcp_tags(meta: Any) -> frozenset[str]:
    """Return the tags that FastMCP servers put into `_meta`."""
    parts = (mapping_of(mapping_of(meta).get(key)) for key in ("fastmcp", "_fastmcp"))
    return foreign_tags(next(filter(None, (items_of(part.get("tags")) for part in parts)), ()))

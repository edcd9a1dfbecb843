"""Resources and prompts of the catalog, as MCP lists, reads, fills and completes them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import mcp_types as types
from pydantic import BaseModel

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.errors import ToolNotCallableError
from tool_search_processor.server.mcp.call_results import fit
from tool_search_processor.server.mcp.links import linked_contents, linked_messages
from tool_search_processor.session.tool_results import encode_result
from tool_search_processor.transforms.transform import Kind
from tool_search_processor.wire.plain import clean_text, plain, sendable

_CONTENTS = (types.TextResourceContents, types.BlobResourceContents)
MOST_VALUES = 100
"""The most values of a completion, as the protocol has it."""
_MOST_COUNTED = 10_000
_ENTRY = ("uri", "uri_template", "name", "title", "description", "mime_type", "arguments")
"""The fields of an entry in a list, as far as a kind has them."""
_LISTS: Mapping[Kind, tuple[type[BaseModel], type[BaseModel], str]] = {
    "resource": (types.Resource, types.ListResourcesResult, "resources"),
    "resource_template": (
        types.ResourceTemplate,
        types.ListResourceTemplatesResult,
        "resource_templates",
    ),
    "prompt": (types.Prompt, types.ListPromptsResult, "prompts"),
}
"""Of each kind: an entry, a list, and the list's field that holds the entries."""


def listed_text(component: Resource | ResourceTemplate | Prompt) -> str:
    """Return a string that is equal for components that clients see as equal."""
    return repr([getattr(component, field, None) for field in (*_ENTRY, "annotations", "metadata")])


def list_result(
    components: Iterable[Resource | ResourceTemplate | Prompt], *, kind: Kind, next_cursor: str | None
) -> Any:
    """Return a page of a list."""
    entry, result, field = _LISTS[kind]
    entries = [_wire(entry, component) for component in components]
    return result.model_validate({field: entries, "next_cursor": next_cursor})


async def read(component: Resource | ResourceTemplate, uri: str) -> types.ReadResourceResult:
    """Return the content of a resource: contents of MCP, text, or bytes as a blob; one of them or several.

    Raises:
        ToolNotCallableError: When it is a definition only.
    """
    if component.read is None:
        raise ToolNotCallableError(f"{uri} can't be read: it is a definition only")
    given = component.read(uri) if isinstance(component, ResourceTemplate) else component.read()
    content = await awaited(given)
    meta = getattr(content, "meta", None)
    if isinstance(content, types.ReadResourceResult):
        content = content.contents
    parts = content if isinstance(content, list | tuple) and content and _are_contents(content) else [content]
    contents = [_content(part, uri, component.mime_type) for part in parts]
    if len(contents) == 1:  # a transform may have changed the URI that a server calls it by
        contents = [contents[0].model_copy(update={"uri": uri})]
    else:
        contents = [linked_contents(each, component) for each in contents]
    return fit(types.ReadResourceResult(contents=contents, _meta=meta or None))


async def render(prompt: Prompt, arguments: Mapping[str, str]) -> types.GetPromptResult:
    """Return a prompt's messages: a result or messages of MCP as they are, or one text of the user.

    Raises:
        ToolNotCallableError: When it is a definition only.
    """
    if prompt.render is None:
        raise ToolNotCallableError(f"{prompt.name} can't be filled in: it is a definition only")
    given: Any = await awaited(prompt.render(arguments))
    if isinstance(given, types.GetPromptResult):
        messages = linked_messages(given.messages, prompt)
        return fit(given.model_copy(update={"messages": messages}))
    parts = given if isinstance(given, list | tuple) else [given]
    messages = linked_messages(map(_message, parts), prompt)
    meta = getattr(given, "meta", None) or None
    return fit(types.GetPromptResult(description=prompt.description or None, messages=messages, _meta=meta))


async def complete(
    component: Prompt | ResourceTemplate, params: types.CompleteRequestParams
) -> types.CompleteResult:
    """Return the values that a component offers; empty if it does not help."""
    if component.complete is None:
        return types.CompleteResult(completion=types.Completion(values=[]))
    known = (params.context.arguments if params.context else None) or {}
    offered = await awaited(component.complete(params.argument.name, params.argument.value, known))
    return types.CompleteResult(completion=_completion(offered))


def _wire(kind: type[BaseModel], component: Resource | ResourceTemplate | Prompt) -> BaseModel:
    """Return an entry of a list, without annotations that no client could read."""
    entry = {field: plain(getattr(component, field)) for field in _ENTRY if hasattr(component, field)}
    entry["description"] = component.description or None
    passed_on = {key: sendable(component.metadata.get(key)) for key in ("_meta", "icons", "size")}
    extra = {**passed_on, "annotations": sendable(component.annotations)}
    try:
        return kind.model_validate({**entry, **{key: value for key, value in extra.items() if value}})
    except ValueError:
        return kind.model_validate(entry)


def _are_contents(parts: Sequence[Any]) -> bool:
    return all(isinstance(part, _CONTENTS) or _is_wire_content(part) for part in parts)


def _is_wire_content(part: Any) -> bool:
    return isinstance(part, Mapping) and "uri" in part and ("text" in part or "blob" in part)


def _content(
    part: Any, uri: str, mime_type: str | None
) -> types.TextResourceContents | types.BlobResourceContents:
    if isinstance(part, _CONTENTS):
        return part
    if _is_wire_content(part):
        kind = types.TextResourceContents if "text" in part else types.BlobResourceContents
        return kind.model_validate(part)
    if isinstance(part, bytes | bytearray):
        blob = base64.b64encode(part).decode()
        return types.BlobResourceContents(uri=uri, mime_type=mime_type, blob=blob)
    return types.TextResourceContents(uri=uri, mime_type=mime_type, text=encode_result(part))


def _message(part: Any) -> types.PromptMessage:
    if isinstance(part, types.PromptMessage):
        return part
    if isinstance(part, Mapping) and "role" in part:
        content = part.get("content")
        if isinstance(content, str):
            content = {"type": "text", "text": content}
        return types.PromptMessage.model_validate({"role": part["role"], "content": content})
    return types.PromptMessage(role="user", content=types.TextContent(text=encode_result(part)))


def _completion(offered: Any) -> types.Completion:
    """Return offered completions in the protocol's form, at most as many as it allows."""
    if isinstance(offered, types.Completion | Mapping):
        given = types.Completion.model_validate(offered)
    else:
        listed = [offered] if isinstance(offered, str) else () if offered is None else offered
        values = [str(value) for value in islice(listed, _MOST_COUNTED + 1)]
        total = len(values) if len(values) <= _MOST_COUNTED else None
        given = types.Completion(values=values, total=total)
    values = [clean_text(value) for value in given.values[:MOST_VALUES]]
    has_more = given.has_more or len(given.values) > MOST_VALUES
    return given.model_copy(update={"values": values, "has_more": has_more})

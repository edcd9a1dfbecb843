"""URIs in what a namespaced provider answers, under which clients can read them here."""

from __future__ import annotations

from collections.abc import Iterable

import mcp_types as types

from tool_search_processor.transforms.namespace import namespaced_uri, uri_prefix_of
from tool_search_processor.transforms.transform import Component

_ABSOLUTE = ("http://", "https://", "data:")
"""What a client can read by itself, wherever it learned about it."""

Contents = types.TextResourceContents | types.BlobResourceContents


def linked_blocks(blocks: Iterable[types.ContentBlock], component: Component) -> list[types.ContentBlock]:
    """Return blocks of a component's answer, whose links and embedded resources have the URIs listed here."""
    prefix = uri_prefix_of(component)
    return [*blocks] if prefix is None else [_block(block, prefix) for block in blocks]


def linked_messages(
    messages: Iterable[types.PromptMessage], component: Component
) -> list[types.PromptMessage]:
    """Return a prompt's messages, as `linked_blocks` does."""
    return [
        message.model_copy(update={"content": linked_blocks([message.content], component)[0]})
        for message in messages
    ]


def linked_contents(contents: Contents, component: Component) -> Contents:
    """Return contents of a resource under the URI listed here."""
    prefix = uri_prefix_of(component)
    return contents if prefix is None else _contents(contents, prefix)


def _block(block: types.ContentBlock, prefix: str) -> types.ContentBlock:
    if isinstance(block, types.ResourceLink):
        return block.model_copy(update={"uri": _uri(block.uri, prefix)})
    if isinstance(block, types.EmbeddedResource):
        return block.model_copy(update={"resource": _contents(block.resource, prefix)})
    return block


def _contents(contents: Contents, prefix: str) -> Contents:
    return contents.model_copy(update={"uri": _uri(contents.uri, prefix)})


def _uri(uri: str, prefix: str) -> str:
    return uri if uri.lower().startswith(_ABSOLUTE) else namespaced_uri(uri, prefix)

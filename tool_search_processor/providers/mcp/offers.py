"""What a server offers besides its tools, as a gateway passes it on: resources and prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tool_search_processor.components import Complete, Prompt, PromptArgument, Resource, ResourceTemplate
from tool_search_processor.components.spellings import spellings_of
from tool_search_processor.providers.mcp.left_out import PROMPTS, RESOURCES, TEMPLATES, LeftOut, ListKind
from tool_search_processor.providers.mcp.rendering import MCPParts, wire_contents
from tool_search_processor.providers.mcp.server_lists import read_pages
from tool_search_processor.providers.mcp.tool_call import RequestSender
from tool_search_processor.wire.plain import hidden_in, visible_text

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import PromptReference, ResourceTemplateReference


class Offers:
    """Reads what a server offers besides its tools."""

    def __init__(self, caller: RequestSender, left_out: LeftOut) -> None:
        """Set what sends requests within their time, and what records the entries that are left out."""
        self._caller = caller
        self._left_out = left_out
        self.settings = caller.settings
        self._known: frozenset[str] | None = None
        """The listed URIs, in all spellings and lower case; None if there are no resources."""
        self._templates: Sequence[ResourceTemplate] | None = None
        """None until they are read: unknown and hidden resources look the same before."""

    async def resources(self, client: Client) -> list[Resource]:
        """Return the resources; runs in the background loop, as the next two do."""
        has_any = _has_resources(client)
        found = await self._read(client.list_resources, RESOURCES, is_offered=has_any)
        self._known = frozenset(map(str.casefold, _spelled(each.uri for each in found))) if has_any else None
        return [
            Resource(uri=each.uri, read=partial(self.read, each.uri), **_content_fields(each))
            for each in found
        ]

    async def templates(self, client: Client) -> list[ResourceTemplate]:
        """Return the templates of resources."""
        from mcp_types import ResourceTemplateReference

        found = await self._read(client.list_resource_templates, TEMPLATES, is_offered=_has_resources(client))
        self._templates = [
            ResourceTemplate(
                uri_template=each.uri_template,
                read=self.read,
                complete=self._complete(
                    client, each.uri_template, ResourceTemplateReference(uri=each.uri_template)
                ),
                **_content_fields(each),
            )
            for each in found
        ]
        return [*self._templates]

    def unlisted(self, uri: str) -> Resource | None:
        """Return a resource that is not in the lists last read; None if it is, in any spelling.

        A server that has resources may link to more of them than it lists:
        https://modelcontextprotocol.io/specification/2025-11-25/server/tools#resource-links
        """
        if self._known is None or self._templates is None:
            return None
        if any(each.matches(uri) for each in self._templates):
            return None
        if not self._known.isdisjoint(map(str.casefold, _spelled([uri]))):
            return None
        return Resource(uri=uri, read=partial(self.read, uri))

    async def prompts(self, client: Client) -> list[Prompt]:
        """Return the prompts."""
        from mcp_types import PromptReference

        has_any = client.server_capabilities.prompts is not None
        found = await self._read(client.list_prompts, PROMPTS, is_offered=has_any)
        return [
            Prompt(
                arguments=tuple(
                    PromptArgument(
                        name=one.name,
                        title=one.title,
                        description=one.description or "",
                        required=bool(one.required),
                    )
                    for one in each.arguments or ()
                ),
                render=partial(self.render, each.name),
                complete=self._complete(client, each.name, PromptReference(name=each.name)),
                **_fields(each),
            )
            for each in found
        ]

    async def read(self, uri: str) -> list[dict[str, Any]]:
        """Return a resource's contents as the protocol has them: `uri`, `mimeType`, `text` or `blob`.

        Raises:
            ToolCallError: It can't be read.
        """
        result = await self._caller.send(uri, lambda client, _: client.read_resource(uri))
        return MCPParts(result.contents, meta=result.meta)

    async def render(self, name: str, arguments: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return a prompt's messages as the protocol has them: `role` and one block of `content` each.

        Raises:
            ToolCallError: It can't be filled in.
        """
        given = {key: str(value) for key, value in arguments.items()}
        result = await self._caller.send(name, lambda client, _: client.get_prompt(name, given))
        return MCPParts(result.messages, meta=result.meta)

    def _complete(
        self, client: Client, what: str, reference: PromptReference | ResourceTemplateReference
    ) -> Complete | None:
        """Return what completes the arguments of a prompt or a template; None if the server can't."""
        if client.server_capabilities.completions is None:
            return None

        async def complete(name: str, value: str, known: Mapping[str, str]) -> dict[str, Any]:
            argument = {"name": name, "value": value}
            result = await self._caller.send(
                what, lambda client, _: client.complete(reference, argument, dict(known) or None)
            )
            return wire_contents([result.completion])[0]

        return complete

    async def _read(
        self, fetch: Callable[..., Awaitable[Any]], kind: ListKind, *, is_offered: bool
    ) -> list[Any]:
        """Return a whole list; an empty one if the server doesn't have this kind of list."""
        from mcp import MCPError
        from mcp_types import METHOD_NOT_FOUND

        if not is_offered:
            return []
        try:
            found = await read_pages(fetch, kind, limit=self.settings.max_tools, left_out=self._left_out)
        except MCPError as exc:
            # A server may announce resources, for example, and have only templates, or neither.
            if exc.code == METHOD_NOT_FOUND:
                return []
            raise
        for item in found:
            self._left_out.note_hidden(kind.method, visible_text(getattr(item, kind.key)), _hidden_in(item))
        return found


def _hidden_in(item: Any) -> int:
    """Return how many invisible characters are in the texts of an entry."""
    entries = (item, *(getattr(item, "arguments", None) or ()))
    texts = (getattr(entry, key) for entry in entries for key in ("name", "title", "description"))
    return sum(hidden_in(text) for text in texts if text)


def _has_resources(client: Client) -> bool:
    return client.server_capabilities.resources is not None


def _spelled(uris: Iterable[str]) -> Iterator[str]:
    """Yield URIs, and the spellings that servers treat as equal."""
    for uri in uris:
        yield uri
        yield from spellings_of(uri)


def _content_fields(item: Any) -> dict[str, Any]:
    annotations = wire_contents([item.annotations])[0] if item.annotations else {}
    return {**_fields(item), "mime_type": item.mime_type, "annotations": annotations}


def _fields(item: Any) -> dict[str, Any]:
    icons, size = wire_contents(item.icons or ()), getattr(item, "size", None)
    for_clients = {"_meta": item.meta, "icons": icons, "size": size}
    return {
        "name": item.name,
        "title": item.title,
        "description": item.description or "",
        "metadata": {key: value for key, value in for_clients.items() if value},
    }

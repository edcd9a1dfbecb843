"""A server's resources and prompts: for a gateway as components, for a model as four tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tool_search_processor.components import Prompt, PromptArgument, Resource, ResourceTemplate
from tool_search_processor.providers.mcp.calls import Caller
from tool_search_processor.providers.mcp.listing import read_pages
from tool_search_processor.providers.mcp.rendering import contents_text, messages_text, wire_contents
from tool_search_processor.tools import Tool

if TYPE_CHECKING:
    from mcp import Client

_READ_ONLY = {"readOnlyHint": True}
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


class Offers:
    """Reads what a server offers beside its tools."""

    def __init__(self, caller: Caller) -> None:
        """Take what sends a request in time."""
        self._caller = caller
        self.settings = caller.settings

    async def resources(self, client: Client) -> list[Resource]:
        """Return the resources; in the background loop, as the next two."""
        found = await self._read(client, "resources", "list_resources", "resources")
        return [
            Resource(
                uri=item.uri,
                name=item.name,
                title=item.title,
                description=item.description or "",
                mime_type=item.mime_type,
                annotations=_annotations(item),
                metadata=_metadata(item),
                read=partial(self.read, item.uri),
            )
            for item in found
        ]

    async def templates(self, client: Client) -> list[ResourceTemplate]:
        """Return the templates of resources."""
        found = await self._read(client, "resources", "list_resource_templates", "resource_templates")
        return [
            ResourceTemplate(
                uri_template=item.uri_template,
                name=item.name,
                title=item.title,
                description=item.description or "",
                mime_type=item.mime_type,
                annotations=_annotations(item),
                metadata=_metadata(item),
                read=self.read,
            )
            for item in found
        ]

    async def prompts(self, client: Client) -> list[Prompt]:
        """Return the prompts."""
        found = await self._read(client, "prompts", "list_prompts", "prompts")
        return [
            Prompt(
                name=item.name,
                title=item.title,
                description=item.description or "",
                arguments=tuple(
                    PromptArgument(
                        name=each.name, description=each.description or "", required=bool(each.required)
                    )
                    for each in item.arguments or ()
                ),
                metadata=_metadata(item),
                render=partial(self.render, item.name),
            )
            for item in found
        ]

    async def read(self, uri: str) -> list[dict[str, Any]]:
        """Return a resource's contents as the protocol has them: `uri`, `mimeType`, `text` or `blob`.

        Raises:
            ToolCallError: It can't be read.
        """
        return wire_contents((await self._caller.read(uri)).contents)

    async def render(self, name: str, arguments: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return a prompt's messages as the protocol has them: `role` and one block of `content` each.

        Raises:
            ToolCallError: It can't be had.
        """
        given = {key: str(value) for key, value in arguments.items()}
        return wire_contents((await self._caller.get_prompt(name, given)).messages)

    async def _read(self, client: Client, *names: str) -> list[Any]:
        capability, method, attribute = names
        if getattr(client.server_capabilities, capability) is None:
            return []
        fetch = getattr(client, method)
        return await read_pages(
            lambda cursor: fetch(cursor=cursor),
            attribute,
            limit=self.settings.max_tools,
            server=self.settings.name,
        )


class OfferTools:
    """Tools by which a model reads resources and prompts."""

    def __init__(self, offers: Offers, provider: Any) -> None:
        """Take what reads, and the provider, whose lists the tools show."""
        self._offers = offers
        self._provider = provider
        self._limit = offers.settings.max_result_characters
        self._server = provider.name

    def for_resources(self, *, taken: Collection[str]) -> Sequence[Tool]:
        """Return two tools: one lists resources, one reads them.

        Args:
            taken: Names that the server's own tools have.
        """
        parameters = {
            "type": "object",
            "properties": {"uri": {"type": "string", "description": "As listed, or made from a template."}},
            "required": ["uri"],
        }
        return (
            self._tool(
                "list_resources",
                f"List the resources (files, records, documents) of the server {self._server!r}.",
                self._list_resources,
                taken=taken,
            ),
            self._tool(
                "read_resource",
                f"Read a resource of the server {self._server!r} by its URI.",
                self._read_resource,
                taken=taken,
                parameters=parameters,
            ),
        )

    def for_prompts(self, *, taken: Collection[str]) -> Sequence[Tool]:
        """Return two tools: one lists prompts, one fills them in.

        Args:
            taken: Names that the server's own tools have.
        """
        values = {"type": "object", "additionalProperties": {"type": "string"}}
        parameters = {
            "type": "object",
            "properties": {"name": {"type": "string"}, "arguments": values},
            "required": ["name"],
        }
        return (
            self._tool(
                "list_prompts",
                f"List the prompts (instructions to fill in) that the server {self._server!r} has, and their "
                "arguments.",
                self._list_prompts,
                taken=taken,
            ),
            self._tool(
                "get_prompt",
                f"Fill in a prompt of the server {self._server!r} and return its messages.",
                self._get_prompt,
                taken=taken,
                parameters=parameters,
            ),
        )

    def _tool(
        self,
        name: str,
        description: str,
        execute: Any,
        *,
        taken: Collection[str],
        parameters: dict[str, Any] = _NO_PARAMETERS,
    ) -> Tool:
        while name in taken:
            name = f"server_{name}"
        return Tool(
            name=name,
            description=description,
            parameters=parameters,
            execute=execute,
            namespace=self._provider.namespace,
            tool_type="external_mcp",
            annotations=_READ_ONLY,
            # tells the same tools of two servers apart where neither is namespaced
            metadata={"original_name": f"{self._server}:{name}"},
        )

    async def _list_resources(self) -> dict[str, Any]:
        resources = await self._provider.list_resources({})
        templates = await self._provider.list_resource_templates({})
        return {
            "resources": [_described(each, uri=each.uri) for each in resources],
            "templates": [_described(each, uri_template=each.uri_template) for each in templates],
        }

    async def _read_resource(self, uri: str) -> str:
        return contents_text(await self._offers.read(uri), limit=self._limit)

    async def _list_prompts(self) -> dict[str, Any]:
        return {
            "prompts": [
                {
                    **_described(prompt),
                    "arguments": [
                        {"name": each.name, "description": each.description, "required": each.required}
                        for each in prompt.arguments
                    ],
                }
                for prompt in await self._provider.list_prompts({})
            ]
        }

    async def _get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> str:
        return messages_text(await self._offers.render(name, arguments or {}), limit=self._limit)


def _described(component: Any, **more: str) -> dict[str, str]:
    described = {**more, "name": component.name}
    if component.description:
        described["description"] = component.description
    return described


def _annotations(item: Any) -> dict[str, Any]:
    return wire_contents([item.annotations])[0] if item.annotations else {}


def _metadata(item: Any) -> dict[str, Any]:
    return {"_meta": item.meta} if item.meta else {}

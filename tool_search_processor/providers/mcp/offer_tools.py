"""Tools by which a model reads a server's resources and prompts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tool_search_processor.providers.mcp.offers import Offers
from tool_search_processor.providers.mcp.rendering import contents_text, messages_text
from tool_search_processor.tools import Tool
from tool_search_processor.tools.schemas import EMPTY_PARAMETERS

_READ_ONLY = {"readOnlyHint": True}
_ONE_RESOURCE = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "As listed, or made from a template."}},
    "required": ["uri"],
}
_ONE_PROMPT = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["name"],
}


class OfferTools:
    """Tools by which a model reads resources and prompts."""

    def __init__(self, offers: Offers, provider: Any) -> None:
        """Set what reads, and the provider whose lists the tools show."""
        self._offers = offers
        self._provider = provider
        self._limit = offers.settings.max_result_characters
        self._server = provider.name
        self._made: dict[str, Tool] = {}  # a list that is read again holds the same tools

    def for_resources(self, *, taken: Collection[str]) -> Sequence[Tool]:
        """Return two tools: one lists resources, one reads them.

        Args:
            taken: Names that the server's own tools have.
        """
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
                parameters=_ONE_RESOURCE,
            ),
        )

    def for_prompts(self, *, taken: Collection[str]) -> Sequence[Tool]:
        """Return two tools: one lists prompts, one fills them in.

        Args:
            taken: Names that the server's own tools have.
        """
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
                parameters=_ONE_PROMPT,
            ),
        )

    def _tool(
        self,
        name: str,
        description: str,
        execute: Any,
        *,
        taken: Collection[str],
        parameters: Mapping[str, Any] = EMPTY_PARAMETERS,
    ) -> Tool:
        while name in taken:
            name = f"server_{name}"
        if name not in self._made:
            self._made[name] = Tool(
                name=name,
                description=description,
                parameters=parameters,
                execute=execute,
                namespace=self._provider.namespace,
                tool_type="external_mcp",
                annotations=_READ_ONLY,
                # distinguishes the same tools of two servers if neither has a namespace
                metadata={"original_name": f"{self._server}:{name}"},
            )
        return self._made[name]

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

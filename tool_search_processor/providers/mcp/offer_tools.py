"""Tools by which a model reads a server's resources and prompts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tool_search_processor.components import Prompt
from tool_search_processor.providers.mcp.offers import Offers
from tool_search_processor.providers.mcp.rendering import contents_text, messages_text
from tool_search_processor.tools import Tool
from tool_search_processor.tools.schemas import EMPTY_PARAMETERS

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

_TOOLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "list_resources": (
        "List the resources (files, records, documents) of the server {!r}.",
        EMPTY_PARAMETERS,
    ),
    "read_resource": ("Read a resource of the server {!r} by its URI.", _ONE_RESOURCE),
    "list_prompts": (
        "List the prompts (instructions to fill in) that the server {!r} has, and their arguments.",
        EMPTY_PARAMETERS,
    ),
    "get_prompt": ("Fill in a prompt of the server {!r} and return its messages.", _ONE_PROMPT),
}


class OfferTools:
    """Tools by which a model reads resources and prompts."""

    def __init__(self, offers: Offers, provider: Any) -> None:
        """Set what reads, and the provider whose lists the tools show."""
        self._offers = offers
        self._provider = provider
        self._limit = offers.settings.max_result_characters
        self._made: dict[str, Tool] = {}  # a list that is read again holds the same tools

    def tools(self, *, taken: Collection[str]) -> list[Tool]:
        """Return the tools that the provider's options ask for.

        Args:
            taken: Names that the server's own tools have.
        """
        wanted: dict[str, Any] = {}
        if self._offers.settings.resources_as_tools:
            wanted |= {"list_resources": self._list_resources, "read_resource": self._read_resource}
        if self._offers.settings.prompts_as_tools:
            wanted |= {"list_prompts": self._list_prompts, "get_prompt": self._get_prompt}
        return [self._tool(key, execute, taken) for key, execute in wanted.items()]

    def _tool(self, key: str, execute: Any, taken: Collection[str]) -> Tool:
        name, (description, parameters), server = key, _TOOLS[key], self._provider.name
        while name in taken:
            name = f"server_{name}"
        if name not in self._made:
            self._made[name] = Tool(
                name=name,
                description=description.format(server),
                parameters=parameters,
                execute=execute,
                namespace=self._provider.namespace,
                tool_type="external_mcp",
                annotations={"readOnlyHint": True},
                # distinguishes the same tools of two servers if neither has a namespace
                metadata={"original_name": f"{server}:{name}"},
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
        prompts = await self._provider.list_prompts({})
        return {"prompts": [{**_described(each), "arguments": _arguments(each)} for each in prompts]}

    async def _get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> str:
        return messages_text(await self._offers.render(name, arguments or {}), limit=self._limit)


def _described(component: Any, **more: str) -> dict[str, str]:
    described = {**more, "name": component.name}
    if component.description:
        described["description"] = component.description
    return described


def _arguments(prompt: Prompt) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "description": each.description, "required": each.required}
        for each in prompt.arguments
    ]

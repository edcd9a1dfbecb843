import asyncio
import threading

import pytest
from mcp.server import MCPServer, Server
from mcp.types import CallToolResult, ListToolsResult, TextContent
from mcp.types import Tool as Definition

from tool_search_processor.errors import ConfigurationError, ProviderError, ToolCallError
from tool_search_processor.providers import MCPProvider


def small():
    server = MCPServer("shop")

    @server.tool()
    def price(item: str) -> str:
        """Look a price up."""
        return f"{item} on {threading.current_thread().name}"

    return server


async def test_the_server_runs_in_the_background_loop():
    async with MCPProvider.in_memory(small(), call_timeout_seconds=None) as provider:
        assert (provider.name, provider.namespace) == ("shop", None)
        (tool,) = await provider.list_tools({})
        answer = await tool.call({"item": "tea"})
        assert "tea on" in answer
        assert threading.current_thread().name not in answer
        assert await provider.list_prompts({}) == []


async def test_a_result_must_fit_its_own_schema():
    async def list_tools(context, params):
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        definition = Definition(name="count", input_schema={"type": "object"}, output_schema=schema)
        return ListToolsResult(tools=[definition])

    async def call_tool(context, params):
        return CallToolResult(content=[TextContent(type="text", text="x")], structured_content={"n": "x"})

    server = Server("odd", on_list_tools=list_tools, on_call_tool=call_tool)
    async with MCPProvider.in_memory(server, name="odd") as provider:
        (tool,) = await provider.list_tools({})
        with pytest.raises(
            ToolCallError, match=r"count was run, but .* it does not fit: `n` must be an integer"
        ):
            await tool.call({})


async def test_a_server_without_tools_has_none():
    async with MCPProvider.in_memory(Server("empty")) as provider:
        assert await provider.list_tools({}) == ()
        assert await provider.list_resources({}) == []


async def test_a_listing_that_fails_is_told_with_the_server_s_name():
    async def list_tools(context, params):
        raise ValueError("no list today")

    async with MCPProvider.in_memory(Server("odd", on_list_tools=list_tools)) as provider:
        with pytest.raises(ProviderError, match="the MCP server 'odd' could not list: Internal server error"):
            await provider.list_tools({})


def test_it_serves_any_loop_and_any_thread():
    provider = MCPProvider.in_memory(small())
    answers = []

    async def ask():
        (tool,) = await provider.list_tools({})
        answers.append(await tool.call({"item": "tea"}))

    asyncio.run(ask())
    asyncio.run(ask())
    threads = [threading.Thread(target=asyncio.run, args=(ask(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    asyncio.run(provider.aclose())


@pytest.mark.parametrize("found", ["server", MCPServer])
def test_what_is_no_server(found):
    with pytest.raises(ConfigurationError, match="server is an MCPServer or a Server of the mcp SDK, found"):
        MCPProvider.in_memory(found)

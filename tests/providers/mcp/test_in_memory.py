import asyncio
import threading
from contextlib import asynccontextmanager

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


@pytest.mark.parametrize(
    ("structured", "wrong"),
    [({"n": "x"}, "`n` must be an integer, found"), (..., "there is no structured content")],
)
async def test_a_result_that_breaks_its_own_schema_is_passed_on_with_a_warning(structured, wrong, caplog):
    async def list_tools(context, params):
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        definition = Definition(name="count", input_schema={"type": "object"}, output_schema=schema)
        return ListToolsResult(tools=[definition])

    async def call_tool(context, params):
        given = {} if structured is ... else {"structured_content": structured}
        return CallToolResult(content=[TextContent(type="text", text="1 product")], **given)

    server = Server("odd", on_list_tools=list_tools, on_call_tool=call_tool)
    async with MCPProvider.in_memory(server, name="odd") as provider:
        (tool,) = await provider.list_tools({})
        for _ in range(2):
            assert "1 product" in await tool.call({})
    (message,) = caplog.messages
    assert "'count' of the MCP server 'odd' does not fit the tool's outputSchema" in message
    assert wrong in message


async def test_an_error_carries_what_the_server_sent():
    async def list_tools(context, params):
        return ListToolsResult(tools=[Definition(name="buy", input_schema={"type": "object"})])

    async def call_tool(context, params):
        spent = {"code": "SPENT", "wait_seconds": 12}
        return CallToolResult(is_error=True, content=[], structured_content=spent, meta={"trace": "1"})

    server = Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)
    async with MCPProvider.in_memory(server) as provider:
        with pytest.raises(ToolCallError, match='"code": "SPENT", "wait_seconds": 12') as failure:
            await (await provider.list_tools({}))[0].call({})
    assert failure.value.result.structured_content == {"code": "SPENT", "wait_seconds": 12}
    assert failure.value.result.meta["trace"] == "1"


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
    with pytest.raises(ConfigurationError, match=r"server is an MCPServer .*, or a FastMCP .*, found"):
        MCPProvider.in_memory(found)


async def test_a_server_that_holds_one_of_the_sdk_and_has_a_lifespan_runs_with_both():
    """As FastMCP's do; the package itself is tried where it is installed (`.ci/clients`)."""
    told = []

    class Held:
        name = "held"
        _mcp_server = Server("inner")

        @asynccontextmanager
        async def _lifespan_manager(self):
            told.append("begin")
            yield
            told.append("end")

    async with MCPProvider.in_memory(Held()) as provider:
        assert provider.name == "held"
        assert await provider.list_tools({}) == ()
    assert told == ["begin", "end"]

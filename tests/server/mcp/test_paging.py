"""Long lists come page by page; the meta-tools are on the first one."""

import base64

import pytest
from mcp import MCPError

from tests.server.mcp.support import connected
from tool_search_processor import Tool
from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.providers.provider import Provider
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.server.mcp.paging import PAGE_SIZE
from tool_search_processor.server.mcp.tool_modes import on_demand


class Many(Provider):
    """Lists many of everything."""

    name = "many"

    def __init__(self, count):
        self.count = count

    async def list_tools(self, context):
        tools = [Tool(f"tool_{place}", f"Do {place}.") for place in range(self.count)]
        return [*tools, on_demand(Tool("hidden", "Hidden."))]

    async def list_resources(self, context):
        return [Resource(uri=f"x://{place}", name=f"{place}") for place in range(self.count)]

    async def list_resource_templates(self, context):
        return [
            ResourceTemplate(uri_template=f"x{place}://{{name}}", name=f"{place}")
            for place in range(self.count)
        ]

    async def list_prompts(self, context):
        return [Prompt(name=f"prompt_{place}") for place in range(self.count)]


async def pages(ask, what):
    """Return the names of each page."""
    found, cursor = [], None
    while True:
        answer = await ask(cursor=cursor)
        found.append([each.name for each in getattr(answer, what)])
        cursor = answer.next_cursor
        if cursor is None:
            return found


async def test_every_list_is_read_to_its_end():
    count = 2 * PAGE_SIZE
    async with connected(ToolServer([Many(count)])) as client:
        tools = await pages(client.list_tools, "tools")
        assert [len(page) for page in tools] == [PAGE_SIZE, PAGE_SIZE, 2]
        expected = ["search_tools", "call_tool", *(f"tool_{place}" for place in range(count))]
        assert [name for page in tools for name in page] == expected
        for ask, what in (
            (client.list_resources, "resources"),
            (client.list_resource_templates, "resource_templates"),
            (client.list_prompts, "prompts"),
        ):
            found = await pages(ask, what)
            assert [len(page) for page in found] == [PAGE_SIZE, PAGE_SIZE]
            assert len({name for page in found for name in page}) == count


@pytest.mark.parametrize("count", [0, 1, PAGE_SIZE - 2, PAGE_SIZE - 1])
async def test_the_first_page_holds_the_meta_tools(count):
    async with connected(ToolServer([Many(count)])) as client:
        found = await pages(client.list_tools, "tools")
    assert {"search_tools", "call_tool"} <= {*found[0]}
    assert len(found) == (1 if count + 2 <= PAGE_SIZE else 2)


def encoded(text):
    return base64.urlsafe_b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "\x00",
        "é" * 300,
        "A" * 100_000,
        *map(encoded, ["0", "-1", "1.5", "9" * 60, "1002", "x", "True"]),
    ],
)
async def test_a_cursor_that_leads_nowhere_is_refused(cursor):
    async with connected(ToolServer([Many(PAGE_SIZE)])) as client:
        for ask in (
            client.list_tools,
            client.list_resources,
            client.list_resource_templates,
            client.list_prompts,
        ):
            with pytest.raises(MCPError, match="Unknown cursor: begin the list again without one") as refused:
                await ask(cursor=cursor)
            assert refused.value.code == -32602

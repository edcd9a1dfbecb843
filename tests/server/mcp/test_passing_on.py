"""What a server upstream says to clients reaches the clients of a front before it."""

from contextlib import asynccontextmanager

import mcp_types as types
import pytest
from mcp.server import Server

from tests.server.mcp.support import connected
from tool_search_processor import Tool
from tool_search_processor.providers import MCPProvider
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.transforms import Namespace

ICONS = [types.Icon(src="https://x.test/i.png", mime_type="image/png", sizes=["48x48"])]
META = {"x.test/trace": "1"}
OBJECT = {"type": "object"}
TEXT = types.TextContent(type="text", text="ok", _meta=META)
LISTED = {"title": "A title", "icons": ICONS, "_meta": META}
RESULTS = {
    "drop": types.CallToolResult(content=[TEXT], structured_content={"rows": 3}, _meta=META),
    "fail": types.CallToolResult(
        content=[TEXT], structured_content={"code": "SPENT"}, is_error=True, _meta=META
    ),
    "fall": types.CallToolResult(content=[], structured_content={"code": "SPENT"}, is_error=True, _meta=META),
}


async def list_tools(context, params):
    hints = types.ToolAnnotations(title="Hint", read_only_hint=True)
    more = {"annotations": hints, "output_schema": OBJECT}
    return types.ListToolsResult(
        tools=[types.Tool(name=name, input_schema=OBJECT, **more, **LISTED) for name in RESULTS]
    )


async def call_tool(context, params):
    return RESULTS[params.name]


async def list_resources(context, params):
    return types.ListResourcesResult(resources=[types.Resource(uri="a://b", name="b", size=7, **LISTED)])


async def list_templates(context, params):
    template = types.ResourceTemplate(uri_template="a://{b}", name="t", **LISTED)
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(context, params):
    contents = [types.TextResourceContents(uri=params.uri, text="ok", _meta=META)]
    return types.ReadResourceResult(contents=contents, _meta=META)


async def list_prompts(context, params):
    argument = types.PromptArgument(name="who", title="Who", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="p", arguments=[argument], **LISTED)])


async def get_prompt(context, params):
    message = types.PromptMessage(role="user", content=TEXT)
    return types.GetPromptResult(messages=[message], _meta=META)


def upstream():
    return Server(
        "up",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


WAYS = pytest.mark.parametrize("way", ["memory", "memory without handshake"])


@asynccontextmanager
async def through_a_front(way):
    """Connect a client to a front before a server."""
    provider = MCPProvider.in_memory(upstream())
    front = ToolServer([provider.with_transforms(Namespace("up"))])
    async with provider, connected(front, way) as client:
        yield client


def own(meta):
    return {key: value for key, value in (meta or {}).items() if key in META}


@WAYS
async def test_what_a_tool_says_of_itself(way):
    async with through_a_front(way) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    tool = tools["up_drop"]
    assert (tool.title, tool.icons, tool.meta) == ("A title", ICONS, META)
    assert (tool.annotations.title, tool.annotations.read_only_hint) == ("Hint", True)
    assert tool.output_schema == OBJECT


async def test_how_a_tool_is_executed_is_told_to_clients_of_the_protocol_that_has_it():
    entry = {"name": "train", "inputSchema": OBJECT, "execution": {"taskSupport": "optional"}}
    async with connected(ToolServer([Tool.from_mcp(entry)]), "memory") as client:
        (tool, *_) = (await client.list_tools()).tools
    assert tool.execution.task_support == "optional"


@WAYS
@pytest.mark.parametrize("is_proxied", [False, True])
@pytest.mark.parametrize("name", RESULTS)
async def test_what_a_tool_answers(name, is_proxied, way):
    call = ("call_tool", {"name": f"up_{name}"}) if is_proxied else (f"up_{name}", {})
    async with through_a_front(way) as client:
        answer = await client.call_tool(*call)
    given = RESULTS[name]
    assert answer.is_error == bool(given.is_error)
    assert answer.structured_content == given.structured_content
    assert own(answer.meta) == META
    if given.content:
        assert answer.content == given.content
    else:
        assert "SPENT" in answer.content[0].text


@WAYS
async def test_what_resources_and_prompts_say_and_answer(way):
    async with through_a_front(way) as client:
        (resource,) = (await client.list_resources()).resources
        (template,) = (await client.list_resource_templates()).resource_templates
        (prompt,) = (await client.list_prompts()).prompts
        read = await client.read_resource(resource.uri)
        made = await client.get_prompt(prompt.name, {"who": "Ada"})
    for listed in (resource, template, prompt):
        assert (listed.title, listed.icons, listed.meta) == ("A title", ICONS, META)
    assert resource.size == 7
    assert prompt.arguments[0].title == "Who"
    assert (own(read.meta), read.contents[0].meta) == (META, META)
    assert (own(made.meta), made.messages[0].content) == (META, TEXT)

"""What tools, resources and prompts answer is anybody's: whatever it is, the client hears an answer."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from tests.server.mcp.support import WAYS, connected, proxied, text
from tool_search_processor import Tool
from tool_search_processor.components import Prompt, Resource
from tool_search_processor.providers.mcp.rendering import render_result
from tool_search_processor.providers.provider import Provider
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.tools import ToolContext

pytestmark = pytest.mark.slow

HALF = "half \ud800"
NO_NUMBER = float("nan")
DEEP: dict[str, Any] = {}
for _ in range(3000):
    DEEP = {"a": DEEP}


def result(**given: Any) -> types.CallToolResult:
    return types.CallToolResult(**{"content": [], **given})


VALUES = {
    "text": types.TextContent(text=HALF),
    "texts": [types.TextContent(text=HALF), types.TextContent(text="whole")],
    "link": types.ResourceLink(name=HALF, uri="file:///x"),
    "embedded": types.EmbeddedResource(resource=types.TextResourceContents(uri="x:y", text=HALF)),
    "image": types.ImageContent(data=HALF, mime_type=HALF),
    "result": result(content=[types.TextContent(text=HALF)], structured_content={HALF: HALF, "n": NO_NUMBER}),
    "meta": result(_meta={HALF: [HALF]}),
    "deep_result": result(structured_content=DEEP),
    "deep_data": DEEP,
    "data": {HALF: HALF, "n": NO_NUMBER},
    "upstream": render_result(result(content=[types.TextContent(text=HALF)]), limit=None),
    "long": "x" * 1_000_000,
}


def giving(value: Any) -> Any:
    def execute() -> Any:
        return value

    return execute


def reports(context: ToolContext) -> str:
    for progress, message in ((1, HALF), (NO_NUMBER, "none"), (float("inf"), "no end"), (2, "\r\n")):
        context.context["report_progress"](progress, None, message)
    for data in (HALF, {"n": NO_NUMBER}, DEEP, object()):
        context.context["log"]("info", data, logger=HALF)
    return "reported"


class Answers(Provider):
    """Answers whatever there is."""

    name = "answers"

    async def list_tools(self, context):
        tools = [
            Tool(name, "Give.", {"type": "object"}, execute=giving(value)) for name, value in VALUES.items()
        ]
        return [*tools, Tool("reports", "Tell.", {"type": "object"}, execute=reports)]

    async def list_resources(self, context):
        contents = types.TextResourceContents(uri="a:b", text=HALF)
        kinds = [HALF, contents, types.ReadResourceResult(contents=[contents]), {"uri": "a:b", "text": HALF}]
        return [
            Resource(uri=f"x://{place}", name=f"{place} {HALF}", description=HALF, read=giving(kind))
            for place, kind in enumerate(kinds)
        ]

    async def list_prompts(self, context):
        message = {"role": "user", "content": HALF}
        kinds = [HALF, message, types.GetPromptResult(description=HALF, messages=[]), {"role": "emperor"}]
        return [
            Prompt(name=f"p{place}", description=HALF, render=lambda _, kind=kind: kind)
            for place, kind in enumerate(kinds)
        ]


@pytest.mark.parametrize("way", WAYS)
async def test_whatever_is_answered_reaches_the_client_and_the_next_call_does_too(way):
    heard = []

    async def progress(*told: Any) -> None:
        heard.append(told)

    async with connected(ToolServer([Answers()]), way) as client:
        for name in VALUES:
            for answer in (await client.call_tool(name, {}), await proxied(client, name)):
                json.dumps(answer.model_dump(), allow_nan=False).encode()
                assert answer.is_error == (name == "deep_result")
        assert text(await client.call_tool("deep_result", {})).endswith("it is nested too deeply")
        assert text(await client.call_tool("reports", {}, progress_callback=progress)) == "reported"
        assert (1, None, "half \ufffd") in heard
        for place in range(4):
            assert (await client.read_resource(f"x://{place}")).contents[0].text == "half \ufffd"
        for place in range(3):
            (await client.get_prompt(f"p{place}")).model_dump_json().encode()
        with pytest.raises(MCPError, match="role"):
            await client.get_prompt("p3")
        assert len((await client.list_resources()).resources) == 4
        assert len((await client.list_prompts()).prompts) == 4

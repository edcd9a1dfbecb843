"""The Claude Agent SDK with a `ToolServer` of ours, through the SDK's own bridge to in-process servers."""

import json
from contextlib import asynccontextmanager

import pytest

pytest.importorskip("claude_agent_sdk", reason="needs pip install claude-agent-sdk")

from claude_agent_sdk import ClaudeAgentOptions
from claude_agent_sdk._internal.sdk_mcp_bridge import SdkMcpBridge  # what its Query makes of each server

from tool_search_processor import Catalog, Tool
from tool_search_processor.server.mcp import ToolServer

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
MAIL = {"name": "send_mail", "arguments": {"city": "Rome"}}


def fail(city):
    raise ValueError("no such city")


CATALOG = Catalog(
    [
        Tool("weather_forecast", "Tells the weather of a city.", SCHEMA, lambda city: f"sunny in {city}"),
        Tool("send_mail", "Sends a mail to a city.", SCHEMA, lambda city: f"mailed {city}"),
        Tool("broken_tool", "Breaks.", SCHEMA, fail),
    ]
)


class Claude:
    """Asks what Claude Code asks of a server in its options."""

    def __init__(self, bridge):
        self._bridge, self._id = bridge, 0

    async def ask(self, method, **params):
        self._id += 1
        answer = await self._bridge.handle(
            {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        )
        return answer["result"]

    async def listed(self):
        return [tool["name"] for tool in (await self.ask("tools/list"))["tools"]]

    async def call(self, name, arguments):
        return await self.ask("tools/call", name=name, arguments=arguments)

    async def found(self, query):
        answer = await self.call("search_tools", {"query": query})
        return [one["name"] for one in json.loads(answer["content"][0]["text"])["results"]]


@asynccontextmanager
async def claude(denied=()):
    server = ToolServer(CATALOG, mode="discovery", filter=lambda request: request.tool_name not in denied)
    config = {"type": "sdk", "name": "tools", "instance": server.lowlevel}
    options = ClaudeAgentOptions(mcp_servers={"tools": config})
    bridge = SdkMcpBridge("tools", options.mcp_servers["tools"]["instance"])
    asking = Claude(bridge)
    try:
        client = {"name": "claude-code", "version": "2"}
        await asking.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        await bridge.handle({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield asking
    finally:
        await bridge.aclose()


async def test_two_tools_are_listed_and_the_rest_is_found_and_called():
    async with claude() as asking:
        assert await asking.listed() == ["search_tools", "call_tool"]
        assert (await asking.found("weather"))[0] == "weather_forecast"
        answer = await asking.call("call_tool", {"name": "weather_forecast", "arguments": {"city": "Rome"}})
        assert answer["content"][0]["text"] == "sunny in Rome"
        assert not answer.get("isError")


@pytest.mark.parametrize(("name", "arguments"), [("call_tool", MAIL), ("send_mail", MAIL["arguments"])])
async def test_a_denied_tool_is_neither_found_nor_run(name, arguments):
    async with claude(denied={"send_mail"}) as asking:
        assert "send_mail" not in await asking.found("send mail")
        answer = await asking.call(name, arguments)
        assert answer["isError"] is True
        assert "mailed" not in answer["content"][0]["text"]


async def test_each_session_has_a_server_with_a_policy_of_its_own():
    async with claude() as ada, claude(denied={"send_mail"}) as eve:
        assert "send_mail" in await ada.found("send mail")
        assert "send_mail" not in await eve.found("send mail")
        assert (await ada.call("call_tool", MAIL))["content"][0]["text"] == "mailed Rome"
        assert (await eve.call("call_tool", MAIL))["isError"] is True


async def test_a_tool_that_fails_is_an_error_for_claude():
    async with claude() as asking:
        answer = await asking.call("call_tool", {"name": "broken_tool", "arguments": {"city": "Rome"}})
        assert answer["isError"] is True
        assert "no such city" in answer["content"][0]["text"]

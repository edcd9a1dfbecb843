"""A server of the official SDK that asks its client during a call, in the way of either protocol version."""

import asyncio
import sys
import warnings

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
MEETING = asyncio.Barrier(2)
NOTHING = {"type": "object", "properties": {}}


def question(name):
    """Return what a tool asks."""
    if name == "sample":
        message = types.SamplingMessage(role="user", content=types.TextContent(text="Say hello."))
        return types.CreateMessageRequest(
            params=types.CreateMessageRequestParams(messages=[message], max_tokens=5)
        )
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message="Who are you?", requested_schema=FORM)
    )


def told(answer):
    """Return what a tool makes of an answer."""
    if isinstance(answer, types.ElicitResult):
        return f"{answer.action}: {(answer.content or {}).get('name')}"
    return f"the model says {answer.content.text}"


def result(text):
    """Return a text as a tool's result."""
    return types.CallToolResult(content=[types.TextContent(text=text)])


async def call_tool(ctx, params):
    """Answer a call: `twice` asks two questions, `meet` asks once two calls are there, the others at once."""
    if params.name == "meet" and not params.input_responses:
        await MEETING.wait()
    rounds = 2 if params.name == "twice" else 1
    asked = question(params.name)
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        before = params.request_state.split("|") if params.request_state else []
        answers = [*before, *(told(answer) for answer in (params.input_responses or {}).values())]
        if len(answers) == rounds:
            return result(", ".join(answers))
        return types.InputRequiredResult(
            input_requests={"first": asked}, request_state="|".join(answers) or None
        )
    kind = types.CreateMessageResult if params.name == "sample" else types.ElicitResult
    with warnings.catch_warnings(action="ignore"):
        return result(", ".join([told(await ctx.session.send_request(asked, kind)) for _ in range(rounds)]))


async def list_tools(ctx, params):
    """List the tools."""
    names = ("elicit", "sample", "twice", "meet")
    return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=NOTHING) for name in names])


def server():
    """Return the server."""
    return Server("asking", on_list_tools=list_tools, on_call_tool=call_tool)


async def main():
    """Serve standard input and output."""
    served = server()
    async with stdio_server() as (read, write):
        await served.run(read, write, served.create_initialization_options())


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

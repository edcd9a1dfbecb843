"""A server of FastMCP in memory, used by `MCPProvider`; every deprecation warning is an error."""

import asyncio
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastmcp import Context, FastMCP

from tool_search_processor import MCPProvider

warnings.simplefilter("error", DeprecationWarning)
told: list[str] = []


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[dict[str, str]]:
    """Tell of the server's begin and end."""
    told.append("begin")
    yield {"currency": "EUR"}
    told.append("end")


server = FastMCP("shop", lifespan=lifespan)


@server.tool(tags={"sales"}, annotations={"readOnlyHint": True})
async def price(item: str, ctx: Context) -> dict[str, str]:
    """Look a price up."""
    await ctx.report_progress(1, 2)
    return {"item": item, **ctx.lifespan_context}


@server.resource("data://rules")
def rules() -> str:
    """Tell the rules."""
    return "No refunds."


@server.prompt
def ask(item: str) -> str:
    """Ask for a price."""
    return f"What is {item}?"


def expect(found: object, wanted: object) -> None:
    """End with what was found, where it isn't what is wanted."""
    if found != wanted:
        sys.exit(f"FAILED: MCPProvider got {found!r} from FastMCP, not {wanted!r}")


async def check() -> None:
    """List, call, read and fill in."""
    async with MCPProvider.in_memory(server) as provider:
        (tool,) = await provider.list_tools({})
        expect((provider.name, tool.name, tool.tags), ("shop", "price", {"sales"}))
        expect(await tool.call({"item": "tea"}), '{"item": "tea", "currency": "EUR"}')
        (resource,) = await provider.list_resources({})
        expect([each["text"] for each in await resource.read()], ["No refunds."])
        (prompt,) = await provider.list_prompts({})
        expect([each["content"]["text"] for each in await prompt.render({"item": "tea"})], ["What is tea?"])
    expect(told, ["begin", "end"])


asyncio.run(check())
print(f"fastmcp {version('fastmcp')}: a server in memory is listed, called, read and filled in")

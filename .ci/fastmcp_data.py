"""FastMCP's client before the tests' front of typed tools: what it reads as data, and a user's own rules.

Run it with the front's URL.
"""

import asyncio
import datetime as dt
import sys
from importlib.metadata import version

from fastmcp import Client
from fastmcp.exceptions import ToolError


def expect(found: object, wanted: object) -> None:
    """End with what was found, where it isn't what is wanted."""
    if found != wanted:
        sys.exit(f"FAILED: FastMCP's client got {found!r}, not {wanted!r}")


async def check(url: str) -> None:
    """Read data, and switch a tool off for one user."""
    async with Client(url, auth="ada") as client:
        titles = {tool.name: tool.title for tool in await client.list_tools()}
        expect(titles["say"], "Say")
        for name, data in (
            ("say", "hello"),
            ("count", 3),
            ("numbers", [1, 2]),
            ("today", dt.date(2026, 1, 2)),
            ("nothing", None),
            ("hidden", ["a", "b"]),
        ):
            expect((await client.call_tool(name, {})).data, data)
        place = (await client.call_tool("place", {})).data
        expect((place.city, place.since), ("Aarhus", dt.date(2026, 1, 2)))
        expect((await client.call_tool("call_tool", {"name": "numbers"})).data, [1, 2])
        expect((await client.call_tool("switch_off", {"name": "count"})).data, "user")
        expect([tool.name for tool in await client.list_tools() if tool.name == "count"], [])
        try:
            await client.call_tool("count", {})
            sys.exit("FAILED: FastMCP's client called a tool that is switched off")
        except ToolError as exc:
            expect(str(exc).partition(".")[0], "Error: There is no tool 'count' to call")
    async with Client(url, auth="bob") as client:
        expect((await client.call_tool("count", {})).data, 3)
    async with Client(url, auth="ada") as client:
        expect([tool.name for tool in await client.list_tools() if tool.name == "count"], [])


asyncio.run(check(sys.argv[1]))
print(f"fastmcp {version('fastmcp')}: reads data of every type, and switches tools off for its user")

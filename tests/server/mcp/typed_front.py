"""A front for clients that read data: tools of many return types, and one that switches others off.

Run it with a port. The users are ada and bob, each by a token of the same name.
"""

import asyncio
import datetime as dt
import sys
from typing import TypedDict

from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.tools import ToolContext


class Place(TypedDict):
    city: str
    since: dt.date


server = ToolServer(authenticate={"ada": "ada", "bob": "bob"}.get)


@server.register_tool
def say() -> str:
    """Say something."""
    return "hello"


@server.register_tool(tags={"math"})
def count() -> int:
    """Count."""
    return 3


@server.register_tool
def numbers() -> list[int]:
    """Give numbers."""
    return [1, 2]


@server.register_tool
def today() -> dt.date:
    """Give a date."""
    return dt.date(2026, 1, 2)


@server.register_tool
def nothing() -> int | None:
    """Give nothing."""
    return None


@server.register_tool
def place() -> Place:
    """Give a place."""
    return {"city": "Aarhus", "since": dt.date(2026, 1, 2)}


@server.register_on_demand_tool("words")
def hidden() -> list[str]:
    """Give words, and be found by search only."""
    return ["a", "b"]


@server.register_on_demand_tool
def switch_off(name: str, context: ToolContext) -> str:
    """Switch a tool off."""
    return context.context["session_rules"].disable(names=[name])


if __name__ == "__main__":
    asyncio.run(server.run_http(port=int(sys.argv[1]), ready=lambda url: print(url, flush=True)))  # noqa: T201

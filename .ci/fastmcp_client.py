"""FastMCP's client before a gateway of the tests' small server, over HTTP and started by itself.

Run it with the gateway's URL, and with a file that names one for clients to start.
"""

import asyncio
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastmcp import Client


def expect(found: object, wanted: object) -> None:
    """End with what was found, where it isn't what is wanted."""
    if found != wanted:
        sys.exit(f"FAILED: FastMCP's client got {found!r}, not {wanted!r}")


async def check(target: Any) -> None:
    """Search, call, read and fill in."""
    async with Client(target) as client:
        expect([tool.name for tool in await client.list_tools()], ["search_tools", "call_tool"])
        answer = await client.call_tool("search_tools", {"query": "say it again"})
        expect(answer.structured_content["results"][0]["name"], "small_echo")
        answer = await client.call_tool("call_tool", {"name": "small_echo", "arguments": {"text": "hello"}})
        expect(answer.content[0].text, "hello")
        content = await client.read_resource("note://small/one")
        expect([part.text for part in content], ["The text of note://one."])
        prompt = await client.get_prompt("small_greet", {"who": "Ada"})
        expect([message.content.text for message in prompt.messages], ["Greet Ada."])


url, config = sys.argv[1:]
for place in (url, json.loads(Path(config).read_text("utf-8"))):
    asyncio.run(check(place))
print(f"fastmcp {version('fastmcp')}: searches, calls, reads and fills in, over HTTP and stdio")

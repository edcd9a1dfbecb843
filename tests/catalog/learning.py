"""What tests of experience share: a catalog to learn about, and a model that searches and calls."""

import json

from tests.support import make
from tool_search_processor import ToolSearchProcessor

ASKED = "chase the overdue payment"


def tools(count=20):
    return [make(f"op_{number}", f"Does operation {number} of accounting.") for number in range(count)]


def searcher(experience, *, given=None, **options):
    return ToolSearchProcessor(tools() if given is None else given, experience=experience, **options)


def call(name, arguments=None, *, call_id="1"):
    function = {"name": name, "arguments": json.dumps(arguments or {})}
    return {"id": call_id, "type": "function", "function": function}


async def use(search, tool, *, query=ASKED, thread="t", context=None, turn="please"):
    """Search, then call a tool, as a model would in a loop of the user's own."""
    messages = [{"role": "user", "content": turn}]
    async with search.session(thread_id=thread, context=context or {}) as session:
        await session.openai_tools(messages)
        if query:
            await session.execute([call("search_tools", {"query": query})])
            await session.openai_tools(messages)
        [answer] = await session.execute([call(tool, call_id="2")])
    return answer["content"]


async def names(search, query=ASKED, **options):
    return [hit.name for hit in await search.search(query, **options)]

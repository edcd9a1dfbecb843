"""The search inside AG2: its agent gets two functions for 80 tools; the model is scripted.

See the model search and call; AG2 takes async functions.

    pip install tool-search-processor ag2
    python examples/frameworks/functions_ag2.py
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from ag2 import Agent
from ag2.events import TextInput, ToolCallEvent, ToolResultEvent
from ag2.testing import TestConfig
from demo_catalog import CALL, QUESTION, SEARCH, searcher


def calls(name: str, arguments: dict[str, Any]) -> ToolCallEvent:
    """Return a reply that calls one tool."""
    return ToolCallEvent(name, arguments=json.dumps(arguments))


async def main() -> None:
    """Ask one question, and print what the tools answered."""
    model = TestConfig(calls("search_tools", SEARCH), calls("call_tool", CALL), "Done.")
    search = searcher()
    # README begin
    agent = Agent("biller", config=model, tools=search.functions(context={"plan": "pro"}))
    reply = await agent.ask(QUESTION)
    # README end
    for event in await reply.history.get_events():
        if isinstance(event, ToolResultEvent):
            texts = [part.content for part in event.result.parts if isinstance(part, TextInput)]
            print(f"answer of a tool: {' '.join(texts)[:100]}")
    print(reply.body)


if __name__ == "__main__":
    asyncio.run(main())

"""A run as a stream of typed events: text as it is written, calls, results.

See the pieces of text arrive between the tool calls.

    python examples/streaming.py
    python examples/streaming.py --model openai/gpt-5.5
"""

from __future__ import annotations

import asyncio

import standard_library
from models import choose_model, find_load_call

from tool_search_processor import Agent, ToolSearchProcessor
from tool_search_processor.agent import Done, TextDelta, ToolCallEvent


async def main() -> None:
    """Print the events of one run."""
    script = find_load_call(
        "weekday of a date",
        {"day": "1969-07-20"},
        answer="The Eagle landed on the Moon on a {}.",
    )
    agent = Agent(
        name="streaming",
        input_processors=[ToolSearchProcessor(standard_library.tools())],
        **choose_model(script),
    )
    print(f"model: {agent.model}")
    async for event in agent.stream("On which weekday was the Moon landing of 20 July 1969?"):
        match event:
            case ToolCallEvent():
                print(f"call  {event.name}")
            case TextDelta():
                print(f"text  {event.text!r}")
            case Done():
                print(f"done  {event.result.finish_reason} after {event.result.steps} steps")


if __name__ == "__main__":
    asyncio.run(main())

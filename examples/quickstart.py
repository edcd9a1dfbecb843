"""A question is answered with one of 314 tools, while the model is offered a handful.

See at each step what the model is offered, what it calls and what comes back; then the answer, and the
tokens of tool definitions with tool search and without. A script stands for the model, so that this runs
offline; with `--model` a real one answers (pip install ".[agent]", and its API key).

    python examples/quickstart.py
    python examples/quickstart.py --model openai/gpt-5.5
"""

from __future__ import annotations

import asyncio
import json

import standard_library
from models import choose_model, find_load_call

from tool_search_processor import Agent, TokenLimiter, ToolSearchProcessor
from tool_search_processor.agent import Done, StepEnd, StepStart, ToolCallEvent, ToolResultEvent

QUESTION = "Can people read grey text (#767676) on a white page? What is its contrast?"


async def main() -> None:
    """Ask the question and print each step."""
    script = find_load_call(
        "contrast ratio of two colors",
        {"first": "#767676", "second": "#ffffff"},
        answer="Yes: the contrast is {} to 1, and 4.5 to 1 is enough for text.",
    )
    tools = standard_library.tools()
    agent = Agent(
        name="quickstart",
        instructions="Answer in one sentence. Compute with tools, don't guess.",
        input_processors=[ToolSearchProcessor(tools), TokenLimiter(100_000)],
        **choose_model(script),
    )
    print(f"{len(tools)} tools, model: {agent.model}\nQuestion: {QUESTION}")
    async for event in agent.stream(QUESTION):
        match event:
            case StepStart():
                print(f"\nStep {event.step_number + 1} offers {', '.join(event.tools)}")
            case ToolCallEvent():
                print(f"  call    {event.name}({json.dumps(dict(event.arguments))})")
            case ToolResultEvent():
                print(f"  result  {event.text[:100]}{'…' * (len(event.text) > 100)}")
            case StepEnd(usage=usage):
                sent, full = usage.definition_tokens_sent, usage.definition_tokens_full
                print(f"  tokens of tool definitions: {sent:,} with tool search, {full:,} without")
            case Done(result=result):
                print(f"\nAnswer: {result.output}")
                sent, full = result.usage.definition_tokens_sent, result.usage.definition_tokens_full
                print(
                    f"All {result.steps} steps: {sent:,} instead of {full:,} tokens of tool definitions,",
                    end=" ",
                )
                print(f"{1 - sent / full:.1%} fewer tokens (estimates, 4 characters a token)")


if __name__ == "__main__":
    asyncio.run(main())

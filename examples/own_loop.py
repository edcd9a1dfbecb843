"""Tool search in a loop of your own: five lines with a ToolSession, no Agent.

See the conversation that such a loop builds. Any client of OpenAI's or Anthropic's message shape fits.

    python examples/own_loop.py
    python examples/own_loop.py --model openai/gpt-5.5
"""

from __future__ import annotations

import asyncio
from typing import Any

import standard_library
from models import choose_model, find_load_call

from tool_search_processor import ToolSearchProcessor

SCRIPT = find_load_call(
    "unified diff of two texts", {"old": "a\nb", "new": "a\nc"}, answer="The patch is:\n{}"
)


async def main() -> None:
    """Answer one question in a loop of our own."""
    search = ToolSearchProcessor(standard_library.tools())
    chosen = choose_model(SCRIPT)
    ask = chosen.pop("completion", None)
    if ask is None:
        from litellm import acompletion as ask
    print(f"model: {chosen['model']}")
    messages: list[Any] = [{"role": "user", "content": "Show the difference of 'a\\nb' and 'a\\nc'."}]

    async with search.session(thread_id="t-1") as session:
        while messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls"):
            tools = await session.openai_tools(messages)
            system = {"role": "system", "content": session.system}
            reply = await ask(messages=[system, *messages], tools=tools, **chosen)
            messages.append(reply.choices[0].message)
            messages.extend(await session.execute(messages[-1]))

    for message in messages:
        for tool_call in message.get("tool_calls") or ():
            print(f"calls     {tool_call.function.name}({tool_call.function.arguments})")
        if message.get("content"):
            print(f"{message['role']:9} {message['content'][:120]}")


if __name__ == "__main__":
    asyncio.run(main())

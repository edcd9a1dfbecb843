"""A token limiter, last in the pipeline, keeps a step under a number of tokens.

See that tool definitions count, that the oldest messages go first while the system text and the current
turn stay, and that a clear error names the parts when what must stay doesn't fit.

    python examples/token_limiter.py
"""

from __future__ import annotations

import asyncio

import standard_library

from tool_search_processor import (
    InputStep,
    TokenLimiter,
    TokenLimitError,
    ToolSearchProcessor,
    run_processors,
)
from tool_search_processor.tokens.counting import estimate_tokens

HISTORY = [
    {"role": "system", "content": "You are a helpful assistant."},
    *(
        {"role": role, "content": f"{role} message {turn}: " + "many words " * 40}
        for turn in range(1, 11)
        for role in ("user", "assistant")
    ),
    {"role": "user", "content": "What is the median of 3, 9 and 4?"},
]


async def main() -> None:
    """Send one long conversation under two limits."""
    search = ToolSearchProcessor(standard_library.tools(), pinned=["median"])
    limiter = TokenLimiter(1_500, counter=estimate_tokens)
    step = await run_processors([search, limiter], InputStep(messages=HISTORY))
    print(f"1,500 tokens: {len(step.messages)} of {len(HISTORY)} messages are sent, {len(step.tools)} tools")
    for message in step.messages:
        print(f"  {message['role']:9} {message['content'][:40]}")

    everything = InputStep(messages=HISTORY, tools=standard_library.tools())
    try:
        await run_processors([limiter], everything)
    except TokenLimitError as error:
        print(f"Without tool search: {error}")


if __name__ == "__main__":
    asyncio.run(main())

"""Options that save the model a search: pinned tools, preloading, and a catalog in the prompt.

See which tools the first step offers, and the instruction that lists more of them.

    python examples/preload_and_catalog.py
"""

from __future__ import annotations

import asyncio

import standard_library

from tool_search_processor import ToolSearchProcessor

MESSAGES = [{"role": "user", "content": "What time is it in Tokyo?"}]


async def main() -> None:
    """Print the first step of one request."""
    search = ToolSearchProcessor(
        standard_library.tools(),
        pinned=["calculate"],
        preload=2,
        catalog_in_prompt=True,
        catalog_token_limit=120,
    )
    async with search.session() as session:
        tools = await session.tools(MESSAGES)
        print(f"Asked: {MESSAGES[0]['content']}")
        print(f"Offered: {', '.join(tool.name for tool in tools)}")
        print(f"Instruction:\n{session.system}")


if __name__ == "__main__":
    asyncio.run(main())

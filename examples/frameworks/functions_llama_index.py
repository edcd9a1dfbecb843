"""The search inside LlamaIndex: its agent gets two functions for 80 tools; the model is scripted.

See the model search and call; LlamaIndex takes async functions.

    pip install tool-search-processor llama-index-core
    python examples/frameworks/functions_llama_index.py
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from demo_catalog import CALL, QUESTION, SEARCH, searcher
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool


async def main() -> None:
    """Ask one question, and print what the tools answered."""
    steps = iter(
        [
            ToolCallBlock(tool_call_id="1", tool_name="search_tools", tool_kwargs=SEARCH),
            ToolCallBlock(tool_call_id="2", tool_name="call_tool", tool_kwargs=CALL),
            TextBlock(text="Done."),
        ]
    )

    def reply(messages: Sequence[ChatMessage], **options: Any) -> ChatMessage:
        return ChatMessage(role="assistant", blocks=[next(steps)])

    model, search = MockFunctionCallingLLM(response_generator=reply), searcher()
    # README begin
    functions = search.functions(context={"plan": "pro"})
    agent = FunctionAgent(
        tools=[FunctionTool.from_defaults(async_fn=function) for function in functions],
        llm=model,
        streaming=False,
    )
    # README end
    run = agent.run(QUESTION)
    async for event in run.stream_events():
        if isinstance(event, ToolCallResult):
            print(f"answer of a tool: {str(event.tool_output)[:100]}")
    print(await run)


if __name__ == "__main__":
    asyncio.run(main())

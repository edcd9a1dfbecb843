"""A small model of your own, on any OpenAI-compatible server: llama.cpp, Ollama, vLLM, LM Studio.

See that the model's first step already has the tools that fit, so that it calls one at once.

    python examples/local_model.py
    python examples/local_model.py --base-url http://127.0.0.1:11434/v1 --model openai/qwen2.5-coder:1.5b

Start the server so that it reads the model's calls: `llama-server --jinja`, or `vllm serve
--enable-auto-tool-choice --tool-call-parser hermes`. Ollama does so by itself.
"""

from __future__ import annotations

import asyncio

import standard_library
from models import choose_model

from tool_search_processor import Agent, TokenLimiter, ToolSearchProcessor
from tool_search_processor.testing import Reply, call

SCRIPT: list[Reply] = [
    call("color_contrast", {"first": "#767676", "second": "#ffffff"}),
    lambda request: f"The contrast is {request.messages[-1]['content']} to 1.",
]
CONTEXT_SIZE = 8_192


async def main() -> None:
    """Answer one question."""
    chosen = choose_model(SCRIPT)
    agent = Agent(
        name="local",
        instructions="You answer with the help of tools. Call a tool before you answer.",
        # a small model guesses rather than searches: the best tools are there before it is asked
        input_processors=[
            ToolSearchProcessor(standard_library.tools(), preload=3),
            # the server's chat template writes more than is counted, and the answer needs room
            TokenLimiter(CONTEXT_SIZE - 1_024, margin=0.2),
        ],
        model_settings={"tool_choice": "required", "temperature": 0},  # forces the first call alone
        **chosen,
    )
    result = await agent.run("What is the contrast of the colors #767676 and #ffffff?")
    print(f"model: {chosen['model']}")
    for message in result.messages:
        for tool_call in message.get("tool_calls") or ():
            print(f"calls   {tool_call['function']['name']}({tool_call['function']['arguments']})")
        if message["role"] == "tool":
            print(f"result  {message['content'][:200]}")
    print(f"{result.finish_reason:7} {result.output}")
    estimate = " (some are estimates)" if result.usage.estimated_calls else ""
    print(f"tokens  {result.usage.total_tokens:,} in {result.steps} steps{estimate}")
    if result.finish_reason == "stop" and "{" in result.output:
        print("An answer with braces may be a call that the server didn't read: see the top of this file.")


if __name__ == "__main__":
    asyncio.run(main())

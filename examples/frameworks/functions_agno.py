"""The search inside agno: its agent gets two functions for 80 tools; the model is scripted.

See the model search and call; agno takes async functions.

    pip install tool-search-processor agno
    python examples/frameworks/functions_agno.py
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse
from demo_catalog import CALL, QUESTION, SEARCH, searcher


class Scripted(Model):
    """Replies with these steps: a text, or a call of a tool."""

    def __init__(self, *steps: str | tuple[str, dict[str, Any]]) -> None:
        super().__init__(id="scripted")
        self.steps = list(steps)

    async def ainvoke(self, *args: Any, **options: Any) -> ModelResponse:
        """Return the next reply."""
        step = self.steps.pop(0)
        if isinstance(step, str):
            return ModelResponse(role="assistant", content=step)
        function = {"name": step[0], "arguments": json.dumps(step[1])}
        call = {"id": step[0], "type": "function", "function": function}
        return ModelResponse(role="assistant", tool_calls=[call])

    def invoke(self, *args: Any, **options: Any) -> ModelResponse:
        """Refuse: this example is async."""
        raise NotImplementedError

    invoke_stream: Any = invoke
    ainvoke_stream: Any = invoke
    _parse_provider_response = _parse_provider_response_delta = invoke


async def main() -> None:
    """Ask one question, and print what the tools answered."""
    model, search = Scripted(("search_tools", SEARCH), ("call_tool", CALL), "Done."), searcher()
    # README begin
    agent = Agent(model=model, tools=[*search.functions(context={"plan": "pro"})], telemetry=False)
    reply = await agent.arun(QUESTION)
    # README end
    for called in reply.tools or ():
        print(f"answer of a tool: {str(called.result)[:100]}")
    print(reply.content)


if __name__ == "__main__":
    asyncio.run(main())

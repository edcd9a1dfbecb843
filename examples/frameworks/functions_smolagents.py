"""The search inside smolagents: its agent gets two functions for 80 tools; the model is scripted.

See the model search and call; smolagents takes sync functions alone.

    pip install tool-search-processor smolagents
    python examples/frameworks/functions_smolagents.py
"""

from __future__ import annotations

from typing import Any

from demo_catalog import CALL, QUESTION, SEARCH, searcher
from smolagents import (  # type: ignore[import-untyped]
    ChatMessage,
    LogLevel,
    MessageRole,
    Model,
    ToolCallingAgent,
    tool,
)


class Scripted(Model):  # type: ignore[misc]  # not typed
    """Calls these tools, one after the other."""

    def __init__(self, *steps: tuple[str, dict[str, Any]]) -> None:
        super().__init__()
        self.steps = list(steps)

    def generate(self, messages: Any, *args: Any, **options: Any) -> ChatMessage:
        """Return the next call."""
        name, arguments = self.steps.pop(0)
        call = {"id": name, "type": "function", "function": {"name": name, "arguments": arguments}}
        return ChatMessage.from_dict({"role": MessageRole.ASSISTANT, "content": None, "tool_calls": [call]})


def main() -> None:
    """Ask one question, and print what the tools answered."""
    done = ("final_answer", {"answer": "Done."})
    model, search = Scripted(("search_tools", SEARCH), ("call_tool", CALL), done), searcher()
    # README begin
    functions = search.functions(context={"plan": "pro"}, sync=True)
    agent = ToolCallingAgent(tools=[tool(f) for f in functions], model=model, verbosity_level=LogLevel.OFF)
    # README end
    answer = agent.run(QUESTION)
    for step in agent.memory.steps:
        if getattr(step, "observations", None):
            print(f"answer of a tool: {step.observations[:100]}")
    print(answer)


if __name__ == "__main__":
    main()

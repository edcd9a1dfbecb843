"""A Strands agent finds and loads one of 51 tools; its model is scripted, not an LLM.

pip install "tool-search-processor[strands]"
python examples/frameworks/strands_agent.py
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

from strands.models.model import Model

from tool_search_processor import Tool, ToolContext, ToolSearchProcessor

SERVICES = ("github", "jira", "slack", "drive", "mail")


def create_issue(title: str, context: ToolContext) -> str:
    """Create an issue in a GitHub repository."""
    return f"Issue '{title}' by {context.context['user']}"


class ScriptedModel(Model):
    """Says its steps in their order, and keeps what it was offered."""

    def __init__(self, *steps: str | tuple[str, dict[str, Any]]) -> None:
        self.steps = list(steps)
        self.offered: list[list[str]] = []

    def update_config(self, **config: Any) -> None:
        """Do nothing: there is nothing to configure."""

    def get_config(self) -> dict[str, Any]:
        """Return no configuration."""
        return {}

    async def structured_output(self, *args: Any, **kwargs: Any) -> AsyncGenerator[dict[str, Any], None]:
        """Yield nothing of use: no structured output is asked for."""
        yield {}

    async def stream(self, messages: Any, tool_specs: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Yield the events of the next step."""
        self.offered.append([spec["name"] for spec in tool_specs])
        step = self.steps.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(step, str):
            start: dict[str, Any] = {}
            delta: dict[str, Any] = {"text": step}
            reason = "end_turn"
        else:
            start = {"toolUse": {"name": step[0], "toolUseId": f"call_{len(self.steps)}"}}
            delta = {"toolUse": {"input": json.dumps(step[1])}}
            reason = "tool_use"
        yield {"contentBlockStart": {"start": start}}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": reason}}


def main() -> None:
    """Let the agent find a tool among 51."""
    others = [
        Tool(f"{service}_tool_{n}", f"Does job {n} in {service}.") for service in SERVICES for n in range(10)
    ]
    model = ScriptedModel(
        ("search_tools", {"query": "file a bug on GitHub"}),
        ("load_tool", {"tool_names": ["create_issue"]}),
        ("create_issue", {"title": "Login page"}),
        "The bug is filed.",
    )
    my_tools = [create_issue, *others]
    # README begin
    from strands import Agent

    from tool_search_processor.adapters.strands import ToolSearchPlugin

    search = ToolSearchProcessor(my_tools)
    agent = Agent(model=model, plugins=[ToolSearchPlugin(search)], callback_handler=None)
    result = agent("File a bug about the login page", invocation_state={"user": "ada"})
    # README end
    for number, offered in enumerate(model.offered):
        print(f"step {number}: {', '.join(offered)}")
    print(f"answer: {str(result).strip()}")


if __name__ == "__main__":
    main()

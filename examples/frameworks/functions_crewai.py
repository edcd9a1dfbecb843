"""The search inside CrewAI: its agent gets two functions for 80 tools; the model is scripted.

See the model search and call; CrewAI runs the tools of `Agent.kickoff` in threads of its own.

    pip install tool-search-processor crewai
    CREWAI_DISABLE_TELEMETRY=true python examples/frameworks/functions_crewai.py
"""

from __future__ import annotations

import json
from typing import Any

from crewai import Agent, BaseLLM
from crewai.tools import tool
from demo_catalog import CALL, QUESTION, SEARCH, searcher


class Scripted(BaseLLM):
    """Replies with these steps, in the text form that CrewAI reads."""

    steps: list[str]

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        """Print what the tools answered, and return the next reply."""
        last = messages[-1]["content"] if not isinstance(messages, str) else messages
        if "Observation:" in last:
            print(f"answer of a tool: {last.rpartition('Observation:')[2].strip()[:100]}")
        return self.steps.pop(0)

    def supports_function_calling(self) -> bool:
        """Return False: calls are written as text."""
        return False


def calls(name: str, arguments: dict[str, Any]) -> str:
    """Return a reply that calls one tool."""
    return f"Thought: I need it.\nAction: {name}\nAction Input: {json.dumps(arguments)}"


def main() -> None:
    """Ask one question, and print what the tools answered."""
    done = "Thought: I know it.\nFinal Answer: Done."
    steps = [calls("search_tools", SEARCH), calls("call_tool", CALL), done]
    model, search = Scripted(model="scripted", steps=steps), searcher()
    # README begin
    functions = search.functions(context={"plan": "pro"}, sync=True)
    tools = [tool(function.__name__)(function) for function in functions]
    agent = Agent(role="biller", goal="Bill.", backstory="Bills.", tools=tools, llm=model)
    # README end
    result = agent.kickoff(QUESTION)
    print(getattr(result, "raw", result))


if __name__ == "__main__":
    main()

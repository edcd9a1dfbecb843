"""An ADK agent with thirty tools is listed two: it finds the one that it needs, loads it and calls it.

See which tools each request lists. What was loaded is read from the session's events, so the second turn has
it without another search. A script stands in for the model.

    pip install "tool-search-processor[adk]"
    python examples/frameworks/google_adk_agent.py
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import AsyncGenerator
from itertools import product
from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from pydantic import Field

from tool_search_processor import Tool, ToolSearchProcessor


class Script(BaseLlm):
    """Says one line of a script at each request (scripted model, not an LLM)."""

    steps: list[Any] = Field(default_factory=list)

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer with a text, or with a call."""
        print("listed:", list(llm_request.tools_dict))
        step = self.steps.pop(0)
        if isinstance(step, str):
            part = types.Part(text=step)
        else:
            part = types.Part(function_call=types.FunctionCall(name=step[0], args=step[1]))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def remember(note: str, tool_context: ToolContext) -> str:
    """Remember a note for the user, in the session."""
    tool_context.state["note"] = note
    return f"remembered for {tool_context.user_id}"


def catalog() -> list[Tool]:
    """Return thirty tools."""
    places = product(
        ("github", "jira", "slack", "drive", "mail"), ("create", "list", "delete"), ("file", "note")
    )
    return [
        Tool(f"{service}_{verb}_{noun}", f"{verb.title()} a {noun} in {service}.", {}, lambda: "done")
        for service, verb, noun in places
    ]


async def main() -> None:
    """Talk to the agent for two turns."""
    model = Script(
        model="script",
        steps=[
            ("search_tools", {"query": "remember a note for the user"}),
            ("load_tool", {"tool_names": ["remember"]}),
            ("remember", {"note": "tea at five"}),
            "Noted.",
            "You have tea at five.",
        ],
    )
    my_tools = catalog()
    # README begin
    from google.adk.agents import LlmAgent

    from tool_search_processor.adapters.google_adk import ToolSearchToolset

    search = ToolSearchProcessor(my_tools, top_k=3)
    agent = LlmAgent(name="helper", model=model, tools=[ToolSearchToolset(search, inner=[remember])])
    # README end
    runner = InMemoryRunner(agent, app_name="example")
    session = await runner.session_service.create_session(app_name="example", user_id="ada")
    for text in ("I have tea at five.", "What do I have today?"):
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for event in runner.run_async(user_id="ada", session_id=session.id, new_message=message):
            for part in (event.content.parts if event.content else None) or []:
                if part.function_response:
                    print(f"{part.function_response.name}: {str(part.function_response.response)[:90]}")
                elif part.text:
                    print("Answer:", part.text)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", module="google")  # ADK warns of parts of its own
    logging.disable(logging.WARNING)
    asyncio.run(main())

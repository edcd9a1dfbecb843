"""The search inside Haystack: its agent gets two functions for 80 tools; the model is scripted.

See the model search and call; Haystack makes its tools of the two functions.

    pip install tool-search-processor haystack-ai
    python examples/frameworks/functions_haystack.py
"""

from __future__ import annotations

from demo_catalog import CALL, QUESTION, SEARCH, searcher
from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools.from_function import create_tool_from_function


def calls(name: str, arguments: dict[str, object]) -> ChatMessage:
    """Return a reply that calls one tool."""
    return ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name=name, arguments=arguments)])


def main() -> None:
    """Ask one question, and print what the tools answered."""
    model = MockChatGenerator([calls("search_tools", SEARCH), calls("call_tool", CALL), "Done."])
    search = searcher()
    # README begin
    functions = search.functions(context={"plan": "pro"}, sync=True)
    agent = Agent(chat_generator=model, tools=[create_tool_from_function(f) for f in functions])
    # README end
    for message in agent.run(messages=[ChatMessage.from_user(QUESTION)])["messages"]:
        if message.tool_call_result is not None:
            print(f"answer of a tool: {message.tool_call_result.result[:100]}")
    print(message.text)


if __name__ == "__main__":
    main()

"""Tool search inside a LangChain agent: the model sees two meta-tools and what it has loaded.

See how many of 81 tools each model call offers, what the second turn still has, and who may not find a tool.

    pip install "tool-search-processor[langchain]"
    python examples/frameworks/langchain_agent.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from langchain.tools import ToolRuntime
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from tool_search_processor import FilterRequest, Tool, ToolSearchProcessor

SERVICES = ("github", "jira", "slack", "drive", "mail")
VERBS = ("create", "list", "update", "delete")
NOUNS = ("issue", "message", "file", "ticket")
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def catalog() -> Iterator[Tool]:
    """Yield a tool for each verb and noun of each service."""
    for service in SERVICES:
        for verb in VERBS:
            for noun in NOUNS:
                name, about = f"{service}_{verb}_{noun}", f"{verb.title()} a {noun} in {service}."
                yield Tool(name, about, TEXT, lambda text, name=name: f"{name}: {text}")


@tool
def bill_customer(text: str, runtime: ToolRuntime[dict[str, str], Any]) -> str:
    """Bill a customer for something they bought."""
    return f"billed {text} for {runtime.context['user']}"


class ScriptedModel(GenericFakeChatModel):
    """Searches with the last question, loads the best tool, calls it, and answers with its result."""

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> ScriptedModel:
        """Print what is offered."""
        names = [each["function"]["name"] if isinstance(each, dict) else each.name for each in tools]
        print(f"  offered {len(names)}: {', '.join(names)}")
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.reply(messages[-1]))])

    def reply(self, last: BaseMessage) -> AIMessage:
        """Return the next message."""
        if not isinstance(last, ToolMessage):
            return called("search_tools", query=last.text)
        if last.name == "search_tools":
            found = json.loads(last.text)["results"]
            return called("load_tool", tool_names=found[0]["name"])
        if last.name == "load_tool":
            data = json.loads(last.text)
            return called((data["loaded"] or data["already_loaded"])[0], text="three chairs")
        return AIMessage(f"Done: {last.text}.")


def called(name: str, **arguments: Any) -> AIMessage:
    """Return a message with one call."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call_{name}"}])


def policy(request: FilterRequest) -> bool:
    """Keep billing for those who sell."""
    return request.context["role"] == "sales" or request.tool_name != "bill_customer"


def main() -> None:
    """Ask two questions in one thread, and one as somebody who may not bill."""
    model: Any = ScriptedModel(messages=iter(()))
    my_tools = list(catalog())
    # README begin
    from langchain.agents import create_agent

    from tool_search_processor.adapters.langchain import ToolSearchMiddleware, from_langchain

    search = ToolSearchProcessor([*my_tools, from_langchain(bill_customer)], filter=policy)
    agent = create_agent(model, middleware=[ToolSearchMiddleware(search)], checkpointer=InMemorySaver())
    # README end
    print(f"model: scripted (scripted model, not an LLM); {len(my_tools) + 1} tools")
    for thread, role, question in (
        ("t-1", "sales", "bill the customer"),
        ("t-1", "sales", "create a ticket in jira"),
        ("t-2", "guest", "bill the customer for a github issue"),
    ):
        print(f"{role} in {thread}: {question}")
        answer = agent.invoke(
            {"messages": [{"role": "user", "content": question}]},
            {"configurable": {"thread_id": thread}},
            context={"user": "ada", "role": role},
        )
        print(f"  {answer['messages'][-1].text}")


if __name__ == "__main__":
    main()

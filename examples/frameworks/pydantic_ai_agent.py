"""Tool search inside a pydantic-ai agent: the model sees the two meta-tools and what it has loaded.

See how many tools each request offers, out of how many there are, and who may not find the premium one.

    python examples/frameworks/pydantic_ai_agent.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tool_search_processor import FilterRequest, Tool, ToolSearchProcessor

SERVICES = ("github", "jira", "slack", "drive", "billing")
VERBS = ("create", "list", "update", "delete")
NOUNS = ("issue", "message", "file", "invoice")
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def catalog() -> Iterator[Tool]:
    """Yield a tool for each verb and noun of each service."""
    for service in SERVICES:
        for verb in VERBS:
            for noun in NOUNS:
                name, about = f"{service}_{verb}_{noun}", f"{verb.title()} a {noun} in {service}."
                yield Tool(name, about, TEXT, lambda text, name=name: f"{name}: {text}")


def scripted_model() -> FunctionModel:
    """Return a scripted model that searches, loads the best hit, calls it and answers with its result."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        print(f"  offered {len(info.function_tools)}: {', '.join(tool.name for tool in info.function_tools)}")
        returned = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if not returned:
            return ModelResponse([ToolCallPart("search_tools", {"query": "create an invoice in billing"})])
        last = returned[-1]
        if last.tool_name == "search_tools":
            found = json.loads(last.model_response_str())["results"]
            return ModelResponse([ToolCallPart("load_tool", {"tool_names": [found[0]["name"]]})])
        if last.tool_name == "load_tool":
            (loaded,) = json.loads(last.model_response_str())["loaded"]
            return ModelResponse([ToolCallPart(loaded, {"text": "three chairs"})])
        return ModelResponse([TextPart(f"Done: {last.content}")])

    return FunctionModel(answer)


def policy(request: FilterRequest) -> bool:
    """Keep billing for those who pay."""
    return request.context["plan"] == "pro" or "billing" not in request.tool_name


def ask(model: FunctionModel, tools: list[Tool], *, plan: str) -> str:
    """Ask an agent with these tools, as a user of this plan."""
    # README begin
    from pydantic_ai import Agent

    from tool_search_processor.adapters.pydantic_ai import ToolSearchCapability

    search = ToolSearchProcessor(tools, filter=policy)
    agent = Agent(model, deps_type=dict[str, str], capabilities=[ToolSearchCapability(search)])
    result = agent.run_sync("Bill three chairs", deps={"plan": plan})
    # README end
    return str(result.output)


def main() -> None:
    """Ask the same for two users, who may find different tools."""
    tools = list(catalog())
    print(f"model: scripted (scripted model, not an LLM); {len(tools)} tools")
    for plan in ("pro", "free"):
        print(f"plan {plan}")
        print(f"  {ask(scripted_model(), tools, plan=plan)}")


if __name__ == "__main__":
    main()

"""An agent of the OpenAI Agents SDK that finds its tools by search, two turns of one session.

See the tools that each model call is offered: two, until one is loaded, which the second turn still has.

    pip install "tool-search-processor[openai-agents]"
    python examples/frameworks/openai_agents.py
"""

from __future__ import annotations

from agents import SQLiteSession, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from tool_search_processor import Tool, ToolContext, ToolSearchProcessor


def forecast(city: str, context: ToolContext) -> str:
    """Tell the weather of a city for the next days."""
    return f"Sunny in {city}, {context.context['user']}."


def catalog() -> list[Tool]:
    """Return the forecast among 300 other tools."""
    services, verbs = ("github", "slack", "jira"), ("create", "delete", "list", "update")
    named = [(verb, service, number) for service in services for verb in verbs for number in range(25)]
    others = [
        Tool(f"{service}_{verb}_{number}", f"{verb.title()} record {number} in {service}.", execute=str)
        for verb, service, number in named
    ]
    return [Tool.from_function(forecast), *others]


MODEL = ScriptedModel(
    [
        [function_call("search_tools", {"query": "weather"}, call_id="c1")],
        [function_call("load_tool", {"tool_names": ["forecast"]}, call_id="c2")],
        [function_call("forecast", {"city": "Rome"}, call_id="c3")],
        [assistant_message("Rome is sunny.")],
        [function_call("forecast", {"city": "Oslo"}, call_id="c4")],
        [assistant_message("Oslo is sunny too.")],
    ]
)


def ask(question: str, *, tools: list[Tool], session: SQLiteSession) -> str:
    """Ask an agent with these tools, as ada."""
    # README begin
    from agents import Runner

    from tool_search_processor.adapters.openai_agents import ToolSearchAgent

    agent = ToolSearchAgent(name="helper", model=MODEL, search=ToolSearchProcessor(tools))
    config, who = agent.run_config(), {"user": "ada"}
    result = Runner.run_sync(agent, question, context=who, session=session, run_config=config)
    # README end
    return str(result.final_output)


def main() -> None:
    """Ask twice in one session."""
    set_tracing_disabled(True)
    print("model: scripted (the SDK's scripted model, not an LLM)")
    tools, session = catalog(), SQLiteSession("t-42")
    for question in ("Weather in Rome?", "And in Oslo?"):
        print(f"{question} {ask(question, tools=tools, session=session)}")
    for number, call in enumerate(MODEL.calls, start=1):
        print(f"model call {number}: {', '.join(tool.name for tool in call.tools)}")


if __name__ == "__main__":
    main()

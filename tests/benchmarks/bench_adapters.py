"""What a searcher costs inside the agents of other frameworks, beside the framework alone.

    python tests/benchmarks/bench_adapters.py langchain
    npm pack @octokit/openapi@23.0.2 && tar -xzf octokit-openapi-*.tgz
    python tests/benchmarks/bench_adapters.py langchain --openapi package/generated/api.github.com.json

Runs in an environment that has the framework: see `.ci/adapters`. A step is one model call (scripted, and
free) and one call of a tool, which is listed at once without the searcher and loaded with it. Where
the framework has hooks, it is measured alone with hooks that do nothing: what they cost is its own. Times are
CPU time of this process, medians of runs that take turns; each run is a new conversation. Tokens are those of
the tool definitions that a step sends, with the searcher and without it, by the package's own estimate; one
small tool is loaded.
Target: at most 2 ms of CPU a step on top of the framework's own.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tool_search_processor import Tool, ToolSearchProcessor
from tool_search_processor.tokens.counting import DefinitionCounter, estimate_tokens

TARGET_MS = 2.0
STEPS = 20
RUNS = 15
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
CALLED = "echo_text"

Run = Callable[[], Awaitable[Any]]
"""One conversation of `STEPS` steps."""


@dataclass
class Measured:
    """An agent of one framework, without the searcher and with it."""

    alone: Run
    searched: Run
    offered: Sequence[dict[str, Any]]
    """The definitions that the last step offered."""


def echo(text: str) -> str:
    """Return the text."""
    return text


def catalog(count: int) -> list[Tool]:
    """Return this many hidden tools, and the one that is called."""
    services = ("github", "slack", "jira", "drive", "mail", "billing", "calendar")
    tools = [
        Tool(
            f"{services[n % 7]}_action_{n}",
            f"Does job number {n} in {services[n % 7]} for its owner.",
            TEXT,
            echo,
        )
        for n in range(count)
    ]
    return [*tools, Tool(CALLED, "Returns a text as it is.", TEXT, echo)]


async def milliseconds(*runs: Run) -> list[float]:
    """Return the CPU time of one step of each: the medians of runs that take turns, after the first."""
    taken: list[list[float]] = [[] for _ in runs]
    for _ in range(RUNS + 1):
        for run, times in zip(runs, taken, strict=True):
            began = time.process_time()
            await run()
            times.append((time.process_time() - began) * 1000 / STEPS)
    return [statistics.median(times[1:]) for times in taken]


def langchain(tools: Sequence[Tool]) -> Measured:
    """Measure `ToolSearchMiddleware`."""
    from langchain.agents import create_agent
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool

    from tool_search_processor.adapters.langchain import ToolSearchMiddleware

    offered: list[Any] = []

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> "Scripted":
            offered[:] = tools  # the searched run is the last
            return self

    class Idle(AgentMiddleware):
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(request)

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return await handler(request)

    def call(name: str, arguments: dict[str, Any], number: int) -> AIMessage:
        return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"c{number}"}])

    def conversation(first: AIMessage, **options: Any) -> Run:
        model = Scripted(messages=iter(()))
        agent = create_agent(model, **options)

        async def run() -> None:
            rest = [call(CALLED, {"text": "x"}, number) for number in range(1, STEPS)]
            model.messages = iter([first, *rest, AIMessage("done")])
            await agent.ainvoke({"messages": [("user", "hi")]})

        return run

    own = StructuredTool.from_function(echo, name=CALLED, description="Returns a text as it is.")
    searcher = ToolSearchMiddleware(ToolSearchProcessor(tools))
    return Measured(
        alone=conversation(call(CALLED, {"text": "x"}, 0), tools=[own], middleware=[Idle()]),
        searched=conversation(call("load_tool", {"tool_names": [CALLED]}, 0), middleware=[searcher]),
        offered=offered,
    )


def fastmcp(tools: Sequence[Tool]) -> Measured:
    """Measure `ToolSearchTransform` beside FastMCP's own search; a step is one call through the proxy."""
    from fastmcp import Client, FastMCP
    from fastmcp.server.providers import Provider
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools.base import Tool as ServerTool
    from fastmcp.tools.base import ToolResult

    from tool_search_processor.adapters.fastmcp import ToolSearchTransform

    class Echo(ServerTool):
        async def run(self, arguments: dict[str, Any]) -> ToolResult:
            return ToolResult(content=arguments["text"])

    made = [
        Echo(name=tool.name, description=tool.description, parameters=tool.wire_schema()) for tool in tools
    ]
    offered: list[Any] = []

    class Many(Provider):
        async def _list_tools(self) -> Sequence[ServerTool]:
            return made

    def conversation(transform: Any) -> Run:
        server = FastMCP("bench", providers=[Many()], transforms=[transform])

        async def run() -> None:
            async with Client(server) as client:
                listed = await client.list_tools()
                offered[:] = [
                    {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
                    for tool in listed
                ]
                for _ in range(STEPS):
                    await client.call_tool("call_tool", {"name": CALLED, "arguments": {"text": "x"}})

        return run

    return Measured(
        alone=conversation(BM25SearchTransform()),
        searched=conversation(ToolSearchTransform()),
        offered=offered,
    )


def google_adk(tools: Sequence[Tool]) -> Measured:
    """Measure `ToolSearchToolset`."""
    from google.adk.agents import LlmAgent
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from tool_search_processor.adapters.google_adk import ToolSearchToolset

    offered: list[Any] = []

    class Scripted(BaseLlm):
        steps: list[Any]

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            declared = llm_request.config.tools[0].function_declarations
            offered[:] = [each.model_dump(mode="json", exclude_none=True) for each in declared]
            yield LlmResponse(content=types.Content(role="model", parts=[self.steps.pop(0)]))

    def call(name: str, arguments: dict[str, Any]) -> Any:
        return types.Part(function_call=types.FunctionCall(name=name, args=arguments))

    def conversation(first: Any, own: Any) -> Run:
        model = Scripted(model="scripted", steps=[])
        runner = InMemoryRunner(LlmAgent(name="bench", model=model, tools=[own]), app_name="bench")
        rest = [call(CALLED, {"text": "x"}) for _ in range(1, STEPS)]

        async def run() -> None:
            model.steps = [first, *rest, types.Part(text="done")]
            session = await runner.session_service.create_session(app_name="bench", user_id="u")
            said = types.Content(role="user", parts=[types.Part(text="hi")])
            async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=said):
                pass

        return run

    def echo_text(text: str) -> str:
        """Returns a text as it is."""
        return text

    return Measured(
        alone=conversation(call(CALLED, {"text": "x"}), echo_text),
        searched=conversation(
            call("load_tool", {"tool_names": [CALLED]}), ToolSearchToolset(ToolSearchProcessor(tools))
        ),
        offered=offered,
    )


def openai_agents(tools: Sequence[Tool]) -> Measured:
    """Measure `ToolSearchAgent`."""
    from agents import Agent, FunctionTool, Runner, Usage, function_tool, set_tracing_disabled
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.testing import assistant_message, function_call

    from tool_search_processor.adapters.openai_agents import ToolSearchAgent

    set_tracing_disabled(True)
    offered: list[Any] = []

    class Scripted(Model):
        def __init__(self, first: tuple[str, dict[str, Any]]) -> None:
            rest = [(CALLED, {"text": "x"})] * (STEPS - 1)
            self._steps = [
                function_call(name, arguments, call_id=f"c{number}")
                for number, (name, arguments) in enumerate([first, *rest])
            ]
            self._next = 0

        async def get_response(self, *args: Any, tools: Sequence[FunctionTool], **options: Any) -> Any:
            offered[:] = [
                {"name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}
                for tool in tools
            ]
            step = self._next
            self._next = (step + 1) % (STEPS + 1)
            output = self._steps[step] if step < STEPS else assistant_message("done")
            return ModelResponse(output=[output], usage=Usage(requests=1), response_id=None)

        def stream_response(self, *args: Any, **options: Any) -> Any:
            raise NotImplementedError

    def conversation(agent: Agent[Any]) -> Run:
        async def run() -> None:
            await Runner.run(agent, "hi", context={}, max_turns=STEPS + 1)

        return run

    own = function_tool(echo, name_override=CALLED, description_override="Returns a text as it is.")
    first = ("load_tool", {"tool_names": [CALLED]})
    alone = Agent(name="alone", model=Scripted((CALLED, {"text": "x"})), tools=[own])
    searched = ToolSearchAgent(name="searched", model=Scripted(first), search=ToolSearchProcessor(tools))
    return Measured(alone=conversation(alone), searched=conversation(searched), offered=offered)


def pydantic_ai(tools: Sequence[Tool]) -> Measured:
    """Measure `ToolSearchCapability`."""
    from pydantic_ai import Agent
    from pydantic_ai import Tool as TheirTool
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.toolsets import AbstractToolset, WrapperToolset

    from tool_search_processor.adapters.pydantic_ai import ToolSearchCapability

    offered: list[Any] = []

    class Hooks(AbstractCapability[Any]):
        def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
            return WrapperToolset(toolset)

    def model(first: tuple[str, dict[str, Any]]) -> FunctionModel:
        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            offered[:] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters_json_schema,
                }
                for tool in info.function_tools
            ]
            step = sum(isinstance(message, ModelResponse) for message in messages)
            if step == STEPS:
                return ModelResponse([TextPart("done")])
            name, arguments = first if step == 0 else (CALLED, {"text": "x"})
            return ModelResponse([ToolCallPart(name, arguments)])

        return FunctionModel(answer)

    def conversation(agent: Agent[Any, str]) -> Run:
        async def run() -> None:
            await agent.run("hi", deps={})

        return run

    own = TheirTool(echo, name=CALLED, description="Returns a text as it is.")
    alone = Agent(model((CALLED, {"text": "x"})), tools=[own], capabilities=[Hooks()])
    capability = ToolSearchCapability(ToolSearchProcessor(tools))
    searched = Agent(model(("load_tool", {"tool_names": [CALLED]})), capabilities=[capability])
    return Measured(alone=conversation(alone), searched=conversation(searched), offered=offered)


def strands(tools: Sequence[Tool]) -> Measured:
    """Measure `ToolSearchPlugin`."""
    from strands import Agent
    from strands import tool as their_tool
    from strands.models.model import Model

    from tool_search_processor.adapters.strands import ToolSearchPlugin

    offered: list[Any] = []

    class Scripted(Model):
        def __init__(self, first: tuple[str, dict[str, Any]]) -> None:
            self._steps = [first, *[(CALLED, {"text": "x"})] * (STEPS - 1), None]
            self._next = 0

        def update_config(self, **config: Any) -> None: ...

        def get_config(self) -> dict[str, Any]:
            return {}

        async def structured_output(self, *args: Any, **options: Any) -> Any:
            yield {}

        async def stream(self, messages: Any, tool_specs: Any = None, *args: Any, **options: Any) -> Any:
            offered[:] = tool_specs
            number = self._next
            self._next = (number + 1) % len(self._steps)
            step = self._steps[number]
            start: Any = {} if step is None else {"toolUse": {"name": step[0], "toolUseId": f"c{number}"}}
            delta = {"text": "done"} if step is None else {"toolUse": {"input": json.dumps(step[1])}}
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn" if step is None else "tool_use"}}

    def conversation(first: tuple[str, dict[str, Any]], **options: Any) -> Run:
        agent = Agent(model=Scripted(first), callback_handler=None, **options)

        async def run() -> None:
            agent.messages.clear()
            await agent.invoke_async("hi")

        return run

    own = their_tool(name=CALLED, description="Returns a text as it is.")(echo)
    plugin = ToolSearchPlugin(ToolSearchProcessor(tools))
    return Measured(
        alone=conversation((CALLED, {"text": "x"}), tools=[own]),
        searched=conversation(("load_tool", {"tool_names": [CALLED]}), plugins=[plugin]),
        offered=offered,
    )


FRAMEWORKS: dict[str, Callable[[Sequence[Tool]], Measured]] = {
    "fastmcp": fastmcp,
    "google_adk": google_adk,
    "langchain": langchain,
    "openai_agents": openai_agents,
    "pydantic_ai": pydantic_ai,
    "strands": strands,
}


async def openapi_tools(path: str) -> list[Tool]:
    """Return the tools of an OpenAPI document, and the one that is called."""
    from tool_search_processor.providers import OpenAPIProvider

    tools = await OpenAPIProvider(path, base_url="https://api.example.com").list_tools({})
    return [*tools, *catalog(0)]


def tokens(definitions: Sequence[dict[str, Any]]) -> int:
    """Return what definitions cost."""
    return sum(estimate_tokens(json.dumps(each, separators=(",", ":"))) for each in definitions)


async def main() -> int:
    """Print a line for each framework; 1 if one misses the target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("frameworks", nargs="*", default=sorted(FRAMEWORKS))
    parser.add_argument("--tools", type=int, default=1000)
    parser.add_argument("--openapi", help="take the tools of this document instead")
    chosen = parser.parse_args()
    tools = await openapi_tools(chosen.openapi) if chosen.openapi else catalog(chosen.tools)
    everything = DefinitionCounter().count(tools)
    missed = False
    for name in chosen.frameworks:
        measured = FRAMEWORKS[name](tools)
        alone, searched = await milliseconds(measured.alone, measured.searched)
        missed |= searched - alone > TARGET_MS
        print(
            f"{name}: {alone:.2f} ms a step alone, {searched:.2f} ms with {len(tools):,} tools "
            f"(+{searched - alone:.2f} ms); {tokens(measured.offered):,} tokens of definitions a step, "
            f"{everything:,} without search"
        )
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))

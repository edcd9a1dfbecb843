"""What a searcher costs inside the agents of other frameworks, beside the framework alone.

    python tests/benchmarks/bench_adapters.py langchain
    npm pack @octokit/openapi@23.0.2 && tar -xzf octokit-openapi-*.tgz
    python tests/benchmarks/bench_adapters.py langchain --openapi package/generated/api.github.com.json

Runs in an environment that has the framework: see `.ci/adapters`. A step is one model call (scripted, and
free) and one call of a tool, which is listed at once without the searcher and loaded with it. Where
the framework has hooks, it is measured alone with hooks that do nothing: what they cost is its own. Times are
CPU time of this process, medians of runs that take turns; each run is a new conversation. Tokens are those of
the tool definitions that a step sends, with the searcher and without it, by the package's own estimate.
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


FRAMEWORKS: dict[str, Callable[[Sequence[Tool]], Measured]] = {"langchain": langchain}


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

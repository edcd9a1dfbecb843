"""What tests of many folders share: tools that record their runs, steps, ways to call, and doubles."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tool_search_processor import InputStep, ProviderError, Tool, ToolSearchProcessor
from tool_search_processor.search.protocol import Document, Hit

if TYPE_CHECKING:
    import pytest

USER = ({"role": "user", "content": "please help"},)


def make(name: str, description: str = "", **fields: Any) -> Tool:
    """Return a tool that answers with its name and its arguments, and needs none."""
    fields.setdefault("execute", lambda **arguments: {"ran": name, **arguments})
    return Tool(name=name, description=description or f"Does {name.replace('_', ' ')}.", **fields)


def needs(name: str, *parameters: str, description: str = "", **fields: Any) -> Tool:
    """Return a tool that requires text parameters."""
    schema = {
        "type": "object",
        "properties": {parameter: {"type": "string"} for parameter in parameters},
        "required": list(parameters),
    }
    return make(name, description, parameters=schema, **fields)


def step(
    *tools: Tool,
    thread: str | None = None,
    context: Mapping[str, Any] | None = None,
    text: str = "please help",
    messages: Sequence[Mapping[str, Any]] | None = None,
    **fields: Any,
) -> InputStep:
    """Return the input of a step as an agent would make it."""
    given = ({"role": "user", "content": text},) if messages is None else messages
    return InputStep(messages=given, tools=tools, thread_id=thread, context=context or {}, **fields)


def names(processed: InputStep | Iterable[Any]) -> list[str]:
    """Return the names of a step's tools, of hits, or of a search's results."""
    items = processed.tools if isinstance(processed, InputStep) else processed
    return [item["name"] if isinstance(item, Mapping) else item.name for item in items]


def listed(processed: InputStep, name: str) -> Tool:
    """Return a tool that a step lists."""
    return next(tool for tool in processed.tools if tool.name == name)


async def call(processed: InputStep, tool_name: str, /, **arguments: Any) -> Any:
    """Call a tool that a step lists, as a loop would that takes the step's tools as they are."""
    return await listed(processed, tool_name).call(arguments)


class Run:
    """One run over a processor: each `step()` is the next step of it."""

    def __init__(self, processor: ToolSearchProcessor, **fields: Any) -> None:
        self.processor = processor
        self.base = step(**fields)
        self.number = 0
        self.current: InputStep | None = None

    async def step(self, *tools: Tool, **changes: Any) -> InputStep:
        """Process the next step, with tools that it brings."""
        given = self.base.replace(step_number=self.number, tools=tools, **changes)
        self.current = await self.processor.process_input_step(given)
        self.number += 1
        return self.current

    async def call(self, tool_name: str, /, **arguments: Any) -> Any:
        """Call a tool of the last step, the first step being made where there is none."""
        return await call(self.current or await self.step(), tool_name, **arguments)

    async def search(self, *queries: str, **arguments: Any) -> dict[str, Any]:
        """Call the search tool."""
        query = queries[0] if len(queries) == 1 else list(queries)
        return await self.call("search_tools", query=query, **arguments)

    async def load(self, *tool_names: str) -> dict[str, Any]:
        """Call the load tool."""
        return await self.call("load_tool", tool_names=list(tool_names))

    async def direct(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool that the last step does not list, as an agent would: resolved, then run."""
        at = self.current or await self.step()
        tool = await self.processor.resolve_call(at, name)
        if tool is None:
            return await self.processor.missing_tool_text(at, name)
        return await tool.call(arguments)

    async def end(self) -> None:
        """End the run."""
        await self.processor.end_run(self.current or self.base)


class ScoredIndex:
    """An index whose scores are given: every query finds what the table says, best first."""

    def __init__(self, scores: Mapping[str, float] | Mapping[str, Mapping[str, float]]) -> None:
        self.scores = scores
        self.documents: Sequence[Document] = ()
        self.updates = 0

    def update(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.updates += 1

    def search(self, query, *, limit=None, within=None, extra=()):
        table = self.scores.get(query, self.scores)
        found = [
            Hit(name=document.name, score=table[document.name])
            for document in (*self.documents, *extra)
            if isinstance(table.get(document.name), float)
            and (within is None or document.name in within or document in extra)
        ]
        return sorted(found, key=lambda hit: -hit.score)[:limit]


class Policy:
    """A filter that follows a table of denials, which may change, and records what it was asked."""

    def __init__(self, *denied: tuple[str, str]) -> None:
        self.denied = set(denied)
        self.requests: list[Any] = []

    def __call__(self, request: Any) -> bool:
        self.requests.append(request)
        return (request.phase, request.tool_name) not in self.denied

    @property
    def asked(self) -> list[tuple[str, str]]:
        return [(request.phase, request.tool_name) for request in self.requests]

    def deny(self, name: str, *phases: str) -> None:
        self.denied.update((phase, name) for phase in phases or ("search", "load", "active"))

    def allow(self, name: str) -> None:
        self.denied = {(phase, denied) for phase, denied in self.denied if denied != name}


async def counts(store):
    """Return what a store counts of what is alive."""
    stats = await store.stats()
    return {key: stats[key] for key in ("threads", "loaded")}


async def kept_runs(pipeline: Any) -> int:
    """Return of how many runs without a thread something is kept, which nothing public tells."""
    return (await pipeline._loads._runs.stats())["threads"]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was logged as a warning, or worse."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


class Down:
    """A provider that can't be reached."""

    name = "cad-server"

    async def list_tools(self, context):
        raise ProviderError("the MCP server 'cad-server' cannot be reached")

    def version(self):
        return 0

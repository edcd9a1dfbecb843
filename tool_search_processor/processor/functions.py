"""The search as two plain functions, for any framework that takes functions as tools."""

# No `from __future__ import annotations`: frameworks make schemas from the annotated types.

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from tool_search_processor.concurrency.blocking import run_in_sync_hook
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.meta_tools import MetaTool, definitions
from tool_search_processor.processor.pipeline import SearchPipeline
from tool_search_processor.processor.processor_options import Options
from tool_search_processor.processor.step_view import StepView
from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.prepared_calls import refusal_text
from tool_search_processor.steps import InputStep
from tool_search_processor.tools import Tool

logger = logging.getLogger(__name__)

GivenContext: TypeAlias = (
    Mapping[str, Any] | Callable[[], Mapping[str, Any] | Awaitable[Mapping[str, Any]]] | None
)
"""The request's own data, or a function (sync or async) that returns it at each call."""

AsyncFunction: TypeAlias = Callable[..., Awaitable[str]]
SyncFunction: TypeAlias = Callable[..., str]
_F = TypeVar("_F", bound=Callable[..., Any])


def function_options(options: Options) -> Options:
    """Return a processor's options for its functions: every tool is called through the call function."""
    return replace(
        options,
        names=replace(options.names, mode="call", allow_unload=False),
        pinned=(),
        include_step_tools=False,
        catalog_in_prompt=False,
        preload=0,
        passthrough_tokens=0,
        # without the parameters, a model could only guess the arguments
        result_detail="schema" if options.result_detail == "brief" else options.result_detail,
    )


class FunctionSearch(SearchPipeline):
    """Answers the two functions. There is no list to pin tools to, so pinned tools are found like others."""

    async def _view(self, step: InputStep, *, own: Sequence[Tool] = ()) -> StepView:
        return replace(await super()._view(step, own=own), pinned=())

    def functions(self, context: GivenContext) -> tuple[AsyncFunction, AsyncFunction]:
        """Return the search function and the call function."""
        names = self._options.names

        async def search_tools(query: str | list[str], limit: int = self._options.top_k) -> str:
            return await self._answer(context, names.search, {"query": query, "limit": limit})

        # the only form of "any object" that every framework understands
        async def call_tool(name: str, arguments: dict | None = None) -> str:  # type: ignore[type-arg]
            return await self._answer(context, names.call, {"name": name, "arguments": arguments})

        return self._named(search_tools, call_tool)

    def sync_functions(self, context: GivenContext) -> tuple[SyncFunction, SyncFunction]:
        """Return both as blocking functions; called inside a running loop, they block it."""
        names = self._options.names

        def search_tools(query: str | list[str], limit: int = self._options.top_k) -> str:
            return self._waited_for(context, names.search, {"query": query, "limit": limit})

        def call_tool(name: str, arguments: dict | None = None) -> str:  # type: ignore[type-arg]
            return self._waited_for(context, names.call, {"name": name, "arguments": arguments})

        return self._named(search_tools, call_tool)

    def _named(self, search: _F, call: _F) -> tuple[_F, _F]:
        names = self._options.names
        definition = definitions.search_tool(
            names,
            inventory="",
            takes_pattern=self.catalog.indexes.takes_pattern,
            default_limit=self._options.top_k,
            tags=(),
        )
        return _described(search, definition), _described(call, definitions.call_tool(names))

    async def _answer(self, given: GivenContext, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the answer to one call, which is a run of its own; a failure is answered in words too."""
        try:
            context = given() if callable(given) else given
            context = await context if inspect.isawaitable(context) else context
            model_call = await ModelCall.begin((self,), InputStep(messages=(), context=context or {}))
            try:
                call = await model_call.resolve(name, arguments)
                if call.needs_approval:  # nobody can be asked for approval
                    return refusal_text(call.target_name, None)
                return (await model_call.run(call)).text
            finally:
                await model_call.end_run()
        except Exception:  # foreign code: the context's function, a provider
            logger.warning("%s failed", name, exc_info=True)
            return f"Error: {name} failed; the log says why."

    def _waited_for(self, given: GivenContext, name: str, arguments: Mapping[str, Any]) -> str:
        return run_in_sync_hook(
            lambda: self._answer(given, name, arguments),
            door=name,
            instead="the async functions: functions(sync=False)",
        )


def check_context(given: object) -> None:
    """Raise if a context for the functions is neither a mapping nor a function.

    Raises:
        ConfigurationError: Says what was found.
    """
    if not (given is None or isinstance(given, Mapping) or callable(given)):
        raise ConfigurationError(
            "context must be a mapping, or a function without parameters that returns one; "
            f"found {given!r:.80}"
        )


def _described(function: _F, definition: MetaTool) -> _F:
    """Set the name and docstring that a model reads; frameworks take parameters from the section `Args:`."""
    properties = definition.parameters["properties"]
    parameters = inspect.signature(function).parameters
    lines = (f"    {name}: {properties[name]['description']}" for name in parameters)
    function.__doc__ = "\n".join((definition.description, "", "Args:", *lines))
    function.__name__ = function.__qualname__ = definition.name
    return function

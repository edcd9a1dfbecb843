"""One run of a framework's agent: what all its model calls share, and the call that is under way."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.processor.pipeline import SearchPipeline
from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.prepared_calls import PreparedCall
from tool_search_processor.steps import InputStep
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import refuse

logger = logging.getLogger(__name__)


class SearchRun:
    """One run of a framework's agent over a searcher.

    ```python
    run = SearchRun(search, context=read_context(their_context), thread_id=their_thread)
    model_call = await run.begin(messages, own_tools)  # before each model call
    offered = model_call.tools
    call = await run.resolve(name, arguments, call_id=call_id)  # for each call of the answer
    await run.end()
    ```

    Calls of one answer may run at the same time; model calls of one run follow each other.
    """

    def __init__(
        self,
        search: SearchPipeline,
        *,
        context: Mapping[str, Any],
        thread_id: str | None = None,
        run_id: str | None = None,
        receipts: bool = False,
    ) -> None:
        """Open a run.

        Args:
            search: The searcher, as `ToolSearchProcessor.for_framework` returns it.
            context: The request's own data, for filters and tools.
            thread_id: The conversation; None where the framework doesn't know it.
            run_id: The framework's own id of this run, which no other run has; one is made if None.
            receipts: Note in results what they load, even with a store that doesn't need it, for native load.
        """
        self.search = search
        step = InputStep(messages=(), context=context, thread_id=thread_id, receipts=receipts)
        self._base = step if run_id is None else step.replace(run_id=run_id)
        self._number = 0
        self.model_call = ModelCall((search,), self._base)
        """The model call that began last; before the first one, nothing is listed."""

    async def begin(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Iterable[Tool] = (),
        *,
        context: Mapping[str, Any] | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
    ) -> ModelCall:
        """Begin a model call, and return it.

        Args:
            messages: The conversation so far, in OpenAI chat shape.
            tools: The framework's own tools.
            context: The request's own data as it is now; as the run began with it if None.
            tool_choice: In the shape of any provider; a tool of the catalog that it names is listed.

        Raises:
            ReservedToolNameError: One of them has a meta-tool's name.
        """
        if context is not None:
            self._base = self._base.replace(context=context)
        step = self._base.replace(
            messages=messages, tools=tuple(tools), tool_choice=tool_choice, step_number=self._number
        )
        self._number += 1
        self.model_call = await ModelCall.begin((self.search,), step)
        return self.model_call

    async def resolve(self, name: str, arguments: Any, *, call_id: str) -> PreparedCall:
        """Look up a call as `ModelCall.resolve` does, but find no tool by a near name.

        For a framework that runs unlisted calls: its gates go by the name that the model wrote, and a near
        name would pass them.
        """
        call = await self.model_call.resolve(name, arguments, call_id=call_id)
        if call.tool is None or name in (call.tool.name, *self.search.reserved_names):
            return call
        error = f"Error: there is no tool {name!r}; call {call.tool.name!r} by its name."
        return dataclasses.replace(call, tool=None, error=error)

    async def unlisted_text(self, name: str) -> str:
        """Load a tool that was called before it was listed, and return what the model reads for a result.

        For a framework that runs listed tools only: the next model call lists it. A tool that is unknown or
        denied is answered with a sentence.
        """
        return await self.search.unlisted_tool_text(self.model_call.step, name)

    async def end(self) -> None:
        """Drop what is kept for this run only; a second call does nothing."""
        await self.model_call.end_run()


def instructions_of(model_call: ModelCall) -> str:
    """Return the text to add to the system prompt of a model call; it may be empty."""
    return "\n\n".join(model_call.step.instructions)


def read_context(value: object) -> Mapping[str, Any]:
    """Return a framework's context as a mapping, for filters and tools.

    Args:
        value: A mapping, a dataclass, a pydantic model, any object with attributes of its own, or None for no
            context. Attributes are read shallowly, private ones are left out.

    Raises:
        ConfigurationError: Its values have no names, as in a string.
    """
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type) or (not hasattr(value, "__dict__") and not dataclasses.is_dataclass(value)):
        raise ConfigurationError(
            f"filters read the context by name, found {value!r:.80}: pass context=, a function that makes a "
            "mapping of it"
        )
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {name: attribute for name, attribute in vars(value).items() if not name.startswith("_")}


def warn_of_proxy(search: SearchPipeline, *, gate: str, unless: str = "") -> None:
    """Log a warning if calls go through the proxy, where a gate by tool names sees the proxy's name alone.

    Args:
        search: The searcher.
        gate: The framework's gate, such as "StopAtTools".
        unless: When the gate guards the tools nevertheless.
    """
    if search.mode == "call":
        logger.warning(
            "in mode 'call', %s sees only the name of the call tool and guards no tool of the catalog%s. "
            "Use mode='load', or tools with requires_approval=True",
            gate,
            unless,
        )


def check_options(search: object, *, door: str, **hooks: object) -> None:
    """Check the searcher and the hooks that an adapter was given.

    Args:
        search: Has to be a searcher.
        door: The adapter's class.
        hooks: By the names of their options; each has to be a function of the framework's context, or None.

    Raises:
        ConfigurationError: If one of them is something else.
    """
    if not isinstance(search, SearchPipeline):
        raise ConfigurationError(
            f"search: {door} needs a ToolSearchProcessor, found {search!r:.80}: make one of the tools, "
            "ToolSearchProcessor([...])"
        )
    for option, hook in hooks.items():
        if hook is not None and not callable(hook):
            wanted = "a function of the framework's own context"
            hint = ": pass a function, and the data itself with each run"
            refuse(option, wanted, hook, optional=True, hint=hint)

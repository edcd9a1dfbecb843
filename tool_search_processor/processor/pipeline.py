"""The pipeline step of a searcher: what a model call lists, and how calls of unlisted tools are resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tool_search_processor.catalog import Catalog
from tool_search_processor.errors import ToolUnavailableError
from tool_search_processor.meta_tools.meta_tool_names import Mode
from tool_search_processor.processor.loading import LoadedTools, LoadOutcome
from tool_search_processor.processor.meta_tool_set import MetaToolSet
from tool_search_processor.processor.processor_options import Options
from tool_search_processor.processor.step_calls import StepCalls
from tool_search_processor.processor.step_listing import StepListing, split_tools
from tool_search_processor.processor.step_view import StepView
from tool_search_processor.session.tool_results import encode_result, error_text
from tool_search_processor.steps import InputStep
from tool_search_processor.stores.history import HistoryStore
from tool_search_processor.stores.store import Store
from tool_search_processor.tokens.counting import DefinitionCounter, TextCounter
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import check_flags

_P = TypeVar("_P", bound="SearchPipeline")


class SearchPipeline:
    """An `InputProcessor` and `ToolResolver` over a catalog and a store; see `ToolSearchProcessor`."""

    name = "Tool Search Processor"
    """What people see, whatever the `id` is."""

    def __init__(
        self,
        catalog: Catalog,
        store: Store,
        *,
        options: Options,
        counter: TextCounter,
        store_was_given: bool,
        id: str,  # noqa: A002 - the name that the protocol fixes
    ) -> None:
        """Search `catalog`, and keep what is loaded in `store`.

        Args:
            catalog: The tools.
            store: Keeps the loaded names.
            options: The chosen options, which have been checked.
            counter: Counts the tokens of a string.
            store_was_given: Whether the store was passed in; otherwise it is the default one.
            id: Names this processor in `step.state`, in stores and in errors.
        """
        self.id = id
        self.catalog = catalog
        self.reserved_names = frozenset(options.names.present)
        self._options = options
        self._counter = counter
        self._store_was_given = store_was_given
        self._definitions = DefinitionCounter(counter)
        # The shared tools' generation and cost, in one value: threads must not see one without the other.
        self._cost = (0, 0)
        self._store = store
        self._loads = LoadedTools(
            processor_id=id, store=store, names=options.names, max_loaded=options.max_loaded
        )
        self._meta_tools = MetaToolSet()

    def __repr__(self) -> str:
        names = ", ".join(self._options.names.present)
        policy = "a filter" if self._options.filter is not None else "no filter"
        return f"<{type(self).__name__} {self.id!r}: {names}; {policy}; {self._store!r}; {self.catalog!r}>"

    async def process_input_step(self, step: InputStep) -> InputStep:
        """Return the step with the meta-tools, its own tools, the pinned and the loaded ones.

        Raises:
            ReservedToolNameError: If one of the step's own tools has a meta-tool's name.
        """
        own, self._loads.run(step).withheld = split_tools(step, self._options, processor_id=self.id)
        view = await self._view(step, own=own)
        calls = StepCalls(view)
        with view.admission() as admission:
            listing = StepListing(calls, admission)
            if self._options.passthrough_tokens:
                everything = await listing.everything(definitions=self._definitions)
                self._loads.run(step).passed_through = everything is not None
                if everything is not None:
                    await self._loads.renew(step)
                    return step.replace(tools=(*own, *everything))
            await listing.replay()
            chosen = await listing.load_chosen()
            await listing.preload()
            pinned = await listing.list_pinned()
            loaded = await listing.loaded(chosen=chosen)
            texts = await listing.instructions(counter=self._counter)
        tools = (*self._meta_tools.answered_by(calls), *own, *pinned, *loaded)
        return step.replace(tools=tools, instructions=(*step.instructions, *texts))

    async def resolve_call(self, step: InputStep, name: str) -> Tool | None:
        """Return a catalog tool that the step does not list, if phases `load` and `active` admit it."""
        if name in self.reserved_names:
            return None
        return await StepCalls(await self._view(step)).unlisted(name)

    async def missing_tool_text(self, step: InputStep, name: str) -> str:
        """Return the sentence for a call of a tool that is unknown or denied, the same for both."""
        view = await self._view(step)
        with view.admission() as admission:
            return f"Error: {await view.unknown_text(name, admission)}"

    async def unlisted_tool_text(self, step: InputStep, name: str) -> str:
        """Load a tool that was called before it was listed, and return its parameters instead of a result.

        For a framework that runs listed tools only. An unknown or denied tool is answered as by
        `missing_tool_text`.
        """
        calls = None if name in self.reserved_names else StepCalls(await self._view(step))
        try:
            answer = None if calls is None else await calls.introduce(name)
        except ToolUnavailableError as exc:
            return error_text(exc)
        return await self.missing_tool_text(step, name) if answer is None else encode_result(answer)

    def policy_problem(self, step: InputStep, name: str) -> str | None:
        """Return why the filter gave no verdict on the last `resolve_call` of this name, or None."""
        return self._loads.run(step).unsettled.get(name)

    def call_receipt(self, step: InputStep, name: str) -> Mapping[str, Any] | None:
        """Return the receipt for a tool that a call has loaded; None if it isn't loaded, or needs none."""
        return self._loads.receipt(step, LoadOutcome(already_loaded=(name,)), (name,), evicted=())

    async def definition_tokens(self, step: InputStep) -> int:
        """Return what sending every definition of the catalog at this step would cost, in tokens."""
        view = await self.catalog.view(step.context)
        generation, cost = self._cost
        if generation != view.shared.generation:
            cost = self._definitions.count(view.shared)
            self._cost = (view.shared.generation, cost)
        return cost + self._definitions.count(view.own)

    async def end_run(self, step: InputStep) -> None:
        """Drop what is kept for this run only."""
        await self._loads.end_run(step)

    async def claim_call(self, step: InputStep, call_id: str) -> bool:
        """Claim an approved call; return False if it was claimed before, here or through the store.

        Raises:
            StoreError: If the store can't be reached: the call must not run then.
        """
        return await self._loads.claim(step, call_id)

    async def release_call(self, step: InputStep, call_id: str) -> None:
        """Release the claim of a call that was not run after all."""
        await self._loads.release(step, call_id)

    @property
    def mode(self) -> Mode:
        """The mode, as it was chosen."""
        return self._options.names.mode

    @property
    def reads_conversation(self) -> bool:
        """Whether what is loaded is read from the messages alone."""
        return self._store.reads_conversation

    @property
    def include_step_tools(self) -> bool:
        """Whether the tools that a step brings are withheld until they are loaded."""
        return self._options.include_step_tools

    def for_framework(
        self, *, include_step_tools: bool = False, from_messages: bool = False
    ) -> SearchPipeline:
        """Return a processor over the same catalog for the agents of another framework.

        What is loaded is read from the framework's own messages (`HistoryStore`), unless this processor was
        given a store. Catalog, index, filter and all other options are shared.

        Args:
            include_step_tools: Make the framework's own tools searchable, and withhold them until they are
                loaded, as the option of the same name does.
            from_messages: Read the messages even if this processor was given a store: for conversations that
                have no id to keep anything by.
        """
        check_flags(hide_own=include_step_tools)  # what the adapters call it
        keeps = self._store_was_given and not from_messages
        options = replace(
            self._options, include_step_tools=include_step_tools or self._options.include_step_tools
        )
        return self._over(SearchPipeline, self._store if keeps else HistoryStore(), options, is_given=keeps)

    def _over(self, kind: type[_P], store: Store, options: Options, *, is_given: bool = False) -> _P:
        """Return another processor over the same catalog."""
        return kind(
            self.catalog, store, options=options, counter=self._counter, store_was_given=is_given, id=self.id
        )

    async def _view(self, step: InputStep, *, own: Sequence[Tool] = ()) -> StepView:
        """Return what a step can see; `own` are the step's own tools that it lists."""
        shared = await self.catalog.view(step.context)
        run = self._loads.run(step)
        catalog = run.view = shared.with_own(run.withheld)
        if self._options.experience is not None:
            catalog = await self._options.experience.applied(catalog, step.context)
        return StepView(
            catalog=catalog,
            step=step,
            shared=shared,
            own=own,
            pinned=catalog.pinned(self._options.pinned),
            options=self._options,
            context=step.context,
            thread_id=step.thread_id,
            learner=step.thread_id or step.run_id,
            loads=self._loads,
        )

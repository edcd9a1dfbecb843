"""The input processor: lists a few meta-tools and the loaded tools instead of the whole catalog."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, overload

from tool_search_processor.catalog import Catalog
from tool_search_processor.catalog.experience import Experience
from tool_search_processor.catalog.finding import ToolHit
from tool_search_processor.catalog.serving import CatalogServer
from tool_search_processor.catalog.toolsets import of_other_types
from tool_search_processor.meta_tools.answers import ResultDetail, unload_answer
from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames, Mode
from tool_search_processor.meta_tools.texts import unloaded_text
from tool_search_processor.policy.filters import Filter
from tool_search_processor.processor.functions import (
    AsyncFunction,
    FunctionSearch,
    GivenContext,
    SyncFunction,
    check_context,
    function_options,
)
from tool_search_processor.processor.load_answers import LoadAnswers
from tool_search_processor.processor.loading import thread_step
from tool_search_processor.processor.pipeline import SearchPipeline
from tool_search_processor.processor.processor_options import (
    PROCESSOR_ID,
    SEARCH_TOOL_NAME,
    TTL_SECONDS,
    Options,
    check_search,
    checked_store,
    processor_id,
)
from tool_search_processor.processor.step_calls import StepCalls
from tool_search_processor.processor.step_listing import StepListing, warn_of_unknown
from tool_search_processor.providers.given import ToolSource
from tool_search_processor.search.index import SearchMode
from tool_search_processor.search.strategies import IndexCache, Strategy
from tool_search_processor.session import ToolSession
from tool_search_processor.steps import InputStep
from tool_search_processor.stores.history import HistoryStore
from tool_search_processor.stores.protocol import LoadedToolStore
from tool_search_processor.tokens.counting import TextCounter, estimate_tokens
from tool_search_processor.transforms.transform import Transform
from tool_search_processor.wire.checks import as_names, check_callable, check_flags

_SEARCH = "search"
"""The run id of a search by a program, which keeps nothing of its run; making a new id takes time."""


class ToolSearchProcessor(SearchPipeline, CatalogServer):
    """Gives a model meta-tools to find and load tools, instead of every definition.

    ```python
    search = ToolSearchProcessor([create_issue, list_issues], top_k=3, ttl_seconds=600)
    agent = Agent("helper", "openai/gpt-5.5", input_processors=[search, TokenLimiter(127_000)])
    [hit.name for hit in await search.search("create an issue", limit=1)]  # -> ['create_issue']
    ```

    Put it before a token limiter. It can be shared between agents, threads and event loops.
    """

    def __init__(
        self,
        tools: ToolSource = (),
        *,
        search: Strategy = "bm25",
        index_cache: IndexCache | None = None,
        top_k: int = 5,
        min_score: float = 0.0,
        mode: Mode = "load",
        ttl_seconds: float | None = TTL_SECONDS,
        store: LoadedToolStore | None = None,
        max_loaded: int | None = 100,
        filter: Filter | None = None,  # noqa: A002 - the field's word for it
        filter_timeout_seconds: float | None = None,
        transforms: Iterable[Transform] = (),
        pinned: Iterable[str] = (),
        include_step_tools: bool = False,
        catalog_in_prompt: bool = False,
        catalog_token_limit: int = 4000,
        preload: int = 0,
        result_detail: ResultDetail | None = None,
        allow_unload: bool = False,
        passthrough_tokens: int = 0,
        counter: TextCounter | None = None,
        experience: Experience | None = None,
        search_tool_name: str = SEARCH_TOOL_NAME,
        load_tool_name: str = "load_tool",
        call_tool_name: str = "call_tool",
        unload_tool_name: str = "unload_tool",
        id: str = PROCESSOR_ID,  # noqa: A002 - the name that the protocol fixes
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Build a processor, and check everything that can be checked without waiting.

        Args:
            tools: A list of tools, plain functions and providers, mixed freely; a mapping of names to
                tools, which keep their own names and have the keys as aliases; one function
                `(context) -> tools`, sync or async, called for each request; or a `Catalog` with options
                of its own: how long a provider may take, how long its last list is served.
            search: The strategy: "bm25", "regex", "fuzzy", "vector", "hybrid", an index, or a function
                that makes one.
            index_cache: A folder for what the index is made of, so that a restart is quick; see `Catalog`.
            top_k: Results of a query unless the model asks for more, 1 to 20; a lower `limit` counts as this.
            min_score: The lowest score of a result, 0 to 1; a result's score is above 0 in any case.
            mode: "load": search, then load. "auto_load": a search loads what it returns. "call": the tools
                that were found run through a proxy, and the list of tools never changes.
            ttl_seconds: Idle seconds after which a thread's loaded tools are forgotten; None keeps them
                forever. For the default store only.
            store: Keeps the loaded names; a MemoryStore by default.
            max_loaded: The most loaded tools of a thread; the least recently called is evicted first. None
                sets no limit.
            filter: Asked in the phases search, load and active; an exception denies.
            filter_timeout_seconds: How long an async filter may take before it counts as a denial.
            transforms: Change the tools in this order, the first one innermost.
            pinned: Names of tools that are always listed, besides tools with `pinned=True`. Names that a
                request does not have are ignored.
            include_step_tools: Make the tools that a step brings searchable, and withhold them until
                they are loaded.
            catalog_in_prompt: Put a list of allowed tools into the instruction, which says whether it is all.
            catalog_token_limit: The most tokens of that list.
            preload: How many tools to load at each user turn, the best ones for its message. Has no effect in
                mode "call", where loaded tools are not listed.
            result_detail: What a search result says about parameters: "brief" nothing, "signature" a
                compact list, "schema" everything. By default "schema" in mode "call", else "brief".
            allow_unload: Give the model a tool to unload with.
            passthrough_tokens: While all allowed definitions together cost at most this many tokens,
                they are listed and the meta-tools are not; 0 turns this off.
            counter: Counts the tokens of a string; by default an estimate from its characters.
            experience: Learns from use which requests a tool is called for, and improves searches with it;
                by default nothing is learned.
            search_tool_name: The name of the search tool.
            load_tool_name: The name of the load tool.
            call_tool_name: The name of the call tool.
            unload_tool_name: The name of the unload tool.
            id: Names this processor in `step.state`, in stores and in errors. If the search tool's name was
                changed, it is added to the default, so that two searchers on one agent don't mix.
            clock: Returns the time in seconds. For the default store only.

        Raises:
            ConfigurationError: If an option can't work, two tools have one name (`DuplicateToolError`), or a
                tool has a meta-tool's name (`ReservedToolNameError`).
        """
        names = MetaToolNames(
            mode=mode,
            search=search_tool_name,
            load=load_tool_name,
            call=call_tool_name,
            unload=unload_tool_name,
            allow_unload=allow_unload,
        )
        options = Options(
            names=names,
            top_k=top_k,
            min_score=min_score,
            max_loaded=max_loaded,
            filter=filter,
            filter_timeout_seconds=filter_timeout_seconds,
            pinned=as_names(pinned, what="pinned"),
            include_step_tools=include_step_tools,
            catalog_in_prompt=catalog_in_prompt,
            catalog_token_limit=catalog_token_limit,
            preload=preload,
            result_detail=("schema" if mode == "call" else "brief")
            if result_detail is None
            else result_detail,
            passthrough_tokens=passthrough_tokens,
            experience=experience,
        )
        check_callable("counter", counter, "(text) -> tokens", optional=True)
        # A given catalog keeps its options and the state of its providers, which status() reports.
        cataloged = tools.adapted if isinstance(tools, Catalog) else partial(Catalog, tools)
        super().__init__(
            cataloged(
                transforms=transforms, search=search, index_cache=index_cache, reserved_names=names.options
            ),
            checked_store(store, ttl_seconds=ttl_seconds, clock=clock),
            store_was_given=store is not None,
            options=options,
            counter=counter or estimate_tokens,
            id=processor_id(id, search_tool_name=search_tool_name),
        )
        # Without tools of its own, it pins those that a framework's agent has (`hide_own` of an adapter).
        if not include_step_tools and (known := self.catalog.known_names):
            named = known | self.catalog.known_aliases
            warn_of_unknown((name for name in options.pinned if name not in named), known)

    async def search(
        self,
        query: str,
        *,
        context: Mapping[str, Any] | None = None,
        limit: int | None = None,
        tags: Iterable[str] = (),
        tool_types: Iterable[str] = (),
        mode: SearchMode | None = None,
    ) -> list[ToolHit]:
        """Rank the tools for a query as a model would get them: filtered, and cut to `limit`.

        Args:
            query: What is looked for.
            context: The request's own data, for the filter.
            limit: The most hits, not clamped; `top_k` by default.
            tags: Only tools with any of these tags or namespaces; an empty value does not narrow the search.
                A single string is one tag. Unlike a model, a program that names an unknown tag finds nothing.
            tool_types: Only tools of these types; an empty value does not narrow the search.
            mode: What to rank by: "fts" (words), "vector" (meaning) or "hybrid" (both), each with its own
                scores. By default the strategy decides.

        Returns:
            The hits, best first, each with its `tool`.

        Raises:
            ConfigurationError: If the strategy doesn't have the mode, or an argument can't work.
            InvalidPatternError: If the strategy takes patterns, the query is not a valid one, and no tool
                has it as plain text.
        """
        check_search(query, limit)
        view = await self._view(InputStep(messages=(), context=context or {}, run_id=_SEARCH))
        most = self._options.top_k if limit is None else min(max(limit, 0), len(view.catalog))
        wanted = view.wanted(limit=most, tags=frozenset(as_names(tags, what="tags")))
        if types := frozenset(as_names(tool_types, what="tool_types")):
            wanted = replace(wanted, without=wanted.without | of_other_types(view.catalog, types))
        with view.admission() as admission:
            ranked = await view.rank(query, admission, wanted=wanted, mode=mode)
        return [ToolHit.of(hit, tool) for hit, tool in ranked]

    async def load(
        self, names: str | Sequence[str], *, thread_id: str, context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Load tools for a thread, as if its model had asked for them; phase `load` is asked.

        Returns:
            The answer of the load tool: `loaded`, `already_loaded`, `not_found`, `message`.

        Raises:
            StoreError: If the store only reads conversations.
        """
        self._loads.check_kept()
        view = await self._view(thread_step(thread_id, context))
        await self._loads.renew(view.step)
        with view.admission() as admission:
            await StepListing(StepCalls(view), admission).list_pinned()
            return await LoadAnswers(view).load(as_names(names), admission)

    async def unload(self, names: str | Sequence[str], *, thread_id: str) -> dict[str, Any]:
        """Unload tools of a thread.

        Returns:
            The answer of the unload tool: `unloaded`, `not_loaded`, `message`.

        Raises:
            StoreError: If the store only reads conversations.
        """
        self._loads.check_kept()
        wanted = as_names(names)
        unloaded = await self._loads.remove(thread_step(thread_id, None), wanted)
        missing = [name for name in wanted if name not in unloaded]
        return unload_answer(
            unloaded=unloaded, not_loaded=missing, message=unloaded_text(unloaded=unloaded, missing=missing)
        )

    async def loaded(self, thread_id: str) -> list[str]:
        """Return the names of a thread's loaded tools in load order; its life is not renewed.

        Raises:
            StoreError: If the store only reads conversations.
        """
        self._loads.check_kept()
        return await self._loads.kept(thread_step(thread_id, None), await self.catalog.view())

    async def clear(self, thread_id: str | None = None) -> None:
        """Forget the loaded tools of a thread, or of all threads of this processor.

        Raises:
            StoreError: If the store only reads conversations, or can't be reached.
        """
        self._loads.check_kept()
        if thread_id is not None:
            thread_id = thread_step(thread_id, None).thread_id
        await self._loads.clear(thread_id)

    async def stats(self) -> dict[str, Any]:
        """Return the number of shared `tools`, whether the index is `ready`, and the store's figures.

        `ready` is False until the index is made, and while vectors are being made and only words answer.
        `threads` and `loaded` are counts. `oldest_access` is when the thread that has been idle longest was
        last renewed, in seconds since 1970 (or since the store's clock was 0); None if there are no threads
        or the store can't tell.
        """
        shared = (await self.catalog.view()).shared
        is_ready = self.catalog.is_ready
        return {"tools": len(shared), "ready": is_ready, "oldest_access": None, **await self._store.stats()}

    def session(
        self, *, thread_id: str | None = None, context: Mapping[str, Any] | None = None
    ) -> ToolSession:
        """Return a session for a loop of your own, with this processor alone."""
        return ToolSession(self, thread_id=thread_id, context=context or {})

    @overload
    def functions(
        self, *, context: GivenContext = None, sync: Literal[False] = False
    ) -> tuple[AsyncFunction, AsyncFunction]: ...

    @overload
    def functions(
        self, *, context: GivenContext = None, sync: Literal[True]
    ) -> tuple[SyncFunction, SyncFunction]: ...

    def functions(
        self, *, context: GivenContext = None, sync: bool = False
    ) -> tuple[AsyncFunction, AsyncFunction] | tuple[SyncFunction, SyncFunction]:
        """Return a search function and a call function, for any framework that takes functions as tools.

        ```python
        search_tools, call_tool = search.functions(context={"plan": "pro"}, sync=True)
        "create_issue" in search_tools("file a bug in GitHub")  # -> True
        call_tool("create_issue", {"repo": "octo/hello", "title": "Bug"})  # -> 'created octo/hello: Bug'
        ```

        They work as in mode "call", whatever the mode is: a search returns parameters, and a tool that was
        found runs through the call function. Pinned tools are found like all others. Policy is asked at
        every call, and what goes wrong is an answer. A tool that needs approval doesn't run, since there is
        nobody to ask.

        Args:
            context: The request's own data, for the filter and the tools; or a function that returns it at
                each call, sync or async, such as one that reads a context variable.
            sync: Return functions that wait, for frameworks that take no async ones.

        Raises:
            ConfigurationError: If the context is neither, or `sync` is not True or False.
        """
        check_flags(sync=sync)
        check_context(context)
        search = self._over(FunctionSearch, HistoryStore(), function_options(self._options))
        return search.sync_functions(context) if sync else search.functions(context)

    async def aclose(self) -> None:
        """Close the connections of the store and the providers."""
        await self._store.aclose()
        if self._options.experience is not None:
            await self._options.experience.aclose()
        await self.catalog.aclose()

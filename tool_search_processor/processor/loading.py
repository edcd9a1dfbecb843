"""Which tools are loaded: what the store holds, and what this run has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tool_search_processor.meta_tools import MetaToolNames
from tool_search_processor.processor.loop_guard import LoopGuard
from tool_search_processor.steps import InputStep
from tool_search_processor.stores.base import LoadedToolStore, LoadScope
from tool_search_processor.stores.memory import MemoryStore
from tool_search_processor.tools import Tool

_MAX_ANONYMOUS_RUNS = 10_000


@dataclass(slots=True)
class RunState:
    """What one run has seen; it lives in `step.state` and dies with the run."""

    seen: dict[str, None] = field(default_factory=dict)
    """Loaded tools in load order: they stay until the run ends, whatever expires meanwhile."""
    in_use: set[str] = field(default_factory=set)
    """Loaded or called in this run: never evicted by it."""
    guard: LoopGuard = field(default_factory=LoopGuard)
    withheld: tuple[Tool, ...] = ()
    """Tools that the last step brought and that have to be found first."""
    passed_through: bool = False
    """Whether the last step listed everything and no meta-tool."""
    turn: tuple[int, str] | None = None
    """The user turn that tools were preloaded for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOutcome:
    """What a load changed."""

    loaded: tuple[str, ...] = ()
    already_loaded: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Found no place: as many tools as may be are loaded, and all are in use."""


class LoadedTools:
    """The loaded tools of a processor's threads and anonymous runs."""

    def __init__(
        self, *, processor_id: str, store: LoadedToolStore, names: MetaToolNames, max_loaded: int | None
    ) -> None:
        """Keep what is loaded in a store.

        Args:
            processor_id: Whose they are.
            store: Keeps the threads; anonymous runs are kept here, each for itself.
            names: What the meta-tools are called.
            max_loaded: The most loaded tools of a thread; None sets no bound.
        """
        self._processor_id = processor_id
        self._store = store
        self._names = names
        self._max_loaded = max_loaded
        self._anonymous = MemoryStore(None, max_threads=_MAX_ANONYMOUS_RUNS)

    def run(self, step: InputStep) -> RunState:
        """Return what this step's run has seen."""
        state: RunState = step.state.setdefault(self._processor_id, RunState())
        return state

    async def names(self, step: InputStep) -> tuple[str, ...]:
        """Return the loaded names in load order, and renew the thread's life."""
        store, scope = self._locate(step)
        seen = self.run(step).seen
        seen.update(dict.fromkeys(await store.loaded(scope)))
        await store.touch(scope)
        return tuple(seen)

    async def add(self, step: InputStep, names: Sequence[str]) -> LoadOutcome:
        """Load tools for a step's thread, or for its run where there is no thread."""
        if not names:
            return LoadOutcome()
        store, scope = self._locate(step)
        run = self.run(step)
        result = await store.add(scope, names, max_loaded=self._max_loaded, keep=run.in_use)
        for name in result.evicted:
            run.seen.pop(name, None)
        there = {*run.seen, *result.added}
        if not there.issuperset(names):
            # Neither new nor known to this run: loaded by another run of the thread, or refused.
            there.update(await store.loaded(scope))
        outcome = LoadOutcome(
            loaded=tuple(name for name in names if name in there and name not in run.seen),
            already_loaded=tuple(name for name in names if name in run.seen),
            refused=tuple(name for name in names if name not in there),
        )
        run.seen.update(dict.fromkeys(outcome.loaded))
        run.in_use.update(name for name in names if name in there)
        return outcome

    async def called(self, step: InputStep, name: str) -> None:
        """Mark a tool as used by a step's run."""
        run = self.run(step)
        run.in_use.add(name)
        run.guard.used()
        if name in run.seen:
            store, scope = self._locate(step)
            await store.touch(scope, (name,))

    async def remove(self, step: InputStep, names: Sequence[str]) -> tuple[str, ...]:
        """Unload tools, and return those that were loaded."""
        store, scope = self._locate(step)
        run = self.run(step)
        removed = {*await store.remove(scope, names), *(name for name in names if name in run.seen)}
        for name in removed:
            run.seen.pop(name, None)
            run.in_use.discard(name)
        return tuple(name for name in names if name in removed)

    async def end_run(self, step: InputStep) -> None:
        """Drop what was kept for this run alone."""
        step.state.pop(self._processor_id, None)
        await self._anonymous.clear(self._scope(step, step.run_id))

    def scope(self, thread_id: str | None) -> LoadScope:
        """Return the scope of a thread, or of all threads, outside any step."""
        return LoadScope(
            processor_id=self._processor_id,
            thread_id=thread_id,
            load_tool_names=self._names.loading,
            unload_tool_name=self._names.unload if self._names.allow_unload else None,
        )

    def _locate(self, step: InputStep) -> tuple[LoadedToolStore, LoadScope]:
        if step.thread_id is None:
            return self._anonymous, self._scope(step, step.run_id)
        return self._store, self._scope(step, step.thread_id)

    def _scope(self, step: InputStep, thread_id: str) -> LoadScope:
        return LoadScope(
            processor_id=self._processor_id,
            thread_id=thread_id,
            run_id=step.run_id,
            messages=step.messages,
            load_tool_names=self._names.loading,
            unload_tool_name=self._names.unload if self._names.allow_unload else None,
        )

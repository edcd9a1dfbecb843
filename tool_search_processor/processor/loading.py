"""The loaded tools of threads and runs: in a store, and in the memory of each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.errors import ConfigurationError, StoreError
from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames
from tool_search_processor.meta_tools.reading import as_object, read_names
from tool_search_processor.meta_tools.receipts import receipt
from tool_search_processor.processor.run_memory import (
    Forgotten,
    RunMemory,
    entry_of,
    mark_in,
    name_of,
    names_of,
)
from tool_search_processor.session.claims import LocalClaims
from tool_search_processor.steps import InputStep
from tool_search_processor.stores.memory import MemoryStore
from tool_search_processor.stores.protocol import AddResult, LoadScope, Replay
from tool_search_processor.stores.store import Store
from tool_search_processor.wire.messages import calls_made

_MAX_RUNS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOutcome:
    """The outcome of a load, by name."""

    loaded: tuple[str, ...] = ()
    already_loaded: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Not loaded: `max_loaded` is reached, and all loaded tools are in use."""
    unavailable: tuple[str, ...] = ()
    """Not loaded: the store could not be reached."""
    evicted: tuple[str, ...] = ()
    """Unloaded to make room."""


class LoadedTools:
    """Keeps the loaded tools of a processor's threads and anonymous runs."""

    def __init__(
        self, *, processor_id: str, store: Store, names: MetaToolNames, max_loaded: int | None
    ) -> None:
        """Keep loaded tools in a store.

        Args:
            processor_id: Whose they are.
            store: Keeps the threads. Anonymous runs are kept in this process, each for itself, and so are
                runs whose store only reads their conversation.
            names: What the meta-tools are called.
            max_loaded: The most loaded tools of a thread; None sets no bound.
        """
        self._processor_id = processor_id
        self._store = store
        self._names = names
        self._every_thread = LoadScope(
            processor_id=processor_id,
            load_tool_names=names.loading,
            unload_tool_name=names.unload if names.allow_unload else None,
        )
        self._max_loaded = max_loaded
        self._runs = MemoryStore(None, max_threads=_MAX_RUNS)
        self._claims = LocalClaims()
        self._forgotten: WeakValueDictionary[str | None, Forgotten] = WeakValueDictionary()

    def run(self, step: InputStep) -> RunMemory:
        """Return what this step's run has seen.

        Raises:
            ConfigurationError: If something else is stored under the processor's id.
        """
        state = step.state.get(self._processor_id)
        if state is None:
            forgotten = (
                self._forgotten.setdefault(step.thread_id, Forgotten()) if step.thread_id else Forgotten()
            )
            state = step.state.setdefault(self._processor_id, RunMemory(forgotten=forgotten))
        if not isinstance(state, RunMemory):
            raise ConfigurationError(
                f"step.state[{self._processor_id!r}] is this processor's own, found {state!r:.80}: keep your "
                "data under another key, or give the processor another id"
            )
        return state

    async def renew(self, step: InputStep) -> tuple[str, ...]:
        """Renew the thread's life, and return the names of its loaded tools in load order."""
        store, scope = self._locate(step)
        run = self.run(step)
        run.see(await store.renew(scope))
        return tuple(run.seen)

    def receipt(
        self, step: InputStep, outcome: LoadOutcome, names: Sequence[str], *, evicted: Sequence[str]
    ) -> dict[str, Any] | None:
        """Return the receipt of a load; None if answers need no receipt, or nothing was loaded.

        Args:
            step: Whose load it was.
            outcome: What came of it.
            names: The requested names.
            evicted: The names unloaded to make room that the answer may mention.
        """
        seen = self.run(step).seen
        loaded = {*outcome.loaded, *outcome.already_loaded}
        there = [name for name in names if name in loaded and name in seen]
        if not there or not self.writes_receipts(step):
            return None
        marks = {name: mark for name in there if (mark := mark_in(seen[name]))}
        return receipt(there, evicted=evicted, marks=marks)

    def writes_receipts(self, step: InputStep) -> bool:
        """Return True if answers need receipts, since the conversation has to say what is loaded."""
        return step.receipts or self._store.reads_conversation

    def check_kept(self) -> None:
        """Raise if loaded tools can't be read and changed outside a run.

        Raises:
            StoreError: If the store only reads conversations.
        """
        if self._store.reads_conversation:
            raise StoreError(
                f"a {self._store.label} keeps nothing outside a run: what is loaded stands in the "
                "conversation's own messages. Let the model call the meta-tools and pass its messages on, "
                "or give the processor a MemoryStore or a RedisStore"
            )

    def unread(self, step: InputStep) -> Replay:
        """Return what the conversation says is loaded, without what this run has loaded or unloaded since."""
        if not self._store.reads_conversation:
            return Replay()
        run = self.run(step)
        return self._store.replay(self._scope(step, step.run_id)).less({*run.seen, *run.left})

    async def replay(self, step: InputStep, unread: Replay) -> None:
        """Load what `unread` returned, except what may not be loaded, for this step's run."""
        store, scope = self._locate(step)
        run = self.run(step)
        entries = {name: entry_of(name, unread.marks.get(name)) for name in unread.names}
        changed = [entry for name, entry in entries.items() if entry != entry_of(name, run.mark(name))]
        run.entries.update(dict.fromkeys(changed))
        by_use = [name for name in unread.by_use if entries[name] not in changed]
        if self._max_loaded is not None:
            room = max(self._max_loaded - len(run.seen), 0)
            by_use = by_use[len(by_use) - min(room, len(by_use)) :]
        await store.add(scope, [entry for name, entry in entries.items() if name in by_use])
        await store.touch(scope, [entries[name] for name in by_use])

    def had_before(self, step: InputStep, names: Sequence[str]) -> list[str]:
        """Return the names that the conversation loaded or called, and that are no longer loaded."""
        run = self.run(step)
        once = set(run.left)
        for name, arguments in calls_made(step.messages):
            once.update(read_names(as_object(arguments)) if name == self._names.load else (name,))
        return [name for name in names if name in once and name not in run.seen]

    async def add(self, step: InputStep, names: Sequence[str]) -> LoadOutcome:
        """Load tools for a step's thread, or for its run if there is no thread."""
        if not names:
            return LoadOutcome()
        store, scope = self._locate(step)
        run = self.run(step)
        entries = {name: entry_of(name, run.mark(name)) for name in names}
        # A load means the tool that has the name now, so earlier tools of the name are forgotten.
        if others := [name for name in names if run.is_another(name)]:
            await self._removed(step, others)
            run.forget(others)
        keep = [entry for name, entry in run.seen.items() if name in run.in_use]
        result = await store.add(scope, list(entries.values()), max_loaded=self._max_loaded, keep=keep)
        if not isinstance(result, AddResult):
            raise ConfigurationError(f"{store.label}.add must return an AddResult, found {result!r:.80}")
        if result.unavailable:
            return LoadOutcome(
                already_loaded=tuple(name for name in names if name in run.seen),
                unavailable=tuple(name for name in names if name not in run.seen),
            )
        evicted = tuple(name_of(entry) for entry in result.evicted)
        run.forget(evicted)
        run.left.update(evicted)
        there = {*run.seen.values(), *result.added}
        if not there.issuperset(entries.values()):
            # What is neither new nor known to this run was loaded by another run of the thread, or refused.
            there.update(await store.loaded(scope))
        outcome = LoadOutcome(
            loaded=tuple(name for name in names if entries[name] in there and name not in run.seen),
            already_loaded=tuple(name for name in names if name in run.seen),
            refused=tuple(name for name in names if entries[name] not in there),
            evicted=evicted,
        )
        run.see([entries[name] for name in outcome.loaded])
        run.left.difference_update(outcome.loaded)
        run.forgotten.difference_update(outcome.loaded)
        run.use(name for name in names if entries[name] in there)
        return outcome

    async def mark_called(self, step: InputStep, name: str) -> None:
        """Record that a step's run called a tool."""
        run = self.run(step)
        run.use((name,))
        run.guard.used()
        if name in run.seen:
            store, scope = self._locate(step)
            await store.touch(scope, (run.seen[name],))

    async def remove(self, step: InputStep, names: Sequence[str]) -> tuple[str, ...]:
        """Unload tools, and return those that were loaded."""
        run = self.run(step)
        removed = {*await self._removed(step, names), *(name for name in names if name in run.seen)}
        run.forget(removed)
        run.left |= removed
        run.forgotten |= removed
        return tuple(name for name in names if name in removed)

    async def _removed(self, step: InputStep, names: Sequence[str]) -> list[str]:
        """Remove all entries of some names from the store, and return the names that were there."""
        store, scope = self._locate(step)
        loaded = [entry for entry in await store.loaded(scope) if name_of(entry) in names]
        return [name_of(entry) for entry in await store.remove(scope, loaded)] if loaded else []

    async def end_run(self, step: InputStep) -> None:
        """Drop what was kept for this run only, and renew what the run used of its thread.

        A run may outlast its thread's time to live, and what it used would be gone at its end.
        """
        run = step.state.pop(self._processor_id, None)
        store, scope = self._locate(step)
        if store is self._runs:
            await self._runs.clear(scope)
            return
        there = await store.renew(scope)
        lost = [entry for entry in run.used() if entry not in there] if isinstance(run, RunMemory) else []
        if lost:
            # in load order, as the next turn lists them; what other runs loaded meanwhile is not evicted
            in_order = sorted(lost, key=list(run.entries).index)
            await store.add(scope, in_order, max_loaded=self._max_loaded, keep=there)
            await store.touch(scope, lost)

    async def kept(self, step: InputStep, view: CatalogView) -> list[str]:
        """Return the names of a thread's loaded tools in load order, without renewing its life.

        Args:
            step: A step of the thread.
            view: The catalog; an entry whose name another tool has now is left out.
        """
        known = names_of(await self._store.loaded(self._scope(step, step.thread_id))).items()
        return [name for name, entry in known if view.mark(name) in (None, mark_in(entry))]

    async def clear(self, thread_id: str | None) -> None:
        """Forget the loaded tools of a thread, or of all threads."""
        for forgotten in [self._forgotten.get(thread_id)] if thread_id else list(self._forgotten.values()):
            if forgotten is not None:
                forgotten.everything = True
        await self._store.clear(replace(self._every_thread, thread_id=thread_id))

    async def claim(self, step: InputStep, call_id: str) -> bool:
        """Claim a call; return False if it was claimed before, in any process that shares the store.

        Raises:
            StoreError: If the store can't be reached: the call must not run then.
        """
        if not await self._claims.claim_call(step, call_id):
            return False
        is_first = False
        try:
            is_first = await self._store.claim(self._scope(step, step.thread_id), call_id)
        finally:
            if not is_first:
                await self._claims.release_call(step, call_id)
        return is_first

    async def release(self, step: InputStep, call_id: str) -> None:
        """Release the claim of a call that was not run."""
        await self._claims.release_call(step, call_id)
        await self._store.release(self._scope(step, step.thread_id), call_id)

    def _locate(self, step: InputStep) -> tuple[Store, LoadScope]:
        if step.thread_id is None or self._store.reads_conversation:
            return self._runs, self._scope(step, step.run_id)
        return self._store, self._scope(step, step.thread_id)

    def _scope(self, step: InputStep, thread_id: str | None) -> LoadScope:
        return replace(self._every_thread, thread_id=thread_id, run_id=step.run_id, messages=step.messages)


def thread_step(thread_id: str | None, context: Mapping[str, Any] | None) -> InputStep:
    """Return a step that represents a thread outside any run.

    Raises:
        ConfigurationError: If there is no thread.
    """
    step = InputStep(messages=(), thread_id=thread_id, context=context or {})
    if step.thread_id is None:
        raise ConfigurationError(
            f"thread_id names a conversation, found {thread_id!r}: nobody else sees an anonymous run's tools"
        )
    return step

"""The protocol of a store for loaded tools, and the values that it takes and returns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class LoadScope:
    """Whose loaded tools are meant: those of one processor in one thread.

    ```python
    store, scope = MemoryStore(), LoadScope(processor_id="tool-search", thread_id="t-42")
    await store.add(scope, ["create_issue"])
    await store.loaded(scope)  # -> ('create_issue',)
    ```

    Scopes with the same processor and thread are equal, and so the same key of a dict.
    """

    processor_id: str
    thread_id: str | None = None
    """None means every thread of the processor; only `clear` takes it."""
    run_id: str = field(default="", compare=False)
    messages: Sequence[Mapping[str, Any]] = field(default=(), compare=False)
    """The conversation, for stores that read it."""
    load_tool_names: frozenset[str] = field(default=frozenset(), compare=False)
    """The meta-tools whose results load."""
    unload_tool_name: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AddResult:
    """What an add changed.

    ```python
    scope = LoadScope(processor_id="tool-search", thread_id="t-42")
    result = await MemoryStore().add(scope, ["create_issue"])
    result.added  # -> ('create_issue',)
    ```
    """

    added: tuple[str, ...] = ()
    """New in the scope: not the names that were there already, nor those that there was no room for."""
    evicted: tuple[str, ...] = ()
    unavailable: bool = False
    """The store could not be reached, so nothing was added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a conversation says about its loaded tools."""

    names: tuple[str, ...] = ()
    """Loaded now, in load order."""
    by_use: tuple[str, ...] = ()
    """The same names, the least recently called or loaded first."""
    marks: Mapping[str, str] = field(default_factory=dict, compare=False)
    """By name, what distinguishes a loaded tool from others of its name, as its receipt says."""

    def less(self, names: Collection[str]) -> Replay:
        """Return the same without some names."""
        return Replay(
            names=tuple(name for name in self.names if name not in names),
            by_use=tuple(name for name in self.by_use if name not in names),
            marks=self.marks,
        )


@runtime_checkable
class LoadedToolStore(Protocol):
    """Keeps the names of loaded tools, by processor and thread.

    A class of your own needs these methods and no base class. `Store` is a base with defaults for `stats`,
    `aclose` and what is optional.

    A provider's tool has `@` and eight hexadecimal digits behind its name here, which distinguish it from
    another tool that gets the name later; a store treats such a string like any name.

    ```python
    class LoggedStore(MemoryStore):
        async def clear(self, scope: LoadScope) -> None:
            logging.info("forgetting the tools of %s", scope.thread_id)
            await super().clear(scope)

    search = ToolSearchProcessor([create_issue], store=LoggedStore())
    ```
    """

    @abstractmethod
    async def loaded(self, scope: LoadScope) -> Sequence[str]:
        """Return the names in load order; empty for an unknown or expired thread."""
        ...

    @abstractmethod
    async def add(
        self,
        scope: LoadScope,
        names: Sequence[str],
        *,
        max_loaded: int | None = None,
        keep: Collection[str] = frozenset(),
    ) -> AddResult:
        """Add names at the end, in one atomic step, and renew the thread's life.

        Args:
            scope: Whose they are.
            names: What to add; a name that is there already keeps its place.
            max_loaded: The most names a thread holds; None sets no bound. Where it is full, the least
                recently called or loaded name makes room.
            keep: Names that never make room. When only such are left, the rest of `names` isn't added.
        """
        ...

    @abstractmethod
    async def touch(self, scope: LoadScope, names: Collection[str] = ()) -> None:
        """Renew the thread's life, and mark `names` as called just now."""
        ...

    @abstractmethod
    async def remove(self, scope: LoadScope, names: Collection[str]) -> Sequence[str]:
        """Take names out, and return those that were there."""
        ...

    @abstractmethod
    async def clear(self, scope: LoadScope) -> None:
        """Forget a thread, or all threads of the processor where `thread_id` is None."""
        ...

    async def stats(self) -> Mapping[str, Any]:
        """Return `threads` and `loaded`, both counts over everything that is alive.

        A store that can tell adds `oldest_access`: when the thread that has been idle longest was last
        renewed, in seconds of the store's clock; None without threads.
        """
        ...

    async def aclose(self) -> None:
        """Close connections, if the store has any."""
        ...

"""The base of all stores, and the adapter for a user's own store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tool_search_processor.concurrency.closing import AsyncClosing
from tool_search_processor.stores.protocol import AddResult, LoadedToolStore, LoadScope, Replay


class Store(AsyncClosing, LoadedToolStore):
    """Base of all stores: five methods are needed, everything else has a default.

    ```python
    class SqlStore(Store):
        async def loaded(self, scope): ...
        async def add(self, scope, names, *, max_loaded=None, keep=frozenset()): ...
        async def touch(self, scope, names=()): ...
        async def remove(self, scope, names): ...
        async def clear(self, scope): ...
    ```

    `LoadedToolStore` says what each of them has to do.
    """

    reads_conversation: bool = False
    """Whether it keeps nothing itself, and `replay` reads what is loaded from receipts in the conversation.

    A processor adds receipts to its answers for such a store, keeps what happens in a run until the run
    ends, and asks phase `load` again about every name that is read back.
    """

    @property
    def label(self) -> str:
        """What errors call it: the name of its class."""
        return type(self).__name__

    async def renew(self, scope: LoadScope) -> Sequence[str]:
        """Return the names as `loaded` does, and renew the thread's life as `touch` does.

        Override it where both can be had in one round trip.
        """
        names = await self.loaded(scope)
        await self.touch(scope)
        return names

    def replay(self, scope: LoadScope) -> Replay:
        """Return what `scope.messages` say is loaded; must be quick, since every step asks."""
        return Replay()

    async def claim(self, scope: LoadScope, call_id: str) -> bool:
        """Return True to the first caller that asks for a call of the scope's thread and run, else False.

        This is how all processes agree on who may run an approved call. By default everybody may.

        Raises:
            StoreError: When the store can't tell: the call must not run then.
        """
        return True

    async def release(self, scope: LoadScope, call_id: str) -> None:
        """Give back a claim if its call was not run."""

    async def stats(self) -> Mapping[str, Any]:
        """Return `threads`, `loaded` and `oldest_access`; None where the store can't tell."""
        return {"threads": None, "loaded": None, "oldest_access": None}


class ForeignStore(Store):
    """An object of the user's that keeps loaded tools, with the defaults of `Store` for what it lacks."""

    def __init__(self, store: LoadedToolStore) -> None:
        """Look once at which of the optional methods the object has."""
        given: Any = store
        self._store = store
        self.reads_conversation = hasattr(given, "replay")
        can_claim = hasattr(given, "claim") and hasattr(given, "release")
        self._replay = given.replay if self.reads_conversation else super().replay
        self._renew = given.renew if hasattr(given, "renew") else super().renew
        self._claim = given.claim if can_claim else super().claim
        self._release = given.release if can_claim else super().release

    def __repr__(self) -> str:
        return repr(self._store)

    @property
    def label(self) -> str:
        """The name of the object's class."""
        return type(self._store).__name__

    async def loaded(self, scope: LoadScope) -> Sequence[str]:
        """Return the names that the object holds."""
        return await self._store.loaded(scope)

    async def add(self, scope: LoadScope, names: Sequence[str], **options: Any) -> AddResult:
        """Add names to those that the object holds."""
        return await self._store.add(scope, names, **options)

    async def touch(self, scope: LoadScope, names: Collection[str] = ()) -> None:
        """Have the object renew the thread's life."""
        await self._store.touch(scope, names)

    async def remove(self, scope: LoadScope, names: Collection[str]) -> Sequence[str]:
        """Have the object take names out."""
        return await self._store.remove(scope, names)

    async def clear(self, scope: LoadScope) -> None:
        """Have the object forget a thread."""
        await self._store.clear(scope)

    async def renew(self, scope: LoadScope) -> Sequence[str]:
        """Have the object renew the thread's life, and return the names."""
        names: Sequence[str] = await self._renew(scope)
        return names

    def replay(self, scope: LoadScope) -> Replay:
        """Return what the object reads in the conversation."""
        replayed: Replay = self._replay(scope)
        return replayed

    async def claim(self, scope: LoadScope, call_id: str) -> bool:
        """Ask the object, if it can claim."""
        return bool(await self._claim(scope, call_id))

    async def release(self, scope: LoadScope, call_id: str) -> None:
        """Have the object give back a claim."""
        await self._release(scope, call_id)

    async def stats(self) -> Mapping[str, Any]:
        """Return the object's counts."""
        return await self._store.stats()

    async def aclose(self) -> None:
        """Close the object."""
        await self._store.aclose()


def adapt_store(store: LoadedToolStore) -> Store:
    """Return a store with every method of `Store`, wrapped if it lacks any."""
    return store if isinstance(store, Store) else ForeignStore(store)

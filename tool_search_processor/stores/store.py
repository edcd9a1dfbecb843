"""The base of all stores, and the adapter for a user's own store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tool_search_processor.concurrency.closing import AsyncClosing
from tool_search_processor.stores.protocol import LoadedToolStore, LoadScope, Replay

_METHODS = ("loaded", "add", "touch", "remove", "clear", "stats", "aclose", "renew", "replay")
_CLAIMING = ("claim", "release")


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

    loaded = add = touch = remove = clear = cast("Any", None)  # the object's

    def __init__(self, store: LoadedToolStore) -> None:
        """Take over the object's methods; a claim that it can't give back, it can't make."""
        self._store = store
        self.reads_conversation = hasattr(store, "replay")
        can_claim = hasattr(store, "claim") and hasattr(store, "release")
        for name in (*_METHODS, *(_CLAIMING if can_claim else ())):
            if hasattr(store, name):
                setattr(self, name, getattr(store, name))

    def __repr__(self) -> str:
        return repr(self._store)

    @property
    def label(self) -> str:
        """The name of the object's class."""
        return type(self._store).__name__


def adapt_store(store: LoadedToolStore) -> Store:
    """Return a store with every method of `Store`, wrapped if it lacks any."""
    return store if isinstance(store, Store) else ForeignStore(store)

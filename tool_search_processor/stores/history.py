"""Reads loaded tools back from the conversation itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Never

from tool_search_processor.errors import StoreError
from tool_search_processor.meta_tools import Receipt, read_receipt
from tool_search_processor.stores.conversations import receipts_in
from tool_search_processor.stores.protocol import AddResult, LoadScope, Replay
from tool_search_processor.stores.store import Store

_REMEMBERED_ANSWERS = 10_000


class HistoryStore(Store):
    """Reads what is loaded from the results of the meta-tools in the conversation.

    ```python
    search = ToolSearchProcessor([create_issue], store=HistoryStore())
    agent = Agent("helper", "openai/gpt-5.5", input_processors=[search])
    # and each turn: await agent.run(text, messages=result.messages)
    ```

    It keeps nothing, so it needs no server and survives every restart, for anonymous callers too: pass
    the messages of the turns before. What is no longer in the messages is no longer loaded. Of each call
    only the first answer counts; where ids repeat, it answers the newest message that has its id.

    Safe to use from any number of threads and event loops.
    """

    reads_conversation = True

    def __init__(self) -> None:
        """Make the store; there is nothing to set."""
        self._receipts: dict[tuple[int, int], Receipt | None] = {}

    def __repr__(self) -> str:
        return "<HistoryStore: reads the conversation>"

    def replay(self, scope: LoadScope) -> Replay:
        """Read the conversation of a scope; `receipts_in` says which of its receipts count."""
        kinds: dict[str, str | None] = dict.fromkeys(scope.load_tool_names, "loaded")
        if scope.unload_tool_name is not None:
            kinds[scope.unload_tool_name] = "unloaded"
        loaded: dict[str, str] = {}
        by_use: dict[str, None] = {}
        for answer, found in receipts_in(scope.messages, kinds, read=self._receipt):
            if answer.name in by_use:
                by_use[answer.name] = by_use.pop(answer.name)
            if found is None:
                continue
            for name in found.names if found.kind == "unloaded" else found.evicted:
                loaded.pop(name, None)
                by_use.pop(name, None)
            for name in found.names if found.kind == "loaded" else ():
                loaded[name] = found.marks.get(name, "")
                by_use[name] = by_use.pop(name, None)
        return Replay(names=tuple(loaded), by_use=tuple(by_use), marks=loaded)

    async def loaded(self, scope: LoadScope) -> Sequence[str]:
        """Return the names in load order, as `scope.messages` show them."""
        return self.replay(scope).names

    async def add(
        self,
        scope: LoadScope,
        names: Sequence[str],
        *,
        max_loaded: int | None = None,
        keep: Collection[str] = frozenset(),
    ) -> AddResult:
        """Raise: only a call in the conversation loads."""
        _refuse("load into")

    async def touch(self, scope: LoadScope, names: Collection[str] = ()) -> None:
        """Do nothing: the conversation shows what was called, and it lives as long as its messages."""

    async def remove(self, scope: LoadScope, names: Collection[str]) -> Sequence[str]:
        """Raise: only a call in the conversation unloads."""
        _refuse("unload from")

    async def clear(self, scope: LoadScope) -> None:
        """Raise: what is loaded is forgotten with its messages."""
        _refuse("clear")

    async def stats(self) -> Mapping[str, Any]:
        """Return zeros, and no last access, since it keeps nothing."""
        return {"threads": 0, "loaded": 0, "oldest_access": None}

    def _receipt(self, text: str) -> Receipt | None:
        # A conversation is read at every step. Only a hash of the text is kept, which keeps nothing alive.
        key = hash(text), len(text)
        try:
            return self._receipts[key]
        except KeyError:
            if len(self._receipts) >= _REMEMBERED_ANSWERS:
                self._receipts = {}
            return self._receipts.setdefault(key, read_receipt(text))


def _refuse(doing: str) -> Never:
    raise StoreError(
        f"can't {doing} a HistoryStore: what is loaded stands in the conversation's own messages, by the "
        "receipts in results of the meta-tools. Use a MemoryStore or a RedisStore to change it from outside"
    )

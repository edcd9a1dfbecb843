"""Reads loaded tools back from the conversation itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Never

from tool_search_processor.errors import StoreError
from tool_search_processor.meta_tools import Receipt, read_receipt, receipt_of
from tool_search_processor.stores.protocol import AddResult, LoadScope, Replay
from tool_search_processor.stores.store import Store
from tool_search_processor.wire.answers import first_answers
from tool_search_processor.wire.plain import text_of

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
        """Read the conversation of a scope.

        A name counts when a result that answers an assistant's call of a loading meta-tool, by call id,
        has a receipt for it. What users and assistants write never counts, nor what other tools answer; for
        these only a `receipt` that stands in the message itself counts, which `ModelCall.receipt` gave.
        """
        conversation = _Conversation(scope)
        for answer in first_answers(scope.messages):
            name = answer.name
            if name is None:
                conversation.begin_step()
            elif name in scope.load_tool_names or name == scope.unload_tool_name:
                conversation.apply(name, self._receipt(text_of(answer.content)))
            else:
                conversation.use(name)
                conversation.apply(name, receipt_of(answer.item.get("receipt")))
        return conversation.replay()

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


class _Conversation:
    """What is loaded while a conversation is read from its beginning."""

    def __init__(self, scope: LoadScope) -> None:
        self._unload = scope.unload_tool_name
        self._loaded: dict[str, str] = {}
        self._by_use: dict[str, None] = {}
        self._fresh: set[str] = set()

    def begin_step(self) -> None:
        """Note that the model answered."""
        self._fresh.clear()

    def use(self, name: str) -> None:
        """Note a call."""
        if name in self._loaded:
            self._by_use.pop(name)
            self._by_use[name] = None

    def apply(self, tool_name: str, found: Receipt | None) -> None:
        """Load or unload what a receipt says, if it is of the kind that its tool gives."""
        if found is None or (found.kind == "unloaded") is not (tool_name == self._unload):
            return
        if found.kind == "unloaded":
            self._drop(found.names)
            return
        # Calls of one step are answered in the calls' order, whichever ran first; what one of them
        # loads, no other evicts.
        self._drop(name for name in found.evicted if name not in self._fresh)
        for name in found.names:
            self._loaded[name] = found.marks.get(name, "")
            self._by_use.pop(name, None)
            self._by_use[name] = None
        self._fresh.update(found.names)

    def replay(self) -> Replay:
        """Return what is loaded at the end of the conversation."""
        return Replay(names=tuple(self._loaded), by_use=tuple(self._by_use), marks=self._loaded)

    def _drop(self, names: Iterable[str]) -> None:
        for name in names:
            self._loaded.pop(name, None)
            self._by_use.pop(name, None)


def _refuse(doing: str) -> Never:
    raise StoreError(
        f"can't {doing} a HistoryStore: what is loaded stands in the conversation's own messages, by the "
        "receipts in results of the meta-tools. Use a MemoryStore or a RedisStore to change it from outside"
    )

"""A conversation over a session that sends native requests, to one provider and then perhaps another."""

from __future__ import annotations

import json
from typing import Any

from tests.support import make
from tool_search_processor import ToolSearchProcessor, ToolSession
from tool_search_processor.stores import HistoryStore, MemoryStore

WIRES = ("definition", "reference", "responses")
NAMES = [f"tool_{letter}" for letter in "abcdefgh"]
HIDDEN = "secret_tool"
STORES = {"history": HistoryStore, "memory": MemoryStore}


class Conversation:
    """A thread whose messages are kept in the shapes in which they came."""

    def __init__(self, *, store="history", wire="definition", limiter=(), tools=None, **options):
        self.denied = {HIDDEN}
        self.messages: list[Any] = []
        self.wire = wire
        self.requests: list[dict[str, Any]] = []
        self._options = {"allow_unload": True, **options}
        self._store = store
        self._limiter = limiter
        self._tools = tools or [make(name) for name in (*NAMES, HIDDEN)]
        self._calls = 0
        self.start()

    def start(self):
        """Begin with a new process: what it kept in memory is lost."""
        self.search = ToolSearchProcessor(
            self._tools,
            store=STORES[self._store](),
            filter=lambda request: request.tool_name not in self.denied,
            **self._options,
        )
        self._open()

    def _open(self):
        self.session = ToolSession(self.search, *self._limiter, thread_id="t")

    async def say(self, text="please help"):
        """End the run before, and let the user say something."""
        await self.session.aclose()
        self._open()
        self.messages.append({"role": "user", "content": text})

    async def request(self):
        """Return what is sent to the model next."""
        if self.wire == "responses":
            sent = await self.session.responses_request(self.messages, native=True)
        else:
            sent = await self.session.anthropic_request(self.messages, native=self.wire)
        self.requests.append(json.loads(json.dumps(sent)))
        return self.requests[-1]

    async def answer(self, text="Done."):
        """Let the model answer in words."""
        await self.request()
        self.messages.append({"role": "assistant", "content": text})

    async def call(self, *calls):
        """Let the model call tools in one turn; each is a name and its arguments."""
        await self.request()
        made = []
        for name, arguments in calls:
            self._calls += 1
            made.append((f"c{self._calls}", name, arguments))
        if self.wire == "responses":
            items = [
                {"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(a)}
                for i, n, a in made
            ]
            self.messages += [{"type": "reasoning", "id": f"rs_{made[0][0]}", "summary": []}, *items]
            self.messages += await self.session.execute(items)
            return
        blocks = [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in made]
        self.messages.append({"role": "assistant", "content": blocks})
        self.messages.append({"role": "user", "content": await self.session.execute(blocks)})

    async def load(self, *names):
        await self.call(("load_tool", {"tool_names": list(names)}))

    async def unload(self, *names):
        await self.call(("unload_tool", {"tool_names": list(names)}))


def thread_of(request):
    """Return the messages or items of a request."""
    return request["input"] if "input" in request else request["messages"]


def bytes_of(request):
    """Return what a provider's cache sees of a thread, without the bracket that ends it."""
    return json.dumps(thread_of(request))[:-1]


def declared_in(request):
    """Return the names that a request declares, each with its place: 0 is the list of tools."""
    thread = thread_of(request)
    deferred = {tool["name"] for tool in request["tools"] if tool.get("defer_loading")}
    found = {tool["name"]: 0 for tool in request["tools"] if tool["name"] not in deferred}
    for place, message in enumerate(thread, 1):
        for name in _declared_by(message):
            found.setdefault(name, place)
    return found


def _declared_by(message):
    if message.get("type") == "additional_tools":
        yield from (tool["name"] for tool in message["tools"])
    for block in message["content"] if isinstance(message.get("content"), list) else ():
        if block["type"] == "tool_addition":
            tool = block["tool"]
            yield tool["definition"]["name"] if tool["type"] == "tool_definition" else tool["name"]
        if block["type"] == "tool_result" and isinstance(block["content"], list):
            yield from (part["tool_name"] for part in block["content"] if part["type"] == "tool_reference")


def called_in(request):
    """Yield the name and place of each call in a request."""
    for place, message in enumerate(thread_of(request)):
        if message.get("type") == "function_call":
            yield message["name"], place
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            if block["type"] == "tool_use":
                yield block["name"], place

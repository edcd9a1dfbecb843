"""What holds of native requests over random conversations."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adversarial.depth import examples
from tests.session.native.conversations import (
    HIDDEN,
    NAMES,
    WIRES,
    Conversation,
    bytes_of,
    called_in,
    declared_in,
    thread_of,
)
from tool_search_processor import TokenLimiter

META = {"search_tools", "load_tool", "unload_tool"}

one, some = st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)
steps = st.one_of(
    st.tuples(st.just("say"), st.just(None)),
    st.tuples(st.just("load"), some),
    st.tuples(st.just("load_hidden"), some),
    st.tuples(st.just("unload"), some),
    st.tuples(st.just("call"), one),
    st.tuples(st.just("call_unlisted"), one),
    st.tuples(st.just("deny"), one),
    st.tuples(st.just("allow"), one),
    st.tuples(st.just("trim"), st.just(None)),
    st.tuples(st.just("restart"), st.just(None)),
    st.tuples(st.just("model"), st.sampled_from(WIRES)),
)
scripts = st.lists(steps, min_size=3, max_size=25)


class Checked(Conversation):
    """A conversation that checks each of its requests."""

    def __init__(self, **options):
        super().__init__(**options)
        self.before = {}
        """The last request to each provider that nothing has broken since."""
        self.lists = {}
        self.unlisted = set()
        """Tools that were called before they were declared."""

    async def request(self):
        sent = await super().request()
        text = json.dumps(sent)
        declared = declared_in(sent)
        assert HIDDEN not in declared
        assert text.count(HIDDEN) == self.asked_for_hidden(sent)
        assert not self.denied & declared.keys()
        assert self.trimmed or self.wire == "reference" or not self.extra(sent)
        self.check_places(sent, declared)
        if self.wire in self.before:
            assert bytes_of(sent).startswith(self.before[self.wire])
        self.before[self.wire] = bytes_of(sent)
        fixed = json.dumps([tool for tool in sent["tools"] if not tool.get("defer_loading")])
        if not (self.trimmed or (self.wire == "reference" and self.extra(sent))):
            assert self.lists.setdefault(self.wire, fixed) == fixed
        return sent

    def asked_for_hidden(self, sent):
        """Return how often the model itself, and the answer to it, name the hidden tool."""
        return sum(json.dumps(message).count(HIDDEN) for message in thread_of(sent)) if self.named_it else 0

    named_it = trimmed = False

    def extra(self, sent):
        """Return what only the reference rendering lists: deferred tools, and those that no result loaded."""
        return [tool["name"] for tool in sent["tools"] if tool["name"] not in META]

    def check_places(self, sent, declared):
        for name, place in called_in(sent):
            if name not in META | self.denied | self.unlisted and not self.trimmed:
                assert declared[name] <= place, name

    def broken(self):
        """Note that the next request can't begin as the last one did."""
        self.before = {}

    async def do(self, kind, value):
        await getattr(self, f"do_{kind}")(value)

    async def do_say(self, _):
        await self.answer()
        await self.say()
        if self.trimmed:  # what the client dropped, a new session can't know
            self.broken()

    async def do_load(self, names):
        await self.load(*names)

    async def do_load_hidden(self, names):
        self.named_it = True
        await self.load(*names, HIDDEN)

    async def do_unload(self, names):
        await self.unload(*names)

    async def do_call(self, name):
        if name in declared_in(await self.request()):
            await self.call((name, {}))

    async def do_call_unlisted(self, name):
        if name not in declared_in(await self.request()):
            self.unlisted.add(name)
        await self.call((name, {}))

    async def do_deny(self, name):
        if name not in self.denied:
            self.denied.add(name)
            self.broken()

    async def do_allow(self, name):
        if name in self.denied:
            self.denied.remove(name)
            self.broken()

    async def do_restart(self, _):
        await self.search.aclose()
        self.start()

    async def do_model(self, wire):
        self.wire = wire

    async def do_trim(self, _):
        self.trim()

    def trim(self):
        """Drop the first turn, as a client does whose context is full."""
        turns = [n for n, message in enumerate(self.messages) if message.get("content") == "please help"]
        if len(turns) > 1:
            del self.messages[: turns[1]]
            self.trimmed = True
            self.broken()


@pytest.mark.parametrize("store", ["history", "memory"])
@examples(40)
@given(script=scripts, wire=st.sampled_from(WIRES))
async def test_requests_begin_as_the_one_before(store, script, wire):
    conversation = Checked(store=store, wire=wire)
    await conversation.say()
    for kind, value in script:
        await conversation.do(kind, value)
    await conversation.answer()
    assert not any("receipt" in item or "declared" in item for item in thread_of(conversation.requests[-1]))


@examples(30)
@given(script=scripts, wire=st.sampled_from(WIRES), limit=st.integers(700, 2000))
async def test_the_list_of_tools_survives_a_limiter_that_drops_messages(script, wire, limit):
    conversation = Checked(wire=wire, limiter=[TokenLimiter(limit, keep_last_turn=False)])
    await conversation.say()
    for kind, value in script:
        conversation.broken()
        if kind != "trim":
            await conversation.do(kind, value)

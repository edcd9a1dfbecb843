"""Random walks: whatever a conversation does, the stores give the same loaded tools."""

import asyncio

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from tests.stores.chats import THREAD, Chat
from tests.stores.servers import ServerClock
from tests.support import make
from tool_search_processor import ToolSearchProcessor
from tool_search_processor.stores import HistoryStore, MemoryStore, RedisStore
from tool_search_processor.testing import ManualClock

pytestmark = pytest.mark.slow

TTL = 60.0
TOOLS = [make(f"tool_{n}") for n in range(8)]
NAMES = [tool.name for tool in TOOLS]
SOME = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)
WALK = settings(
    max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)


class Walk(RuleBasedStateMachine):
    """The same conversation over several stores at a time; what each step lists has to be the same."""

    kinds = ("memory", "history", "redis")

    def __init__(self, server):
        super().__init__()
        with server.client() as client:
            client.flushall()
        self.server = server
        self.clocks = (ManualClock(), ServerClock(server))
        self.runner = asyncio.Runner()
        self.chats = [Chat(self.processor(kind)) for kind in self.kinds]
        self.listed = []
        self.everywhere(lambda chat: chat.turn())

    def processor(self, kind):
        store = {
            "memory": lambda: MemoryStore(TTL, clock=self.clocks[0]),
            "history": HistoryStore,
            "redis": lambda: RedisStore(
                self.server.url, ttl_seconds=TTL, on_error="raise", timeout_seconds=30
            ),
        }[kind]()
        return ToolSearchProcessor(TOOLS, store=store, max_loaded=4, allow_unload=True)

    def everywhere(self, act):
        """Do something in each conversation and compare what came of it, and what is listed then."""

        async def run():
            came = [await act(chat) for chat in self.chats]
            return came, [await chat.step() for chat in self.chats]

        came, listed = self.runner.run(run())
        came = [
            {key: value for key, value in one.items() if key != "receipt"} if isinstance(one, dict) else one
            for one in came
        ]
        assert all(one == came[0] for one in came), dict(zip(self.kinds, came, strict=True))
        assert all(names == listed[0] for names in listed), dict(zip(self.kinds, listed, strict=True))
        self.listed = listed[0]

    @rule(names=SOME)
    def load(self, names):
        self.everywhere(lambda chat: chat.load(*names))

    @rule(names=SOME)
    def unload(self, names):
        self.everywhere(lambda chat: chat.unload(*names))

    @precondition(lambda self: self.listed)
    @rule(place=st.integers(0, 3))
    def call(self, place):
        name = self.listed[place % len(self.listed)]
        self.everywhere(lambda chat: chat.call(name))

    @rule()
    def step(self):
        self.everywhere(lambda chat: chat.step())

    @rule()
    def turn(self):
        self.everywhere(lambda chat: chat.turn())

    def teardown(self):
        async def close():
            for chat in self.chats:
                await chat.end()
                await chat.processor.aclose()

        self.runner.run(close())
        self.runner.close()


class WalkWithRestarts(Walk):
    """The process may be lost at any time."""

    kinds = ("history", "redis")

    @rule()
    def restart(self):
        async def go_on(chat):
            await chat.restart(self.processor(self.kinds[self.chats.index(chat)]))

        self.everywhere(go_on)


class WalkInTime(Walk):
    """Time passes, and a program clears the thread."""

    kinds = ("memory", "redis")

    @rule(seconds=st.sampled_from([10.0, 40.0, TTL + 1]))
    def wait(self, seconds):
        for clock in self.clocks:
            clock.advance(seconds)
        self.everywhere(lambda chat: chat.processor.loaded(THREAD))

    @rule(seconds=st.sampled_from([10.0, 40.0]))
    def come_back(self, seconds):
        for clock in self.clocks:
            clock.advance(seconds)
        self.turn()

    @rule(thread_id=st.sampled_from([THREAD, "other", None]))
    def clear(self, thread_id):
        self.everywhere(lambda chat: chat.processor.clear(thread_id))

    @rule()
    def ask(self):
        self.everywhere(lambda chat: chat.processor.loaded(THREAD))

    @rule(names=SOME)
    def load_from_outside(self, names):
        self.everywhere(lambda chat: chat.processor.load(names, thread_id=THREAD))


@pytest.mark.parametrize("walk", [Walk, WalkWithRestarts, WalkInTime])
def test_stores_walk_together(redis_server, walk):
    run_state_machine_as_test(lambda: walk(redis_server), settings=WALK)

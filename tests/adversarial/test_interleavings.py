"""Every order in which runs of one thread can reach their store, and a cancellation at every moment."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator

import pytest

from tests.support import Run, kept_runs, make, names
from tool_search_processor import Agent, ToolSearchProcessor
from tool_search_processor.stores import LoadScope, MemoryStore
from tool_search_processor.testing import ScriptedModel, call

pytestmark = pytest.mark.slow


def tool(name):
    async def execute(**_):  # in a thread it would come back at a moment of its own
        return {"ran": name}

    return make(name, execute=execute)


TOOLS = [tool(name) for name in ("a", "b", "c", "d")]
# Rounds of the event loop after which everybody who can go on has come to the store or to an end.
_ROUNDS = 12


class Turnstile:
    """Holds up whoever comes to the store, and lets them through one at a time, in an order to be tried."""

    def __init__(self, choices: list[int]) -> None:
        self.choices = choices
        self.taken: list[tuple[int, int]] = []
        """For each turn: which of those that waited went on, and how many they were."""
        self.waiting: list[asyncio.Future[None]] = []

    async def turn(self) -> None:
        self.waiting.append(asyncio.get_running_loop().create_future())
        await self.waiting[-1]

    async def drive(self, *programs: Awaitable[None]) -> None:
        tasks = [asyncio.ensure_future(program) for program in programs]
        while not all(task.done() for task in tasks):
            for _ in range(_ROUNDS):
                await asyncio.sleep(0)
            if self.waiting:
                turn = len(self.taken)
                choice = self.choices[turn] if turn < len(self.choices) else 0
                self.taken.append((choice, len(self.waiting)))
                self.waiting.pop(choice).set_result(None)
        for task in tasks:
            await task


class SteppedStore(MemoryStore):
    """A store whose every method takes its turn first, as one on a network would."""

    turnstile: Turnstile

    async def loaded(self, scope):
        await self.turnstile.turn()
        return await super().loaded(scope)

    async def add(self, scope, names, **options):
        await self.turnstile.turn()
        return await super().add(scope, names, **options)

    async def touch(self, scope, names=()):
        await self.turnstile.turn()
        await super().touch(scope, names)

    async def remove(self, scope, names):
        await self.turnstile.turn()
        return await super().remove(scope, names)

    async def clear(self, scope):
        await self.turnstile.turn()
        await super().clear(scope)


def orders(most: int) -> Iterator[Turnstile]:
    """Yield a turnstile for each order there is, depth first, up to a number of them."""
    choices: list[int] = []
    for _ in range(most):
        turnstile = Turnstile(choices)
        yield turnstile
        taken = turnstile.taken
        while taken and taken[-1][0] + 1 >= taken[-1][1]:
            taken.pop()
        if not taken:
            return
        choices = [choice for choice, _ in taken[:-1]] + [taken[-1][0] + 1]


async def load(run: Run, *wanted: str) -> None:
    """Load tools and find them listed in the next step, whoever else does what to the thread."""
    await run.step()
    answer = await run.load(*wanted)
    there = [*answer["loaded"], *answer["already_loaded"]]
    assert sorted(there) == sorted(wanted)
    assert answer["not_found"] == []
    assert set(wanted) <= set(names(await run.step()))


async def direct(run: Run, name: str) -> None:
    await run.step()
    assert await run.direct(name) == {"ran": name}
    assert name in names(await run.step())


async def search(run: Run, name: str) -> None:
    await run.search(name)
    assert name in names(await run.step())


Program = Callable[[Run], Awaitable[None]]


def acts(act: Callable[..., Awaitable[None]], *given: str) -> Program:
    return lambda run: act(run, *given)


@pytest.mark.parametrize(
    ("programs", "options", "loaded"),
    [
        ([acts(load, "a"), acts(load, "b")], {}, [{"a", "b"}]),
        ([acts(load, "a", "b"), acts(load, "b", "a")], {}, [{"a", "b"}]),
        ([acts(load, "a"), acts(direct, "a")], {}, [{"a"}]),
        ([acts(load, "a"), acts(direct, "b")], {}, [{"a", "b"}]),
        ([acts(load, "a"), acts(load, "b")], {"max_loaded": 1}, [{"a"}, {"b"}]),
        ([acts(load, "a", "b"), acts(load, "c", "d")], {"max_loaded": 2}, None),
        ([acts(search, "a"), acts(search, "b")], {"mode": "auto_load", "top_k": 1}, [{"a", "b"}]),
    ],
    ids=["two", "the same two", "direct, same", "direct", "room for one", "room for two", "auto-load"],
)
async def test_in_every_order_nothing_is_lost_and_no_more_is_kept_than_may_be(programs, options, loaded):
    tried = 0
    for turnstile in orders(most=400):
        store = SteppedStore()
        store.turnstile = turnstile
        processor = ToolSearchProcessor(TOOLS, store=store, **options)
        await turnstile.drive(*(program(Run(processor, thread="t")) for program in programs))
        scope = LoadScope(processor_id=processor.id, thread_id="t")
        kept = await MemoryStore.loaded(store, scope)
        assert len(kept) == len(set(kept)) <= options.get("max_loaded", 100), turnstile.taken
        if loaded is not None:
            assert set(kept) in loaded, turnstile.taken
        tried += 1
    assert tried > 50


async def test_in_every_order_an_unload_and_a_load_leave_one_of_both_behind():
    outcomes = set()
    for turnstile in orders(most=400):
        store = SteppedStore()
        store.turnstile = turnstile
        processor = ToolSearchProcessor(TOOLS, store=store, allow_unload=True)
        leaving = Run(processor, thread="t")

        async def leave(run=leaving):
            await run.step()
            answer = await run.call("unload_tool", tool_names=["a"])
            assert answer["unloaded"] + answer["not_loaded"] == ["a"]

        await turnstile.drive(load(Run(processor, thread="t"), "a"), leave())
        scope = LoadScope(processor_id=processor.id, thread_id="t")
        outcomes.add(tuple(await MemoryStore.loaded(store, scope)))
    assert outcomes == {(), ("a",)}


async def test_in_every_order_calls_of_one_reply_are_all_answered():
    calls = [
        {"id": str(n), "function": {"name": name, "arguments": {"tool_names": ["a", "b"], "query": "a"}}}
        for n, name in enumerate(["load_tool", "a", "unload_tool", "search_tools"])
    ]
    for turnstile in orders(most=300):
        store = SteppedStore()
        store.turnstile = turnstile
        processor = ToolSearchProcessor(TOOLS, store=store, allow_unload=True)
        answers = []

        async def go(processor, kept):
            async with processor.session(thread_id="t") as session:  # its end goes to the store as well
                await session.tools([])
                kept += await session.execute(calls)
                listed = set(names(await session.tools([])))
            assert listed <= {"search_tools", "load_tool", "unload_tool", "a", "b"}

        await turnstile.drive(go(processor, answers))
        assert [answer["tool_call_id"] for answer in answers] == ["0", "1", "2", "3"]
        assert not any("Error" in answer["content"] for answer in answers), turnstile.taken


class SlowProvider:
    """Takes two rounds of the loop to list its tools, each time."""

    async def list_tools(self, context):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return TOOLS


async def slow_policy(request):
    await asyncio.sleep(0)
    return True


@pytest.mark.parametrize("thread", ["t", None])
async def test_cancelled_at_any_moment_a_run_leaves_nothing_behind_and_harms_nobody(thread):
    processor = ToolSearchProcessor([SlowProvider()], filter=slow_policy)
    script = [
        call("search_tools", {"query": "a"}),
        [call("load_tool", {"tool_names": "a"}), call("b")],
        [call("a"), call("c")],
        "done",
    ]
    everything = asyncio.all_tasks()
    rounds, done = 0, False
    while not done:
        agent = Agent("a", "m", completion=ScriptedModel(script), input_processors=[processor])
        task = asyncio.create_task(agent.run("q", thread_id=thread))
        for _ in range(rounds):
            await asyncio.sleep(0)
        done = task.done()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        for _ in range(_ROUNDS):  # a reading that others may wait for ends by itself
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == everything, rounds
        assert await kept_runs(processor) == 0, rounds
        rounds += 1
    assert rounds > 30
    assert task.result().output == "done"
    agent = Agent("a", "m", completion=ScriptedModel(script), input_processors=[processor])
    assert (await agent.run("q", thread_id=thread)).output == "done"

"""Whose loaded tools are whose: threads, anonymous runs, time to live, and many at the same time."""

import asyncio
import threading

import pytest

from tests.support import Run, ScoredIndex, make, names, step
from tool_search_processor import ConfigurationError, MemoryStore, StaticProvider, ToolSearchProcessor
from tool_search_processor.stores.protocol import LoadScope
from tool_search_processor.testing import ManualClock

TOOLS = [make(f"tool_{n}") for n in range(20)]


async def shown(processor, **fields):
    """Return the loaded tools that a new run lists."""
    return names(await Run(processor, **fields).step())[2:]


# -- isolation


async def test_threads_do_not_mix_and_a_thread_holds_over_runs():
    processor = ToolSearchProcessor(TOOLS)
    await Run(processor, thread="a").load("tool_1")
    await Run(processor, thread="b").load("tool_2")
    assert await shown(processor, thread="a") == ["tool_1"]
    assert await shown(processor, thread="b") == ["tool_2"]
    assert await shown(processor, thread="c") == []


async def test_loads_add_up_over_the_turns_of_a_thread():
    processor = ToolSearchProcessor(TOOLS)
    for n in range(5):
        run = Run(processor, thread="t")
        await run.load(f"tool_{n}")
        await run.end()
    assert await shown(processor, thread="t") == [f"tool_{n}" for n in range(5)]


@pytest.mark.parametrize("thread", [None, "", "   ", "\n"])
async def test_anonymous_runs_never_share(thread):
    processor = ToolSearchProcessor(TOOLS)
    one, other = Run(processor, thread=thread), Run(processor, thread=thread)
    await one.load("tool_1")
    assert names(await one.step())[2:] == ["tool_1"]
    assert names(await other.step())[2:] == []
    assert await shown(processor, thread=thread) == []
    assert (await processor.stats())["threads"] == 0


async def test_two_processors_on_one_store_do_not_mix():
    store = MemoryStore()
    one = ToolSearchProcessor(TOOLS, store=store)
    other = ToolSearchProcessor(TOOLS, store=store, id="other")
    await one.load("tool_1", thread_id="t")
    await other.load("tool_2", thread_id="t")
    assert await shown(one, thread="t") == ["tool_1"]
    assert await shown(other, thread="t") == ["tool_2"]
    await one.clear()
    assert await shown(other, thread="t") == ["tool_2"]


async def test_two_processors_with_one_store_and_id_share_their_threads():
    store = MemoryStore()
    await ToolSearchProcessor(TOOLS, store=store).load("tool_1", thread_id="t")
    assert await shown(ToolSearchProcessor(TOOLS, store=store), thread="t") == ["tool_1"]


# -- the end of a run


async def test_the_end_of_an_anonymous_run_drops_its_tools():
    processor = ToolSearchProcessor(TOOLS)
    run = Run(processor)
    await run.load("tool_1")
    assert names(await run.step())[2:] == ["tool_1"]
    await run.end()
    assert names(await run.step())[2:] == []


async def test_the_end_of_a_run_leaves_its_thread():
    processor = ToolSearchProcessor(TOOLS)
    run = Run(processor, thread="t")
    await run.load("tool_1")
    await run.end()
    await run.end()
    assert await processor.loaded(thread_id="t") == ["tool_1"]


async def test_a_run_that_began_may_be_ended_without_a_step():
    await ToolSearchProcessor(TOOLS).end_run(step())


async def test_an_anonymous_run_goes_on_with_a_fresh_state_as_long_as_its_id_is_known():
    processor = ToolSearchProcessor(TOOLS)
    run = Run(processor)
    await run.load("tool_1")
    resumed = await processor.process_input_step(step(run_id=run.base.run_id))
    assert names(resumed)[2:] == ["tool_1"]


# -- time to live


def timed(seconds=100.0, **options):
    clock = ManualClock()
    return clock, ToolSearchProcessor(TOOLS, ttl_seconds=seconds, clock=clock, **options)


@pytest.mark.parametrize(("idle", "expected"), [(0, ["tool_1"]), (99, ["tool_1"]), (100, []), (10**9, [])])
async def test_an_idle_thread_is_forgotten_at_the_moment_it_is_asked_for(idle, expected):
    clock, processor = timed()
    await Run(processor, thread="t").load("tool_1")
    clock.advance(idle)
    assert await processor.loaded(thread_id="t") == expected
    assert (await processor.stats())["threads"] == len(expected)
    assert await shown(processor, thread="t") == expected


async def test_every_step_renews_the_thread():
    clock, processor = timed()
    await Run(processor, thread="t").load("tool_1")
    for _ in range(5):
        clock.advance(60)
        assert await shown(processor, thread="t") == ["tool_1"]


async def test_a_step_that_lists_everything_renews_the_thread_too():
    clock, processor = timed(passthrough_tokens=10_000)
    await processor.load("tool_1", thread_id="t")
    for _ in range(3):
        clock.advance(60)
        assert len(names(await Run(processor, thread="t").step())) == len(TOOLS)
    assert await processor.loaded(thread_id="t") == ["tool_1"]


async def test_every_load_renews_the_thread():
    clock, processor = timed()
    run = Run(processor, thread="t")
    await run.load("tool_1")
    for n in range(2, 6):
        clock.advance(60)
        await run.load(f"tool_{n}")
    assert len(await shown(processor, thread="t")) == 5


async def test_looking_does_not_renew_the_thread():
    clock, processor = timed()
    await processor.load("tool_1", thread_id="t")
    clock.advance(60)
    assert await processor.loaded(thread_id="t") == ["tool_1"]
    await processor.stats()
    clock.advance(60)
    assert await processor.loaded(thread_id="t") == []


async def test_threads_expire_each_for_itself():
    clock, processor = timed()
    await processor.load("tool_1", thread_id="old")
    clock.advance(60)
    await processor.load("tool_2", thread_id="new")
    clock.advance(60)
    assert await processor.loaded(thread_id="old") == []
    assert await processor.loaded(thread_id="new") == ["tool_2"]


async def test_what_a_run_has_seen_stays_until_it_ends_whatever_expires():
    clock, processor = timed()
    run = Run(processor, thread="t")
    await run.load("tool_1")
    await run.step()
    clock.advance(500)
    assert names(await run.step())[2:] == ["tool_1"]
    await run.load("tool_2")
    assert names(await run.step())[2:] == ["tool_1", "tool_2"]
    assert await run.call("tool_1") == {"ran": "tool_1"}
    await run.end()
    assert await shown(processor, thread="t") == ["tool_2", "tool_1"], "and counts as used when it ends"


async def test_what_a_run_has_used_comes_back_in_load_order():
    clock, processor = timed()
    run = Run(processor, thread="t")
    await run.load("tool_2", "tool_1", "tool_3")
    await run.step()
    for name in ("tool_1", "tool_2"):
        await run.call(name)
    clock.advance(500)
    await run.end()
    assert await processor.loaded("t") == ["tool_2", "tool_1", "tool_3"]


@pytest.mark.parametrize("forget", ["clear", "clear all", "unload"])
async def test_what_a_program_takes_out_while_a_run_goes_on_stays_out(forget):
    processor = ToolSearchProcessor(TOOLS)
    run = Run(processor, thread="t")
    await run.load("tool_1")
    if forget == "unload":
        await processor.unload("tool_1", thread_id="t")
    else:
        await processor.clear("t" if forget == "clear" else None)
    await run.end()
    assert await processor.loaded("t") == []


async def test_the_end_of_a_run_evicts_nothing_that_another_run_loaded():
    processor = ToolSearchProcessor(TOOLS, max_loaded=1)
    one = Run(processor, thread="t")
    await one.load("tool_1")
    await Run(processor, thread="t").load("tool_2")
    await one.end()
    assert await processor.loaded("t") == ["tool_2"]


async def test_what_a_run_has_seen_stays_when_the_thread_is_cleared_meanwhile():
    processor = ToolSearchProcessor(TOOLS)
    run = Run(processor, thread="t")
    await run.load("tool_1")
    await processor.clear("t")
    assert names(await run.step())[2:] == ["tool_1"]
    assert await shown(processor, thread="t") == []


async def test_what_another_run_evicts_stays_for_the_run_that_has_seen_it():
    processor = ToolSearchProcessor(TOOLS, max_loaded=1)
    one = Run(processor, thread="t")
    await one.load("tool_1")
    await Run(processor, thread="t").load("tool_2")
    assert names(await one.step())[2:] == ["tool_1", "tool_2"]


async def test_none_keeps_for_ever():
    clock, processor = timed(None)
    await processor.load("tool_1", thread_id="t")
    clock.advance(10**12)
    assert await processor.loaded(thread_id="t") == ["tool_1"]


async def test_an_anonymous_run_does_not_expire():
    clock, processor = timed()
    run = Run(processor)
    await run.load("tool_1")
    clock.advance(10**6)
    assert names(await run.step())[2:] == ["tool_1"]


@pytest.mark.parametrize("options", [{"ttl_seconds": 5.0}, {"clock": ManualClock()}, {"ttl_seconds": None}])
def test_a_store_of_ones_own_and_options_of_the_default_one_raise(options):
    with pytest.raises(ConfigurationError, match="give them to the store"):
        ToolSearchProcessor(TOOLS, store=MemoryStore(), **options)


# -- clearing


async def test_clear_forgets_one_thread_or_all():
    processor = ToolSearchProcessor(TOOLS)
    for thread in ("a", "b", "c"):
        await processor.load("tool_1", thread_id=thread)
    await processor.clear("a")
    assert [await processor.loaded(thread_id=thread) for thread in "abc"] == [[], ["tool_1"], ["tool_1"]]
    await processor.clear("nobody")
    await processor.clear()
    assert (await processor.stats())["threads"] == 0
    assert await processor.loaded(thread_id="b") == []


@pytest.mark.parametrize("thread", ["", "  "])
async def test_a_blank_thread_does_not_clear_them_all(thread):
    processor = ToolSearchProcessor(TOOLS)
    await processor.load("tool_1", thread_id="t")
    with pytest.raises(ConfigurationError, match="thread_id"):
        await processor.clear(thread)
    assert await processor.loaded(thread_id="t") == ["tool_1"]


# -- many


async def test_threads_are_bounded_at_10_000_and_the_least_recently_used_go_first():
    processor = ToolSearchProcessor(TOOLS)
    for n in range(10_100):
        await processor.load("tool_1", thread_id=f"thread-{n}")
    assert (await processor.stats())["threads"] == 10_000
    assert await processor.loaded(thread_id="thread-99") == []
    assert await processor.loaded(thread_id="thread-100") == ["tool_1"]


async def test_anonymous_runs_that_never_end_are_bounded_too():
    processor = ToolSearchProcessor(TOOLS)
    first = Run(processor)
    await first.load("tool_1")
    for n in range(10_000):
        at = step(run_id=f"run-{n}")
        await processor._loads.add(at, ["tool_1"])
    assert names(await processor.process_input_step(step(run_id=first.base.run_id)))[2:] == []
    assert names(await processor.process_input_step(step(run_id="run-9999")))[2:] == ["tool_1"]


# -- at the same time


async def test_runs_at_the_same_time_on_one_thread_lose_nothing():
    processor = ToolSearchProcessor(TOOLS)

    async def one(n):
        run = Run(processor, thread="t")
        await run.step()
        await run.load(f"tool_{n}")
        await run.step()
        return await run.call(f"tool_{n}")

    results = await asyncio.gather(*(one(n) for n in range(20)))
    assert results == [{"ran": f"tool_{n}"} for n in range(20)]
    assert sorted(await processor.loaded(thread_id="t")) == sorted(tool.name for tool in TOOLS)


async def test_calls_of_one_step_made_together_load_each_once():
    run = Run(ToolSearchProcessor(TOOLS))
    await run.step()
    answers = await asyncio.gather(*(run.load("tool_1", "tool_2") for _ in range(5)), run.search("tool_3"))
    assert [name for answer in answers[:5] for name in answer["loaded"]] == ["tool_1", "tool_2"]
    assert names(await run.step())[2:] == ["tool_1", "tool_2"]


async def test_a_run_sees_what_another_run_of_its_thread_has_loaded_meanwhile():
    processor = ToolSearchProcessor(TOOLS)
    one = Run(processor, thread="t")
    await one.step()
    await Run(processor, thread="t").load("tool_2")
    assert names(await one.step())[2:] == ["tool_2"]


async def test_a_run_can_load_what_another_run_of_its_thread_has_loaded_meanwhile():
    processor = ToolSearchProcessor(TOOLS, max_loaded=1)
    one = Run(processor, thread="t")
    await one.step()
    await Run(processor, thread="t").load("tool_2")
    answer = await one.load("tool_2")
    assert answer["loaded"] == ["tool_2"]
    assert "Not loaded" not in answer["message"]
    assert names(await one.step())[2:] == ["tool_2"]


async def test_what_a_run_has_unloaded_is_no_longer_in_its_use():
    processor = ToolSearchProcessor(TOOLS, max_loaded=1, allow_unload=True)
    one = Run(processor, thread="t")
    await one.load("tool_1")
    await one.call("unload_tool", tool_names=["tool_1"])
    await Run(processor, thread="t").load("tool_1")
    assert (await one.load("tool_2"))["loaded"] == ["tool_2"]
    assert await processor.loaded(thread_id="t") == ["tool_2"]


def test_one_processor_serves_several_event_loops_in_several_os_threads():
    provider = StaticProvider(TOOLS)
    index = ScoredIndex({tool.name: 0.5 for tool in TOOLS})
    processor = ToolSearchProcessor([provider], search=index, mode="auto_load", top_k=20, max_loaded=None)
    failures = []

    async def work(number):
        for turn in range(10):
            run = Run(processor, thread=f"thread-{number % 3}", context={"n": number})
            await run.search("x")
            at = await run.step()
            await run.call(f"tool_{turn}")
            await processor.definition_tokens(at)
            await run.end()
            if number == 0:
                provider.add(make(f"new_{turn}"))

    def start(number):
        try:
            asyncio.run(work(number))
        except Exception as exc:  # noqa: BLE001 - told by the assertion below
            failures.append(exc)

    workers = [threading.Thread(target=start, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []


def test_one_processor_serves_one_loop_after_another():
    processor = ToolSearchProcessor(TOOLS, filter=lambda request: asyncio.sleep(0, True))
    for _ in range(3):
        assert asyncio.run(processor.load("tool_1", thread_id="t"))["not_found"] == []
    assert asyncio.run(shown(processor, thread="t")) == ["tool_1"]


class Scopes(MemoryStore):
    """Writes down the scopes that it is asked with."""

    def __init__(self):
        super().__init__()
        self.scopes = []

    async def loaded(self, scope):
        self.scopes.append(scope)
        return await super().loaded(scope)

    async def clear(self, scope):
        self.scopes.append(scope)
        await super().clear(scope)


@pytest.mark.parametrize("allow_unload", [True, False])
async def test_a_store_is_told_whose_tools_are_meant_in_a_run_and_outside(allow_unload):
    store = Scopes()
    processor = ToolSearchProcessor([make("a")], store=store, allow_unload=allow_unload, id="me")
    run = Run(processor, thread="t", run_id="r")
    await run.step()
    await processor.loaded("t")
    await processor.clear("t")
    await processor.clear()
    base = {
        "processor_id": "me",
        "load_tool_names": frozenset({"load_tool"}),
        "unload_tool_name": "unload_tool" if allow_unload else None,
    }
    outside = LoadScope(thread_id="t", **base)
    assert store.scopes == [
        LoadScope(thread_id="t", run_id="r", messages=run.base.messages, **base),
        outside,
        outside,
        LoadScope(**base),
    ]


class Claims(MemoryStore):
    """A store that all processes would share, with the claims that were made and not given back."""

    def __init__(self):
        super().__init__()
        self.held = []

    async def claim(self, scope, call_id):
        if (scope, call_id) in self.held:
            return False
        self.held.append((scope, call_id))
        return True

    async def release(self, scope, call_id):
        self.held.remove((scope, call_id))


@pytest.mark.parametrize("thread", ["t", None])
async def test_a_store_that_can_claim_is_asked_for_the_runs_thread(thread):
    store = Claims()
    processor = ToolSearchProcessor([make("a")], store=store, id="me")
    at = step(thread=thread, run_id="r")
    assert await processor.claim_call(at, "c1")
    assert not await processor.claim_call(at, "c1")
    assert await processor.claim_call(at, "c2")
    expected = LoadScope(
        "me", thread, run_id="r", messages=at.messages, load_tool_names=frozenset({"load_tool"})
    )
    assert store.held == [(expected, "c1"), (expected, "c2")]
    await processor.release_call(at, "c1")
    assert store.held == [(expected, "c2")]
    assert await processor.claim_call(at, "c1")

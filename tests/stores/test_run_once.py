"""A call that was approved runs once, whichever host of one processor is given its messages."""

import itertools

import pytest

from tool_search_processor import Agent, ToolSearchProcessor
from tool_search_processor.errors import ResumeError
from tool_search_processor.stores import RedisStore
from tool_search_processor.testing import ScriptedModel, call
from tool_search_processor.tools import Tool

PATH = {"type": "object", "properties": {"path": {"type": "string"}}}
YES = {"c1": True}


class House:
    """A processor, and everything that may run a call with it."""

    def __init__(self, store=None):
        self.erased = []
        erase = Tool("erase", "Erase a file.", PATH, self.erased.append, requires_approval=True)
        self.search = ToolSearchProcessor([erase], store=store)

    def agent(self, script=("done",)):
        return Agent("a", "m", completion=ScriptedModel(script), input_processors=[self.search])

    async def paused(self, *, thread_id):
        """Let a run stop for approval."""
        script = [call("erase", {"path": "/a"}, id="c1")]
        return await self.agent(script).run("erase it", thread_id=thread_id)

    async def by_result(self, paused, thread_id):
        await self.agent().resume(paused, YES, thread_id=thread_id)

    async def by_messages(self, paused, thread_id):
        await self.agent().resume(paused.messages, YES, thread_id=thread_id)

    async def by_session(self, paused, thread_id):
        *before, said = paused.messages
        async with self.search.session(thread_id=thread_id) as session:
            await session.tools(before)
            await session.execute(said, approvals=YES)

    async def by_session_with_the_call(self, paused, thread_id):
        async with self.search.session(thread_id=thread_id) as session:
            await session.tools(paused.messages)
            await session.execute(paused.messages[-1], approvals=YES)


DOORS = [House.by_result, House.by_messages, House.by_session, House.by_session_with_the_call]


@pytest.mark.parametrize(("first", "second"), list(itertools.product(DOORS, DOORS)))
async def test_once_in_a_thread(first, second):
    house = House()
    paused = await house.paused(thread_id="t")
    await first(house, paused, "t")
    with pytest.raises(ResumeError, match="'c1' was decided before"):
        await second(house, paused, "t")
    assert house.erased == [{"path": "/a"}]


@pytest.mark.parametrize("door", DOORS)
async def test_once_if_the_messages_came_without_their_thread_before(door):
    house = House()
    paused = await house.paused(thread_id="t")
    await house.by_messages(paused, None)
    with pytest.raises(ResumeError, match="'c1' was decided before"):
        await door(house, paused, "t")
    assert house.erased == [{"path": "/a"}]


@pytest.mark.parametrize("door", DOORS)
async def test_once_if_the_messages_come_without_their_thread_later(door):
    house = House()
    paused = await house.paused(thread_id="t")
    await door(house, paused, "t")
    with pytest.raises(ResumeError, match="'c1' was decided before"):
        await house.by_messages(paused, None)
    assert house.erased == [{"path": "/a"}]


@pytest.mark.parametrize("thread_id", ["t", None])
async def test_once_over_processes_that_share_a_store(redis_server, thread_id):
    stores = [RedisStore(redis_server.url) for _ in range(2)]
    one, other = map(House, stores)
    paused = await one.paused(thread_id="t")
    await one.by_messages(paused, thread_id)
    for door in (other.by_session, other.by_result, other.by_messages):
        with pytest.raises(ResumeError, match="'c1' was decided before"):
            await door(paused, "t")
    assert (one.erased, other.erased) == ([{"path": "/a"}], [])
    for store in stores:
        await store.aclose()


async def test_bare_messages_of_an_anonymous_run_stand_for_the_run():
    house = House()
    paused = await house.paused(thread_id=None)
    await house.by_messages(paused, None)
    with pytest.raises(ResumeError, match="'c1' was decided before"):
        await house.by_result(paused, None)
    assert house.erased == [{"path": "/a"}]


async def test_equal_calls_of_two_threads_are_two():
    house = House()
    for thread_id in ("t", "u"):
        await house.by_session(await house.paused(thread_id=thread_id), thread_id)
    assert len(house.erased) == 2


async def test_a_server_that_counts_its_ids_anew_in_each_turn_makes_another_call():
    house = House()
    paused = await house.paused(thread_id="t")
    turn = [*paused.messages, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]
    async with house.search.session(thread_id="t") as session:
        for messages in (paused.messages[:1], [*turn, *paused.messages[:1]]):
            await session.tools(messages)
            await session.execute(paused.messages[-1], approvals=YES)
    assert len(house.erased) == 2

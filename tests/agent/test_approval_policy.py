"""An approval is used up by running alone: what policy denied or failed at can be approved again."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from tests.agent.approving import FORMS, Disk, agent_of, as_dict, contents, paused
from tests.stores import servers
from tool_search_processor.agent.runs import RunResult, ToolResultEvent
from tool_search_processor.errors import ResumeError
from tool_search_processor.processor import ToolSearchProcessor
from tool_search_processor.providers import StaticProvider
from tool_search_processor.stores import HistoryStore, MemoryStore, RedisStore
from tool_search_processor.testing import call


class Plan:
    """A filter that says what it is told, or raises it; or another one in its place."""

    def __init__(self):
        self.answer = True
        self.hook = None

    def __call__(self, request):
        if self.hook is not None:
            return self.hook(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def hung(request):
    await asyncio.Event().wait()


async def paused_at_catalog(*, mode="load", **options):
    """Return an agent whose model called a catalog tool that waits for approval, and all that it needs."""
    disk, plan = Disk(), Plan()
    options = {"filter": plan, "mode": mode, **options}
    asked = (
        [call("call_tool", {"name": "erase", "arguments": {"path": "/a"}})]
        if mode == "call"
        else [call("erase", {"path": "/a"})]
    )
    search = ToolSearchProcessor([disk.tool], **options)
    agent = agent_of([*asked, *["done"] * 9], processors=[search])
    result = await agent.run("q", thread_id="t")
    assert [waiting.name for waiting in result.pending] == ["erase"]
    return agent, disk, plan, result


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory):
    with servers.running(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["memory", "history", pytest.param("redis", marks=servers.NEEDED)])
def store(request):
    if request.param == "redis":
        url = request.getfixturevalue("redis_server").url
        return RedisStore(url, prefix=uuid.uuid4().hex, timeout_seconds=30)
    return MemoryStore(ttl_seconds=60) if request.param == "memory" else HistoryStore()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["load", "call"])
async def test_an_approval_that_policy_denied_can_be_given_again(form, mode, store):
    agent, disk, plan, result = await paused_at_catalog(mode=mode, store=store)
    plan.answer = False
    denied = await agent.resume(form(result), {"call_1": True}, thread_id="t")
    assert "There is no tool" in contents(denied)[-1]
    assert (denied.finish_reason, disk.erased) == ("stop", [])
    plan.answer = True
    done = await agent.resume(form(result), {"call_1": True}, thread_id="t")
    assert (done.finish_reason, disk.erased) == ("stop", ["/a"])
    with pytest.raises(ResumeError, match="decided before"):
        await agent.resume(form(result), {"call_1": True}, thread_id="t")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", ["load", "call"])
@pytest.mark.parametrize(
    ("answer", "problem"),
    [(KeyError("plan"), "KeyError('plan')"), ("yes", "it answered with 'str', and only True admits")],
)
async def test_a_policy_that_failed_is_told_to_the_caller_and_the_call_goes_on_waiting(
    form, mode, answer, problem, store
):
    agent, disk, plan, result = await paused_at_catalog(mode=mode, store=store)
    plan.answer = answer
    failed = await agent.resume(form(result), {"call_1": True}, thread_id="t")
    assert (failed.finish_reason, failed.steps, disk.erased) == ("pending", 1, [])
    assert [waiting.problem for waiting in failed.pending] == [problem]
    assert RunResult.from_json(failed.to_json()) == failed
    plan.answer = True
    done = await agent.resume(form(failed), {"call_1": True}, thread_id="t")
    assert (done.finish_reason, done.output, disk.erased) == ("stop", "done", ["/a"])


@pytest.mark.parametrize("mode", ["load", "call"])
async def test_bare_messages_that_waited_on_can_be_approved_by_their_result(mode):
    agent, disk, plan, result = await paused_at_catalog(mode=mode)
    plan.answer = KeyError("plan")
    failed = await agent.resume(result.messages, {"call_1": True}, thread_id="t")
    plan.answer = True
    done = await agent.resume(as_dict(failed), {"call_1": True})
    assert (done.finish_reason, disk.erased) == ("stop", ["/a"])


async def test_so_is_one_that_failed_only_when_the_call_was_about_to_run():
    agent, disk, plan, result = await paused_at_catalog()
    asked = []

    def late(request):
        asked.append(request.phase)
        if asked.count("active") > 1:
            raise ConnectionError("policy server is away")
        return True

    plan.hook = late
    events = [event async for event in agent.resume_stream(result, {"call_1": True})]
    failed = events[-1].result
    assert not [event for event in events if isinstance(event, ToolResultEvent)]
    assert (failed.finish_reason, disk.erased) == ("pending", [])
    assert "policy server is away" in failed.pending[0].problem
    plan.hook = None
    assert (await agent.resume(failed, {"call_1": True})).finish_reason == "stop"
    assert disk.erased == ["/a"]


async def test_a_hung_policy_is_told_as_one_that_failed():
    agent, disk, _, result = await paused_at_catalog()
    other = agent_of(
        ["done"], processors=[ToolSearchProcessor([disk.tool], filter=hung, filter_timeout_seconds=0.01)]
    )
    failed = await other.resume(as_dict(result), {"call_1": True})
    assert failed.pending[0].problem == "no verdict in time"
    assert (await agent.resume(failed, {"call_1": True})).finish_reason == "stop"
    assert disk.erased == ["/a"]


async def test_what_ran_beside_it_is_used_up():
    disk = Disk()
    plan = Plan()
    search = ToolSearchProcessor([disk.tool], filter=plan)
    script = [[call("wipe", {"path": "/w"}), call("erase", {"path": "/a"})], "done", "done"]
    agent = agent_of(script, disk.tool.replace(name="wipe"), processors=[search])
    result = await agent.run("q", thread_id="t")
    plan.answer = KeyError("plan")
    failed = await agent.resume(result, {"call_1": True, "call_2": True})
    assert ([waiting.call_id for waiting in failed.pending], disk.erased) == (["call_2"], ["/w"])
    plan.answer = True
    with pytest.raises(ResumeError, match="'call_1' was decided before"):
        await agent.resume(result, {"call_1": True, "call_2": True})
    assert (await agent.resume(failed, {"call_2": True})).finish_reason == "stop"
    assert disk.erased == ["/w", "/a"]


async def test_a_refusal_counts_whether_policy_would_let_it_run_or_not():
    for answer in (False, KeyError("plan")):
        agent, disk, policy, result = await paused_at_catalog()
        policy.answer = answer
        refused = await agent.resume(result, {"call_1": "not today"})
        assert contents(refused)[-1].endswith("Reason: not today")
        policy.answer = True
        with pytest.raises(ResumeError, match="decided before"):
            await agent.resume(result, {"call_1": True})
        assert disk.erased == []


@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
@pytest.mark.parametrize("kept", [lambda result: result, as_dict], ids=["result", "dict"])
async def test_an_approval_holds_for_no_other_tool_of_the_name(mode, kept):
    disk, other = Disk(), Disk()
    first, second = StaticProvider([disk.tool]), StaticProvider([])
    search = ToolSearchProcessor([first, second], mode=mode)
    asked = call("erase", {"path": "/a"})
    if mode == "call":
        asked = call("call_tool", {"name": "erase", "arguments": {"path": "/a"}})
    agent = agent_of([asked, "done", "done"], processors=[search])
    result = kept(await agent.run("q", thread_id="t"))
    first.remove("erase")
    second.add(other.tool)
    refused = await agent.resume(result, {"call_1": True})
    assert contents(refused)[-1].endswith("has changed since approval was asked for; it was not run.")
    assert (disk.erased, other.erased) == ([], [])
    second.remove("erase")
    first.add(disk.tool)
    await agent.resume(result, {"call_1": True})
    assert disk.erased == ["/a"]


async def test_a_changed_call_that_was_not_run_can_be_approved_as_it_was():
    agent, disk, result = await paused([call("erase", {"path": "/a"}), "done", "done"])
    kept = as_dict(result)
    result.messages[1]["tool_calls"][0]["function"]["arguments"] = '{"path": "/etc"}'
    await agent.resume(result, {"call_1": True})
    await agent.resume(kept, {"call_1": True})
    assert disk.erased == ["/a"]

"""A run stops for approval, and goes on from its result, its JSON or its messages."""

from __future__ import annotations

import asyncio

import pytest

from tests.agent.approving import (
    BOTH,
    FORMS,
    Disk,
    add,
    agent_of,
    as_dict,
    as_messages,
    as_result,
    contents,
    paused,
)
from tests.processors import Resolver
from tool_search_processor.agent import Agent
from tool_search_processor.agent.runs import Done, TextDelta, ToolCallEvent, ToolResultEvent
from tool_search_processor.concurrency.blocking import close_private_loop
from tool_search_processor.errors import AbortRun, ResumeError, RunningLoopError
from tool_search_processor.session.claims import LocalClaims
from tool_search_processor.session.prepared_calls import arguments_hash
from tool_search_processor.steps import InputStep
from tool_search_processor.testing import call


class Claimer(Resolver):
    """Claims calls among all who share the claims."""

    def __init__(self, claims):
        super().__init__()
        self.claims = claims

    async def claim_call(self, step, call_id):
        key = (step.run_id, call_id)
        if key in self.claims:
            return False
        self.claims.add(key)
        return True

    async def release_call(self, step, call_id):
        self.claims.remove((step.run_id, call_id))
        self.fail_at("release_call")


async def test_what_needs_no_approval_runs_before_the_stop():
    _, disk, result = await paused()
    assert disk.erased == []
    assert contents(result) == ["2"]
    assert result.output == "on it"
    assert [(item.call_id, item.name, item.arguments) for item in result.pending] == [
        ("call_1", "erase", {"path": "/a"}),
        ("call_3", "erase", {"path": "/b"}),
    ]
    assert result.pending[0].arguments_hash == arguments_hash("erase", {"path": "/a"})


async def test_the_stream_tells_what_waits():
    agent = agent_of([BOTH], Disk().tool, add)
    events = [event async for event in agent.stream("q")]
    asked = [event.needs_approval for event in events if isinstance(event, ToolCallEvent)]
    assert asked == [True, False, True]
    assert isinstance(events[-1], Done)
    assert events[-1].result.finish_reason == "pending"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fresh", [False, True], ids=["same agent", "new process"])
async def test_going_on(form, fresh):
    agent, disk, result = await paused()
    if fresh:
        agent = agent_of(["done"], disk.tool, add)
    approvals = {"call_1": True, "call_3": "keep that one"}
    resumed = await agent.resume(form(result), approvals, thread_id="t")
    assert disk.erased == ["/a"]
    assert contents(resumed) == [
        "erased /a",
        "2",
        "Error: a person refused the call of erase; it was not run. Reason: keep that one",
    ]
    assert [message.get("tool_call_id") for message in resumed.messages[2:5]] == [
        "call_1",
        "call_2",
        "call_3",
    ]
    assert (resumed.output, resumed.finish_reason, resumed.steps) == ("done", "stop", 2)
    assert resumed.pending == []
    assert resumed.thread_id == "t"
    if form is not as_messages:
        assert resumed.run_id == result.run_id
        assert resumed.usage.prompt_tokens > result.usage.prompt_tokens


async def test_a_refusal_without_a_reason():
    agent, disk, result = await paused()
    resumed = await agent.resume(result, {"call_1": False, "call_3": False})
    assert disk.erased == []
    assert contents(resumed)[0] == "Error: a person refused the call of erase; it was not run."


@pytest.mark.parametrize("form", FORMS)
async def test_one_answer_at_a_time(form):
    agent, disk, result = await paused()
    halfway = await agent.resume(form(result), {"call_3": True}, thread_id="t")
    assert disk.erased == ["/b"]
    assert (halfway.finish_reason, halfway.steps) == ("pending", 1)
    assert [item.call_id for item in halfway.pending] == ["call_1"]
    assert contents(halfway) == ["2", "erased /b"]
    resumed = await agent.resume(form(halfway), {"call_1": True}, thread_id="t")
    assert disk.erased == ["/b", "/a"]
    assert contents(resumed) == ["erased /a", "2", "erased /b"]
    assert resumed.output == "done"


async def test_no_answer_leaves_everything_pending():
    agent, disk, result = await paused()
    again = await agent.resume(result, {})
    assert again.pending == result.pending
    assert again.messages == result.messages
    assert disk.erased == []


async def test_max_steps_counts_over_the_pause():
    agent, _, result = await paused(max_steps=1)
    resumed = await agent.resume(result, {"call_1": True, "call_3": True})
    assert (resumed.finish_reason, resumed.steps) == ("max_steps", 1)


async def test_a_later_step_may_wait_again():
    script = [call("erase", {"path": "/a"}), call("erase", {"path": "/b"}), "done"]
    agent, disk, result = await paused(script)
    second = await agent.resume(result, {"call_1": True})
    assert (second.finish_reason, second.pending[0].arguments) == ("pending", {"path": "/b"})
    third = await agent.resume(second, {"call_2": True})
    assert (third.output, disk.erased) == ("done", ["/a", "/b"])


async def test_the_run_ends_once_and_keeps_its_id():
    disk, resolver = Disk(), Resolver()
    resolver.tools["erase"] = disk.tool
    agent = agent_of([call("erase", {"path": "/a"}), "done"], processors=[resolver])
    result = await agent.run("q", context={"plan": "pro"})
    assert resolver.ended == []
    resumed = await agent.resume(result, {"call_1": True}, context={"plan": "free"})
    assert resolver.ended == [result.run_id] == [resumed.run_id]
    assert [step.step_number for step in resolver.steps] == [0, 0, 1]
    assert {step.run_id for step in resolver.steps} == {result.run_id}
    assert [step.context["plan"] for step in resolver.steps] == ["pro", "free", "free"]


@pytest.mark.parametrize("form", FORMS)
async def test_a_tool_that_policy_took_away_does_not_run(form):
    disk, resolver = Disk(), Resolver()
    resolver.tools["erase"] = disk.tool
    agent = agent_of([call("erase", {"path": "/a"}), "done"], processors=[resolver])
    result = await agent.run("q")
    resolver.tools.clear()
    resumed = await agent.resume(form(result), {"call_1": True})
    assert contents(resumed) == ["Error: there is no tool named 'erase'."]
    assert disk.erased == []


@pytest.mark.parametrize("form", [as_result, as_dict])
async def test_a_changed_call_is_refused(form):
    agent, disk, result = await paused([call("erase", {"path": "/a"}), "done"])
    result.messages[1]["tool_calls"][0]["function"]["arguments"] = '{"path": "/etc"}'
    resumed = await agent.resume(form(result), {"call_1": True})
    assert disk.erased == []
    assert contents(resumed) == [
        "Error: the call of erase has changed since approval was asked for; it was not run."
    ]


async def test_a_call_that_needs_approval_no_more():
    disk = Disk()
    free = disk.tool.replace(requires_approval=False)
    _, _, result = await paused([call("erase", {"path": "/a"})])
    resumed = await agent_of([], free).resume(result, {})
    assert resumed.finish_reason == "pending", "a person was asked, and has not answered"
    assert disk.erased == []
    resumed = await agent_of(["done"], free).resume(result.messages, {})
    assert (resumed.output, disk.erased) == ("done", ["/a"])


@pytest.mark.parametrize("form", FORMS)
async def test_each_call_is_decided_once(form):
    agent, disk, result = await paused()
    await agent.resume(form(result), {"call_1": True, "call_3": False}, thread_id="t")
    for call_id in ("call_1", "call_3"):
        with pytest.raises(ResumeError, match=f"'{call_id}' was decided before"):
            await agent.resume(form(result), {call_id: True}, thread_id="t")
    assert disk.erased == ["/a"]


@pytest.mark.parametrize("first", FORMS)
@pytest.mark.parametrize("second", FORMS)
async def test_once_in_a_thread_whatever_the_form(first, second):
    agent, disk, result = await paused([call("erase", {"path": "/a"}), "done", "never"])
    await agent.resume(first(result), {"call_1": True}, thread_id="t")
    with pytest.raises(ResumeError, match="decided before"):
        await agent.resume(second(result), {"call_1": True}, thread_id="t")
    assert disk.erased == ["/a"]


@pytest.mark.parametrize("first", FORMS)
async def test_once_even_if_the_messages_come_back_without_their_thread(first):
    agent, disk, result = await paused([call("erase", {"path": "/a"}), "done", "never"])
    await agent.resume(first(result), {"call_1": True}, thread_id="t")
    with pytest.raises(ResumeError, match="decided before"):
        await agent.resume(result.messages, {"call_1": True})
    assert disk.erased == ["/a"]


async def test_the_same_call_in_two_threads_is_two():
    agent, disk, result = await paused([call("erase", {"path": "/a"}), *["done"] * 3])
    for thread_id in ("t", "u"):
        await agent.resume(result.messages, {"call_1": True}, thread_id=thread_id)
    assert disk.erased == ["/a", "/a"]


async def test_the_same_call_of_a_later_turn_is_another_where_servers_give_no_ids():
    """As local ones do; the application keeps a thread and no messages."""
    piece = {"function": {"name": "erase", "arguments": '{"path": "/a"}'}}
    disk, ids = Disk(), set()

    async def completion(messages, **_):
        message = {"content": "ok"} if messages[-1]["role"] == "tool" else {"tool_calls": [piece, piece]}
        return {"choices": [{"message": message}]}

    agent = Agent("a", "m", completion=completion, tools=[disk.tool])
    for _ in range(2):
        paused = await agent.run("erase it", thread_id="t")
        ids.update(waiting.call_id for waiting in paused.pending)
        await agent.resume(paused, {waiting.call_id: True for waiting in paused.pending}, thread_id="t")
    assert (disk.erased, len(ids)) == (["/a"] * 4, 4)


async def test_approved_twice_at_the_same_time():
    agent, disk, result = await paused([call("erase", {"path": "/a"}), "done"])
    answers = await asyncio.gather(
        *(agent.resume(result, {"call_1": True}) for _ in range(5)), return_exceptions=True
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["ResumeError"] * 4 + ["RunResult"]
    assert disk.erased == ["/a"]


async def test_two_anonymous_runs_that_look_alike():
    disk = Disk()
    script = [
        call("erase", {"path": "/a"}, id="call_0"),
        call("erase", {"path": "/a"}, id="call_0"),
        "1",
        "2",
    ]
    agent = agent_of(script, disk.tool)
    first, second = await agent.run("q"), await agent.run("q")
    assert first.messages == second.messages
    await agent.resume(first, {"call_0": True})
    await agent.resume(second, {"call_0": True})
    assert disk.erased == ["/a", "/a"]


async def test_a_failure_before_the_call_leaves_the_answer_open():
    disk, resolver = Disk(), Resolver()
    agent = agent_of([call("erase", {"path": "/a"}), "done"], disk.tool, processors=[resolver])
    result = await agent.run("q")
    resolver.failing["process_input_step"] = OSError("catalog down")
    with pytest.raises(OSError, match="catalog down"):
        await agent.resume(result, {"call_1": True})
    assert resolver.ended == []
    resolver.failing.clear()
    assert (await agent.resume(result, {"call_1": True})).output == "done"
    assert disk.erased == ["/a"]
    assert len(resolver.ended) == 1


async def test_a_failure_after_the_call_does_not():
    disk, resolver = Disk(), Resolver()
    agent = agent_of([call("erase", {"path": "/a"}), OSError("down"), "x"], disk.tool, processors=[resolver])
    result = await agent.run("q")
    with pytest.raises(OSError, match="down"):
        await agent.resume(result, {"call_1": True})
    assert len(resolver.ended) == 1
    with pytest.raises(ResumeError, match="decided before"):
        await agent.resume(result, {"call_1": True})


async def test_a_processor_may_abort_on_the_way():
    disk, resolver = Disk(), Resolver()
    agent = agent_of([call("erase", {"path": "/a"})], disk.tool, processors=[resolver])
    result = await agent.run("q")
    resolver.failing["process_input_step"] = AbortRun("no budget")
    resumed = await agent.resume(result, {"call_1": True})
    assert (resumed.finish_reason, resumed.output, disk.erased) == ("aborted", "no budget", [])
    assert len(resolver.ended) == 1


async def test_bare_messages_that_were_cut_from_the_front_go_on():
    script = [call("add", {"a": 1}), call("erase", {"path": "/a"}), "done"]
    _, disk, result = await paused(script)
    other = agent_of(["done"], disk.tool)
    resumed = await other.resume(result.messages[2:], {"call_2": True})
    assert [message["role"] for message in resumed.messages] == ["assistant", "tool", "assistant"]
    assert disk.erased == ["/a"]


async def test_answers_that_an_abort_left_without_effect_may_be_given_again():
    disk, resolver = Disk(), Resolver()
    agent = agent_of([call("erase", {"path": "/a"}), "done"], disk.tool, processors=[resolver])
    result = await agent.run("q")
    resolver.failing["process_input_step"] = AbortRun("no budget")
    events = [event async for event in agent.resume_stream(result, {"call_1": True})]
    assert (events[-1].result.finish_reason, disk.erased) == ("aborted", [])
    resolver.failing.clear()
    assert (await agent.resume(result, {"call_1": True})).output == "done"
    assert disk.erased == ["/a"]


async def test_once_over_all_processes_where_calls_can_be_claimed():
    disk, claims = Disk(), set()
    script = [call("erase", {"path": "/a"}), "done"]
    one = agent_of(script, disk.tool, processors=[Claimer(claims)])
    other_claimer = Claimer(claims)
    other = agent_of(["done"], disk.tool, processors=[other_claimer])
    result = await one.run("q")
    await one.resume(result, {"call_1": True})
    with pytest.raises(ResumeError, match="decided before"):
        await other.resume(as_dict(result), {"call_1": True})
    assert disk.erased == ["/a"]
    assert other_claimer.ended == [], "the run is the other process's"


@pytest.mark.parametrize("error", [None, RuntimeError("unreachable")])
async def test_claims_are_given_back_when_one_of_them_is_refused(error, caplog):
    _, disk, result = await paused([BOTH])
    claims = {(result.run_id, "call_3")}
    claimer = Claimer(claims)
    agent = agent_of(["done"], disk.tool, add, processors=[claimer])

    class Late(Claimer):
        """Fails from the moment on at which a claim is given back."""

        async def claim_call(self, step, call_id):
            self.failing["release_call"] = error
            return await super().claim_call(step, call_id)

    late = agent_of(["done"], disk.tool, add, processors=[Late(claims)])
    for one in (agent, late):
        with pytest.raises(ResumeError, match="'call_3' was decided before"):
            await one.resume(as_dict(result), {"call_1": True, "call_3": True})
        assert claims == {(result.run_id, "call_3")}
    assert ("could not be given back" in caplog.text) is (error is not None)
    assert disk.erased == []
    await agent.resume(as_dict(result), {"call_1": True})
    assert disk.erased == ["/a"]


@pytest.mark.parametrize(
    ("approvals", "match"),
    [
        ({"call_9": True}, "no open call has the id 'call_9'; open are 'call_1', 'call_3'"),
        ({"call_2": True}, "no open call has the id 'call_2'"),
        ({"call_1": 1}, "True, False or a reason to refuse; found 1"),
        ({"call_1": None}, "found None"),
    ],
)
async def test_answers_that_fit_nothing(approvals, match):
    agent, disk, result = await paused()
    with pytest.raises(ResumeError, match=match):
        await agent.resume(result, approvals)
    assert disk.erased == []


async def test_the_text_of_a_kept_run_is_not_a_run():
    agent, _, result = await paused()
    with pytest.raises(ResumeError, match=r"read with RunResult\.from_json\(text\), found the string '{"):
        await agent.resume(result.to_json(), {"call_1": True})


async def test_nothing_to_resume():
    agent = agent_of(["ok", "ok"])
    result = await agent.run("q")
    with pytest.raises(ResumeError, match="nothing is pending: the run ended with finish_reason 'stop'"):
        await agent.resume(result, {})
    with pytest.raises(ResumeError, match="the messages don't end with an assistant's tool calls"):
        await agent.resume(result.messages, {})


async def test_a_pending_call_that_is_gone_from_the_messages():
    agent, _, result = await paused([call("erase", {"path": "/a"})])
    result.messages[1]["tool_calls"][0]["id"] = "other"
    with pytest.raises(ResumeError, match="'call_1' is not open in the messages"):
        await agent.resume(result, {})


async def test_another_thread_may_not_resume():
    agent, _, result = await paused()
    with pytest.raises(ResumeError, match="belongs to thread 't', not to 'u'"):
        await agent.resume(result, {}, thread_id="u")


@pytest.mark.parametrize("form", [as_dict, as_messages])
async def test_a_blank_thread_is_none(form):
    agent = agent_of([call("erase", {"path": "/a"}), "done"], Disk().tool)
    result = await agent.run("q")
    assert (await agent.resume(form(result), {"call_1": True}, thread_id=" ")).thread_id is None


async def test_anthropic_messages_resume_too():
    disk = Disk()
    messages = [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "erase", "input": {"path": "/a"}}],
        },
    ]
    resumed = await agent_of(["done"], disk.tool).resume(messages, {"t1": True})
    assert (resumed.output, disk.erased) == ("done", ["/a"])


async def test_going_on_as_a_stream():
    agent, disk, result = await paused()
    approvals = dict.fromkeys([waiting.call_id for waiting in result.pending], True)
    events = [event async for event in agent.resume_stream(result, approvals)]
    told = [event.text for event in events if isinstance(event, ToolResultEvent)]
    assert told == ["erased /a", "erased /b"]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "done"
    assert isinstance(events[-1], Done)
    assert events[-1].result.finish_reason == "stop"
    assert disk.erased == ["/a", "/b"]
    with pytest.raises(ResumeError, match="decided before"):
        await anext(agent.resume_stream(result, approvals))


async def test_a_stream_that_cannot_go_on_says_so_before_it_begins():
    agent, disk, result = await paused()
    with pytest.raises(ResumeError, match="no open call has the id 'x'"):
        agent.resume_stream(result, {"x": True})
    never_begun = agent.resume_stream(result, {"call_1": True})
    await never_begun.aclose()
    assert disk.erased == []
    await agent.resume(result, {"call_1": True})
    assert disk.erased == ["/a"]


def test_resume_sync():
    disk = Disk()
    agent = agent_of([call("erase", {"path": "/a"}), "done"], disk.tool)
    try:
        result = agent.run_sync("q")
        assert agent.resume_sync(result, {"call_1": True}).output == "done"
    finally:
        close_private_loop()
    assert disk.erased == ["/a"]


async def test_resume_sync_refuses_a_running_loop():
    with pytest.raises(RunningLoopError, match=r"Agent\.resume_sync"):
        agent_of([]).resume_sync([], {})


async def test_only_so_many_claims_are_kept():
    claims = LocalClaims(most=3)
    steps = [InputStep(messages=(), run_id=str(n)) for n in range(4)]
    for step in steps:
        assert await claims.claim_call(step, "call_1")
    assert await claims.claim_call(steps[0], "call_1")
    assert not await claims.claim_call(steps[3], "call_1")


async def test_an_anonymous_run_is_decided_once_by_its_id_or_by_its_messages():
    disk = Disk()
    agent = agent_of([call("erase", {"path": "/a"}), "done"], disk.tool)
    result = await agent.run("q")
    await agent.resume(result, {"call_1": False})
    for again, thread_id in ((result, None), (result, "t"), (result.messages, None)):
        with pytest.raises(ResumeError, match="decided before"):
            await agent.resume(again, {"call_1": True}, thread_id=thread_id)
    assert not disk.erased

"""Policies that fail in every way, and change their mind at the worst moment."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.support import make
from tool_search_processor import Agent, ToolSearchProcessor
from tool_search_processor.testing import ScriptedModel, call

PHASES = ("search", "load", "active")
SCRIPT = [
    call("search_tools", {"query": "secret thing"}),
    call("load_tool", {"tool_names": ["secret_thing"]}),
    [call("secret_thing"), call("public_thing")],
    "done",
]


class Panic(BaseException):
    """What a panic in Rust code is to Python."""


def tools_of(ran):
    return [
        make(name, execute=lambda name=name: ran.append(name)) for name in ("secret_thing", "public_thing")
    ]


async def run(policy, *, thread_id="t", **options):
    ran = []
    processor = ToolSearchProcessor(tools_of(ran), filter=policy, **options)
    model = ScriptedModel(SCRIPT)
    agent = Agent("a", "m", completion=model, input_processors=[processor])
    result = await agent.run("q", thread_id=thread_id)
    return ran, result, model


@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("error", [SystemExit, Panic, StopIteration, RecursionError, MemoryError, OSError])
async def test_a_policy_that_raises_anything_denies_and_the_run_goes_on(error, phase, later):
    def verdict(request):
        if request.tool_name == "secret_thing" and request.phase == phase:
            raise error("x")
        return True

    async def verdict_later(request):
        await asyncio.sleep(0)
        return verdict(request)

    ran, result, _ = await run(verdict_later if later else verdict)
    assert result.output == "done"
    assert set(ran) == ({"public_thing"} if phase != "search" else {"secret_thing", "public_thing"})


@pytest.mark.parametrize("phase", PHASES)
async def test_cancellation_is_no_verdict(phase):
    def cancel(request):
        if request.phase == phase:
            raise asyncio.CancelledError
        return True

    if phase != "search":
        with pytest.raises(asyncio.CancelledError):
            await run(cancel)
        return
    _, result, _ = await run(cancel)  # within one call: that call alone is over
    assert result.messages[2]["content"] == "Error: search_tools was cancelled before it answered."


@pytest.mark.parametrize("allowed", range(12))
async def test_a_permission_that_ends_at_any_question_is_over_at_once(allowed):
    """The policy turns at its n-th question about the tool: after that it neither runs nor is listed."""
    asked = []

    def policy(request):
        if request.tool_name == "secret_thing":
            asked.append(request.phase)
            return len(asked) <= allowed
        return True

    ran, result, model = await run(policy)
    assert result.output == "done"
    # Listed after the load (question 3) and asked once more at the call (4): only then does it run.
    assert ("secret_thing" in ran) is (allowed >= 4)
    assert ("secret_thing" in model.requests[2].tool_names) is (allowed >= 3)
    assert asked.count("active") <= 4


async def test_a_tool_that_is_denied_while_others_run_does_not_run():
    ran = []
    denied = set()

    async def revoke():
        denied.add("late")
        ran.append("revoke")

    tools = [make("revoke", execute=revoke), make("late", execute=lambda: ran.append("late"))]
    processor = ToolSearchProcessor(tools, filter=lambda request: request.tool_name not in denied)
    await processor.load(["revoke", "late"], thread_id="t")
    model = ScriptedModel([[call("revoke"), call("late")], "done"])
    agent = Agent("a", "m", completion=model, input_processors=[processor], parallel_tool_calls=False)
    result = await agent.run("q", thread_id="t")
    assert ran == ["revoke"]
    assert "There is no tool 'late' to call" in result.messages[-2]["content"]


def test_one_policy_answers_many_threads_each_for_its_own_request():
    """A policy with state of its own, unlocked, as users write them."""
    seen, problems = {}, []

    def policy(request):
        user = request.context["user"]
        seen.setdefault(user, set()).add(request.thread_id)
        return request.tool_name == "public_thing" or user % 2 == 0

    ran = []
    processor = ToolSearchProcessor(tools_of(ran), filter=policy)

    async def one(user):
        model = ScriptedModel(SCRIPT)
        agent = Agent("a", "m", completion=model, input_processors=[processor])
        await agent.run("q", thread_id=f"t{user}", context={"user": user})
        listed = "secret_thing" in model.requests[2].tool_names
        if listed is not (user % 2 == 0):
            problems.append(user)

    async def some(users):
        await asyncio.gather(*map(one, users))

    threads = [threading.Thread(target=asyncio.run, args=(some(range(n, 80, 4)),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert problems == []
    assert seen == {user: {f"t{user}"} for user in range(80)}
    assert sorted(ran) == ["public_thing"] * 80 + ["secret_thing"] * 40

"""Approval over processes: what one process asks for, another resumes, with each kind of store."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stores import servers
from tests.stores.approving import AFTER, BEFORE, make_agent
from tests.support import Policy
from tool_search_processor.errors import ResumeError, StoreError

ROOT = Path(__file__).parents[2]
KINDS = ["memory", "history", "redis"]
META = ["search_tools", "load_tool"]
YES = {"call_2": True}


def as_data(result):
    return json.loads(json.dumps(result.to_dict()))


def as_messages(result):
    return json.loads(json.dumps(result.messages))


FORMS = pytest.mark.parametrize("form", [as_data, as_messages], ids=["data", "messages"])


@pytest.fixture
def erased(tmp_path):
    log = tmp_path / "erased"
    log.touch()
    return log


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def url(redis_server):
    return redis_server.url


async def ask(kind, url, erased, *, thread_id="t", **options):
    """Run until the approval is asked for, and lose the process."""
    agent, processor, _ = make_agent(kind, url, erased, script=BEFORE, **options)
    result = await agent.run("erase /a", thread_id=thread_id)
    assert (result.finish_reason, result.pending[0].name) == ("pending", "erase")
    await processor.aclose()
    return result


def answers(result):
    return [message["content"] for message in result.messages if message["role"] == "tool"]


@FORMS
async def test_a_new_process_goes_on(kind, url, erased, form):
    paused = form(await ask(kind, url, erased))
    agent, processor, model = make_agent(kind, url, erased)
    result = await agent.resume(paused, YES, thread_id="t")
    await processor.aclose()
    assert result.output == "Done."
    assert answers(result)[-1] == "erased /a"
    assert erased.read_text() == "/a\n"
    assert model.requests[0].tool_names == [*META, "erase"], "it is loaded, again or still"


@pytest.mark.parametrize("kind", ["history", "redis"])
async def test_what_was_loaded_is_listed_before_the_call_runs(kind, url, erased):
    """Memory that was lost knows nothing, and finds the tool of the call in the catalog."""
    paused = as_data(await ask(kind, url, erased))
    agent, processor, model = make_agent(kind, url, erased)
    again = await agent.resume(paused, {}, thread_id="t")
    assert (again.finish_reason, model.requests) == ("pending", [])
    refused = await agent.resume(as_data(again), {"call_2": "not that one"}, thread_id="t")
    await processor.aclose()
    assert refused.output == "Done."
    assert model.requests[0].tool_names == [*META, "erase"]
    assert erased.read_text() == ""


@pytest.mark.slow
@pytest.mark.parametrize("thread_id", ["t", None])
def test_another_process_that_knows_the_messages_alone(url, erased, thread_id):
    paused = asyncio.run(ask("history", url, erased, thread_id=thread_id))
    program = [sys.executable, "-m", "tests.stores.approving", "history", url, str(erased)]
    given = json.dumps([as_messages(paused), YES])
    output = subprocess.run(program, input=given, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert json.loads(output) == {"output": "Done.", "tools": [*META, "erase"]}
    assert erased.read_text() == "/a\n"


@FORMS
@pytest.mark.parametrize("phases", [("load", "active"), ("active",)], ids=["load", "active"])
async def test_a_permission_that_was_withdrawn_meanwhile(kind, url, erased, form, phases):
    paused = form(await ask(kind, url, erased))
    policy = Policy()
    policy.deny("erase", *phases)
    agent, processor, model = make_agent(kind, url, erased, policy=policy)
    result = await agent.resume(paused, YES, thread_id="t")
    await processor.aclose()
    assert answers(result)[-1].startswith("Error: There is no tool 'erase' to call.")
    assert erased.read_text() == ""
    assert model.requests[0].tool_names == META


async def test_a_call_that_was_changed_meanwhile(kind, url, erased):
    paused = as_data(await ask(kind, url, erased))
    asked = paused["messages"][-1]["tool_calls"][0]["function"]
    asked["arguments"] = '{"path": "/"}'
    agent, processor, _ = make_agent(kind, url, erased)
    result = await agent.resume(paused, YES, thread_id="t")
    await processor.aclose()
    assert "has changed since approval was asked for" in answers(result)[-1]
    assert erased.read_text() == ""


async def test_approving_twice_in_one_process_runs_once(kind, url, erased):
    paused = await ask(kind, url, erased)
    agent, processor, _ = make_agent(kind, url, erased, script=AFTER * 2)
    await agent.resume(as_data(paused), YES)
    for form in (as_data, as_messages):
        with pytest.raises(ResumeError, match="'call_2' was decided before"):
            await agent.resume(form(paused), YES, thread_id="t")
    await processor.aclose()
    assert erased.read_text() == "/a\n"


@pytest.mark.parametrize("second", [as_data, as_messages], ids=["data", "messages"])
@pytest.mark.parametrize("first", [as_data, as_messages], ids=["data", "messages"])
async def test_approving_twice_in_two_processes_runs_once_where_redis_tells(url, erased, first, second):
    paused = await ask("redis", url, erased)
    one, one_processor, _ = make_agent("redis", url, erased)
    other, other_processor, _ = make_agent("redis", url, erased)
    await one.resume(first(paused), YES, thread_id="t")
    with pytest.raises(ResumeError, match="'call_2' was decided before"):
        await other.resume(second(paused), YES, thread_id="t")
    await one_processor.aclose()
    await other_processor.aclose()
    assert erased.read_text() == "/a\n"


@pytest.mark.parametrize("second", [True, False, "not that one"])
@pytest.mark.parametrize("form", [as_data, as_messages], ids=["data", "messages"])
async def test_a_refusal_in_one_process_holds_in_every_other(url, erased, form, second):
    paused = form(await ask("redis", url, erased))
    one, one_processor, _ = make_agent("redis", url, erased)
    other, other_processor, model = make_agent("redis", url, erased)
    await one.resume(paused, {"call_2": "not that one"}, thread_id="t")
    with pytest.raises(ResumeError, match="'call_2' was decided before") as late:
        await other.resume(paused, {"call_2": second}, thread_id="t")
    await one_processor.aclose()
    await other_processor.aclose()
    assert "tool_calls" in late.value.run_messages[-1], "it is not answered a second time"
    assert (erased.read_text(), model.requests) == ("", [])


async def test_anonymous_runs_that_are_alike_do_not_take_each_others_claims(url, erased):
    for _ in range(2):
        paused = await ask("redis", url, erased, thread_id=None)
        agent, processor, _ = make_agent("redis", url, erased)
        assert (await agent.resume(as_data(paused), YES)).output == "Done."
        await processor.aclose()
    assert erased.read_text() == "/a\n/a\n"


@pytest.mark.slow
def test_processes_that_race_for_one_approval(url, erased):
    paused = asyncio.run(ask("redis", url, erased))
    program = [sys.executable, "-m", "tests.stores.approving", "redis", url, str(erased)]
    workers = [
        subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True)
        for _ in range(3)
    ]
    for worker in workers:  # each has imported all it needs before it reads the end of its input
        worker.stdin.write(json.dumps([as_data(paused), YES]))
        worker.stdin.flush()
    results = [json.loads(worker.communicate()[0]) for worker in workers]
    assert [result.get("output") for result in results].count("Done.") == 1
    assert sum("decided before" in result.get("error", "") for result in results) == 2
    assert erased.read_text() == "/a\n"


@pytest.mark.parametrize("on_error", ["empty", "raise"])
async def test_what_nobody_can_vouch_for_does_not_run_and_may_be_approved_again(tmp_path, erased, on_error):
    if servers.PROGRAM is None:
        pytest.skip(servers.MISSING)
    with servers.running(tmp_path, durable=True) as server:
        paused = as_data(await ask("redis", server.url, erased))
        agent, processor, _ = make_agent("redis", server.url, erased, on_error=on_error)
        server.kill()
        with pytest.raises(StoreError, match="Redis failed"):
            await agent.resume(paused, YES)
        assert erased.read_text() == ""
        server.start()
        assert (await agent.resume(paused, YES)).output == "Done."
        await processor.aclose()
    assert erased.read_text() == "/a\n"


@pytest.mark.parametrize("thread_id", ["t", None])
async def test_loops_of_ones_own_agree_on_who_runs_an_approved_call(url, erased, thread_id):
    asked = [{"id": "c1", "function": {"name": "erase", "arguments": '{"path": "/a"}'}}]
    messages = [{"role": "user", "content": "hello"}]
    outcomes = []
    for _ in range(2):
        _, processor, _ = make_agent("redis", url, erased)
        async with processor.session(thread_id=thread_id) as session:
            await session.tools(messages)
            try:
                (answer,) = await session.execute(asked, approvals={"c1": True})
                outcomes.append(answer["content"])
            except ResumeError as exc:
                outcomes.append(str(exc))
        await processor.aclose()
    other = "the call 'c1' was decided before: it does not run again"
    assert outcomes == ["erased /a", other if thread_id else "erased /a"], "two anonymous runs are two"

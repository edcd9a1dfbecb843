"""A loop of one's own over processors, in OpenAI's and in Anthropic's style."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import litellm
import pytest

from tests.support import make
from tool_search_processor.errors import (
    ConfigurationError,
    DuplicateToolError,
    ReservedToolNameError,
    ResumeError,
    RunningLoopError,
)
from tool_search_processor.processor import ToolSearchProcessor
from tool_search_processor.providers import StaticProvider
from tool_search_processor.session import ToolSession
from tool_search_processor.tokens.limiter import TokenLimiter
from tool_search_processor.tools import Tool

USER = {"role": "user", "content": "what is 1 + 1?"}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def erase(path: str) -> str:
    """Erase a file."""
    return f"erased {path}"


class Unlocking:
    """Lists a tool from the second step on, resolves one more, and writes down what happens to it."""

    id = "unlocking"
    reserved_names = frozenset({"unlock"})

    def __init__(self):
        self.steps = []
        self.ended = []

    async def process_input_step(self, step):
        self.steps.append(step)
        added = [Tool.from_function(add)] if step.step_number else []
        step.state.setdefault(self.id, []).append(step.step_number)
        return step.replace(tools=[*step.tools, *added], instructions=["Unlock first.", "Be brief."])

    async def resolve_call(self, step, name):
        return Tool.from_function(erase, requires_approval=True) if name == "erase" else None

    async def definition_tokens(self, step):
        return 0

    async def end_run(self, step):
        self.ended.append(step.run_id)


def openai_call(name, arguments, call_id="c1"):
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def tool_use(name, arguments, call_id="t1"):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


async def test_a_conversation_in_openai_style():
    processor = Unlocking()
    messages = [USER]
    async with ToolSession(processor, thread_id="t", context={"plan": "pro"}) as session:
        assert await session.openai_tools(messages) == []
        assert session.instructions == ("Unlock first.", "Be brief.")
        assert session.system == "Unlock first.\n\nBe brief."
        assert [tool["function"]["name"] for tool in await session.openai_tools(messages)] == ["add"]
        message = {"role": "assistant", "content": None, "tool_calls": [openai_call("add", {"a": 1, "b": 1})]}
        results = await session.execute(message)
        assert results == [{"role": "tool", "tool_call_id": "c1", "name": "add", "content": "2"}]
        assert processor.ended == []
    assert processor.ended == [session.run_id]
    first, second = processor.steps
    assert (first.thread_id, first.context["plan"], first.messages) == ("t", "pro", [USER])
    assert (first.run_id, first.step_number, second.step_number) == (second.run_id, 0, 1)
    assert first.state is second.state
    assert first.state["unlocking"] == [0, 1]


async def test_a_conversation_in_anthropic_style():
    processor = Unlocking()
    async with ToolSession(processor, tools=[erase]) as session:
        assert [tool["name"] for tool in await session.anthropic_tools([USER])] == ["erase"]
        blocks = [
            {"type": "text", "text": "well"},
            tool_use("erase", {"path": "x"}),
            tool_use("no", {}, "t2"),
        ]
        results = await session.execute(blocks)
        assert results == [
            {"type": "tool_result", "tool_use_id": "t1", "content": "erased x"},
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "content": "Error: there is no tool named 'no'.",
                "is_error": True,
            },
        ]
        await session.tools(
            [USER, {"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
        )
    assert [message["role"] for message in processor.steps[-1].messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
    ]


async def test_approval():
    calls = [openai_call("erase", {"path": "a"}, "c1"), openai_call("add", {"a": 1, "b": 2}, "c2")]
    contents = {}
    for answer in ({}, {"c1": True}, {"c1": False}, {"c1": "not today"}):
        async with ToolSession(Unlocking(), tools=[add]) as session:
            await session.tools([USER])
            (pending,) = await session.approvals_needed(calls)
            assert (pending.call_id, pending.name, pending.arguments) == ("c1", "erase", {"path": "a"})
            results = await session.execute(calls, approvals=answer)
            assert [result["tool_call_id"] for result in results] == ["c1", "c2"]
            assert results[1]["content"] == "3"
            contents[str(answer.get("c1"))] = results[0]["content"]
    assert contents["None"].endswith("which was not given; it was not run.")
    assert contents["True"] == "erased a"
    assert "a person refused" in contents["False"]
    assert contents["not today"].endswith("Reason: not today")


@pytest.mark.parametrize("call_id", [None, "", "c1"])
async def test_calls_without_an_id_of_their_own_can_be_approved(call_id):
    """Clients of local servers give none, or the same one twice."""
    calls = [openai_call("erase", {"path": path}, call_id) for path in "aab"]
    async with ToolSession(Unlocking()) as session:
        first, _, last = await session.approvals_needed(calls)
        answers = {first.call_id: True, last.call_id: "keep it"}
        results = await session.execute(calls, approvals=answers)
    assert [result["content"] for result in results] == [
        "erased a",
        "Error: erase needs the approval of a person, which was not given; it was not run.",
        "Error: a person refused the call of erase; it was not run. Reason: keep it",
    ]


async def test_calls_of_an_earlier_process_meet_the_pipeline_first():
    processor = Unlocking()
    async with ToolSession(processor, tools=[add]) as session:
        results = await session.execute([openai_call("add", {"a": 2, "b": 2})])
    assert results[0]["content"] == "4"
    assert len(processor.steps) == 1


@pytest.mark.parametrize("calls", [[], None, {"role": "assistant", "content": "done"}])
async def test_nothing_to_execute(calls):
    async with ToolSession(Unlocking()) as session:
        assert await session.execute(calls) == []


RESPONSES_CALL = {
    "type": "function_call", "id": "fc", "call_id": "c1", "name": "add", "arguments": '{"a": 1, "b": 2}',
}  # fmt: skip
RESPONSES_OUTPUT = [{"type": "reasoning", "id": "rs", "summary": []}, RESPONSES_CALL]
RESPONSES_REPLY = {"object": "response", "status": "completed", "output": RESPONSES_OUTPUT}


@pytest.mark.parametrize(
    "reply",
    [
        RESPONSES_CALL,
        RESPONSES_OUTPUT,
        RESPONSES_REPLY,
        {"type": "response.completed", "response": RESPONSES_REPLY},
        SimpleNamespace(type="response.completed", response=SimpleNamespace(**RESPONSES_REPLY)),
        SimpleNamespace(object="response", output=[SimpleNamespace(**RESPONSES_CALL)]),
    ],
    ids=["call", "output", "reply", "event", "event-object", "object"],
)
async def test_calls_of_the_responses_api_are_answered_by_items(reply):
    async with ToolSession(Unlocking(), tools=[add]) as session:
        results = await session.execute(reply)
    assert results == [{"type": "function_call_output", "call_id": "c1", "output": "3"}]


CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.parametrize(
    "reply",
    [
        {**RESPONSES_REPLY, **CUT},
        {"type": "response.incomplete", "response": {**RESPONSES_REPLY, **CUT}},
        [{**RESPONSES_CALL, "status": "incomplete"}],
    ],
    ids=["reply", "event", "item"],
)
async def test_calls_of_a_responses_reply_that_was_cut_do_not_run(reply):
    async with ToolSession(Unlocking(), tools=[add]) as session:
        (result,) = await session.execute(reply)
    assert (result["type"], result["call_id"]) == ("function_call_output", "c1")
    assert "your answer was cut off" in result["output"]


async def test_a_responses_reply_without_calls_has_no_results():
    said = {
        "type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "done", "annotations": []}],
    }  # fmt: skip
    async with ToolSession(Unlocking()) as session:
        for reply in ([said], {**RESPONSES_REPLY, "output": [said]}, {**RESPONSES_REPLY, "output": []}):
            assert await session.execute(reply) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"choices": [{"message": {"role": "assistant", "content": None}}]},
        [{"message": {"role": "assistant", "content": None}}],
        {"output": []},
        5,
    ],
)
async def test_a_whole_reply_is_refused_rather_than_read_as_one_without_calls(wrong):
    async with ToolSession(Unlocking()) as session:
        with pytest.raises(
            ConfigurationError, match=r"found (dict|list|int): pass reply\.choices\[0\]\.message"
        ):
            await session.execute(wrong)


LANGCHAIN = {"name": "erase", "args": {"path": "/a"}, "id": "c1", "type": "tool_call"}
READABLE = openai_call("erase", {"path": "/a"})


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (LANGCHAIN, "LangChain's form"),
        ([LANGCHAIN], "LangChain's form"),
        ([{key: LANGCHAIN[key] for key in ("name", "args", "id")}], "LangChain's form"),
        ({"role": "assistant", "content": "", "tool_calls": [LANGCHAIN]}, "LangChain's form"),
        (SimpleNamespace(type="ai", content="", tool_calls=[LANGCHAIN]), "LangChain's form"),
        ([READABLE, LANGCHAIN], "LangChain's form"),
        ("I'll erase it.", 'found the string "I\'ll erase it."'),
        ('[{"id": "c1"}]', "found the string"),
        ({"role": "assistant", "tool_calls": "[]"}, r"tool_calls must be a list, found '\[\]'"),
        ({"role": "assistant", "tool_calls": READABLE}, "tool_calls must be a list"),
        (
            {"role": "assistant", "tool_calls": [READABLE, 3]},
            r"tool_calls\[1\] is not a tool call .* found 3",
        ),
        ({"role": "assistant", "tool_calls": [None]}, r"tool_calls\[0\] is not a tool call"),
        ({"role": "assistant", "tool_calls": [{"id": "c1"}]}, r"tool_calls\[0\] is not a tool call"),
        ({"role": "assistant", "tool_calls": [{"type": "text", "text": "a"}]}, r"tool_calls\[0\]"),
        ({"role": "assistant", "function_call": "erase"}, "function_call is not a tool call"),
        ({"role": "assistant", "content": 5}, "content is not a tool call"),
        ([{"id": "c1", "function": "erase"}], r"calls\[0\] is not a tool call"),
        ([{"toolUse": {"name": "erase"}}], r"calls\[0\] is not a tool call"),
        ([{"type": "custom", "id": "c1", "custom": {"name": "erase", "input": "/a"}}], r"calls\[0\]"),
        ({"role": "user", "content": "erase it"}, "found a message with the role 'user'"),
        ([{"role": "assistant", "content": None, "tool_calls": [READABLE]}], "found list"),
    ],
)
async def test_what_can_not_be_read_is_refused_and_nothing_runs(wrong, found):
    processor = Unlocking()
    async with ToolSession(processor) as session:
        for ask in (session.execute, session.approvals_needed):
            with pytest.raises(ConfigurationError, match=found):
                await ask(wrong)
    assert processor.steps == []


@pytest.mark.parametrize(
    "reply",
    [
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "done"}, {"type": "thinking", "thinking": "hm"}],
        },
        {"role": "assistant", "content": "done", "tool_calls": None, "function_call": None},
        [{"type": "text", "text": "done"}],
        SimpleNamespace(role="assistant", content="done", tool_calls=[]),
        SimpleNamespace(type="ai", content="done", tool_calls=[]),
        litellm.Message(role="assistant", content="done"),
    ],
)
async def test_a_reply_without_calls_has_no_results(reply):
    async with ToolSession(Unlocking()) as session:
        assert await session.execute(reply) == []


async def test_a_processor_that_fails_at_the_end_hides_nothing(caplog):
    class Failing(Unlocking):
        id = "failing"
        reserved_names = frozenset()

        async def end_run(self, step):
            raise RuntimeError("no")

    last = Unlocking()
    with pytest.raises(KeyError, match="of the loop"):
        async with ToolSession(Failing(), last):
            raise KeyError("of the loop")
    assert len(last.ended) == 1
    assert "end_run of 'failing' failed" in caplog.text


async def test_context_is_a_mapping():
    with pytest.raises(ConfigurationError, match="context must be a mapping, found 'free': pass a dict"):
        ToolSession(Unlocking(), context="free")


async def test_before_the_first_step():
    session = ToolSession(Unlocking())
    assert (session.instructions, session.system, session.messages) == ((), "", [])
    await session.aclose()
    await session.aclose()


async def test_messages_as_the_processors_left_them():
    long = {"role": "user", "content": "x" * 400}
    async with ToolSession(TokenLimiter(60, counter=len)) as session:
        await session.tools([long, {"role": "assistant", "content": "y"}, USER])
        assert session.messages == [USER]


async def test_an_error_in_the_loop_ends_the_run_too():
    processor = Unlocking()
    with pytest.raises(LookupError):
        async with ToolSession(processor):
            raise LookupError
    assert len(processor.ended) == 1


def test_clashes_raise_at_construction():
    with pytest.raises(DuplicateToolError, match="the session"):
        ToolSession(Unlocking(), tools=[add, add])


async def test_a_tool_that_takes_too_long():
    async def forever() -> None:
        """Never answer."""
        import asyncio

        await asyncio.Event().wait()

    async with ToolSession(tools=[forever], tool_timeout_seconds=0.01) as session:
        (result,) = await session.execute([openai_call("forever", {})])
    assert "took longer" in result["content"]


class Claiming(Unlocking):
    """Claims calls in a table that all processes share."""

    def __init__(self, claims):
        super().__init__()
        self.claims = claims

    async def claim_call(self, step, call_id):
        key = step.thread_id, step.run_id, call_id
        if key in self.claims:
            return False
        self.claims.append(key)
        return True

    async def release_call(self, step, call_id):
        self.claims.remove((step.thread_id, step.run_id, call_id))


ASKED = [openai_call("erase", {"path": "a"}, "c1"), openai_call("erase", {"path": "b"}, "c2")]
PATH = {"type": "object", "properties": {"path": {"type": "string"}}}
SAID = {"role": "assistant", "content": None, "tool_calls": ASKED}


@pytest.mark.parametrize("listed", [[USER], [USER, SAID]], ids=["before the call", "with the call"])
async def test_an_approved_call_runs_once_over_all_processes(listed):
    claims = []
    async with ToolSession(Claiming(claims), thread_id="t") as session:
        await session.tools([USER])
        await session.execute(ASKED, approvals={"c1": True})
    assert {call_id for *_, call_id in claims} == {"c1"}, "what nobody decided is not claimed"
    ran = list(claims)
    async with ToolSession(Claiming(claims), thread_id="t") as session:
        await session.tools(listed)
        with pytest.raises(ResumeError, match="'c1' was decided before"):
            await session.execute(ASKED, approvals={"c2": True, "c1": True})
        assert claims == ran, "all or none"
        refused, done = await session.execute(ASKED, approvals={"c2": True})
        assert ("was not given" in refused["content"], done["content"]) == (True, "erased b")


@pytest.mark.parametrize("later", [True, "still no"])
@pytest.mark.parametrize("refusal", [False, "not today", ""])
async def test_a_refusal_is_not_overruled(refusal, later):
    claims = []
    for number in range(2):
        async with ToolSession(Claiming(claims), thread_id="t") as session:
            await session.tools([USER])
            if not number:
                (refused,) = await session.execute(ASKED[:1], approvals={"c1": refusal})
                assert refused["content"].startswith("Error: a person refused the call of erase")
            with pytest.raises(ResumeError, match="'c1' was decided before: it does not run again"):
                await session.execute(ASKED[:1], approvals={"c1": later})


async def test_what_has_run_is_not_said_to_be_refused():
    async with ToolSession(Unlocking(), thread_id="t") as session:
        await session.tools([USER])
        await session.execute(ASKED[:1], approvals={"c1": True})
        with pytest.raises(ResumeError, match="'c1' was decided before"):
            await session.execute(ASKED[:1], approvals={"c1": False})


async def test_a_refused_call_does_not_run_even_if_it_needs_no_approval():
    ran = []
    harmless = Tool("erase", parameters=PATH, execute=ran.append)
    async with ToolSession(tools=[harmless]) as session:
        (refused,) = await session.execute(ASKED[:1], approvals={"c1": "not that file"})
    assert (refused["content"].endswith("Reason: not that file"), ran) == (True, [])


@pytest.mark.parametrize("mode", ["load", "call"])
async def test_a_refusal_of_a_hidden_tool_counts_when_policy_shows_it(mode):
    allowed, ran = [False], []
    tool = Tool("erase", parameters=PATH, execute=ran.append, requires_approval=True)
    search = ToolSearchProcessor([tool], filter=lambda request: allowed[-1], mode=mode)
    call = ASKED[0]
    if mode == "call":
        call = openai_call("call_tool", {"name": "erase", "arguments": {"path": "a"}}, "c1")
    async with search.session(thread_id="t") as session:
        await session.tools([USER])
        await session.execute([call], approvals={"c1": "no"})
        allowed.append(True)
        with pytest.raises(ResumeError, match="'c1' was decided before"):
            await session.execute([call], approvals={"c1": True})
    assert ran == []


async def test_a_tool_that_another_provider_has_replaced_does_not_run_for_the_approval():
    ran = []
    tools = [Tool("erase", parameters=PATH, execute=ran.append, requires_approval=True) for _ in range(2)]
    first, second = StaticProvider(tools[:1]), StaticProvider([])
    async with ToolSearchProcessor([first, second]).session(thread_id="t") as session:
        await session.tools([USER])
        await session.approvals_needed(ASKED[:1])
        first.remove("erase")
        second.add(tools[1])
        (refused,) = await session.execute(ASKED[:1], approvals={"c1": True})
        assert "has changed since approval was asked for" in refused["content"]
        await session.approvals_needed(ASKED[:1])
        await session.execute(ASKED[:1], approvals={"c1": True})
    assert ran == [{"path": "a"}]


@pytest.mark.parametrize("thread_id", [None, "t"])
async def test_an_approved_call_runs_once_in_a_session(thread_id):
    ran = []
    erase = Tool("erase", parameters=PATH, execute=ran.append, requires_approval=True)
    async with ToolSession(tools=[erase], thread_id=thread_id) as session:
        await session.tools([USER])
        await session.execute(ASKED[:1], approvals={"c1": True})
        with pytest.raises(ResumeError, match="'c1' was decided before: it does not run again"):
            await session.execute(ASKED[:1], approvals={"c1": True})
    assert ran == [{"path": "a"}]


async def test_an_approved_call_that_was_not_run_can_be_approved_again():
    asked = []

    def only_the_second_time(request):
        return request.phase != "active" or asked.append(request) or len(asked) > 1

    erase = Tool("erase", parameters=PATH, execute=lambda path: f"erased {path}", requires_approval=True)
    search = ToolSearchProcessor([erase], filter=only_the_second_time)
    async with search.session(thread_id="t") as session:
        await session.tools([USER])
        (denied,) = await session.execute(ASKED[:1], approvals={"c1": True})
        assert denied["content"].startswith("Error:")
        (done,) = await session.execute(ASKED[:1], approvals={"c1": True})
        assert done["content"] == "erased a"


async def test_an_approved_call_runs_once_over_the_sessions_of_a_processor():
    erase = Tool("erase", parameters=PATH, execute=lambda path: f"erased {path}", requires_approval=True)
    search = ToolSearchProcessor([erase])
    for is_first in (True, False):
        async with search.session(thread_id="t") as session:
            await session.tools([USER])
            if is_first:
                assert (await session.execute(ASKED[:1], approvals={"c1": True}))[0]["content"] == "erased a"
            else:
                with pytest.raises(ResumeError):
                    await session.execute(ASKED[:1], approvals={"c1": True})


@pytest.mark.parametrize("target", ["no_such_tool", "denied", "failing", "search_tools"])
async def test_a_call_that_the_proxy_refuses_is_an_error_whatever_the_reason(target):
    def policy(request):
        return 1 / 0 if request.tool_name == "failing" else request.tool_name != "denied"

    search = ToolSearchProcessor([Tool("denied"), Tool("failing")], mode="call", filter=policy)
    async with search.session() as session:
        await session.tools([USER])
        (block,) = await session.execute([tool_use("call_tool", {"name": target}, "c1")])
    assert block["is_error"] is True


async def test_processes_that_know_the_calls_alone_agree_too():
    claims = []
    async with ToolSession(Claiming(claims), thread_id="t") as session:
        await session.execute(ASKED, approvals={"c1": True})
    async with ToolSession(Claiming(claims), thread_id="t") as session:
        with pytest.raises(ResumeError):
            await session.execute(SAID, approvals={"c1": True})


async def test_the_same_id_later_in_a_conversation_is_another_call():
    claims = []
    async with ToolSession(Claiming(claims), thread_id="t") as session:
        for turn in range(1, 3):
            await session.tools([USER] * turn)
            assert (await session.execute(ASKED[:1], approvals={"c1": True}))[0]["content"] == "erased a"


async def test_two_anonymous_sessions_that_look_alike_are_two():
    claims = []
    for _ in range(2):
        async with ToolSession(Claiming(claims)) as session:
            await session.tools([USER])
            assert (await session.execute(ASKED[:1], approvals={"c1": True}))[0]["content"] == "erased a"
            with pytest.raises(ResumeError):
                await session.execute(ASKED[:1], approvals={"c1": True})


def open_page(p: str) -> str:
    """Open a page."""
    return f"text of {p}"


def content_of(messages):
    return {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}


@pytest.mark.parametrize("given", ["x", "", None], ids=["repeated", "empty", "missing"])
@pytest.mark.parametrize("make", [openai_call, tool_use], ids=["openai", "anthropic"])
async def test_results_have_the_ids_of_their_calls_in_the_messages(make, given):
    calls = [make("open_page", {"p": page}, given) for page in "ab"]
    anthropic = make is tool_use
    reply = (
        {"role": "assistant", "content": calls} if anthropic else {"role": "assistant", "tool_calls": calls}
    )
    messages = [USER, reply]
    async with ToolSession(tools=[open_page]) as session:
        await session.openai_tools([USER])
        results = await session.execute(reply)
        messages += [{"role": "user", "content": results}] if anthropic else results
        await session.openai_tools(messages)
        sent = session.messages
    ids = [result["tool_use_id" if anthropic else "tool_call_id"] for result in results]
    assert len(set(ids)) == 2
    assert [call["id"] for call in sent[1]["tool_calls"]] == ids
    assert content_of(sent) == {ids[0]: "text of a", ids[1]: "text of b"}
    assert not anthropic or all(call["function"]["arguments"] for call in sent[1]["tool_calls"])


async def test_ids_that_each_reply_counts_anew_stay_with_their_results():
    messages = [USER]
    async with ToolSession(tools=[open_page]) as session:
        for page in "ab":
            await session.openai_tools(messages)
            reply = {"role": "assistant", "tool_calls": [openai_call("open_page", {"p": page}, "call_0")]}
            messages += [reply, *await session.execute(reply)]
        await session.openai_tools(messages)
        assert [m["content"] for m in session.messages if m["role"] == "tool"] == ["text of a", "text of b"]


async def test_a_history_that_others_wrote_is_repaired():
    broken = {"id": "b", "function": {"name": "open page!", "arguments": '{"p": '}}
    messages = [
        {"role": "tool", "tool_call_id": "gone", "content": "of a call that was cut off"},
        USER,
        {
            "role": "assistant",
            "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": None}}, broken],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "user", "content": "go on"},
    ]
    async with ToolSession() as session:
        await session.openai_tools(messages)
        user, assistant, first, second, last = session.messages
    assert (user, last) == (USER, messages[-1])
    functions = [call["function"] for call in assistant["tool_calls"]]
    assert functions == [{"name": "f", "arguments": "{}"}, {"name": "open_page_", "arguments": "{}"}]
    assert (first["tool_call_id"], first["content"]) == ("a", "1")
    assert second["tool_call_id"] == "b"
    assert "Whether it took effect is not known" in second["content"]


async def test_the_old_form_of_a_call_and_its_result_are_read():
    call = {"name": "open_page", "arguments": '{"p": "a"}'}
    reply = {"role": "assistant", "content": None, "function_call": call}
    async with ToolSession(tools=[open_page]) as session:
        await session.openai_tools([USER])
        (result,) = await session.execute(reply)
        assert result["content"] == "text of a"
        for answer in (result, {"role": "function", "name": "open_page", "content": "text of a"}):
            await session.openai_tools([USER, reply, answer])
            _, assistant, told = session.messages
            assert assistant["tool_calls"] == [
                {"id": result["tool_call_id"], "type": "function", "function": call}
            ]
            assert "function_call" not in assistant
            assert (told["role"], told["tool_call_id"]) == ("tool", result["tool_call_id"])


async def test_what_had_run_when_execute_is_cancelled_is_kept():
    started = asyncio.Event()

    async def wait() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    async def look() -> str:
        """Look."""
        return "seen"

    calls = [openai_call("wait", {}, "a"), openai_call("look", {}, "b")]
    async with ToolSession(tools=[wait, look]) as session:
        await session.openai_tools([USER])
        task = asyncio.create_task(session.execute(calls))
        await started.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
    assert content_of(caught.value.run_results) == {
        "a": "Error: wait was stopped before it answered, because the run was cancelled. "
        "It may have taken effect.",
        "b": "seen",
    }


@pytest.mark.parametrize(
    "reply",
    [
        {"stop_reason": "max_tokens", "content": [tool_use("add", {"a": 1, "b": 2})]},
        SimpleNamespace(stop_reason="max_tokens", content=[tool_use("add", {})]),
        {"stop_reason": "model_context_window_exceeded", "content": [tool_use("erase", {"path": "a"})]},
        {"finish_reason": "length", "tool_calls": [openai_call("add", {"a": 1, "b": 2}, "t1")]},
        {
            "object": "response",
            "status": "incomplete",
            "output": [{"type": "function_call", "call_id": "t1", "name": "add", "arguments": "{}"}],
        },
    ],
)
async def test_a_reply_that_says_it_was_cut_runs_nothing(reply):
    async with ToolSession(tools=[add, erase]) as session:
        assert await session.approvals_needed(reply) == []
        (result,) = await session.execute(reply, approvals={"t1": True})
    told = result.get("content") or result["output"]
    assert "was not run, since your answer was cut off at its length limit" in told


@pytest.mark.parametrize(
    "reply",
    [
        {"stop_reason": "refusal", "content": [tool_use("add", {"a": 1, "b": 2})]},
        {"finish_reason": "content_filter", "tool_calls": [openai_call("add", {"a": 1, "b": 2}, "t1")]},
        {"finish_reason": "error", "tool_calls": [openai_call("add", {"a": 1, "b": 2}, "t1")]},
        {
            "object": "response",
            "status": "completed",
            "incomplete_details": {"reason": "content_filter"},
            "output": [{"type": "function_call", "call_id": "t1", "name": "add", "arguments": "{}"}],
        },
    ],
)
async def test_a_reply_that_was_stopped_runs_nothing(reply):
    async with ToolSession(tools=[add]) as session:
        (result,) = await session.execute(reply, approvals={"t1": True})
    assert "add was not run, since your answer broke off" in (result.get("content") or result["output"])


@pytest.mark.parametrize("masked", [False, True])
async def test_what_a_tool_raises_is_for_the_log_where_details_are_masked(masked, caplog):
    def connect(times: int = 1) -> str:
        """Connect."""
        raise OSError("postgres://admin:hunter2@db")

    async with ToolSession(tools=[connect], mask_error_details=masked) as session:
        failed, wrong = await session.execute(
            [openai_call("connect", {}, "c1"), openai_call("connect", {"times": "x"}, "c2")]
        )
    told = "connect failed; the log says why." if masked else "OSError: postgres://admin:hunter2@db"
    assert failed["content"] == f"Error: {told}"
    assert "`times` must be an integer" in wrong["content"], "what was written for the model is told"
    assert "hunter2" in caplog.text


async def test_a_claim_of_a_call_that_policy_did_not_let_run_is_given_back():
    """The first process is asked by a policy that changes its mind when the call is about to run."""
    asked = []

    def late(request):
        asked.append(request.phase)
        return request.phase != "active" or asked.count("active") != 2

    erasing = make("erase", requires_approval=True)
    claims = []
    search = ToolSearchProcessor([erasing], filter=late)
    async with ToolSession(search, Claiming(claims), thread_id="t") as session:
        (denied,) = await session.execute(ASKED[:1], approvals={"c1": True})
        assert "There is no tool" in denied["content"]
        assert claims == []
        (done,) = await session.execute(ASKED[:1], approvals={"c1": True})
    assert json.loads(done["content"]) == {"ran": "erase", "path": "a"}
    assert {call_id for *_, call_id in claims} == {"c1"}


async def test_messages_to_send_have_an_empty_text_beside_calls():
    asked = {"role": "assistant", "content": None, "tool_calls": [openai_call("add", {"a": 1, "b": 1})]}
    async with ToolSession() as session:
        await session.tools([{"role": "user", "content": "q"}, asked])
        assert session.messages[1] == {**asked, "content": ""}


def test_a_loop_without_async():
    unlocking = Unlocking()
    with ToolSession(unlocking, tools=[add]) as session:
        (listed,) = session.openai_tools_sync([USER])
        assert listed == Tool.from_function(add).to_openai()
        assert session.anthropic_tools_sync([USER])[0] == Tool.from_function(add).to_anthropic()
        (result,) = session.execute_sync([openai_call("add", {"a": 1, "b": 2})])
        (refused,) = session.execute_sync([openai_call("erase", {"path": "/"})], approvals={"c1": "not now"})
    assert result["content"] == "3"
    assert "not now" in refused["content"]
    assert unlocking.ended == [session.run_id]


async def test_a_loop_without_async_says_what_to_write_in_one_with_it():
    async with ToolSession() as session:
        with pytest.raises(RunningLoopError, match=r"use `await session.openai_tools\(...\)`"):
            session.openai_tools_sync([])
        with pytest.raises(RunningLoopError, match=r"use `await session.execute\(...\)`"):
            session.execute_sync([])


async def test_a_session_that_was_left_says_what_to_do():
    async with ToolSession(Unlocking()) as session:
        pass
    with pytest.raises(ConfigurationError, match=r"^this session was left: open a new ToolSession$"):
        await session.tools([USER])


async def test_every_door_without_async_names_itself_and_the_door_to_use():
    session = ToolSession(Unlocking())
    for name, given in (("openai_tools", [USER]), ("anthropic_tools", [USER]), ("execute", [])):
        with pytest.raises(RunningLoopError, match=rf"^ToolSession\.{name}_sync .*`await session\.{name}\("):
            getattr(session, f"{name}_sync")(given)
    with pytest.raises(RunningLoopError, match=r"^`with` of a ToolSession .*: use `async with`$"), session:
        pass
    await session.aclose()


async def test_steps_are_counted_from_zero_and_details_are_told_by_default():
    async def boom():
        raise OSError("no disk")

    processor = Unlocking()
    async with ToolSession(processor, tools=[Tool("boom", execute=boom)]) as session:
        for _ in range(3):
            await session.tools([USER])
        (result,) = await session.execute([openai_call("boom", {})])
    assert [step.step_number for step in processor.steps] == [0, 1, 2]
    assert result["content"] == "Error: OSError: no disk"


def test_clashes_are_told_of_with_their_places():
    with pytest.raises(
        DuplicateToolError, match=r"tools\[0\] of the session, one from tools\[1\] of the session"
    ):
        ToolSession(tools=[add, add])
    with pytest.raises(ReservedToolNameError, match="'unlock'"):
        ToolSession(Unlocking(), tools=[Tool("unlock")])


async def test_a_call_that_nobody_answered_can_still_be_approved_and_one_that_was_refused_can_not():
    calls = [openai_call("erase", {"path": path}, path) for path in ("open", "refused", "told")]
    async with ToolSession(Unlocking()) as session:
        await session.tools([USER])
        await session.execute(calls, approvals={"refused": False, "told": "not now"})
        for call in calls:
            if call["id"] == "open":
                (result,) = await session.execute([call], approvals={"open": True})
                assert result["content"] == "erased open"
            else:
                with pytest.raises(ResumeError, match=f"'{call['id']}' was decided before"):
                    await session.execute([call], approvals={call["id"]: True})

"""Histories that others wrote: other providers, other loops, programs that were stopped."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from tool_search_processor import Agent, ConfigurationError, tool
from tool_search_processor.testing import ScriptedModel
from tool_search_processor.wire.messages import with_content


def agent_of(script, **options):
    model = ScriptedModel(script)
    return Agent("a", "m", completion=model, **options), model


def anthropic_turn(call_id, *, answer=None, given="{}"):
    use = {"type": "tool_use", "id": call_id, "name": "add", "input": given}
    turn = [{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, use]}]
    block = {"type": "tool_result", "tool_use_id": call_id, "content": answer}
    return [*turn, {"role": "user", "content": [block]}] if answer else turn


async def test_a_history_that_others_wrote_goes_through_the_same_repairs():
    found = [
        {
            "type": "search_result",
            "title": "Doors",
            "source": "https://x",
            "content": [{"type": "text", "text": "six"}],
        }
    ]
    history = [
        {"role": "tool", "tool_call_id": "cut off", "content": "1"},
        {"role": "user", "content": "q"},
        *anthropic_turn("t", answer=found, given={"a": 1}),
        *anthropic_turn("t", answer="2", given=None),
        SimpleNamespace(
            role="assistant",
            content=None,
            tool_calls=[SimpleNamespace(id="o", function=SimpleNamespace(name="add", arguments="{"))],
        ),
    ]
    agent, model = agent_of(["ok"])
    result = await agent.run("go on", messages=history)
    sent = model.requests[0].messages
    calls = [call for message in sent for call in message.get("tool_calls", ())]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"a": 1}, {}, {}]
    assert len({call["id"] for call in calls}) == 3, "some providers refuse an id that comes twice"
    answers = [message for message in sent if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in answers] == [call["id"] for call in calls]
    assert [message["content"] for message in answers[:2]] == ["Doors\nhttps://x\nsix", "2"]
    assert "Whether it took effect is not known" in answers[2]["content"]
    assert [*map(with_content, result.messages)] == [*sent, {"role": "assistant", "content": "ok"}]


async def test_results_in_the_input_belong_to_the_calls_of_the_history():
    calls = [{"id": "x", "function": {"name": "add", "arguments": json.dumps({"a": n})}} for n in (1, 2)]
    history = [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": calls}]
    results = [{"role": "tool", "tool_call_id": "x", "content": text} for text in "12"]
    agent, model = agent_of(["ok"])
    await agent.run(results, messages=history)
    assert [m["content"] for m in model.requests[0].messages if m["role"] == "tool"] == ["1", "2"]


async def test_calls_in_langchains_form_are_refused_in_words():
    history = [{"role": "assistant", "content": "", "tool_calls": [{"name": "add", "args": {}, "id": "c"}]}]
    agent, _ = agent_of(["ok"])
    with pytest.raises(ConfigurationError, match=r"messages\[0\] has a call in LangChain's form"):
        await agent.run("q", messages=history)
    with pytest.raises(ConfigurationError, match="convert_to_openai_messages"):
        await agent.run([SimpleNamespace(type="human", content="q")])


@pytest.mark.parametrize(("given", "expected"), [({"a": 1, "b": 1}, [(1, 1)]), ("{", []), (None, [(0, 0)])])
async def test_an_open_call_that_others_wrote_is_resumed_with_the_arguments_that_it_had(given, expected):
    ran = []

    @tool(requires_approval=True)
    def pay(a: int = 0, b: int = 0) -> str:
        """Pay."""
        ran.append((a, b))
        return "paid"

    use = {"type": "tool_use", "id": "t", "name": "pay", "input": given}
    history = [{"role": "user", "content": "q"}, {"role": "assistant", "content": [use]}]
    agent, model = agent_of(["ok"], tools=[pay])
    await agent.resume(history, {"t": True})
    assert ran == expected
    (call,) = model.requests[0].messages[1]["tool_calls"]
    assert isinstance(json.loads(call["function"]["arguments"]), dict)

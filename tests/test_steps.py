"""A step as processors make it, and the fold over it."""

import copy
import dataclasses
import json
import pickle
from collections import ChainMap, deque
from dataclasses import dataclass
from types import SimpleNamespace

import litellm
import pytest
from openai.types.chat import ChatCompletionMessage
from pydantic import BaseModel

from tool_search_processor import Agent, InputStep, TokenLimiter, Tool, ToolContext, run_processors
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.testing import ScriptedModel, call

USER = {"role": "user", "content": "q"}


@pytest.mark.parametrize(
    ("name", "items"), [("messages", [USER]), ("tools", [Tool("add")]), ("instructions", ["Be brief."])]
)
async def test_what_can_be_read_once_is_read_as_often_as_a_list(name, items):
    class Keeper:
        id = "keeper"

        async def process_input_step(self, step):
            return step.replace(**{name: filter(None, getattr(step, name))})

    step = InputStep(**{"messages": [], name: iter(items)})
    assert getattr(step, name) == tuple(items)
    assert getattr(await run_processors([Keeper()], step), name) == tuple(items)


@pytest.mark.parametrize("items", [[USER], (USER,), deque([USER])])
def test_a_sequence_stays_what_it_is(items):
    assert InputStep(messages=items).messages is items


@pytest.mark.parametrize("name", ["messages", "tools", "instructions"])
@pytest.mark.parametrize("single", ["a text", USER, Tool("add"), None, 5])
def test_a_single_value_is_no_sequence(name, single):
    with pytest.raises(ConfigurationError, match=f"InputStep.{name} must be a sequence, found"):
        InputStep(**{"messages": [], name: single})


async def test_a_context_can_be_written_and_copied_as_a_dict_and_not_changed():
    def who(run: ToolContext) -> str:
        """Tell who asks, and note it as programs do."""
        copy.deepcopy(run)
        pickle.dumps(run.context)
        return json.dumps([run.context, dataclasses.asdict(run)["context"]])

    model = ScriptedModel([call("who"), "ok"])
    agent = Agent("a", "m", completion=model, tools=[who])
    result = await agent.run("q", context=ChainMap({"user": "ada"}))
    assert result.messages[2]["content"] == '[{"user": "ada"}, {"user": "ada"}]'


@pytest.mark.parametrize("name", ["context", "model_settings"])
def test_a_step_can_be_copied_and_its_mappings_can_not_be_changed(name):
    given = {"user": "ada"}
    step = InputStep(**{"messages": [USER], name: given})
    given["user"] = "bob"
    assert getattr(step, name) == {"user": "ada"}
    assert copy.deepcopy(step) == pickle.loads(pickle.dumps(step)) == step
    assert getattr(step.replace(step_number=1), name) is getattr(step, name)
    with pytest.raises(TypeError, match="cannot be changed"):
        getattr(step, name)["user"] = "eve"


class Said(BaseModel):
    role: str
    content: str


@dataclass
class Told:
    role: str
    content: str


def reply_of_anthropic():
    block = SimpleNamespace(type="tool_use", id="t", name="f", input={})
    return SimpleNamespace(role="assistant", content=[block], type="message", id="msg_1", model="claude")


MESSAGES = {
    "litellm": lambda: litellm.Message(role="assistant", content="hi"),
    "openai": lambda: ChatCompletionMessage(role="assistant", content="hi"),
    "pydantic": lambda: Said(role="assistant", content="hi"),
    "dataclass": lambda: Told(role="assistant", content="hi"),
    "namespace": lambda: SimpleNamespace(role="assistant", content="hi"),
    "blocks": lambda: {
        "role": "assistant",
        "content": [SimpleNamespace(type="text", text="hi"), SimpleNamespace(type="thinking", thinking="hm")],
    },
    "old form": lambda: {
        "role": "assistant",
        "content": "hi",
        "function_call": {"name": "f", "arguments": "{}"},
    },
    "anthropic": reply_of_anthropic,
    "a reply as a dict": lambda: {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "text", "text": "hi"}],
    },
    "a call as an object": lambda: {
        "role": "assistant",
        "content": "hi",
        "tool_calls": [SimpleNamespace(id="c", function=SimpleNamespace(name="f", arguments="{}"))],
    },
}


@pytest.mark.parametrize("make", MESSAGES.values(), ids=MESSAGES.keys())
async def test_messages_of_sdks_are_made_plain(make):
    step = InputStep(
        messages=[{"role": "user", "content": "a " * 50}, make(), {"role": "user", "content": "b"}]
    )
    assert json.loads(json.dumps(step.messages)) == step.messages
    assert step.messages[1]["role"] == "assistant"
    assert not {"id", "type", "function_call"} & step.messages[1].keys()
    limited = await run_processors([TokenLimiter(60)], step)
    assert limited.messages[-1] == {"role": "user", "content": "b"}


def test_what_is_not_a_message_is_refused_in_words():
    with pytest.raises(ConfigurationError, match=r"messages\[0\] has no role"):
        InputStep(messages=[SimpleNamespace(text="hi")])


def test_messages_that_are_plain_already_stay_what_they_are():
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": None},
    ]
    step = InputStep(messages=messages)
    assert step.messages is messages
    assert step.replace(step_number=1).messages is messages

"""Items of OpenAI's Responses API, read as chat messages."""

import pytest
from openai.types.responses import ResponseFunctionToolCall

from tool_search_processor.wire.responses import read_items


def call(call_id, name="load_tool", arguments="{}"):
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def chat_call(call_id, name="load_tool", arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_whole_turn_is_read():
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "reasoning", "id": "r", "summary": []},
        call("a"),
        call("b", "search_tools", '{"query": "x"}'),
        {"type": "function_call_output", "call_id": "a", "output": "loaded"},
        {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "found"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sunny."}]},
    ]
    assert read_items(items) == [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [chat_call("a"), chat_call("b", "search_tools", '{"query": "x"}')],
        },
        {"role": "tool", "tool_call_id": "a", "content": "loaded"},
        {"role": "tool", "tool_call_id": "b", "content": "found"},
        {"role": "assistant", "content": "Sunny."},
    ]


def test_a_text_and_the_calls_behind_it_are_one_message():
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
    (message,) = read_items([said, call("a")])
    assert message == {"role": "assistant", "content": "I look.", "tool_calls": [chat_call("a")]}


def test_objects_of_the_sdk_are_read():
    item = ResponseFunctionToolCall(call_id="a", name="load_tool", arguments="{}", type="function_call")
    assert read_items([item])[0]["tool_calls"] == [chat_call("a")]


@pytest.mark.parametrize(
    "item", [None, "text", {"type": "web_search_call", "id": "w"}, {"type": "message"}, {}]
)
def test_what_is_no_message_is_left_out(item):
    assert read_items([item]) == []

"""Agents that declare loaded tools in the conversation, on LiteLLM's wire."""

from __future__ import annotations

import importlib.util
import json
from itertools import pairwise

import pytest
import respx
from hypothesis import given
from hypothesis import strategies as st

from tests.adversarial.depth import examples
from tests.session.native.conversations import NAMES, bytes_of, declared_in
from tests.session.native.replies import BETA, CALLS, MORE, events, message, response
from tests.session.native.sdk_types import check_anthropic, check_responses
from tests.support import make
from tool_search_processor import Agent, ConfigurationError, TokenLimiter, ToolSearchProcessor
from tool_search_processor.agent import Done, TextDelta
from tool_search_processor.agent.anthropic_wire import LITELLM_NEEDS, MessageAssembler
from tool_search_processor.agent.responses_wire import ResponseAssembler
from tool_search_processor.agent.wires import Wires
from tool_search_processor.errors import ToolSearchError
from tool_search_processor.stores import HistoryStore, MemoryStore
from tool_search_processor.testing import ScriptedModel, call

pytestmark = [
    pytest.mark.usefixtures("litellm_closed"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
    # litellm: dumps a usage that it has replaced
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:litellm"),
]
has_messages = all(map(importlib.util.find_spec, LITELLM_NEEDS))
has_anthropic = importlib.util.find_spec("anthropic") is not None
needs_messages = pytest.mark.skipif(
    not has_messages, reason="what litellm.anthropic_messages imports is not installed"
)


@pytest.fixture(autouse=True)
def _no_base_of_ones_own(monkeypatch):
    for name in ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def message_events(number, called):
    """Return a message of Anthropic's as server-sent events."""
    whole = message(number, called)
    (block,) = whole["content"]
    empty = {**block, "input": {}} if called else {**block, "text": ""}
    text = json.dumps(block["input"]) if called else block["text"]
    kind, field = ("input_json_delta", "partial_json") if called else ("text_delta", "text")
    rows = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": kind, field: piece}}
            for piece in (text[:3], text[3:])
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"]},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    ]
    return "".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n" for row in rows)


def answers(native, stream):
    scripts = {"responses": (response, lambda n, c: events(response(n, c)))}
    whole, streamed = scripts.get(native, (message, message_events))
    for number, called in enumerate([*CALLS, *MORE]):
        if stream:
            sse = {"content-type": "text/event-stream"}
            yield respx.MockResponse(headers=sse, text=streamed(number, called))
        else:
            yield respx.MockResponse(json=whole(number, called))


async def converse(agent, *, stream):
    """Ask twice, as two requests of a web application, and return the results."""
    results, messages = [], []
    for text in ("weather?", "and my calendar"):
        if stream:
            seen = [event async for event in agent.stream(text, messages=messages, thread_id="t")]
            assert "".join(event.text for event in seen if isinstance(event, TextDelta)) == "done"
            assert isinstance(seen[-1], Done)
            results.append(seen[-1].result)
        else:
            results.append(await agent.run(text, messages=messages, thread_id="t"))
        messages = json.loads(results[-1].to_json())["messages"]
    return results


def agent_with(native, model, **options):
    search = ToolSearchProcessor([make("weather"), make("calendar")], store=HistoryStore())
    return Agent(
        "a",
        model,
        instructions="Be brief.",
        input_processors=[search],
        native=native,
        model_settings={"api_key": "x", "num_retries": 0, **options},
    )


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("option", ["definition", "auto"])
@needs_messages
async def test_claude_by_definition(option, stream):
    agent = agent_with(option, "anthropic/claude-opus-5", extra_headers={"anthropic-beta": "other-beta"})
    with respx.mock() as wire:
        wire.post("https://api.anthropic.com/v1/messages").mock(side_effect=answers("definition", stream))
        results = await converse(agent, stream=stream)
        requests = [item.request for item in wire.calls]
    bodies = [json.loads(request.content) for request in requests]
    headers = [request.headers["anthropic-beta"] for request in requests]
    assert all({"other-beta", BETA} <= {*header.replace(" ", "").split(",")} for header in headers)
    assert {len(bodies), len({json.dumps(body["tools"]) for body in bodies})} == {6, 1}
    assert all(bytes_of(later).startswith(bytes_of(before)) for before, later in pairwise(bodies))
    assert {"weather", "calendar"} <= declared_in(bodies[-1]).keys()
    assert bodies[0]["system"].startswith("Be brief.")
    check_result(results[-1], last="calendar")
    if has_anthropic:
        for body in bodies:
            check_anthropic(body)


def check_result(result, *, last):
    """Check the end of a conversation, and that what is stored has no shape of a provider's."""
    assert (result.output, result.finish_reason) == ("done", "stop")
    assert json.loads(result.messages[-2]["content"]) == {"ran": last}
    text = json.dumps(result.messages)
    assert not any(word in text for word in ("tool_addition", "tool_reference", "additional_tools"))
    assert {message["role"] for message in result.messages} == {"user", "assistant", "tool"}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_claude_by_reference(stream):
    agent = agent_with("reference", "anthropic/claude-haiku-4-5")
    with respx.mock() as wire:
        wire.post("https://api.anthropic.com/v1/messages").mock(side_effect=answers("reference", stream))
        results = await converse(agent, stream=stream)
        bodies = [json.loads(item.request.content) for item in wire.calls]
    lists = [[tool for tool in body["tools"] if not tool.get("defer_loading")] for body in bodies]
    assert len({json.dumps(tools) for tools in lists}) == 1
    deferred = [[tool["name"] for tool in body["tools"] if tool.get("defer_loading")] for body in bodies]
    assert deferred == [[], ["weather"], ["weather"], ["weather"], *[["weather", "calendar"]] * 2]
    assert {"weather", "calendar"} <= declared_in(bodies[-1]).keys()
    check_result(results[-1], last="calendar")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("option", ["responses", "auto"])
async def test_openai(option, stream):
    agent = agent_with(option, "openai/gpt-5.5", max_tokens=99, reasoning_effort="low")
    with respx.mock() as wire:
        wire.post("https://api.openai.com/v1/responses").mock(side_effect=answers("responses", stream))
        results = await converse(agent, stream=stream)
        bodies = [json.loads(item.request.content) for item in wire.calls]
    assert {len(bodies), len({json.dumps(body["tools"]) for body in bodies})} == {6, 1}
    assert all(bytes_of(later).startswith(bytes_of(before)) for before, later in pairwise(bodies))
    assert {"weather", "calendar"} <= declared_in(bodies[-1]).keys()
    first = bodies[0]
    assert (first["max_output_tokens"], first["store"]) == (99, False)
    assert first["reasoning"]["effort"] == "low"
    assert first["include"] == ["reasoning.encrypted_content"]
    assert [item for item in bodies[-1]["input"] if item.get("type") == "reasoning"]
    check_result(results[-1], last="calendar")
    for body in bodies:
        check_responses(body)


class Recording:
    """Takes requests in the shape of a native wire, and answers from a script."""

    def __init__(self, replies):
        self.replies = iter(replies)
        self.requests = []

    async def __call__(self, **request):
        self.requests.append(json.loads(json.dumps(request)))
        return next(self.replies)


async def test_a_thread_changes_its_model():
    search = ToolSearchProcessor([make("weather"), make("calendar")], store=HistoryStore())
    claude = Recording(message(number, called) for number, called in enumerate(CALLS))
    gpt = Recording(response(number, called) for number, called in enumerate(MORE, 10))
    again = Recording([message(20, None)])
    options = {"input_processors": [search]}
    first = await Agent("a", "claude", native="definition", completion=claude, **options).run("weather?")
    second = await Agent("a", "gpt-5.5", native="responses", completion=gpt, **options).run(
        "calendar?", messages=first.messages
    )
    third = await Agent("a", "claude", native="definition", completion=again, **options).run(
        "bye", messages=second.messages
    )
    assert "weather" in declared_in(gpt.requests[0])
    assert {"weather", "calendar"} <= declared_in(again.requests[0]).keys()
    assert bytes_of(again.requests[0]).startswith(bytes_of(claude.requests[-1]))
    assert claude.requests[0]["tools"] == again.requests[0]["tools"]
    plain = ScriptedModel(["ok"])
    await Agent("a", "m", completion=plain, **options).run("off again", messages=third.messages)
    assert all(not {"declared", "receipt"} & item.keys() for item in plain.requests[0].messages)
    assert plain.requests[0].tool_names == ["search_tools", "load_tool", "weather", "calendar"]


ACTIONS = st.one_of(
    st.tuples(st.just("load_tool"), st.lists(st.sampled_from(NAMES), min_size=1, max_size=2)),
    st.tuples(st.just("unload_tool"), st.lists(st.sampled_from(NAMES), min_size=1, max_size=2)),
    st.tuples(st.just("call"), st.sampled_from(NAMES)),
)
RUNS = st.lists(
    st.tuples(st.sampled_from(["definition", "responses"]), st.booleans(), st.lists(ACTIONS, max_size=5)),
    min_size=2,
    max_size=5,
)


@pytest.mark.parametrize("store", [HistoryStore, MemoryStore])
@examples(25)
@given(runs=RUNS, preload=st.integers(0, 1))
async def test_requests_of_many_runs_begin_as_the_one_before(store, runs, preload):
    """Whatever is loaded, unloaded, preloaded and called, by whichever model, in whichever process."""
    search = None
    messages, number, lists, before = [], 0, {}, {}
    for turn, (native, restarts, actions) in enumerate(runs):
        if search is None or restarts:
            tools = [make(name) for name in NAMES]
            search = ToolSearchProcessor(tools, store=store(), allow_unload=True, preload=preload)
        replies, write = [], message if native == "definition" else response
        for kind, value in actions:
            number += 1
            made = (value, {}) if kind == "call" else (kind, {"tool_names": value})
            replies.append(write(number, made))
        model = Recording([*replies, write(1000 + turn, None)])
        agent = Agent("a", "m", native=native, completion=model, input_processors=[search])
        result = await agent.run(f"use {NAMES[turn % 3]} please", messages=messages, thread_id="t")
        messages = json.loads(result.to_json())["messages"]
        for sent in model.requests:
            assert lists.setdefault(native, sent["tools"]) == sent["tools"]
            assert bytes_of(sent).startswith(before.get(native, ""))
            before[native] = bytes_of(sent)


async def test_a_tool_that_was_called_unlisted_stays_declared_in_the_next_run():
    search = ToolSearchProcessor([make("weather")], store=HistoryStore())
    model = Recording(message(n, called) for n, called in enumerate([("weather", {}), None, None]))
    agent = Agent("a", "claude", native="definition", completion=model, input_processors=[search])
    result = await agent.run("weather?")
    result = await agent.run("thanks", messages=result.messages)
    assert [declared_in(request).get("weather") for request in model.requests] == [None, 4, 4]
    assert bytes_of(model.requests[2]).startswith(bytes_of(model.requests[1]))


async def test_usage_says_what_is_sent_and_what_a_changed_list_would_have_cost():
    def scripted():
        for number, called in enumerate(CALLS):
            usage = {"input_tokens": 10, "cache_read_input_tokens": 100 * number, "output_tokens": 1}
            yield {**message(number, called), "usage": usage}

    search = ToolSearchProcessor([make("weather"), make("calendar")])
    agent = Agent(
        "a", "claude", native="definition", completion=Recording(scripted()), input_processors=[search]
    )
    usage = (await agent.run("weather?", thread_id="t")).usage
    assert (usage.prompt_tokens, usage.cached_tokens) == (10 + 110 + 210, 300)
    assert usage.cache_tokens_kept == 10  # of the first call: the second found one tool more
    listing = ScriptedModel([call(*CALLS[0]), call(*CALLS[1]), "done"])
    listed = await Agent("a", "m", completion=listing, input_processors=[search]).run(
        "weather?", thread_id="u"
    )
    assert listed.usage.cache_tokens_kept == 0
    assert usage.definition_tokens_sent == listed.usage.definition_tokens_sent


async def test_a_paused_run_goes_on_and_its_tools_stay_where_they_were():
    search = ToolSearchProcessor([make("weather", requires_approval=True)], store=HistoryStore())
    model = Recording(message(number, called) for number, called in enumerate(CALLS))
    agent = Agent("a", "claude", native="definition", completion=model, input_processors=[search])
    paused = await agent.run("weather?")
    done = await agent.resume(json.loads(paused.to_json()), {"toolu_1": True})
    assert (done.output, done.finish_reason) == ("done", "stop")
    assert bytes_of(model.requests[2]).startswith(bytes_of(model.requests[1]))


async def test_the_limiter_counts_and_cuts_and_the_list_stays():
    search = ToolSearchProcessor([make("weather"), make("calendar")])
    model = Recording(message(number, called) for number, called in enumerate([*CALLS, *MORE]))
    limiter = TokenLimiter(5_800, counter=len)
    agent = Agent("a", "claude", native="definition", completion=model, input_processors=[search, limiter])
    first = await agent.run("x" * 2_000, thread_id="t")
    await agent.run("y" * 1_500, messages=first.messages, thread_id="t")
    assert "x" * 2_000 not in json.dumps(model.requests[-1])
    assert len({json.dumps(request["tools"]) for request in model.requests}) == 1
    assert {"weather", "calendar"} <= declared_in(model.requests[-1]).keys()


# -- which wire


OWN = {"type": "function", "function": {"name": "own"}}


def chosen(native, model, settings=(), *, completion=None):
    from tests.support import step

    settings = dict(settings)
    wires = Wires(native, completion=completion, settings=settings)
    return wires.wire_of(step(model=model, model_settings=settings)).native


@pytest.mark.parametrize(
    ("model", "settings", "wanted"),
    [
        ("anthropic/claude-haiku-4-5-20251001", {}, "reference"),
        ("claude-sonnet-4-6", {"max_tokens": 5}, "reference"),
        ("anthropic/claude-3-5-haiku-20241022", {}, "off"),
        ("openai/gpt-5.5", {"temperature": 0}, "responses"),
        ("gpt-4.1-2025-04-14", {}, "responses"),
        ("gpt-4o", {}, "off"),
        ("openai/gpt-5.5", {"api_base": "https://api.openai.com/v1"}, "responses"),
        ("openai/gpt-5.5", {"api_base": "http://localhost:8000/v1"}, "off"),
        ("openai/gpt-5.5", {"response_format": {"type": "json_object"}}, "off"),
        ("openai/gpt-5.5", {"custom_llm_provider": "azure"}, "off"),
        ("openai/gpt-5.5", {"api_base": "http://[localhost/v1"}, "off"),
        ("azure/gpt-5.5", {}, "off"),
        ("openrouter/anthropic/claude-opus-5", {}, "off"),
        ("bedrock/anthropic.claude-opus-5", {}, "off"),
        ("vertex_ai/claude-opus-5", {}, "off"),
    ],
)
def test_auto_takes_what_the_table_has(model, settings, wanted):
    assert chosen("auto", model, settings) == wanted
    assert chosen("off", model, settings) == "off"


def test_auto_takes_definitions_where_litellm_can_send_them():
    assert chosen("auto", "anthropic/claude-opus-4-8") == ("definition" if has_messages else "reference")


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_auto_is_off_for_a_server_that_the_environment_names(monkeypatch, name):
    monkeypatch.setenv(name, "http://localhost:8000/v1")
    assert chosen("auto", "gpt-5.5") == "off"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("use_litellm_proxy", True),
        ("model_alias_map", {"gpt-5.5": "azure/mine"}),
        ("model_fallbacks", ["azure/mine"]),
        ("api_base", "http://localhost:8000/v1"),
    ],
)
def test_auto_is_off_where_litellm_itself_leads_elsewhere(monkeypatch, name, value):
    import litellm

    monkeypatch.setattr(litellm, name, value)
    assert chosen("auto", "gpt-5.5") == "off"


def test_auto_is_off_for_a_completion_of_ones_own():
    assert chosen("auto", "gpt-5.5", completion=ScriptedModel([])) == "off"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"native": "both"}, "native must be"),
        (
            {"native": "responses", "model_settings": {"response_format": {}}},
            "'response_format', which native='responses' can't send",
        ),
    ],
)
def test_what_can_not_be_sent_is_refused_at_construction(options, text):
    with pytest.raises(ConfigurationError, match=text):
        Agent("a", "gpt-5.5", **options)


@pytest.mark.parametrize(
    ("settings", "parallel", "sent"),
    [
        ({"tool_choice": "required"}, True, {"type": "any"}),
        ({"tool_choice": "none"}, True, {"type": "none"}),
        ({"tool_choice": {"type": "none"}}, False, {"type": "none"}),
        ({"tool_choice": {"type": "any"}}, True, {"type": "any"}),
        (
            {"tool_choice": {"type": "function", "function": {"name": "own"}}},
            True,
            {"type": "tool", "name": "own"},
        ),
        ({}, False, {"type": "auto", "disable_parallel_tool_use": True}),
        ({}, True, None),
    ],
)
async def test_choices_and_settings_in_anthropics_words(settings, parallel, sent):
    model = Recording([message(1, None)])
    settings = {**settings, "stop": "END", "max_completion_tokens": 7}
    agent = Agent(
        "a", "claude", tools=[make("own")], native="definition", completion=model,
        model_settings=settings, parallel_tool_calls=parallel,
    )  # fmt: skip
    await agent.run("x")
    (request,) = model.requests
    assert request.get("tool_choice") == sent
    assert (request["stop_sequences"], request["max_tokens"]) == (["END"], 7)


async def test_cache_marks_on_whole_messages_reach_anthropic():
    """LiteLLM takes them there for strings."""
    mark = {"cache_control": {"type": "ephemeral"}}
    model = Recording([message(1, None)])
    agent = Agent("a", "claude", native="definition", completion=model, instructions="Be brief.")
    calls = [{"id": "c1", "type": "function", "function": {"name": "own", "arguments": "{}"}}]
    await agent.run(
        [
            {"role": "system", "content": "You help.", **mark},
            {"role": "user", "content": "hello", **mark},
            {"role": "assistant", "content": "hi", "tool_calls": calls, **mark},
            {"role": "tool", "tool_call_id": "c1", "content": "2", **mark},
            {"role": "assistant", "content": "two", **mark},
            {"role": "user", "content": "thanks"},
        ]
    )
    (request,) = model.requests
    assert request["system"] == [{"type": "text", "text": "Be brief.\n\nYou help.", **mark}]
    asked, called, answered, said, thanked = (item["content"] for item in request["messages"])
    assert asked == [{"type": "text", "text": "hello", **mark}]
    assert called[0] == {"type": "text", "text": "hi", **mark}
    assert answered[0]["cache_control"] == mark["cache_control"]
    assert said == [{"type": "text", "text": "two", **mark}]
    assert thanked == "thanks"


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("any", "required"),
        ("none", "none"),
        ({"type": "none"}, "none"),
        ({"type": "auto"}, "auto"),
        ({"type": "tool", "name": "own"}, {"type": "function", "name": "own"}),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [OWN]}},
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "own"}]},
        ),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [OWN, {**OWN, "function": {"name": "b"}}]},
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "own"}, {"type": "function", "name": "b"}],
            },
        ),
    ],
)
async def test_choices_in_openais_words(choice, sent):
    model = Recording([response(1, None)])
    agent = Agent(
        "a", "m", tools=[make("own"), make("b")], native="responses", completion=model,
        model_settings={"tool_choice": choice},
    )  # fmt: skip
    await agent.run("x")
    assert model.requests[0]["tool_choice"] == sent


# -- what servers answer


def test_a_message_in_odd_pieces():
    """A frame that is cut in the middle, thinking with its signature, and a call without arguments."""
    rows = [
        {"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": 2}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "ping"},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t1", "name": "add", "input": {}},
        },
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 3}},
    ]
    text = "".join(f"event: x\r\ndata: {json.dumps(row)}\r\n\r\n" for row in rows).encode()
    assembler = MessageAssembler()
    assert assembler.is_cut
    assert [assembler.add(text[n : n + 7]) for n in range(0, len(text), 7)]
    reply = assembler.reply()
    assert reply.extra == {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}
    assert [(one.name, one.arguments) for one in reply.calls] == [("add", "")]
    assert (reply.finish_reason, reply.usage.prompt_tokens, reply.usage.completion_tokens) == ("length", 2, 3)


@pytest.mark.parametrize("frames", range(5))
async def test_a_call_of_a_message_whose_stream_ends_early_does_not_run(frames):
    """However much of it there is: what is left may stand for a call with every default."""
    ran = []

    def wipe(scope: str = "all") -> None:
        """Wipe a folder."""
        ran.append(scope)

    async def completion(**request):
        for frame in message_events(1, ("wipe", {"scope": "tmp"})).split("\n\n")[:frames]:
            yield f"{frame}\n\n".encode()

    agent = Agent("a", "m", native="definition", completion=completion, tools=[wipe])
    with pytest.raises(ToolSearchError, match="before it was whole"):
        [event async for event in agent.stream("x")]
    assert ran == []


@pytest.mark.parametrize(
    ("assembler", "event"),
    [
        (MessageAssembler, {"type": "error", "error": {"message": "overloaded"}}),
        (ResponseAssembler, {"type": "error", "message": "overloaded"}),
    ],
)
def test_an_error_in_a_stream_is_told(assembler, event):
    with pytest.raises(ToolSearchError, match="overloaded"):
        assembler().add(event)


@pytest.mark.parametrize(
    ("native", "reply"),
    [
        ("definition", {"type": "error"}),
        ("responses", {"object": "response", "status": "failed", "output": [], "error": {"message": "oops"}}),
    ],
)
async def test_an_answer_that_can_not_be_read_ends_the_run(native, reply):
    agent = Agent("a", "m", native=native, completion=Recording([reply]))
    with pytest.raises(ToolSearchError, match="the model's response has no"):
        await agent.run("x")


async def test_a_response_that_was_cut_runs_nothing():
    cut = {
        **response(1, ("own", {})),
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    }
    agent = Agent(
        "a", "m", tools=[make("own")], native="responses", completion=Recording([cut, response(2, None)])
    )
    result = await agent.run("x")
    assert "your answer was cut off" in result.messages[2]["content"]

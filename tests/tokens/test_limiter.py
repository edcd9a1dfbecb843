"""What is sent stays under the limit; what must stay is never cut."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_search_processor.errors import AbortRun, ConfigurationError, TokenLimitError
from tool_search_processor.steps import InputStep
from tool_search_processor.tokens.limiter import TokenLimiter, default_counter
from tool_search_processor.tools import Tool

OVERHEAD = 4
REPLY = 3


def system(text):
    return {"role": "system", "content": text}


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def call(*ids):
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id, text="r"):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def words(text):
    """Count a token a character of plain text, and one for the JSON of calls and ids."""
    return 1 if text.startswith("{") else len(text)


def cost(*messages):
    return sum(
        OVERHEAD + len(m["content"] or "") + (1 if set(m) - {"role", "content"} else 0) for m in messages
    )


async def limited(messages, limit, **options):
    limiter = TokenLimiter(limit, counter=words, **options)
    return list((await limiter.process_input_step(InputStep(messages=messages))).messages)


HISTORY = [
    system("sys"),
    user("one"),
    call("a", "b"),
    result("a"),
    result("b"),
    assistant("answer one"),
    user("two"),
    assistant("answer two"),
    user("three"),
    call("c"),
    result("c", "ccc"),
    call("d"),
    result("d", "ddd"),
]
TURN = HISTORY[8:]


async def test_what_fits_is_the_same_step():
    step = InputStep(messages=HISTORY)
    assert await TokenLimiter(REPLY + cost(*HISTORY), counter=words).process_input_step(step) is step


@pytest.mark.parametrize(
    ("kept", "dropped_first"),
    [
        # the answer alone would not open a conversation: it goes with its question
        ([HISTORY[0], *HISTORY[6:]], 1),
        ([HISTORY[0], *TURN], cost(*HISTORY[1:7])),
    ],
)
async def test_the_oldest_go_first(kept, dropped_first):
    assert await limited(HISTORY, REPLY + cost(*HISTORY) - dropped_first) == kept


async def test_the_current_turn_and_the_system_text_stay():
    assert await limited(HISTORY, REPLY + cost(HISTORY[0], *TURN)) == [HISTORY[0], *TURN]


async def test_a_call_goes_with_all_its_results():
    messages = [user("q"), call("a", "b"), result("a", "x" * 50), result("b", "y" * 50), user("next")]
    for limit in range(REPLY + cost(messages[-1]), REPLY + cost(*messages)):
        assert await limited(messages, limit) == [messages[-1]]


async def test_a_system_message_between_turns_stays():
    messages = [user("one"), system("new rules"), assistant("answer"), user("two")]
    assert await limited(messages, REPLY + cost(messages[1], messages[3])) == [messages[1], messages[3]]


async def test_what_must_stay_and_does_not_fit_is_named():
    limiter = TokenLimiter(30, counter=words)
    tool = Tool(name="f")
    step = InputStep(messages=[*HISTORY[:1], *TURN], tools=[tool], instructions=["use it"])
    with pytest.raises(TokenLimitError) as caught:
        await limiter.process_input_step(step)
    parts = {
        "tool definitions": 1,
        "instructions": 6 + REPLY,
        "system messages": cost(HISTORY[0]),
        "current turn": cost(*TURN),
    }
    assert caught.value.parts == parts
    text = str(caught.value)
    assert f"needs {sum(parts.values())} tokens, the limit is 30" in text
    assert all(f"{name} {tokens}" in text for name, tokens in parts.items())


async def test_definitions_count_unless_told_otherwise():
    tools = [Tool(name="f", description="long " * 50)]
    step = InputStep(messages=[user("one"), assistant("x"), user("two")], tools=tools)
    limit = REPLY + cost(*step.messages)
    with pytest.raises(TokenLimitError, match="tool definitions 3"):
        await TokenLimiter(limit, counter=len).process_input_step(step)
    assert await TokenLimiter(limit, counter=words, count_tools=False).process_input_step(step) is step


async def test_abort():
    with pytest.raises(AbortRun, match=r"the input of \d+ tokens exceeds the limit of 30 tokens"):
        await limited(HISTORY, 30, strategy="abort")


async def test_within_a_turn_only_the_question_and_the_newest_call_must_stay():
    kept = [HISTORY[0], TURN[0], *TURN[3:]]
    assert await limited(HISTORY, REPLY + cost(*kept), keep_last_turn=False) == kept
    with pytest.raises(TokenLimitError):
        await limited(HISTORY, REPLY + cost(*kept) - 1, keep_last_turn=False)
    assert await limited(HISTORY, REPLY + cost(HISTORY[0], *TURN), keep_last_turn=False) == [
        HISTORY[0],
        *TURN,
    ]


async def test_messages_without_a_user_are_one_turn():
    messages = [assistant("hello"), call("a"), result("a")]
    with pytest.raises(TokenLimitError, match="current turn"):
        await limited(messages, 5)


THOUGHT = [{"type": "thinking", "thinking": "t" * 1000, "signature": "s" * 1000}]
SIGNED = {"id": "a__thought__" + "s" * 1000, "type": "function", "function": {"name": "f", "arguments": "{}"}}
BESIDE = {**SIGNED, "id": "c", "provider_specific_fields": {"thought_signature": "s" * 1000}}


@pytest.mark.parametrize(
    ("once", "kept_twice"),
    [
        (
            {**assistant("x"), "thinking_blocks": THOUGHT},
            {"reasoning_content": "t" * 1000, "provider_specific_fields": {"thinking_blocks": THOUGHT}},
        ),
        (
            {**assistant("x"), "tool_calls": [SIGNED]},
            {
                "tool_calls": [{**SIGNED, "provider_specific_fields": {"thought_signature": "s" * 1000}}],
                "provider_specific_fields": {"thought_signatures": ["s" * 1000], "citations": None},
            },
        ),
        (
            {**assistant("x"), "tool_calls": [BESIDE]},
            {"provider_specific_fields": {"thought_signatures": ["s" * 1000]}},
        ),
        (result("a" * 64), {"tool_call_id": "a" * 64 + "__thought__" + "s" * 1000}),
        (assistant("x"), {"provider_specific_fields": {}}),
    ],
    ids=["thinking", "signed call", "call signed next to its id", "signed result", "nothing"],
)
async def test_what_litellm_keeps_twice_is_counted_as_it_is_sent(once, kept_twice):
    counted = []

    def count(text):
        counted.append(len(text))
        return len(text)

    for message in (once, {**once, **kept_twice}):
        limiter = TokenLimiter(10**6, counter=count)
        await limiter.process_input_step(InputStep(messages=[user("q"), message]))
    half = len(counted) // 2
    assert sum(counted[half:]) - sum(counted[:half]) in (0, len("{}"))


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_content": "t" * 1000},
        {"provider_specific_fields": {"web_search_results": ["t" * 1000]}},
        {"provider_specific_fields": {"thought_signatures": ["s" * 1000]}},
        {"tool_calls": [BESIDE]},
    ],
    ids=["thinking", "own field", "signed text", "call signed next to its id"],
)
async def test_what_is_kept_once_counts(fields):
    message = {**assistant("x"), **fields}
    with pytest.raises(TokenLimitError):
        await TokenLimiter(500, counter=len).process_input_step(InputStep(messages=[user("q"), message]))


async def test_media_costs_a_fixed_figure_whatever_its_bytes():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    step = InputStep(messages=[user([{"type": "text", "text": "what?"}, image])])
    assert await TokenLimiter(1100, counter=len).process_input_step(step) is step
    with pytest.raises(TokenLimitError):
        await TokenLimiter(1000, counter=len).process_input_step(step)


async def test_each_text_is_counted_once_over_the_steps():
    counted = []
    limiter = TokenLimiter(100_000, counter=lambda text: counted.append(text) or len(text))
    for length in range(1, len(HISTORY)):
        await limiter.process_input_step(InputStep(messages=HISTORY[:length]))
    assert len(counted) == len(set(counted))


async def test_the_default_counter_is_not_asked_where_everything_fits():
    step = InputStep(messages=HISTORY, tools=[Tool(name="f")])
    assert await TokenLimiter(5_000).process_input_step(step) is step
    assert await TokenLimiter(5_000, count_tools=False).process_input_step(step) is step


@pytest.mark.parametrize("limit", [0, -1, 1.5, "10", True, None])
def test_a_limit_is_a_number_of_tokens(limit):
    with pytest.raises(ConfigurationError, match="limit must be a whole number of at least 1, found"):
        TokenLimiter(limit)


@pytest.mark.parametrize(
    ("options", "match"),
    [({"strategy": "drop"}, "found 'drop'"), ({"counter": 3}, "counter must be a function")],
)
def test_options_without_meaning(options, match):
    with pytest.raises(ConfigurationError, match=match):
        TokenLimiter(10, **options)


def test_its_id_and_limit():
    assert TokenLimiter(10).id == "token-limiter"
    assert (TokenLimiter(10, id="other").id, TokenLimiter(10).limit) == ("other", 10)


UNITS = st.lists(
    st.one_of(
        st.builds(lambda text: [user(text)], st.text(alphabet="x", max_size=9)),
        st.builds(lambda text: [assistant(text)], st.text(alphabet="x", max_size=9)),
        st.builds(lambda text: [system(text)], st.text(alphabet="x", max_size=3)),
        st.integers(0, 3).map(lambda n: [call(*"abc"[: n + 1]), *map(result, "abc"[: n + 1])]),
    ),
    max_size=12,
)


@given(units=UNITS, limit=st.integers(1, 200))
async def test_whatever_the_conversation(units, limit):
    messages = [message for unit in units for message in unit]
    try:
        kept = await limited(messages, limit)
    except TokenLimitError:
        return
    assert REPLY + cost(*kept) <= limit
    rest = iter(messages)
    assert all(any(message is one for one in rest) for message in kept), "in the same order"
    assert [m for m in kept if m["role"] == "system"] == [m for m in messages if m["role"] == "system"]
    called = [item["id"] for m in kept for item in m.get("tool_calls", ())]
    assert called == [m["tool_call_id"] for m in kept if m["role"] == "tool"]
    if len(kept) < len(messages):
        assert next(m for m in kept if m["role"] != "system")["role"] == "user"


def test_without_litellm_tokens_are_estimated(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)
    assert default_counter("gpt-4o")("x" * 40) == 10


async def test_a_margin_leaves_room_for_what_a_chat_template_writes():
    fits = REPLY + cost(*HISTORY)
    assert await limited(HISTORY, -(-fits * 5 // 4), margin=0.25) == HISTORY
    assert await limited(HISTORY, fits * 5 // 4 - 1, margin=0.25) != HISTORY
    with pytest.raises(AbortRun, match="the limit of 40 less a margin of 25% tokens"):
        await limited(HISTORY, 40, strategy="abort", margin=0.25)
    with pytest.raises(ConfigurationError, match="margin must be a number from 0 to 1, found 25"):
        TokenLimiter(10, margin=25)

"""Results and usage are plain data, and come back from it."""

from __future__ import annotations

import json

import pytest

from tool_search_processor.agent.runs import RunResult, Usage
from tool_search_processor.errors import ResumeError
from tool_search_processor.session.prepared_calls import PendingCall

RESULT = RunResult(
    output="é",
    messages=[{"role": "user", "content": "q"}],
    steps=2,
    usage=Usage(prompt_tokens=3, definition_tokens_sent=4),
    finish_reason="pending",
    pending=[PendingCall(call_id="c", name="f", arguments={"a": 1}, arguments_hash="h")],
    run_id="r",
    thread_id="t",
)


def test_through_dict_and_json():
    assert RunResult.from_dict(json.loads(json.dumps(RESULT.to_dict()))) == RESULT
    assert RunResult.from_json(RESULT.to_json()) == RESULT


@pytest.mark.parametrize(
    "change",
    [
        {"finish_reason": "odd"},
        {"steps": "x"},
        {"pending": [{}]},
        {"usage": None},
        {"messages": None, "steps": None},
    ],
)
def test_other_data_is_refused(change):
    with pytest.raises(ResumeError, match=r"not what RunResult.to_dict\(\) gives"):
        RunResult.from_dict({**RESULT.to_dict(), **change})


def test_missing_data_is_refused():
    with pytest.raises(ResumeError, match="'finish_reason'"):
        RunResult.from_dict({})
    with pytest.raises(ResumeError, match="to_json"):
        RunResult.from_json("{")
    with pytest.raises(ResumeError, match=r"reads a string, found {.*: from_dict reads a dict"):
        RunResult.from_json(RESULT.to_dict())


def test_usage_adds_up():
    one = Usage(prompt_tokens=1, completion_tokens=2, total_tokens=3, cached_tokens=1)
    other = Usage(prompt_tokens=10, definition_tokens_sent=5, definition_tokens_full=50)
    assert one + other == Usage(
        prompt_tokens=11,
        completion_tokens=2,
        total_tokens=3,
        cached_tokens=1,
        definition_tokens_sent=5,
        definition_tokens_full=50,
    )
    assert Usage.from_dict({**one.to_dict(), "later": 1}) == one

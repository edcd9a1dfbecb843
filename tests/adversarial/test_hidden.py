"""Any catalog, any conversation: with a tool denied, or without it, a model is sent the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adversarial.depth import examples
from tests.adversarial.word_index import WordIndex, called, names
from tool_search_processor import Agent, Tool, ToolSearchProcessor
from tool_search_processor.stores import HistoryStore
from tool_search_processor.testing import ScriptedModel, call


@st.composite
def tools_of(draw: st.DrawFn) -> list[Tool]:
    def tool(name: str) -> Tool:
        async def execute(**given: Any) -> str:
            return f"{name} ran"

        needs = (
            {"properties": {"title": {"type": "string"}}, "required": ["title"]}
            if draw(st.booleans())
            else {}
        )
        return Tool(
            name,
            f"Does {name}.",
            {"type": "object", **needs},
            execute=execute,
            namespace=draw(st.sampled_from([None, "github"])),
            tags=draw(st.sampled_from([frozenset(), frozenset({"a"})])),
            pinned=draw(st.integers(0, 9)) == 0,
            requires_approval=draw(st.integers(0, 4)) == 0,
        )

    return [tool(name) for name in draw(st.lists(names, unique=True, min_size=1, max_size=10))]


calls = st.one_of(
    st.tuples(st.just("search_tools"), called, st.sampled_from([1, 3, 20])).map(
        lambda given: call(given[0], {"query": given[1].replace("_", " "), "limit": given[2]})
    ),
    st.tuples(st.sampled_from(["load_tool", "unload_tool"]), st.lists(called, min_size=1, max_size=3)).map(
        lambda given: call(given[0], {"tool_names": given[1]})
    ),
    st.tuples(called, st.sampled_from([{}, {"title": "x"}, {"tite": 1}])).map(lambda given: call(*given)),
    called.map(lambda name: call("call_tool", {"name": name, "arguments": {"title": "x"}})),
)


@pytest.mark.slow
@examples(60)
@given(
    tools=tools_of(),
    denied=st.sets(st.integers(0, 9)),
    script=st.lists(st.lists(calls, min_size=1, max_size=3), max_size=6),
    options=st.fixed_dictionaries(
        {
            "mode": st.sampled_from(["load", "auto_load", "call"]),
            "max_loaded": st.sampled_from([None, 1, 3]),
            "preload": st.sampled_from([0, 2]),
            "catalog_in_prompt": st.booleans(),
            "passthrough_tokens": st.sampled_from([0, 0, 300]),
            "result_detail": st.sampled_from(["brief", "signature", "schema"]),
            "min_score": st.sampled_from([0.0, 0.4]),
        }
    ),
    in_history=st.booleans(),
    later=st.booleans(),
)
async def test_a_denied_tool_is_as_one_that_is_not_there(tools, denied, script, options, in_history, later):
    if later:  # calls that are made together race, and how long each waits is not hidden
        script = [[one] for reply in script for one in reply]
    hidden = {tools[place].name for place in denied if place < len(tools)}

    async def answered(verdict: bool) -> bool:
        return verdict

    def policy(request: Any) -> Any:
        verdict = request.tool_name not in hidden
        return answered(verdict) if later else verdict

    async def sent(given: list[Tool]) -> str:
        store = HistoryStore() if in_history else None
        processor = ToolSearchProcessor(
            given, filter=policy, allow_unload=True, search=WordIndex, store=store, **options
        )
        model = ScriptedModel([*script, "done"])
        agent = Agent("a", "m", completion=model, input_processors=[processor])
        result = await agent.run("list the issue", thread_id="t")
        while result.pending:
            result = await agent.resume(result, {pending.call_id: True for pending in result.pending})
        return json.dumps([result.messages, *([request.tools, request.system] for request in model.requests)])

    assert await sent(tools) == await sent([tool for tool in tools if tool.name not in hidden])

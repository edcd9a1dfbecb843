"""What holds for any catalog, query, filter and model."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.adversarial.depth import examples
from tests.adversarial.models import NAMES, listed, replies, texts, well_formed, words
from tool_search_processor import Agent, Tool, ToolSearchProcessor
from tool_search_processor.agent import RunResult
from tool_search_processor.meta_tools.reading import MAX_RESULTS

quick = examples(40)

tool_names = st.lists(words.filter(str.isascii), min_size=1, max_size=3).map("_".join)


@st.composite
def catalogs(draw: st.DrawFn) -> list[Tool]:
    names = draw(st.lists(tool_names, unique=True, max_size=12))
    return [
        Tool(
            name,
            draw(texts),
            {
                "type": "object",
                "properties": {draw(st.sampled_from(["repo", "to", "title"])): {"type": "string"}},
            },
            namespace=draw(st.sampled_from([None, "github", "mail"])),
            tags=draw(st.frozensets(st.sampled_from(["x", "y"]))),
            keywords=tuple(draw(st.lists(words, max_size=2))),
            pinned=draw(st.integers(0, 9)) == 0,
        )
        for name in names
    ]


# -- searching


@quick
@given(
    tools=catalogs(),
    queries=st.one_of(texts, st.lists(texts, max_size=4)),
    limit=st.one_of(st.none(), st.integers(-2, 30)),
    tags=st.sampled_from([[], ["x"], ["x", "y"], ["z"]]),
    denied=st.sets(st.integers(0, 11)),
    search=st.sampled_from(["bm25", "regex", "fuzzy"]),
    min_score=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_a_search_gives_what_may_be_found_once_in_order_and_within_the_limit(
    tools, queries, limit, tags, denied, search, min_score
):
    hidden = {tools[place].name for place in denied if place < len(tools)}
    options: dict[str, Any] = {"search": search, "min_score": min_score}
    arguments = {"query": queries, "limit": limit, "tags": tags}

    def answer(hook):
        return asyncio.run(searched(ToolSearchProcessor(tools, filter=hook, **options), arguments))

    first, open_to_all = answer(lambda r: r.tool_name not in hidden), answer(None)
    found = [result["name"] for result in first["results"]]
    by_name = {tool.name: tool for tool in tools if not tool.pinned}
    assert set(found) <= by_name.keys() - hidden
    assert len(found) == len(set(found)) <= MAX_RESULTS
    # A tag that nothing to be found has is left out.
    known = {tag for tag in tags if any(tag in by_name[name].tags for name in by_name.keys() - hidden)}
    assert all(not known or by_name[name].tags & known for name in found)
    assert first == answer(lambda r: r.tool_name not in hidden)
    assert first["total"] is None
    if isinstance(queries, str):
        scores = [result["score"] for result in first["results"]]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)
        assert len(found) <= (5 if limit is None else max(5, min(limit, MAX_RESULTS)))
        assert open_to_all["total"] >= len(open_to_all["results"])
    assert {**answer(lambda _: True), "total": None} == {**open_to_all, "total": None}


async def searched(processor: ToolSearchProcessor, arguments: dict[str, Any]) -> dict[str, Any]:
    async with processor.session() as session:
        tools = await session.tools([{"role": "user", "content": "q"}])
        answer: dict[str, Any] = await tools[0].call(arguments)
        return answer


# -- a model that says anything


class Flipping:
    """A filter whose verdicts change from question to question; counts how often a tool may run."""

    def __init__(self, verdicts: list[bool]) -> None:
        self.verdicts = verdicts
        self.asked = 0
        self.allowed: Counter[str] = Counter()

    def __call__(self, request: Any) -> bool:
        verdict = request.tool_name != "secret" and self.verdicts[self.asked % len(self.verdicts)]
        self.asked += 1
        if request.phase == "active":
            self.allowed[request.tool_name] += verdict
        return verdict


@quick
@given(
    script=replies,
    verdicts=st.lists(st.booleans(), min_size=1, max_size=7),
    mode=st.sampled_from(["load", "auto_load", "call"]),
    approval=st.booleans(),
    preload=st.sampled_from([0, 2]),
    stream=st.booleans(),
)
def test_whatever_a_model_says_the_run_ends_and_nothing_denied_runs(
    script, verdicts, mode, approval, preload, stream
):
    policy, breaches = Flipping(verdicts), []

    def tool_of(name: str) -> Tool:
        async def execute(**_: Any) -> str:
            # Each run takes a verdict of its own, given at that moment.
            policy.allowed[name] -= 1
            if policy.allowed[name] < 0:
                breaches.append(name)
            return name

        return Tool(
            name, f"Does {name}.", execute=execute, requires_approval=approval and name == "send_mail"
        )

    processor = ToolSearchProcessor(
        [tool_of(name) for name in NAMES],
        filter=policy,
        mode=mode,
        allow_unload=True,
        preload=preload,
        max_loaded=2,
    )
    result, sent = asyncio.run(run_script(processor, script, stream=stream, forget=policy.allowed.clear))
    assert breaches == []
    assert "secret" not in {name for request in sent for name in listed(request)}
    for request in sent:
        assert well_formed(request["messages"])
    # Nothing that was said is lost: each history begins with the one before.
    histories = [[m for m in request["messages"] if m["role"] != "system"] for request in sent]
    for before, after in zip(histories, [*histories[1:], result.messages], strict=True):
        assert after[: len(before)] == before
    assert result.messages[0] == {"role": "user", "content": "do something"}


async def run_script(
    processor: ToolSearchProcessor, script: list[Any], *, stream: bool, forget: Callable[[], None]
) -> tuple[RunResult, list[dict[str, Any]]]:
    left, sent = list(script), []

    async def completion(**request: Any) -> Any:
        forget()  # what listing asked is no leave to run
        sent.append(request)
        message, reason = left.pop(0) if left else ({"content": "end"}, "stop")
        return {"choices": [{"message": message, "finish_reason": reason}]}

    agent = Agent("a", "m", completion=completion, input_processors=[processor], max_steps=8)
    if stream:
        *_, last = [event async for event in agent.stream("do something", thread_id="t")]
        result = last.result
    else:
        result = await agent.run("do something", thread_id="t")
    while result.pending:
        kept = RunResult.from_json(result.to_json())
        result = await agent.resume(kept, {call.call_id: True for call in kept.pending})
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return result, sent

"""A walk through conversations whose model, policy and catalog do anything: what holds after each step."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.adversarial.depth import examples
from tests.adversarial.models import NAMES, calls_made, listed, messages_said, well_formed
from tool_search_processor import Agent, ConfigurationError, StaticProvider, Tool, ToolSearchProcessor
from tool_search_processor.agent import RunResult
from tool_search_processor.stores import HistoryStore, MemoryStore
from tool_search_processor.testing import ManualClock

pytestmark = pytest.mark.slow

PHASES = ("search", "load", "active")
THREADS = ("one", "two", None)
TTL = 60.0
names = st.sampled_from(NAMES)
# What a reply does beside being one: policy and catalog change between the model's call and the run of it.
changes = st.lists(
    st.tuples(st.sampled_from(["deny", "allow", "remove", "add"]), names, st.sampled_from(PHASES)), max_size=2
)
scripts = st.lists(st.tuples(messages_said, changes), max_size=4)


class Conversations(RuleBasedStateMachine):
    """Threads of one processor, or of one after another, whose agent or own loop meets anything."""

    def __init__(self) -> None:
        super().__init__()
        self.denied: set[tuple[str, str]] = set()
        self.breaches: list[Any] = []
        self.histories: dict[str | None, list[Any]] = {thread: [] for thread in THREADS}
        self.pending: dict[str | None, RunResult] = {}
        self.clock = ManualClock()
        self.runner = asyncio.Runner()
        self.tools = {name: self.tool(name) for name in NAMES}
        self.present = set(NAMES)

    @initialize(
        mode=st.sampled_from(["load", "auto_load", "call"]),
        history=st.booleans(),
        max_loaded=st.sampled_from([None, 1, 2]),
        preload=st.sampled_from([0, 1]),
        passthrough=st.sampled_from([0, 0, 100]),
    )
    def begin(self, mode: str, history: bool, max_loaded: int | None, preload: int, passthrough: int) -> None:
        self.provider = StaticProvider(self.tools.values())
        self.store = HistoryStore() if history else MemoryStore(TTL, clock=self.clock)
        self.options: dict[str, Any] = {
            "mode": mode,
            "max_loaded": max_loaded,
            "preload": preload,
            "passthrough_tokens": passthrough,
        }
        self.new_process()

    # -- what the world does

    @rule()
    def new_process(self) -> None:
        self.processor = ToolSearchProcessor(
            [self.provider], filter=self.policy, store=self.store, allow_unload=True, **self.options
        )

    @rule(kind=st.sampled_from(["deny", "allow", "remove", "add"]), name=names, phase=st.sampled_from(PHASES))
    def change(self, kind: str, name: str, phase: str) -> None:
        if kind == "deny":
            self.denied.add((phase, name))
        elif kind == "allow":
            self.denied.discard((phase, name))
        elif kind == "remove":
            self.provider.remove(*self.present & {name})
            self.present.discard(name)
        elif name not in self.present:
            self.provider.add(self.tools[name])
            self.present.add(name)

    @rule(seconds=st.sampled_from([1.0, TTL + 1]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    # -- what a user and a model do

    @rule(thread=st.sampled_from(THREADS), script=scripts, stream=st.booleans())
    def turn(self, thread: str | None, script: list[Any], stream: bool) -> None:
        self.pending.pop(thread, None)  # a new turn leaves what waited unanswered
        before = self.histories[thread]

        async def go() -> RunResult:
            agent = self.agent(script)
            if not stream:
                return await agent.run("hello", thread_id=thread, messages=before)
            events = [event async for event in agent.stream("hello", thread_id=thread, messages=before)]
            result: RunResult = events[-1].result
            return result

        self.take(thread, self.run(go), before=before)

    @precondition(lambda self: self.pending)
    @rule(data=st.data(), script=scripts, answer=st.sampled_from([True, True, False, "no"]))
    def resume(self, data: st.DataObject, script: list[Any], answer: bool | str) -> None:
        thread = data.draw(st.sampled_from(sorted(self.pending, key=str)))
        kept = RunResult.from_json(self.pending.pop(thread).to_json())
        answers = {call.call_id: answer for call in kept.pending[: data.draw(st.integers(1, 3))]}
        self.take(
            thread, self.run(lambda: self.agent(script).resume(kept, answers)), before=kept.messages[:1]
        )

    @rule(thread=st.sampled_from(THREADS), calls=st.lists(calls_made, max_size=3), approve=st.booleans())
    def own_loop(self, thread: str | None, calls: list[Any], approve: bool) -> None:
        self.pending.pop(thread, None)
        messages = [*self.histories[thread], {"role": "user", "content": "hello"}]

        async def go() -> None:
            async with self.processor.session(thread_id=thread) as session:
                for made in calls:
                    self.check_listed([tool.name for tool in await session.tools(messages)])
                    try:
                        waiting = await session.approvals_needed(made)
                    except ConfigurationError:  # it holds what is not a call: then none of it runs
                        continue
                    answers = {call.call_id: approve for call in waiting}
                    results = await session.execute(made, approvals=answers)
                    asked = [item for item in made if isinstance(item, dict) and "function" in item]
                    assert len(results) >= len(asked)
                    json.dumps(results, allow_nan=False)

        self.run(go)

    # -- what has to hold

    def take(self, thread: str | None, result: RunResult, *, before: list[Any]) -> None:
        assert result.messages[: len(before)] == before, "no message is lost"
        if result.pending:
            self.pending[thread] = result
        else:
            assert well_formed(result.messages)
        self.histories[thread] = result.messages if not result.pending else before

    def run(self, start: Any) -> Any:
        result = self.runner.run(start())
        assert self.breaches == [], "nothing runs that the policy of that moment denies"
        assert asyncio.all_tasks(self.runner.get_loop()) == set()
        if isinstance(self.store, MemoryStore) and self.options["max_loaded"] is not None:
            for thread in ("one", "two"):
                loaded = self.runner.run(self.processor.loaded(thread))
                assert len(loaded) <= self.options["max_loaded"]
        return result

    def policy(self, request: Any) -> bool:
        return (request.phase, request.tool_name) not in self.denied

    def tool(self, name: str) -> Tool:
        async def execute(**_: Any) -> str:
            if ("active", name) in self.denied:
                self.breaches.append(name)
            return name

        return Tool(name, f"Does {name}.", execute=execute, requires_approval=name == "send_mail")

    def check_listed(self, sent: list[str]) -> None:
        strange = set(sent) - self.processor.reserved_names - self.present
        assert strange == set(), "only what the catalog has is listed"
        assert not any(("active", name) in self.denied for name in sent)
        assert len(sent) == len(set(sent))

    def agent(self, script: list[Any]) -> Agent:
        left = list(script)

        async def completion(**request: Any) -> Any:
            assert well_formed([m for m in request["messages"] if m["role"] != "system"])
            self.check_listed(listed(request))
            message, changed = left.pop(0) if left else ({"content": "end"}, ())
            for change in changed:
                self.change(*change)
            return {"choices": [{"message": message}]}

        return Agent("a", "m", completion=completion, input_processors=[self.processor], max_steps=6)

    def teardown(self) -> None:
        self.runner.close()


def test_whatever_happens_in_conversations():
    run_state_machine_as_test(Conversations, settings=examples(25, stateful_step_count=12))

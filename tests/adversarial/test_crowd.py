"""A thousand runs at a time on one processor, in several threads' loops, while the catalog changes."""

from __future__ import annotations

import asyncio
import hashlib
import threading

import pytest

from tests.support import kept_runs, make
from tool_search_processor import Agent, StaticProvider, Tool, ToolContext, ToolSearchProcessor, ToolSession
from tool_search_processor.providers.callable import CallableProvider
from tool_search_processor.testing import ScriptedModel, call

pytestmark = pytest.mark.slow

THREADS, RUNS = 5, 200


def own(user: int) -> str:
    """Return the name of a user's tool, which is like no other's: near names cost a question each."""
    return f"t{hashlib.sha256(str(user).encode()).hexdigest()[:12]}"


def owner(context: ToolContext) -> str:
    """Say whose run this is."""
    return f"{context.context['user']} in {context.thread_id}"


OWNER = Tool.from_function(owner)


async def later(verdict: bool) -> bool:
    await asyncio.sleep(0)  # others come between the question and the answer
    return verdict


class Crowd:
    """Runs that each may use one tool of their own, and write down whatever else they see."""

    def __init__(self) -> None:
        self.problems: list[object] = []
        tools = [make(own(user), f"Works for user {user}.") for user in range(THREADS * RUNS)]
        self.provider = StaticProvider([*tools, make("common", "Works for every user.")])
        self.processor = ToolSearchProcessor(
            [self.provider, CallableProvider(self.tools_of_request)], filter=self.policy, max_loaded=3
        )

    @staticmethod
    def tools_of_request(context):
        return [OWNER] if "user" in context else []

    @staticmethod
    def policy(request):
        allowed = request.tool_name in (own(request.context["user"]), "owner", "common")
        return later(allowed) if request.phase == "active" else allowed

    async def agent_run(self, user: int, thread_id: str | None) -> None:
        model = ScriptedModel(
            [
                call("search_tools", {"query": own(user)}),
                call("load_tool", {"tool_names": [own(user), own(user + 1), "owner"]}),
                [call(own(user)), call("owner"), call(own(user - 1))],
                "end",
            ]
        )
        agent = Agent("a", "m", completion=model, input_processors=[self.processor])
        result = await agent.run("q", context={"user": user}, thread_id=thread_id)
        answers = [message["content"] for message in result.messages if message["role"] == "tool"][-3:]
        listed = {name for request in model.requests for name in request.tool_names}
        strange = listed - {"search_tools", "load_tool", own(user), "owner"}
        told = (f'"ran":"{own(user)}"' in answers[0], answers[1], f"no tool {own(user - 1)!r}" in answers[2])
        if strange or told != (True, f"{user} in {thread_id}", True):
            self.problems.append((user, strange, answers))

    async def session_run(self, user: int, thread_id: str | None) -> None:
        asked = [{"id": name, "function": {"name": name}} for name in (own(user), "owner")]
        async with ToolSession(self.processor, thread_id=thread_id, context={"user": user}) as session:
            await session.tools([])
            answers = [answer["content"] for answer in await session.execute(asked)]
            listed = [tool.name for tool in await session.tools([])][2:]
        if set(listed) != {own(user), "owner"} or answers[1] != f"{user} in {thread_id}":
            self.problems.append((user, listed, answers))

    async def many(self, first: int) -> None:
        users = range(first, first + RUNS)
        await asyncio.gather(
            *(
                (self.session_run if user % 2 else self.agent_run)(user, f"t{user}" if user % 3 else None)
                for user in users
            )
        )
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            self.problems.append(left)

    def change(self, stop: threading.Event) -> None:
        for number in range(100_000):
            if stop.is_set():
                return
            self.provider.add(make(f"new_{number}", "Works for nobody."))
            self.provider.remove(f"new_{number - 5}")
            stop.wait(0.01)


def test_a_thousand_runs_at_a_time_keep_to_themselves():
    crowd, stop = Crowd(), threading.Event()
    changing = threading.Thread(target=crowd.change, args=(stop,))
    threads = [threading.Thread(target=asyncio.run, args=(crowd.many(n * RUNS),)) for n in range(THREADS)]
    changing.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    stop.set()
    changing.join(60)
    assert crowd.problems == []
    assert not any(thread.is_alive() for thread in (*threads, changing)), "nobody waits for another"
    stats = asyncio.run(crowd.processor.stats())
    threads_kept = sum(user % 3 > 0 for user in range(THREADS * RUNS))
    assert stats["threads"] == threads_kept
    assert asyncio.run(kept_runs(crowd.processor)) == 0

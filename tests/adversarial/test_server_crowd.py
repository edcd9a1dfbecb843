"""A server under a crowd: tools come and go from threads, policies change and fail; each gets its own."""

from __future__ import annotations

import asyncio
import itertools
import random
import threading
from typing import Any

import pytest
from mcp import MCPError

from tests.server.mcp.support import client_of, connected, found, names, refusal, serving, text
from tool_search_processor import Tool, ToolContext, tool
from tool_search_processor.errors import DuplicateToolError
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.server.mcp.tool_modes import on_demand

pytestmark = pytest.mark.slow


def numbered(number: int) -> Tool:
    def execute() -> str:
        return f"ran {number}"

    made = Tool(f"tool_{number}", f"Do number {number}.", {"type": "object"}, execute=execute)
    return on_demand(made) if number % 2 else made


@pytest.mark.parametrize("mode", ["normal", "discovery"])
async def test_tools_come_and_go_while_clients_list_search_and_call(mode):
    server = ToolServer([numbered(0), numbered(1)], mode=mode)
    stopping, turn = threading.Event(), threading.Semaphore(0)
    rounds = []

    def change(first: int) -> None:
        for count in itertools.count():
            turn.acquire()
            number = first + count % 20
            server.register_tool(numbered(number))
            server.unregister_tools(f"tool_{number}")
            if stopping.is_set():
                rounds.append(count)
                return

    async def ask(client: Any, seed: int) -> None:
        choose = random.Random(seed)
        for _ in range(5):
            turn.release(2)
            listed = await names(client)
            assert listed[-2:] == ["search_tools", "call_tool"]
            assert len(set(listed)) == len(listed)
            hits = await found(client, query="do number", limit=50)
            assert "tool_1" in hits
            assert len(set(hits)) == len(hits)
            number = choose.choice([0, 1, 100, 201])
            for call in (
                client.call_tool(f"tool_{number}", {}),
                client.call_tool("call_tool", {"name": f"tool_{number}"}),
            ):
                try:
                    answer = text(await call)
                except MCPError as exc:
                    answer = exc.message
                assert answer == f"ran {number}" or (number > 1 and f"'tool_{number}'" in answer)

    threads = [threading.Thread(target=change, args=(100 * place,)) for place in (1, 2)]
    for thread in threads:
        thread.start()
    try:
        async with serving(server, requests_per_second=None) as url:

            async def client(seed: int) -> None:
                async with client_of(url, mode="legacy" if seed % 2 else "auto") as connection:
                    await ask(connection, seed)

            await asyncio.wait_for(asyncio.gather(*map(client, range(10))), 60)
    finally:
        stopping.set()
        turn.release(2)
        for thread in threads:
            thread.join()
    assert min(rounds) > 0
    async with connected(server) as client:
        assert await found(client, query="number", limit=50) == (
            ["tool_1"] if mode == "normal" else ["tool_0", "tool_1"]
        )


def test_a_name_is_given_out_once_however_many_threads_want_it():
    server = ToolServer()
    start = threading.Barrier(8)
    outcomes = []

    def register() -> None:
        start.wait()
        try:
            server.register_tool(numbered(1))
            outcomes.append("taken")
        except DuplicateToolError:
            outcomes.append("refused")

    threads = [threading.Thread(target=register) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 7 + ["taken"]


async def test_rules_of_many_sessions_at_once_stay_their_own():
    @tool
    def hide(context: ToolContext, number: int) -> str:
        """Switch a tool off for this session."""
        context.context["session_rules"].disable(names=[f"tool_{number}"])
        return "hidden"

    numbers = range(0, 24, 2)
    server = ToolServer([hide, *map(numbered, numbers)])
    async with serving(server) as url:
        meet = asyncio.Barrier(len(numbers))

        async def one(number: int) -> None:
            async with client_of(url, mode="legacy") as client:
                await meet.wait()
                await client.call_tool("hide", {"number": number})
                await meet.wait()
                assert set(await names(client)) == {"hide", *(f"tool_{each}" for each in numbers)} - {
                    f"tool_{number}"
                }
                other = (number + 2) % 24
                assert text(await client.call_tool(f"tool_{other}", {})) == f"ran {other}"
                assert (await refusal(client, f"tool_{number}")).startswith("There is no tool")

        await asyncio.wait_for(asyncio.gather(*map(one, numbers)), 60)
        async with client_of(url, mode="legacy") as fresh:
            assert len(await names(fresh)) == len(numbers) + 1


class Sudden(BaseException):
    """What no program waits for."""


async def late(verdict: Any) -> Any:
    await asyncio.sleep(0)
    if isinstance(verdict, BaseException):
        raise verdict
    return verdict


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize(
    "verdict", [Sudden(), SystemExit(3), OSError("no directory"), asyncio.InvalidStateError()]
)
async def test_a_policy_that_raises_whatever_denies_and_the_server_goes_on(verdict, is_late, caplog):
    fails = True

    def policy(request: Any) -> Any:
        if not fails or request.tool_name == "tool_0":
            return True
        if is_late:
            return late(verdict)
        raise verdict

    server = ToolServer([numbered(0), numbered(1), numbered(2)], filter=policy)
    async with connected(server, "http") as client:
        assert await names(client) == ["tool_0"]
        assert await found(client, query="number") == []
        for name in ("tool_1", "tool_2"):
            assert (await refusal(client, name)).startswith("There is no tool")
        fails = False
        assert await names(client) == ["tool_0", "tool_2", "search_tools", "call_tool"]
    assert "the filter failed" in caplog.text


async def test_a_policy_that_changes_its_mind_is_asked_at_each_step():
    asked: list[tuple[str, str]] = []
    says = {"search": True, "load": True, "active": True}

    def policy(request: Any) -> bool:
        asked.append((request.tool_name, request.phase))
        for broken in (
            lambda: setattr(request, "tool_name", "other"),
            lambda: request.context.__setitem__("user", "root"),
            lambda: request.tool.parameters.update(type="string"),
            request.tool.metadata.clear,
        ):
            with pytest.raises((AttributeError, TypeError)):
                broken()
        return says[request.phase]

    server = ToolServer([numbered(0), numbered(1)], filter=policy)
    async with connected(server) as client:
        assert await found(client, query="number") == ["tool_1"]
        assert text(await client.call_tool("call_tool", {"name": "tool_1"})) == "ran 1"
        says["active"] = False
        assert text(await client.call_tool("call_tool", {"name": "tool_1"})).startswith(
            "Error: There is no tool"
        )
        assert await found(client, query="number") == ["tool_1"]
        says["search"] = False
        assert await found(client, query="number") == []
        assert await names(client) == []
    assert {phase for _, phase in asked} == {"search", "load", "active"}

"""Sessions over HTTP: how they begin, go on, end, and whose they are."""

import asyncio
import base64
import json

import pytest

from tests.server.mcp.support import SECRET, client_of, front, names, serving
from tests.server.mcp.wire import ACCEPT, DISCOVERY, INITIALIZE, NORMAL, Wire
from tool_search_processor import Tool
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.server.mcp.rules import SessionRules
from tool_search_processor.server.mcp.sessions import Session, SessionTable, SignedIds
from tool_search_processor.testing import ManualClock


async def opened(http, url, headers):
    """Open a stream of changes, and return the status."""
    async with http.stream("GET", url, headers=headers) as stream:
        return stream.status_code


async def settled():
    """Let the server, which runs in this loop, end the requests that were answered."""
    for _ in range(100):
        await asyncio.sleep(0)


@pytest.mark.parametrize("secret", [None, SECRET])
async def test_the_mode_of_the_first_request_holds_whatever_later_ones_say(http, secret):
    async with serving(front(session_secret=secret)) as url:
        wire = Wire(http, url)
        normal = await wire.begin()
        discovery = await wire.begin(x_mcp_tool_mode="discovery")
        assert await wire.listed(normal, x_mcp_tool_mode="discovery") == (200, NORMAL)
        assert await wire.listed(normal, url=f"{url}?tool_mode=discovery") == (200, NORMAL)
        assert await wire.listed(normal, x_mcp_tool_mode="nonsense") == (200, NORMAL)
        assert await wire.listed(discovery, x_mcp_tool_mode="normal") == (200, DISCOVERY)
        assert await wire.listed(discovery) == (200, DISCOVERY)


async def test_an_idle_session_ends_and_one_that_is_used_does_not(http):
    clock = ManualClock()
    async with serving(front(clock=clock)) as url:
        wire = Wire(http, url)
        idle, used = await wire.begin(), await wire.begin()
        clock.advance(1799)
        assert await wire.listed(used) == (200, NORMAL)
        await settled()
        clock.advance(1)
        status, message = await wire.listed(idle)
        assert (status, message["error"]["message"]) == (404, "Session not found")
        assert await wire.listed(used) == (200, NORMAL)
        await settled()
        clock.advance(1800)
        assert (await wire.listed(used))[0] == 404


async def test_a_session_can_be_ended_by_its_client(http):
    async with serving(front()) as url:
        wire = Wire(http, url)
        session = await wire.begin()
        assert (await http.delete(url, headers={"mcp-session-id": session})).status_code == 200
        assert (await wire.listed(session))[0] == 404
        assert (await http.delete(url, headers={"mcp-session-id": session})).status_code == 404


async def test_there_are_only_so_many_sessions_and_one_that_ends_makes_room(http):
    async with serving(front(max_sessions=2)) as url:
        wire = Wire(http, url)
        first, second = await wire.begin(), await wire.begin()
        status, _, message = await wire.ask("initialize", INITIALIZE)
        assert (status, message["error"]["message"]) == (503, "Too many open sessions")
        assert await wire.listed(first) == (200, NORMAL)
        async with client_of(url, mode="auto") as client:  # that needs none
            assert await names(client) == NORMAL
        await http.delete(url, headers={"mcp-session-id": second})
        assert await wire.begin()


@pytest.mark.parametrize(
    "options", [{"max_sessions": 1}, {"session_secret": SECRET}, {"keep_sessions": False}]
)
async def test_a_handshake_of_wrong_parameters_begins_no_session(http, options):
    async with serving(front(**options)) as url:
        wire = Wire(http, url)
        for wrong in (
            {},
            {"protocolVersion": "2025-11-25"},
            {**INITIALIZE, "capabilities": {"sampling": 5}},
            {**INITIALIZE, "protocolVersion": 1},
            {**INITIALIZE, "_meta": 5},
        ):
            status, headers, message = await wire.ask("initialize", wrong)
            assert (status, message["id"], message["error"]["code"]) == (400, 1, -32602)
            assert "mcp-session-id" not in headers
        for version in ("2024-11-05", "a version to come"):
            status, headers, _ = await wire.ask("initialize", {**INITIALIZE, "protocolVersion": version})
            assert status == 200
            if "mcp-session-id" in headers:
                await http.delete(url, headers={"mcp-session-id": headers["mcp-session-id"]})


async def test_a_session_that_is_idle_makes_room_by_itself(http):
    async def begins():
        return (await wire.ask("initialize", INITIALIZE))[0] == 200

    async with serving(front(max_sessions=1, session_ttl_seconds=0.05)) as url:
        wire = Wire(http, url)
        first = await wire.begin()
        while not await begins():
            await settled()
        assert (await wire.listed(first))[0] == 404


@pytest.mark.parametrize("options", [{}, {"session_secret": SECRET}])
@pytest.mark.parametrize(
    "session_id", ["nobody", "a.b", "é".encode(), "x" * 20_000, ".", "eyJtb2RlIjoiZGlzY292ZXJ5In0."]
)
async def test_a_session_that_never_was_is_not_found(http, options, session_id):
    async with serving(front(**options)) as url:
        status, _ = await Wire(http, url).listed(session_id)
        assert status == 404


async def test_without_sessions_there_is_no_id_and_no_stream(http):
    for options in ({"keep_sessions": False}, {"session_secret": SECRET}):
        async with serving(front(**options)) as url:
            wire = Wire(http, url)
            assert (await wire.begin() is None) == ("keep_sessions" in options)
            assert (await wire.ask("tools/list"))[0] == 200
            for method in ("GET", "DELETE", "PUT"):
                assert (await http.request(method, url, headers=ACCEPT)).status_code == 405


async def test_a_session_hears_of_changes_on_the_stream_that_it_asked_for_last(http):
    server = front()
    async with serving(server) as url:
        wire = Wire(http, url)
        headers = {**ACCEPT, "mcp-session-id": await wire.begin()}
        await wire.listed(headers["mcp-session-id"])
        async with http.stream("GET", url, headers=headers) as first:
            async with http.stream("GET", url, headers=headers) as second:
                assert (first.status_code, second.status_code) == (200, 200)
                assert await first.aread() == b""
            statuses = await asyncio.gather(*(opened(http, url, headers) for _ in range(5)))
            assert statuses == [200] * 5
            async with http.stream("GET", url, headers=headers) as last:
                server.register_tool(Tool("new", execute=print))
                async for line in last.aiter_lines():
                    if line.startswith("data:"):
                        assert json.loads(line[5:])["method"] == "notifications/tools/list_changed"
                        break


async def test_a_stream_that_broke_off_is_opened_anew_by_a_client_that_would_resume_it(http):
    async with serving(front()) as url:
        session = await Wire(http, url).begin()
        headers = {**ACCEPT, "mcp-session-id": session, "last-event-id": "7"}
        async with http.stream("GET", url, headers=headers) as stream:
            assert stream.status_code == 200


@pytest.mark.parametrize("options", [{}, {"session_secret": SECRET}])
async def test_a_session_is_its_users_own(http, options):
    def users(token):
        return {"a": {"sub": "ada"}, "a2": {"sub": "ada"}, "b": {"sub": "bob"}}.get(token)

    async with serving(front(authenticate=users, **options)) as url:
        wire = Wire(http, url)
        session = await wire.begin(authorization="Bearer a")
        assert (await wire.listed(session, authorization="Bearer a2"))[0] == 200
        assert (await wire.listed(session, authorization="Bearer b"))[0] == 404
        assert (await wire.ask("tools/list", mcp_session_id=session))[0] == 401


async def test_any_worker_serves_a_signed_session_until_its_time_is_up(http):
    clock = ManualClock(1_000_000)
    workers = [front(session_secret=SECRET, clock=clock) for _ in range(2)]
    stranger = front(session_secret=SECRET[::-1], clock=clock)
    async with serving(workers[0]) as one, serving(workers[1]) as two, serving(stranger) as third:
        session = await Wire(http, one).begin(x_mcp_tool_mode="discovery")
        for url, status in ((one, 200), (two, 200), (third, 404)):
            assert (await Wire(http, url).listed(session))[0] == status
        clock.advance(1799)
        assert await Wire(http, two).listed(session) == (200, DISCOVERY)
        clock.advance(1)
        assert (await Wire(http, two).listed(session))[0] == 404
        async with client_of(two, mode="legacy") as client:
            assert await names(client) == NORMAL


ADA = {"name": "ada"}


def test_a_signed_id_cannot_be_changed_or_passed_on():
    clock = ManualClock(1_000_000)
    ids = SignedIds(SECRET.encode(), ttl_seconds=60, clock=clock)
    session = ids.issue("discovery", user=ADA)
    assert ids.read(session, user=dict(ADA)) == "discovery"
    assert ids.issue("discovery", user=ADA) != session
    for user in (None, "ada", {"name": "bob"}, str(ADA)):
        assert ids.read(session, user=user) is None
    body, _, signature = session.partition(".")
    for forged in (
        body,
        f"{body}.",
        f"{body}.{signature[:-1]}",
        f"{body}x.{signature}",
        f"{session}x",
        f".{signature}",
    ):
        assert ids.read(forged, user=ADA) is None
    for content in (
        b"no json",
        b"[]",
        b'{"mode":"other","began":0}',
        b'{"mode":"normal"}',
        b'{"mode":"normal","began":"x"}',
    ):
        body = base64.urlsafe_b64encode(content).rstrip(b"=").decode()
        assert ids.read(f"{body}.{ids._signature(body, ADA)}", user=ADA) is None
    assert ids.read(f"A.{ids._signature('A', ADA)}", user=ADA) is None


def session(name, **fields):
    return Session(mode="normal", rules=SessionRules(holds_for="session"), id=name, **fields)


def test_what_is_under_way_keeps_a_session_from_being_idle():
    clock, ended = ManualClock(), []
    table = SessionTable(10, ended=lambda each: ended.append(each.id), clock=clock)
    busy, idle, late = session("busy"), session("idle"), session("late")
    table.open(busy)
    table.open(idle)
    with table.serving(busy):
        clock.advance(5)
        table.open(late)
        clock.advance(5)
        assert table.get("idle", user=None) is None
        assert table.get("busy", user=None) is busy
        assert ended == ["idle"]
        with table.serving(busy):
            clock.advance(100)
        assert table.get("busy", user=None) is busy
    assert ended == ["idle", "late"]
    clock.advance(9)
    assert table.get("busy", user=None) is busy
    clock.advance(1)
    assert table.get("busy", user=None) is None
    assert len(table) == 0
    assert ended == ["idle", "late", "busy"]


def test_a_session_that_was_ended_is_not_brought_back_by_its_last_request():
    table = SessionTable(10, ended=lambda each: None, clock=ManualClock())
    one = session("one")
    table.open(one)
    with table.serving(one):
        table.close(one)
        table.close(one)
    assert table.get("one", user=None) is None


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"session_secret": "short"}, "at least 16 bytes, found 5"),
        ({"session_secret": SECRET, "keep_sessions": False}, "session_secret signs sessions"),
        ({"session_ttl_seconds": 0}, "session_ttl_seconds must be a number above 0"),
        ({"session_ttl_seconds": float("inf")}, "must be a finite number above 0, found inf"),
        ({"max_sessions": 0}, "max_sessions must be a whole number of at least 1, found 0"),
        ({"max_sessions": True}, "found True"),
        ({"max_sessions": None}, "found None"),
        ({"mode": "all"}, "mode must be 'normal' or 'discovery', found 'all'"),
        ({"top_k": 0}, "top_k must be a whole number from 1 to 100, found 0"),
        ({"top_k": 101}, "found 101"),
        ({"top_k": True}, "found True"),
        ({"result_format": "xml"}, "result_format must be 'json', 'markdown' or 'mcp'"),
        ({"filter": "no"}, "filter must be a function"),
        ({"filter": lambda tool, context: True}, "does not take one argument"),
        ({"search_tool_name": "a b"}, "can't be named 'a b'"),
        ({"search_tool_name": "call_tool"}, "need different names"),
        ({"providers_for": []}, "providers_for must be a function"),
        ({"authenticate": " "}, "authenticate must be a string that is not blank"),
        ({"search": "magic"}, "no search strategy 'magic'"),
    ],
)
def test_options_that_cannot_work_are_refused_at_once(options, problem):
    with pytest.raises(ConfigurationError, match=problem):
        ToolServer(**options)


@pytest.mark.slow
async def test_an_id_may_be_used_again_as_soon_as_its_answer_is_there(http):
    async with serving(front()) as url:
        wire = Wire(http, url)

        async def work():
            session = await wire.begin()
            return [(await wire.ask("tools/list", mcp_session_id=session))[0] for _ in range(40)]

        assert await asyncio.gather(*(work() for _ in range(4))) == [[200] * 40] * 4

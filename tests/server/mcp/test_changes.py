"""Clients are told when what they were listed has changed, and only then."""

import asyncio
import itertools
import threading

import pytest
from mcp import MCPError

from tests.server.mcp.changing import Ears, Heard, Shelf
from tests.server.mcp.support import (
    SECRET,
    WAYS,
    client_of,
    connected,
    create_issue,
    front,
    names,
    send_email,
    serving,
)
from tests.support import make
from tool_search_processor import Tool, tool
from tool_search_processor.server.mcp import ToolServer, hub
from tool_search_processor.server.mcp.client_requests import FrontRequest
from tool_search_processor.server.mcp.rules import SessionRules
from tool_search_processor.server.mcp.sessions import Session
from tool_search_processor.tools import ToolContext


@pytest.mark.parametrize("way", ["memory", "http"])
async def test_a_client_is_told_of_what_is_registered_and_taken_out(way):
    server, heard = front(), Heard()
    async with connected(server, way, message_handler=heard) as client:
        assert "new" not in await names(client)
        server.register_tool(make("new"))
        await heard.once()
        assert "new" in await names(client)
        await asyncio.to_thread(server.unregister_tools, "new")
        await heard.once()
        assert "new" not in await names(client)
    assert heard.count == 2


async def test_only_clients_whose_own_list_changes_are_told():
    server = ToolServer([create_issue], filter=lambda request: True)  # no inventory, which would change
    server.register_on_demand_tool(send_email)
    one, other = Heard(), Heard()
    async with (
        serving(server) as url,
        client_of(url, mode="legacy", message_handler=one) as normal,
        client_of(f"{url}?tool_mode=discovery", mode="legacy", message_handler=other) as discovery,
    ):
        await names(normal)
        await names(discovery)
        server.register_tool(make("new"))
        await one.once()
        assert "new" in await names(normal)
        assert await names(discovery) == ["search_tools", "call_tool"]
        server.unregister_tools("new", "send_email", "create_issue")
        await one.once()
    assert (one.count, other.count) == (2, 0)


async def test_a_session_rule_is_told_to_its_session_alone():
    server, heard, quiet = front(), Heard(), Heard()

    def hide(context):
        """Hide."""
        context.context["session_rules"].disable(tags=["github"])

    server.register_tool(Tool(name="hide", execute=lambda arguments, context: hide(context)))
    async with (
        serving(server) as url,
        client_of(url, mode="legacy", message_handler=heard) as client,
        client_of(url, mode="legacy", message_handler=quiet) as other,
    ):
        await client.call_tool("hide", {})
        await heard.once()
        assert "create_issue" not in await names(client)
        assert "create_issue" in await names(other)
    assert quiet.count == 0


@pytest.mark.parametrize("way", ["memory without handshake", "http without handshake"])
async def test_a_client_without_a_handshake_listens(way):
    server = front()
    async with connected(server, way) as client:
        async with client.listen(tools_list_changed=True) as stream:
            server.register_tool(make("new"))
            assert type(await asyncio.wait_for(anext(aiter(stream)), 10)).__name__ == "ToolsListChanged"
            assert "new" in await names(client)
        async with client.listen(tools_list_changed=True) as stream:
            server.end_streams()
            assert [event async for event in stream] == []


async def test_streams_have_a_limit(monkeypatch):
    monkeypatch.setattr(hub, "MAX_STREAMS", 1)
    async with (
        connected(front(), "memory without handshake") as client,
        client.listen(tools_list_changed=True),
    ):
        with pytest.raises(MCPError, match="Too many streams"):
            async with client.listen(tools_list_changed=True):
                pass


@pytest.mark.parametrize("options", [{}, {"providers_for": lambda context: []}], ids=["alone", "beside"])
async def test_a_provider_that_changes_by_itself_is_seen(monkeypatch, options):
    monkeypatch.setattr(hub, "POLL_SECONDS", 0.01)

    class Moving:
        name = "moving"
        count = 0

        def version(self):
            return self.count

        async def list_tools(self, context):
            return [make(f"tool_{self.count}")]

    provider, heard = Moving(), Heard()
    async with connected(ToolServer([provider], **options), message_handler=heard) as client:
        assert await names(client) == ["tool_0"]
        provider.count = 1
        await heard.once()
        assert await names(client) == ["tool_1"]


@pytest.mark.parametrize("way", ["memory", "http"])
async def test_a_client_is_told_of_resources_and_prompts_that_it_has_listed(monkeypatch, way):
    monkeypatch.setattr(hub, "POLL_SECONDS", 0.01)
    shelf, ears = Shelf(), Ears()
    async with connected(ToolServer([shelf]), way, message_handler=ears) as client:
        await client.list_resources()
        await client.list_resource_templates()
        await client.list_prompts()
        shelf.resources.append("b")
        shelf.templates.append("u")  # both are resources: one message
        await ears.resources.once()
        assert len((await client.list_resources()).resources) == 2
        assert len((await client.list_resource_templates()).resource_templates) == 2
        shelf.prompts.append("q")
        await ears.prompts.once()
        assert [each.name for each in (await client.list_prompts()).prompts] == ["p", "q"]
        await client.call_tool("hide", {})
        await ears.prompts.once()
        assert [each.name for each in (await client.list_prompts()).prompts] == ["q"]
        shelf.templates.clear()
        await ears.resources.once()
    assert ears.counts == (0, 2, 2)


async def test_no_client_is_told_of_what_it_never_listed_nor_of_another_session(monkeypatch):
    monkeypatch.setattr(hub, "POLL_SECONDS", 0.01)
    shelf, one, other = Shelf(), Ears(), Ears()
    async with (
        serving(ToolServer([shelf])) as url,
        client_of(url, mode="legacy", message_handler=one) as client,
        client_of(url, mode="legacy", message_handler=other) as quiet,
    ):
        await client.list_prompts()
        await quiet.list_resources()
        await client.call_tool("hide", {})
        await one.prompts.once()
        shelf.prompts.append("q")
        await one.prompts.once()
        shelf.resources.append("b")
        await other.resources.once()
    assert (one.counts, other.counts) == ((0, 0, 2), (0, 1, 0))


async def test_a_list_that_is_asked_for_while_others_are_looked_at_loses_none_of_them():
    """What was under way for the resources goes on when the client lists its prompts."""
    shelf, ears, looking, go_on = Shelf(), Ears(), asyncio.Event(), asyncio.Event()
    server = ToolServer([shelf])
    mark = server._handlers.mark

    async def slow(request, kind):
        found = await mark(request, kind)
        if kind == "resource" and not go_on.is_set():
            looking.set()
            await go_on.wait()
        return found

    server._handlers.mark = slow
    async with connected(server, message_handler=ears) as client:
        await client.list_resources()
        shelf.resources.append("b")
        server.notify_changed()
        await asyncio.wait_for(looking.wait(), 10)
        await client.list_prompts()
        go_on.set()
        await ears.resources.once()
    assert ears.counts == (0, 1, 0)


async def test_a_stream_tells_of_resources_and_prompts_where_it_is_asked_to(monkeypatch):
    monkeypatch.setattr(hub, "POLL_SECONDS", 0.01)
    shelf = Shelf()
    async with connected(ToolServer([shelf]), "memory without handshake") as client:
        wanted = {"resources_list_changed": True, "prompts_list_changed": True}
        async with client.listen(**wanted) as stream:
            events = aiter(stream)
            for grown, told in (
                (shelf.resources, "ResourcesListChanged"),
                (shelf.templates, "ResourcesListChanged"),
                (shelf.prompts, "PromptsListChanged"),
            ):
                grown.append("new")
                assert type(await asyncio.wait_for(anext(events), 10)).__name__ == told


@pytest.mark.parametrize(
    ("way", "options", "is_told"),
    [
        ("memory", {}, True),
        ("http", {}, True),
        ("http without handshake", {"keep_sessions": False}, True),
        ("http", {"keep_sessions": False}, False),
        ("http", {"session_secret": SECRET}, False),
    ],
)
async def test_changes_are_announced_where_they_are_told(way, options, is_told):
    async with connected(front(**options), way) as client:
        offered = client.server_capabilities
    for part in (offered.tools, offered.resources, offered.prompts):
        assert bool(part.list_changed) is is_told


async def test_a_rule_of_a_user_without_a_session_is_told_on_the_users_own_streams():
    server = front(authenticate=lambda token: token)

    @tool
    def leave_nothing(context: ToolContext) -> str:
        """Switch everything off."""
        return context.context["session_rules"].disable(names=["*"])

    server.register_on_demand_tool(leave_nothing)

    def as_user(name):
        return client_of(url, headers={"Authorization": f"Bearer {name}"})

    async with (
        serving(server) as url,
        as_user("ada") as ada,
        as_user("bob") as bob,
        ada.listen(tools_list_changed=True) as told,
    ):
        assert (await ada.call_tool("leave_nothing", {})).content[0].text == "user"
        async for _ in told:
            break
        assert await names(ada) == []
        assert "create_issue" in await names(bob)


async def test_one_client_that_cannot_be_looked_at_does_not_keep_the_others_from_hearing(caplog):
    server, heard = front(), Heard()
    async with serving(server) as url, client_of(url, mode="legacy", message_handler=heard) as client:
        await names(client)
        for each in server._hubs:
            strange = FrontRequest(session=Session(mode="normal", rules=None))  # which nobody can list
            each.listed(strange, pytest.fail, kind="tool", mark="")
        server.register_tool(make("new"))
        await heard.once()
        assert "new" in await names(client)
    assert "a client could not be notified of a change" in caplog.text


async def test_one_client_that_hangs_does_not_keep_the_others_from_hearing():
    hangs, heard = asyncio.Event(), Heard()

    async def providers_for(context):
        if context["headers"].get("x-hangs") and hangs.is_set():
            await asyncio.Event().wait()
        return []

    server = front(providers_for=providers_for, provider_timeout_seconds=None)
    async with (
        serving(server) as url,
        client_of(url, mode="legacy", headers={"x-hangs": "yes"}) as slow,
        client_of(url, mode="legacy", message_handler=heard) as client,
    ):
        assert await names(slow) == await names(client)
        hangs.set()
        for number in range(3):
            server.register_tool(make(f"new_{number}"))
            await heard.once()
            assert f"new_{number}" in await names(client)


async def test_the_lists_of_many_clients_are_not_all_looked_at_in_one_turn_of_the_loop():
    looked: list[str] = []

    async def mark(request, kind):
        looked.append(kind)
        return str(len(looked))

    async def tell(event):
        told.append(event)

    def session(name=None):
        return Session(mode="normal", rules=SessionRules(holds_for="session"), id=name)

    told, turns = [], []
    clients = hub.Hub(session(), mark=mark, version=lambda: None)
    async with clients.running():
        for number in range(50):
            await clients.watch(FrontRequest(session=session(str(number))), tell)
        clients.changed()
        while len(told) < 50:
            turns.append(len(looked))
            await asyncio.sleep(0)
        turns.append(len(looked))
    assert max(after - before for before, after in itertools.pairwise(turns)) < 5


async def test_changes_after_the_end_are_nobodys():
    server = front()
    async with connected(server):
        hubs = set(server._hubs)
    server.notify_changed()
    assert server._hubs == set()
    loop_of_old = threading.Thread(target=lambda: [each.changed() for each in hubs])
    loop_of_old.start()
    loop_of_old.join()


@pytest.mark.parametrize("way", WAYS)
async def test_no_client_is_promised_to_hear_of_a_single_resource(way):
    async with connected(ToolServer([Shelf()]), way) as client:
        assert not client.server_capabilities.resources.subscribe
        if way.endswith("without handshake"):
            wanted = {"resources_list_changed": True, "resource_subscriptions": ["doc://a"]}
            async with client.listen(**wanted) as stream:
                assert stream.honored.resource_subscriptions is None
                assert stream.honored.resources_list_changed

"""What is listed, found and callable in each mode."""

import subprocess
import sys

import pytest

from tests.server.mcp.support import (
    META,
    SECRET,
    WAYS,
    client_of,
    connected,
    create_issue,
    found,
    front,
    names,
    proxied,
    refusal,
    search,
    send_email,
    serving,
    text,
)
from tests.server.mcp.wire import Wire
from tests.support import Policy, make
from tool_search_processor.catalog import Catalog
from tool_search_processor.errors import ConfigurationError, DuplicateToolError
from tool_search_processor.providers import StaticProvider
from tool_search_processor.server.mcp import ToolServer, on_demand

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
ALL = ["create_issue", "list_issues", "send_email", "broken_printer"]


@pytest.mark.parametrize("way", WAYS)
async def test_normal_mode_lists_tools_and_hides_those_on_demand(way):
    async with connected(front(), way) as client:
        assert await names(client) == ["create_issue", *META]
        assert await found(client, query="list the issues of a repository") == ["list_issues"]
        assert await found(client, query="bugs") == ["list_issues"]
        assert await found(client, query="create issue") == ["list_issues"]  # what is listed isn't searched
        assert text(await client.call_tool("create_issue", {"repo": "a"})) == '{"repo":"a","title":"none"}'
        assert text(await client.call_tool("send_email", {"to": "a"})) == "sent to a"
        assert text(await proxied(client, "send_email", {"to": "b"})) == "sent to b"


@pytest.mark.parametrize("way", WAYS)
async def test_discovery_mode_lists_the_two_meta_tools_and_everything_is_found_and_callable(way):
    async with connected(front(mode="discovery"), way) as client:
        assert await names(client) == META
        assert (await found(client, query="create an issue"))[0] == "create_issue"
        assert "create_issue" in await found(client, query="ticket")  # a listed tool's own keyword
        assert await found(client, limit=100) == ALL
        assert text(await client.call_tool("create_issue", {"repo": "a"})) == '{"repo":"a","title":"none"}'
        assert text(await proxied(client, "create_issue", {"repo": "a"})) == '{"repo":"a","title":"none"}'


@pytest.mark.parametrize("way", ["http", "http without handshake"])
@pytest.mark.parametrize(
    ("default", "headers", "query", "expected"),
    [
        ("normal", {}, "", "normal"),
        ("normal", {"X-MCP-Tool-Mode": "discovery"}, "", "discovery"),
        ("normal", {"x-mcp-tool-mode": "DISCOVERY"}, "", "discovery"),
        ("normal", {}, "?tool_mode=discovery", "discovery"),
        ("normal", {"X-MCP-Tool-Mode": "normal"}, "?tool_mode=discovery", "normal"),
        ("normal", {"X-MCP-Tool-Mode": "normal"}, "?tool_mode=all", "normal"),  # the header counts
        ("normal", {"X-MCP-Tool-Mode": ""}, "?tool_mode=discovery", "discovery"),
        ("discovery", {}, "", "discovery"),
        ("discovery", {"X-MCP-Tool-Mode": "normal"}, "", "normal"),
    ],
)
async def test_a_client_chooses_its_mode_by_header_then_query_then_the_servers_own(
    way, default, headers, query, expected
):
    async with connected(front(mode=default), way, headers=headers, query=query) as client:
        assert await names(client) == (META if expected == "discovery" else ["create_issue", *META])


@pytest.mark.parametrize("way", ["http", "http without handshake"])
@pytest.mark.parametrize(
    ("header", "query", "told"),
    [
        ("all", "?tool_mode=discovery", "X-MCP-Tool-Mode is 'all', which is not a mode: 'normal' is taken"),
        ("", "?tool_mode=ALL", "tool_mode is 'all', which is not a mode: 'normal' is taken"),
        ("", "?tool_mode=%00%0a.", r"tool_mode is '\x00\n.', which is not a mode: 'normal' is taken"),
    ],
)
async def test_a_mode_that_there_is_not_is_the_default_with_one_warning(way, header, query, told, caplog):
    server = front()
    async with connected(server, way, headers={"X-MCP-Tool-Mode": header}, query=query) as client:
        assert await names(client) == await names(client) == ["create_issue", *META]
    assert caplog.text.count(told) == 1


@pytest.mark.parametrize("options", [{}, {"keep_sessions": False}, {"session_secret": SECRET}])
@pytest.mark.parametrize("version", [{}, {"mcp_protocol_version": "2026-07-28"}])
async def test_a_single_request_may_force_its_mode(http, options, version):
    def search_of(**more):
        return {"name": "search_tools", "arguments": {"query": "create an issue"}, **more}

    async with serving(front(**options)) as url:
        wire = Wire(http, url)
        session_id = None if version else await wire.begin()
        session = {"mcp_session_id": session_id} if session_id else {}
        meta = {"_meta": MODERN} if version else {}

        async def listed(**headers):
            _, _, said = await wire.ask(
                "tools/list", meta, **headers, **session, **version, mcp_method="tools/list"
            )
            return [each["name"] for each in said["result"]["tools"]]

        async def first_found(**headers):
            given = {**headers, **session, **version, "mcp_method": "tools/call", "mcp_name": "search_tools"}
            _, _, said = await wire.ask("tools/call", search_of(**meta), **given)
            return said["result"]["structuredContent"]["results"][0]["name"]

        assert await listed(x_mcp_tool_mode="force") == META
        assert await listed(x_mcp_tool_mode="Force-Discovery") == META
        assert await listed() == ["create_issue", *META]
        assert await first_found(x_mcp_tool_mode="force") == "create_issue"
        assert await first_found() == "list_issues"


async def test_a_session_that_began_in_discovery_mode_may_have_one_request_answered_in_normal_mode(http):
    async with serving(front()) as url:
        wire = Wire(http, url)
        session = await wire.begin(x_mcp_tool_mode="discovery")
        assert await wire.listed(session, x_mcp_tool_mode="force-normal") == (200, ["create_issue", *META])
        assert await wire.listed(session) == (200, META)


@pytest.mark.parametrize("way", WAYS)
async def test_the_servers_own_code_may_choose_the_mode_of_each_request(way):
    chosen = ["discovery", "normal", None]

    async def choose(context):
        assert context["mode"] == "normal"
        return chosen[0]

    seen = []

    def policy(request):
        seen.append(request.context["mode"])
        return True

    async with connected(front(mode_for=choose, filter=policy), way) as client:
        for listed in (META, ["create_issue", *META], ["create_issue", *META]):
            seen.clear()
            assert await names(client) == listed
            assert set(seen) == {chosen.pop(0) or "normal"}
            chosen.append("normal")


@pytest.mark.parametrize("answer", ["all", 1, OSError("no directory")])
async def test_a_choice_of_mode_that_fails_leaves_the_default(answer, caplog):
    def choose(context):
        if isinstance(answer, OSError):
            raise answer
        return answer

    async with connected(front(mode_for=choose)) as client:
        assert await names(client) == ["create_issue", *META]
    assert "mode_for failed for a request: 'normal' is taken" in caplog.text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("visible", ["create_issue", ["create_issue"], {"nobody", "create_issue"}])
async def test_what_is_always_visible_is_listed_in_discovery_too_and_left_out_of_results(way, visible):
    async with connected(front(mode="discovery", always_visible=visible), way) as client:
        assert await names(client) == ["create_issue", *META]
        assert "create_issue" not in await found(client, query="create an issue")
        assert await found(client, limit=100) == ALL[1:]
        listed = {each.name: each for each in (await client.list_tools()).tools}
        assert "There are 3 of them" in listed["search_tools"].description
        assert not (await client.call_tool("create_issue", {"repo": "a"})).is_error


async def test_tags_name_what_is_always_visible_on_demand_or_not():
    async with connected(front(always_visible=["mail", "list_issues"])) as client:
        assert await names(client) == ALL  # nothing is left to be found
    async with connected(front(always_visible=["mail"])) as client:
        assert await names(client) == ["create_issue", "send_email", "broken_printer", *META]
        assert await found(client, limit=100) == ["list_issues"]
    async with connected(front(mode="discovery", always_visible=["mail"])) as client:
        assert await names(client) == ["send_email", "broken_printer", *META]


async def test_what_is_always_visible_is_policys_matter_too_and_may_be_a_requests_own():
    def providers_for(context):
        return [make("own_tool", tags=["mail"])]

    options = {"filter": Policy(("active", "send_email")), "providers_for": providers_for}
    async with connected(front(mode="discovery", always_visible=["mail"], **options)) as client:
        assert await names(client) == ["broken_printer", "own_tool", *META]


@pytest.mark.parametrize("secret", [None, SECRET])
async def test_two_sessions_at_once_keep_the_modes_they_began_with_whatever_later_requests_say(secret):
    async with serving(front(session_secret=secret)) as url:
        headers = {"X-MCP-Tool-Mode": "discovery"}
        async with (
            client_of(url, mode="legacy") as normal,
            client_of(f"{url}?tool_mode=discovery", mode="legacy") as discovery,
        ):
            for _ in range(2):
                assert await names(normal) == ["create_issue", *META]
                assert await names(discovery) == META
                assert await found(normal, query="ticket") == ["list_issues"]
                assert "create_issue" in await found(discovery, query="ticket")
        async with client_of(url, mode="legacy", headers=headers) as client:
            assert await names(client) == META


async def test_without_sessions_each_request_says_its_own_mode():
    async with serving(front(keep_sessions=False)) as url:
        async with client_of(url, mode="legacy") as client:
            assert await names(client) == ["create_issue", *META]
        async with client_of(f"{url}?tool_mode=discovery", mode="legacy") as client:
            assert await names(client) == META


@pytest.mark.parametrize(
    ("tools", "mode", "expected"),
    [
        ([], "normal", []),
        ([], "discovery", []),
        ([create_issue], "normal", ["create_issue"]),
        ([create_issue], "discovery", META),
        ([on_demand(create_issue)], "normal", META),
        ([on_demand(create_issue), send_email], "normal", ["send_email", *META]),
    ],
)
async def test_meta_tools_are_listed_only_where_there_is_something_to_find(tools, mode, expected):
    async with connected(ToolServer(tools, mode=mode)) as client:
        assert await names(client) == expected
        # they answer all the same, as a client may have heard of them elsewhere
        assert bool((await search(client, query="issue"))["results"]) is (expected[-2:] == META)


async def test_the_meta_tools_names_can_be_chosen():
    server = front(search_tool_name="tool_search", call_tool_name="execute_tool")
    async with connected(server) as client:
        assert await names(client) == ["create_issue", "tool_search", "execute_tool"]
        answer = await search(client, "tool_search", query="send something to somebody")
        assert answer["message"] == "Found 1 tool. Run one with execute_tool."
        result = await proxied(client, "send_email", {"to": "a"}, proxy="execute_tool")
        assert text(result) == "sent to a"
        assert await refusal(client, "search_tools") == (
            "There is no tool 'search_tools' to call. Find tools with tool_search."
        )


async def test_the_meta_tools_tell_what_they_may_do():
    async with connected(front()) as client:
        listed = {each.name: each for each in (await client.list_tools()).tools}
    search_tool, call_tool = listed["search_tools"], listed["call_tool"]
    assert search_tool.title == "Search tools"
    assert search_tool.annotations.read_only_hint is True
    assert search_tool.output_schema["required"] == ["results", "total", "next_cursor", "message"]
    assert call_tool.title == "Call a tool"
    assert (call_tool.annotations.read_only_hint, call_tool.annotations.destructive_hint) == (False, True)
    assert "There are 3 of them, including those for: github (1), mail (2)." in search_tool.description


async def test_instructions_tell_of_the_search_where_there_is_one():
    for server, expected in (
        (ToolServer([create_issue]), None),
        (ToolServer([create_issue], instructions="Be quick."), "Be quick."),
        (ToolServer([on_demand(create_issue)]), "More tools are available than are listed."),
        (front(), "More tools are available than are listed."),
        (ToolServer([create_issue], mode="discovery"), "More tools are available than are listed."),
    ):
        async with connected(server) as client:
            assert (client.instructions or "").startswith(expected or "")
            assert (client.instructions is None) == (expected is None)


async def test_functions_and_tools_are_registered_alike_and_keywords_are_not_sent():
    def close_issue(number: int) -> str:
        """Close it."""
        return f"closed {number}"

    server = ToolServer()
    server.register_on_demand_tool(close_issue, "resolve", "finish")
    server.register_tool(send_email.replace(keywords=["secret word"]))
    async with connected(server) as client:
        listed = await client.list_tools()
        answer = await search(client, query="resolve")
        assert [result["name"] for result in answer["results"]] == ["close_issue"]
        assert text(await proxied(client, "close_issue", {"number": 3})) == "closed 3"
    sent = f"{listed.model_dump_json()}{answer}"
    assert "finish" not in sent
    assert "secret word" not in sent
    assert "on_demand" not in sent


@pytest.mark.parametrize(
    "tools",
    [
        [create_issue],
        (create_issue,),
        {"create_issue": create_issue},
        StaticProvider([create_issue]),
        Catalog([create_issue]),
        lambda context: [create_issue],
    ],
)
async def test_tools_come_in_any_form(tools):
    server = ToolServer(tools)
    server.register_tool(send_email)
    async with connected(server) as client:
        assert sorted(await names(client)) == ["create_issue", "send_email"]


def test_what_is_no_source_of_tools_is_refused():
    with pytest.raises(ConfigurationError, match="put it in a list"):
        ToolServer(create_issue)


def test_a_missing_sdk_is_told_in_one_sentence():
    code = "import sys; sys.modules['mcp'] = None; import tool_search_processor.server.mcp"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        'ImportError: ToolServer needs the MCP SDK: pip install "tool-search-processor[server]"'
    )


@pytest.mark.parametrize(("mode", "listed"), [("discovery", ["search_tools", "call_tool"]), ("normal", [])])
async def test_the_meta_tools_may_be_listed_before_there_is_anything_to_find(mode, listed):
    async with connected(ToolServer(mode=mode, search_when_empty=True)) as client:
        assert await names(client) == listed
    async with connected(ToolServer(mode=mode)) as client:
        assert await names(client) == []


async def test_a_tool_that_was_taken_out_can_be_registered_again():
    server = ToolServer([create_issue])
    async with connected(server) as client:
        for _ in range(3):
            server.register_tool(send_email)
            assert "send_email" in await names(client)
            server.unregister_tools("send_email")
        with pytest.raises(DuplicateToolError):
            server.register_tool(create_issue)

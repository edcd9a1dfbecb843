"""What a front takes after it was made: tools as decorators, transforms, and middleware around calls."""

import asyncio

import mcp_types as types
import pytest

from tests.server.mcp.support import (
    META,
    WAYS,
    client_of,
    connected,
    create_issue,
    found,
    front,
    list_issues,
    names,
    proxied,
    refusal,
    send_email,
    serving,
    text,
)
from tests.support import make
from tool_search_processor import Tool, tool
from tool_search_processor.catalog import Catalog
from tool_search_processor.components import Resource
from tool_search_processor.errors import (
    ConfigurationError,
    DuplicateToolError,
    ReservedToolNameError,
    ToolCallError,
)
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.transforms import (
    ArgTransform,
    Namespace,
    ToolTransform,
    ToolTransformConfig,
    Transform,
    Visibility,
)

# -- decorators


@pytest.mark.parametrize(
    ("name", "option"), [("search_tools", "search_tool_name"), ("call_tool", "call_tool_name")]
)
def test_a_meta_tool_s_name_is_refused_with_the_server_s_own_option(name, option):
    with pytest.raises(ReservedToolNameError, match=rf"another name \({option}=\)\Z"):
        ToolServer([Tool(name)])
    with pytest.raises(ReservedToolNameError, match="change search_tool_name or call_tool_name"):
        ToolServer().register_tool(Tool(name))
    with pytest.raises(ReservedToolNameError, match=r"\(search_tool_name=\)\Z"):
        ToolServer([Tool("load_tool")], search_tool_name="load_tool")


async def test_registering_is_a_decorator_with_and_without_arguments():
    server = ToolServer()

    @server.register_tool
    def plain(number: int) -> int:
        """Double a number."""
        return number * 2

    @server.register_tool()
    def bare() -> str:
        """Say nothing new."""
        return "bare"

    @server.register_tool(name="renamed", tags={"math"}, description="Halves a number.")
    async def halve(number: int) -> float:
        return number / 2

    @server.register_tool
    @tool(keywords=["thrice"])
    def triple(number: int) -> int:
        """Triple a number."""
        return number * 3

    assert plain(4) == 8
    assert bare() == "bare"
    assert await halve(4) == 2
    assert all(isinstance(each, Tool) for each in (plain, bare, halve, triple))
    async with connected(server) as client:
        assert await names(client) == ["plain", "bare", "renamed", "triple"]
        assert text(await client.call_tool("renamed", {"number": 4})) == "2.0"


async def test_registering_on_demand_is_a_decorator_with_and_without_keywords():
    server = ToolServer()

    @server.register_on_demand_tool
    def plain() -> str:
        """Say one thing."""
        return "plain"

    @server.register_on_demand_tool("frobnicate", "quux")
    def with_words() -> str:
        """Say another thing."""
        return "words"

    @server.register_on_demand_tool(keywords=["xyzzy"], tags={"odd"})
    def with_fields() -> str:
        """Say a third thing."""
        return "fields"

    assert (plain(), with_words(), with_fields()) == ("plain", "words", "fields")
    async with connected(server) as client:
        assert await names(client) == META
        assert await found(client, query="quux") == ["with_words"]
        assert await found(client, query="xyzzy") == ["with_fields"]
        assert await found(client, limit=100, tags=["odd"]) == ["with_fields"]


def test_what_is_registered_comes_back():
    server = ToolServer()
    assert server.register_tool(create_issue) is create_issue
    hidden = server.register_on_demand_tool(list_issues, "bugs")
    assert (hidden.name, hidden.keywords) == ("list_issues", ("bugs",))
    renamed = server.register_tool(create_issue, name="open_issue")
    assert renamed.name == "open_issue"
    for wrong in (None, 7, [create_issue]):
        with pytest.raises(ConfigurationError):
            server.register_tool(wrong)
    with pytest.raises(ConfigurationError):
        server.register_on_demand_tool(None)


# -- transforms


def described(name, text):
    return ToolTransform({name: ToolTransformConfig(description=text)})


@pytest.mark.parametrize("way", WAYS)
async def test_transforms_cover_registered_tools_and_those_that_come_later(way):
    server = front(transforms=[Namespace("v1")])
    server.add_transform(described("v1_send_email", "Sends a letter through the wire."))
    async with connected(server, way) as client:
        server.register_tool(make("later"))
        assert await names(client) == ["v1_create_issue", "v1_later", *META]
        assert (await found(client, query="a letter through the wire"))[0] == "v1_send_email"
        assert text(await proxied(client, "v1_send_email", {"to": "a"})) == "sent to a"
        await refusal(client, "send_email")
        server.add_transform(Visibility(False, names=["v1_later"]))
        assert await names(client) == ["v1_create_issue", *META]
        await refusal(client, "v1_later")


async def test_a_transform_covers_resources_and_is_told_to_clients():
    class Shelf:
        async def list_tools(self, context):
            return []

        async def list_resources(self, context):
            return [Resource(uri="doc://a", read=lambda: "a")]

    server = ToolServer([Shelf()])
    async with connected(server, "memory without handshake") as client:
        async with client.listen(resources_list_changed=True) as stream:
            server.add_transform(Namespace("x"))
            async for _ in stream:
                break
        assert [each.uri for each in (await client.list_resources()).resources] == ["doc://x/a"]


class Shouting(Transform):
    """Renames in capitals, by both of its methods."""

    async def list_tools(self, tools):
        return [each.replace(name=each.name.upper()) for each in tools]

    async def get_tool(self, name, call_next):
        inner = await call_next(name.lower())
        return inner and inner.replace(name=name)


async def test_a_request_that_is_under_way_keeps_the_transforms_it_began_with():
    catalog = Catalog([create_issue], transforms=[Shouting()])
    before = await catalog.view()
    catalog.add_transform(Namespace("n"))
    assert [each.name for each in before] == ["CREATE_ISSUE"]
    assert (await before.fetch("CREATE_ISSUE")).name == "CREATE_ISSUE"
    after = await catalog.view()
    assert (await after.fetch("n_CREATE_ISSUE")).name == "n_CREATE_ISSUE"
    assert [hit.name for hit in await catalog.search("create issue")] == ["n_CREATE_ISSUE"]


async def test_an_overlay_may_come_before_its_tool(caplog):
    server = ToolServer([create_issue], transforms=[described("send_email", "Sends a letter.")])
    server.add_transform(described("list_issues", "Lists bugs."))
    server.register_tool(send_email)
    server.register_tool(list_issues)
    async with connected(server) as client:
        listed = {each.name: each.description for each in (await client.list_tools()).tools}
        assert listed["send_email"] == "Sends a letter."
        assert listed["list_issues"] == "Lists bugs."
        assert caplog.text == ""
        server.add_transform(described("nobody", "x"))
        await names(client)
    assert "there is no tool 'nobody' to transform" in caplog.text


async def test_an_overlay_of_a_tool_that_never_comes_is_told(caplog):
    async with connected(ToolServer([create_issue], transforms=[described("send_email", "x")])) as client:
        await names(client)
    assert "there is no tool 'send_email' to transform" in caplog.text


async def test_a_transform_that_cannot_do_its_work_changes_nothing():
    server = front()
    with pytest.raises(ConfigurationError, match="nothing"):
        server.add_transform(
            ToolTransform({"send_email": ToolTransformConfig(arguments={"nothing": ArgTransform(name="x")})})
        )
    with pytest.raises(ConfigurationError, match="Namespace"):
        server.add_transform(Namespace)
    with pytest.raises(DuplicateToolError):
        server.add_transform(ToolTransform({"send_email": ToolTransformConfig(name="create_issue")}))
    with pytest.raises(ReservedToolNameError):
        server.add_transform(ToolTransform({"send_email": ToolTransformConfig(name="call_tool")}))
    async with connected(server) as client:
        assert await names(client) == ["create_issue", *META]


async def test_names_are_given_out_as_the_transforms_make_them():
    server = ToolServer([make("n_taken"), make("kept")], transforms=[Shouting()])
    with pytest.raises(DuplicateToolError):
        server.register_tool(make("Kept"))
    with pytest.raises(ReservedToolNameError):
        ToolServer(transforms=[ToolTransform({"a": ToolTransformConfig(name="call_tool")})]).register_tool(
            make("a")
        )
    registered = server.register_tool(make("mine"))
    server.add_transform(Namespace("n"))
    server.unregister_tools("mine")
    server.register_tool(registered)
    async with connected(server) as client:
        assert await names(client) == ["n_N_TAKEN", "n_KEPT", "n_MINE"]
    prefixed = ToolServer(transforms=[Namespace("v1")])
    prefixed.register_tool(make("call_tool"))
    async with connected(prefixed) as client:
        assert await names(client) == ["v1_call_tool"]


# -- middleware


@pytest.mark.parametrize("way", WAYS)
async def test_middleware_stands_around_each_call_of_a_tool_once(way):
    log = []

    async def audit(call, go_on):
        log.append((call.name, call.arguments, call.through_proxy, call.context["mode"]))
        result = await go_on(call)
        log.append((call.name, result.is_error))
        return result

    async with connected(front(middleware=[audit]), way) as client:
        await found(client, query="send")
        plain = await client.call_tool("create_issue", {"repo": "a"})
        assert plain.structured_content == {"repo": "a", "title": "none"}
        through = await proxied(client, "broken_printer")
        assert text(through) == "Error: OSError: out of paper"
        await refusal(client, "nobody")
        await proxied(client, "nobody")
    assert log == [
        ("create_issue", {"repo": "a"}, False, "normal"),
        ("create_issue", False),
        ("broken_printer", {}, True, "normal"),
        ("broken_printer", True),
    ]


async def test_middleware_may_change_a_call_answer_it_itself_or_refuse_it(caplog):
    async def change(call, go_on):
        return await go_on(call.replace(arguments={**call.arguments, "to": "bob"}))

    async def answer(call, go_on):
        if call.name == "list_issues":
            return ["none today"]
        return await go_on()

    def refuse(call, go_on):
        if call.name == "broken_printer":
            raise ToolCallError("The printer is locked until Monday.")
        return go_on(call)  # a plain function may hand the awaitable on

    async def fails(call, go_on):
        if call.name == "create_issue":
            raise RuntimeError("no audit log")
        return await go_on(call)

    server = front(middleware=[change, answer, refuse], mask_error_details=True)
    assert server.add_middleware(fails) is fails
    async with connected(server) as client:
        assert text(await client.call_tool("send_email", {"to": "a"})) == "sent to bob"
        assert text(await client.call_tool("list_issues", {"repo": "a"})) == '["none today"]'
        assert text(await client.call_tool("broken_printer", {})) == (
            "Error: The printer is locked until Monday."
        )
        failed = await client.call_tool("create_issue", {"repo": "a"})
        assert failed.is_error
        assert "no audit log" not in text(failed)
    assert "a middleware around the tool 'create_issue' failed: RuntimeError: no audit log" in caplog.text


async def test_the_first_middleware_is_the_outermost_and_sees_what_the_others_made():
    order = []

    def named(name):
        async def around(call, go_on):
            order.append(f"{name} in")
            result = await go_on(call)
            order.append(f"{name} out")
            return result.model_copy(update={"meta": {**(result.meta or {}), name: text(result)}})

        return around

    server = front(middleware=[named("one")])
    server.add_middleware(named("two"))
    async with connected(server) as client:
        result = await client.call_tool("send_email", {"to": "a"})
    assert order == ["one in", "two in", "two out", "one out"]
    assert result.meta["one"] == result.meta["two"] == "sent to a"


async def test_a_middleware_that_forgets_to_return_is_told_so(caplog):
    async def forgets(call, go_on):
        await go_on(call)

    async with connected(front(middleware=[forgets])) as client:
        result = await client.call_tool("send_email", {"to": "a"})
    assert result.is_error
    assert "a middleware returned None: return what `await next(call)` returned" in text(result)


async def test_middleware_may_limit_and_retry_and_a_cancelled_call_passes_through():
    tries, began = [], asyncio.Event()

    @tool
    async def flaky() -> str:
        """Work at the second try."""
        tries.append(1)
        if len(tries) < 2:
            raise OSError("not yet")
        return "worked"

    @tool
    async def wait() -> str:
        """Wait for a long time."""
        began.set()
        await asyncio.Event().wait()
        return "never"

    async def retry(call, go_on):
        result = await go_on(call)
        return await go_on(call) if result.is_error else result

    server = ToolServer([flaky, wait], middleware=[retry])
    async with serving(server) as url, client_of(url, mode="legacy") as client:
        assert text(await client.call_tool("flaky", {})) == "worked"
        call = asyncio.create_task(client.call_tool("wait", {}))
        await asyncio.wait_for(began.wait(), 10)
        call.cancel()
        assert text(await client.call_tool("flaky", {})) == "worked"


async def test_middleware_sees_who_calls():
    seen = []

    async def audit(call, go_on):
        seen.append((call.context["user"], call.context["headers"]["x-team"]))
        return await go_on(call)

    server = front(middleware=[audit], authenticate={"t": "ada"}.get)
    headers = {"Authorization": "Bearer t", "X-Team": "red"}
    async with connected(server, "http without handshake", headers=headers) as client:
        await client.call_tool("send_email", {"to": "a"})
    assert seen == [("ada", "red")]


async def test_middleware_may_answer_with_a_result_of_the_protocol():
    async def cached(call, go_on):
        return types.CallToolResult(content=[types.TextContent(text="from the cache")])

    async with connected(front(middleware=[cached])) as client:
        assert text(await client.call_tool("send_email", {"to": "a"})) == "from the cache"


@pytest.mark.parametrize("wrong", [7, "audit", [7], lambda call, go_on: None, [ToolServer]])
def test_what_is_no_middleware_is_refused(wrong):
    with pytest.raises(ConfigurationError, match="middleware must be a list of functions"):
        ToolServer(middleware=wrong)

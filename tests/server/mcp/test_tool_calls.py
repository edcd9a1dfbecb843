"""Calls: of listed tools, of hidden ones, and through the proxy."""

import asyncio
import dataclasses
import datetime as dt
import enum
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import mcp_types as types
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from tests.server.mcp.conformance_front import Everything
from tests.server.mcp.support import (
    WAYS,
    Waiting,
    connected,
    create_issue,
    found,
    front,
    list_issues,
    proxied,
    refusal,
    send_email,
    soon,
    text,
)
from tests.support import make, needs
from tool_search_processor import Tool, telemetry, tool
from tool_search_processor.errors import ConfigurationError, DuplicateToolError, ReservedToolNameError
from tool_search_processor.server.mcp import TARGET_META, ToolServer, on_demand
from tool_search_processor.tools import ToolContext


class Point(BaseModel):
    x: int
    at: dt.date = dt.date(2026, 1, 2)


@dataclasses.dataclass
class Pair:
    left: int
    right: str


class Colour(enum.Enum):
    RED = "red"


IMAGE = types.ImageContent(data="aGk=", mime_type="image/png")


@pytest.mark.parametrize("way", WAYS)
async def test_the_proxy_gives_what_the_tool_gives_and_tells_which_ran_with_which_hints(way):
    async with connected(front(), way) as client:
        direct = await client.call_tool("create_issue", {"repo": "a"})
        through = await proxied(client, "create_issue", {"repo": "a"})
    assert through.content == direct.content
    assert through.structured_content == direct.structured_content == {"repo": "a", "title": "none"}
    assert through.is_error is direct.is_error is False
    target = {"name": "create_issue", "annotations": {"destructiveHint": False}}
    assert through.meta[TARGET_META] == target
    assert TARGET_META not in (direct.meta or {})


@pytest.mark.parametrize("way", ["memory", "http without handshake"])
async def test_an_error_of_a_tool_is_an_error_result_either_way(way, caplog):
    async with connected(front(), way) as client:
        for result in (await client.call_tool("broken_printer", {}), await proxied(client, "broken_printer")):
            assert result.is_error
            assert text(result) == "Error: OSError: out of paper"
    assert "the tool 'broken_printer' failed: OSError" in caplog.text


@pytest.mark.parametrize(
    "name", ["send_email", "Send-Email", "send.email", " send_email ", "sendEmail", "mail.send_email"]
)
async def test_the_proxy_takes_a_name_as_a_model_writes_it(name):
    async with connected(front()) as client:
        assert text(await proxied(client, name, {"to": "a"})) == "sent to a"


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "send_email", "arguments": {"to": "a"}},
        {"name": "send_email", "parameters": {"to": "a"}},
        {"name": "send_email", "arguments": '{"to": "a"}'},
        {"tool_name": "send_email", "args": {"to": "a"}},
    ],
)
async def test_the_proxy_takes_arguments_as_a_model_writes_them(arguments):
    async with connected(front()) as client:
        assert text(await client.call_tool("call_tool", arguments)) == "sent to a"


@pytest.mark.parametrize("arguments", [{}, {"too": "a"}, {"to": 5}, "no json", [1]])
async def test_arguments_that_do_not_fit_are_answered_with_the_parameters(arguments):
    async with connected(front()) as client:
        result = await client.call_tool("call_tool", {"name": "send_email", "arguments": arguments})
    assert result.is_error
    assert "send_email was not run." in text(result)
    assert '"parameters":{"type":"object","properties":{"to":{"type":"string"}}' in text(result)


async def test_an_unknown_name_gets_suggestions_and_a_meta_tool_is_refused():
    async with connected(front()) as client:
        unknown = await proxied(client, "send_emial")
        assert unknown.is_error
        assert text(unknown) == (
            "Error: There is no tool 'send_emial' to call. Did you mean send_email? "
            "Find tools with search_tools."
        )
        assert await client.call_tool("send_emial", {}) == unknown
        for name in ("search_tools", "call_tool"):
            result = await proxied(client, name, {"query": "x"})
            assert result.is_error
            assert text(result) == f"Error: {name} can't be run through call_tool: call it directly."
        for nameless in ({}, {"name": ""}, {"name": 7}, {"name": None}):
            result = await client.call_tool("call_tool", nameless)
            assert result.is_error
            assert text(result).startswith(
                "Error: There is no tool '' to call. The call needs the tool's name as `name`, "
                "and the tool's arguments as `arguments`."
            )


@pytest.mark.parametrize(
    "name", ["", "a" * 100_000, "../../etc/passwd", "\x00\u202e", "x y\n", "__class__", "💥"]
)
async def test_hostile_names_are_unknown_names(name):
    async with connected(front(), "memory without handshake") as client:
        assert len(await refusal(client, name)) < 300
        result = await proxied(client, name)
        assert result.is_error
        assert len(text(result)) < 300


@pytest.mark.parametrize(
    ("value", "content", "structured"),
    [
        ("plain", "plain", None),
        (7, "7", None),
        (None, "null", None),
        ([1, 2], "[1,2]", None),
        ([], "[]", None),
        ({"a": float("nan")}, '{"a":NaN}', {"a": None}),
        (Point(x=1), '{"x":1,"at":"2026-01-02"}', {"x": 1, "at": "2026-01-02"}),
        (Pair(1, "\ud800"), None, None),
        (Pair(1, "b"), '{"left":1,"right":"b"}', {"left": 1, "right": "b"}),
        ({1: b"\xff"}, '{"1":"_w=="}', {"1": "_w=="}),
    ],
)
async def test_results_are_text_and_objects_are_data_too(value, content, structured):
    async with connected(ToolServer([make("give", execute=lambda: value)])) as client:
        result = await client.call_tool("give", {})
    assert not result.is_error
    assert content is None or text(result) == content
    assert content is None or result.structured_content == structured


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (IMAGE, [IMAGE]),
        ([types.TextContent(text="a"), IMAGE], [types.TextContent(text="a"), IMAGE]),
        (types.CallToolResult(content=[IMAGE], is_error=True), [IMAGE]),
    ],
)
async def test_content_of_the_protocol_passes_as_it_is(value, expected):
    async with connected(ToolServer([on_demand(make("draw", execute=lambda: value))])) as client:
        result = await proxied(client, "draw")
    assert result.content == expected
    assert result.is_error == getattr(value, "is_error", False)


async def test_an_object_that_was_promised_may_come_as_json_text():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tools = [
        make("as_text", execute=lambda: '{"n": 1}', output_schema=schema),
        make("as_list", execute=lambda: "[1, 2]", output_schema={"type": "array"}),
        make("as_string", execute=lambda: "[1, 2]", output_schema={"type": ["string", "null"]}),
        make("as_either", execute=lambda: "12", output_schema={"anyOf": [{"type": "string"}]}),
    ]
    async with connected(ToolServer(tools)) as client:
        listed = {each.name: each.output_schema for each in (await client.list_tools()).tools}
        assert listed["as_text"] == schema
        assert (await client.call_tool("as_text", {})).structured_content == {"n": 1}
        for name, value in (("as_list", [1, 2]), ("as_string", "[1, 2]"), ("as_either", "12")):
            assert (await client.call_tool(name, {})).structured_content == {"result": value}


class Node(BaseModel):
    name: str
    inner: list["Node"] = []


def returning(annotation, value):
    def give():
        """Give it."""
        return iter(value) if annotation == Iterator[int] else value

    give.__annotations__["return"] = annotation
    return give


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("annotation", "value", "structured"),
    [
        (str, "plain", {"result": "plain"}),
        (str, "5", {"result": "5"}),
        (str, {"a": 1}, {"result": '{"a":1}'}),
        (int, 7, {"result": 7}),
        (float, 0.5, {"result": 0.5}),
        (bool, True, {"result": True}),
        (int | None, None, {"result": None}),
        (list[str], [], {"result": []}),
        (list[int], [1, 2], {"result": [1, 2]}),
        (tuple[int, str], (1, "a"), {"result": [1, "a"]}),
        (set[int], {3}, {"result": [3]}),
        (Iterator[int], [1, 2], {"result": [1, 2]}),
        (list[Point], [Point(x=1)], {"result": [{"x": 1, "at": "2026-01-02"}]}),
        (Point | None, Point(x=1), {"result": {"x": 1, "at": "2026-01-02"}}),
        (Point | None, None, {"result": None}),
        (Node, Node(name="a", inner=[Node(name="b")]), {"name": "a", "inner": [{"name": "b", "inner": []}]}),
        (list[Node], [Node(name="a")], {"result": [{"name": "a", "inner": []}]}),
        (dt.date, dt.date(2026, 1, 2), {"result": "2026-01-02"}),
        (Decimal, Decimal("1.50"), {"result": "1.50"}),
        (Colour, Colour.RED, {"result": "red"}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (dict, {"result": 1}, {"result": 1}),
        (None, None, None),
        (Any, [1], None),
        (list, [IMAGE], None),
    ],
)
async def test_what_a_tool_says_it_returns_is_data_that_fits_its_output_schema(
    way, annotation, value, structured
):
    # The official client refuses what does not fit the schema that was listed, and what is missing.
    async with connected(ToolServer([returning(annotation, value)]), way) as client:
        (listed,) = (await client.list_tools()).tools
        assert (listed.output_schema is None) == (structured is None)
        assert listed.output_schema is None or listed.output_schema["type"] == "object"
        result = await client.call_tool("give", {})
    assert not result.is_error
    assert result.structured_content == structured
    is_wrapped = (result.meta or {}).get("fastmcp") == {"wrap_result": True}
    assert is_wrapped == (listed.output_schema or {}).get("x-fastmcp-wrap-result", False)


@pytest.mark.parametrize("way", ["memory", "http"])
@pytest.mark.parametrize(
    ("annotation", "value", "told"),
    [
        (int, "many", '`result` must be an integer, found the string "many"'),
        (list[int], [1, "b"], "`result[1]` must be an integer"),
        (list[int], None, "`result` must be an array"),
        (Point, {"x": "one"}, "`x` must be an integer"),
        (Point, "a point", "It is not a JSON object"),
        (Point, [Point(x=1)], "It is not a JSON object"),
        (Pair, {"left": 1}, "`right` is required but missing"),
        (dict[str, int], {"a": "b"}, "`a` must be an integer"),
        (int, types.CallToolResult(content=[], structured_content={"result": "x"}), "must be an integer"),
    ],
)
async def test_a_result_that_breaks_the_listed_schema_is_an_error_that_holds_it(way, annotation, value, told):
    async with connected(ToolServer([returning(annotation, value)]), way) as client:
        await client.list_tools()
        result = await client.call_tool("give", {})
    assert result.is_error
    assert result.structured_content is None
    assert result.content[0].text.startswith(
        "Error: give was run, but what it returned does not fit its output schema: "
    )
    assert told in result.content[0].text
    if value == "many":
        assert result.content[1].text == "many"


async def test_through_the_proxy_a_result_need_not_fit():
    server = ToolServer()
    server.register_on_demand_tool(returning(int, "many"))
    async with connected(server) as client:
        result = await proxied(client, "give")
    assert (result.is_error, text(result)) == (False, "many")


async def test_data_inside_an_object_is_told_through_the_proxy_too():
    server = ToolServer()
    server.register_on_demand_tool(returning(list[int], [1]))
    async with connected(server) as client:
        result = await proxied(client, "give")
    assert result.structured_content == {"result": [1]}
    assert result.meta["fastmcp"] == {"wrap_result": True}
    assert result.meta[TARGET_META]["name"] == "give"


async def test_references_in_an_output_schema_hold_inside_the_object_too():
    tree = {"type": "array", "items": {"$ref": "#"}, "maxItems": 1}
    named = {"$ref": "#/$defs/words", "$defs": {"words": {"type": "array", "items": {"type": "string"}}}}
    tools = [
        make("tree", execute=lambda: [[[]]], output_schema=tree),
        make("named", execute=lambda: ["a"], output_schema=named),
        make("endless", execute=lambda: 1, output_schema={"$ref": "#"}),
    ]
    async with connected(ToolServer(tools)) as client:
        await client.list_tools()
        assert (await client.call_tool("tree", {})).structured_content == {"result": [[[]]]}
        assert (await client.call_tool("named", {})).structured_content == {"result": ["a"]}


@pytest.mark.parametrize(
    ("data", "schema", "structured"),
    [
        ([1], {"type": "array"}, {"result": [1]}),
        ([1], None, {"result": [1]}),
        ({"result": [1]}, {"type": "array"}, {"result": [1]}),
        ({"a": 1}, None, {"a": 1}),
        ({"a": 1}, {}, {"a": 1}),
        ({"a": 1}, {"anyOf": [{"type": "object"}, {"type": "null"}]}, {"result": {"a": 1}}),
    ],
)
async def test_a_result_of_the_protocol_has_an_object_as_its_data(data, schema, structured):
    given = types.CallToolResult(content=[], structured_content=data)
    tools = [make("give", execute=lambda: given, output_schema=schema)]
    async with connected(ToolServer(tools), "http") as client:
        await client.list_tools()
        assert (await client.call_tool("give", {})).structured_content == structured


async def test_a_tool_without_a_title_gets_one_from_its_name():
    tools = [
        make("create_issue"),
        make("listHTTPRoutes"),
        make("v2_get-all"),
        make("_"),
        make("titled", metadata={"title": "Something else"}),
        make("hinted", annotations={"title": "A hint"}),
    ]
    async with connected(ToolServer(tools)) as client:
        titles = {each.name: each.title for each in (await client.list_tools()).tools}
    assert titles == {
        "create_issue": "Create Issue",
        "listHTTPRoutes": "List HTTPRoutes",
        "v2_get-all": "V2 Get All",
        "_": "_",
        "titled": "Something else",
        "hinted": None,
    }


async def test_an_odd_definition_does_not_spoil_the_list():
    odd = make(
        "odd", annotations={"readOnlyHint": "perhaps", "title": 7}, metadata={"title": ["no"], "_meta": "no"}
    )
    deep = {"type": "object", "properties": {"when": {"const": float("inf")}}}
    async with connected(ToolServer([odd, make("fine"), make("deep", parameters=deep)])) as client:
        listed = (await client.list_tools()).tools
    assert [each.name for each in listed] == ["odd", "fine", "deep"]
    assert listed[0].annotations is None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["count", "count_in_a_thread"])
async def test_progress_comes_through_and_before_the_result(way, name):
    @tool
    async def count(context: ToolContext) -> str:
        """Count."""
        for number in range(3):
            context.context["report_progress"](number, 3, f"at {number}")
        return "counted"

    @tool
    def count_in_a_thread(context: ToolContext) -> str:
        """Count in a thread."""
        for number in range(3):
            context.context["report_progress"](number, 3, f"at {number}")
        return "counted"

    reports = []

    async def note(progress, total, message):
        reports.append((progress, total, message))

    server = ToolServer([on_demand(count), on_demand(count_in_a_thread)])
    async with connected(server, way) as client:
        result = await client.call_tool("call_tool", {"name": name}, progress_callback=note)
        assert text(result) == "counted"
        assert reports == [(0, 3, "at 0"), (1, 3, "at 1"), (2, 3, "at 2")]
        assert text(await client.call_tool(name, {})) == "counted"  # nobody asked: nothing is sent
        assert len(reports) == 3


async def test_a_tool_knows_its_caller():
    seen: list[ToolContext] = []

    @tool
    def who(context: ToolContext) -> str:
        """Tell who."""
        seen.append(context)
        return "you"

    async with connected(ToolServer([who], mode="discovery"), "http") as client:
        await client.call_tool("who", {})
        await client.call_tool("who", {})
    first, second = seen
    assert first.context["user"] is None
    assert first.context["headers"]["Mcp-Protocol-Version"] == "2025-11-25"
    assert first.context["mode"] == "discovery"
    assert first.thread_id == first.context["session_id"] == second.thread_id
    assert first.run_id != second.run_id
    assert first.tool_call_id != second.tool_call_id
    with pytest.raises(TypeError):
        first.context["user"] = "me"


@pytest.mark.parametrize("way", ["memory", "http", "http without handshake"])
async def test_a_call_whose_client_gives_up_is_cancelled(way):
    waiting, server = Waiting(), front()
    server.register_on_demand_tool(waiting.tool)
    async with connected(server, way) as client:
        call = asyncio.create_task(proxied(client, "wait"))
        await soon(waiting.began)
        call.cancel()
        await soon(waiting.ended)
        assert (await found(client, query="send e-mail"))[0] == "send_email"


async def test_what_is_cancelled_inside_a_tool_is_an_answer():
    @tool
    async def give_up() -> str:
        """Cancel itself."""
        raise asyncio.CancelledError

    @tool
    def leave() -> str:
        """Leave the program."""
        raise SystemExit(3)

    async with connected(ToolServer([give_up, leave, Tool(name="bare")])) as client:
        assert (
            text(await client.call_tool("give_up", {})) == "Error: give_up was cancelled before it answered."
        )
        assert text(await client.call_tool("leave", {})) == "Error: SystemExit: 3"
        assert "is a definition only" in text(await client.call_tool("bare", {}))


async def test_names_are_given_out_once():
    server = ToolServer([create_issue])
    with pytest.raises(DuplicateToolError, match="one from tool-search, one from register_tool"):
        server.register_tool(create_issue)
    server.register_tool(send_email)
    with pytest.raises(DuplicateToolError):
        server.register_on_demand_tool(send_email)
    for name in ("search_tools", "call_tool"):
        with pytest.raises(ReservedToolNameError, match="rename it, or change search_tool_name"):
            server.register_tool(make(name))
        with pytest.raises(ReservedToolNameError):
            ToolServer([make(name)])
    server.unregister_tools("send_email", "nothing")
    server.register_on_demand_tool(send_email)
    async with connected(server) as client:
        assert await found(client) == ["send_email"]


@pytest.mark.slow
async def test_many_calls_at_once_get_their_own_answers():
    async with connected(front(), "http") as client:
        calls = (proxied(client, "send_email", {"to": str(number)}) for number in range(40))
        assert [text(each) for each in await asyncio.gather(*calls)] == [f"sent to {n}" for n in range(40)]


async def test_a_pool_of_tools_is_shared_by_several_fronts():
    tools = [list_issues, needs("pick", "what")]
    one, other = ToolServer(tools), ToolServer(tools, mode="discovery")
    async with connected(one) as first, connected(other) as second:
        assert [each.name for each in (await first.list_tools()).tools] == ["list_issues", "pick"]
        assert await found(second) == ["list_issues", "pick"]


async def answer(context, params):
    return types.ElicitResult(action="accept", content={"username": "ada", "email": "a@b"})


@pytest.mark.parametrize("way", ["memory", "http"])
async def test_a_tool_may_ask_the_user_through_the_sdks_own_context(way):
    async with connected(ToolServer([Everything()]), way, elicitation_callback=answer) as client:
        result = await client.call_tool("test_elicitation", {"message": "Who?"})
        assert text(result).startswith("User response: accept, content: ")
        assert '"ada"' in text(result)


async def test_what_the_conformance_suite_asks_for_is_there():
    logged = []

    async def log(params):
        logged.append(params.data)

    hooks = {"logging_callback": log, "elicitation_callback": answer}
    async with connected(ToolServer([Everything()]), **hooks) as client:
        for listed in (await client.list_tools()).tools:
            if listed.input_schema.get("required"):
                continue
            result = await client.call_tool(listed.name, {})
            assert result.is_error == (listed.name == "test_error_handling")
        for resource in (await client.list_resources()).resources:
            assert (await client.read_resource(resource.uri)).contents
        for prompt in (await client.list_prompts()).prompts:
            given = {argument.name: "test://x" for argument in prompt.arguments or ()}
            assert (await client.get_prompt(prompt.name, given)).messages
    assert logged == ["Tool execution started", "Tool processing data", "Tool execution completed"]


async def test_searches_and_calls_leave_spans_without_what_was_asked(monkeypatch):
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_tracer", lambda: provider.get_tracer("test"))
    async with connected(front()) as client:
        await found(client, query="send hunter2")
        await proxied(client, "send_email", {"to": "hunter2"})
        await client.call_tool("broken_printer", {})
    spans = exporter.get_finished_spans()
    provider.shutdown()
    assert [(span.name, span.status.status_code.name) for span in spans] == [
        ("tool_search.search", "UNSET"),
        ("execute_tool send_email", "UNSET"),
        ("execute_tool broken_printer", "ERROR"),
    ]
    assert dict(spans[0].attributes)[telemetry.QUERY_LENGTH] == 12
    assert all("hunter2" not in span.to_json() for span in spans)


@pytest.mark.parametrize(
    ("way", "wanted", "expected"),
    [
        ("memory", None, ["debug", "info", "error"]),
        ("memory", "info", ["info", "error"]),
        ("http", "error", ["error"]),
        ("memory without handshake", None, []),
        ("http without handshake", "info", ["info", "error"]),
    ],
)
async def test_a_tool_writes_to_its_clients_log_what_the_client_wants(way, wanted, expected):
    @tool
    def tell(context: ToolContext) -> str:
        """Tell."""
        for level in ("debug", "info", "error"):
            context.context["log"](level, {"at": level, "odd": float("nan")}, logger="teller")
        with pytest.raises(ConfigurationError, match="found 'loud'"):
            context.context["log"]("loud", "x")
        return "told"

    heard = []

    async def log(params):
        heard.append((params.level, params.data, params.logger))

    opted = {"log_level": wanted} if way.endswith("without handshake") else {}
    async with connected(ToolServer([tell]), way, logging_callback=log, **opted) as client:
        if wanted and not opted:
            params = types.SetLevelRequestParams(level=wanted)
            await client.session.send_request(types.SetLevelRequest(params=params), types.EmptyResult)
        assert text(await client.call_tool("tell", {})) == "told"
    assert heard == [(level, {"at": level, "odd": None}, "teller") for level in expected]

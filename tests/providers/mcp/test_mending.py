import json
import sys

import pytest

from tests.providers.mcp.asking import SCRIPTED
from tool_search_processor import Catalog
from tool_search_processor.providers import MCPProvider
from tool_search_processor.providers.mcp.left_out import LeftOut
from tool_search_processor.providers.mcp.screening import Screen

VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
AS_RESULTS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}  # what 2026-07-28 asks for, too


def screened(method, key, *entries, version="2025-11-25"):
    """Return what is left of a list, and the tools that were left out."""
    left_out = LeftOut("s")
    answer = {key: [*entries], **AS_RESULTS}
    found = Screen(left_out).screened(method, answer, version=lambda: version)[key]
    left_out.end()
    return found, left_out.tools


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("given", "mended"),
    [
        ({}, {"type": "object"}),
        ({"inputSchema": None}, {"type": "object"}),
        ({"inputSchema": {}}, {"type": "object"}),
        ({"inputSchema": []}, {"type": "object"}),
        ({"inputSchema": {"type": "Object"}}, {"type": "object"}),
        ({"inputSchema": {"type": None}}, {"type": "object"}),
        ({"inputSchema": {"type": ["object", "null"]}}, {"type": "object"}),
        (
            {"inputSchema": {"properties": {"a": {"type": "string"}}, "required": ["a"]}},
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        ),
        ({"inputSchema": {"anyOf": [{}, {}]}}, {"type": "object", "anyOf": [{}, {}]}),
        ({"inputSchema": {"properties": [], "$schema": 7}}, {"type": "object", "properties": {}}),
        (
            {"inputSchema": {"properties": {"a": "text", "b": True}, "required": None}},
            {"type": "object", "properties": {"a": {}, "b": True}, "required": []},
        ),
    ],
)
def test_a_schema_of_arguments_that_is_a_little_wrong_is_mended(given, mended, version):
    (entry,), left_out = screened("tools/list", "tools", {"name": "a", **given}, version=version)
    assert (entry, left_out) == ({"name": "a", "inputSchema": mended}, ())


@pytest.mark.parametrize(
    "extra",
    [
        {"outputSchema": {"type": "array"}},
        {"annotations": "destructive"},
        {"icons": {"src": "x"}},
        {"execution": {"taskSupport": "sometimes"}},
        {"title": 7, "description": ["a"], "_meta": 3},
    ],
)
def test_what_is_wrong_beside_name_and_arguments_is_left_out_of_the_entry(extra):
    good = {"name": "a", "inputSchema": {"type": "object"}}
    assert screened("tools/list", "tools", {**good, **extra}) == ([good], ())


def test_resources_and_prompts_are_mended_as_well():
    assert screened("resources/list", "resources", {"uri": "a://b", "size": "big"})[0] == [
        {"uri": "a://b", "name": "a://b"}
    ]
    templates = screened("resources/templates/list", "resourceTemplates", {"uriTemplate": "a://{b}"})[0]
    assert templates == [{"uriTemplate": "a://{b}", "name": "a://{b}"}]
    assert screened("prompts/list", "prompts", {"name": "p", "arguments": "none"})[0] == [{"name": "p"}]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"inputSchema": {"type": "object"}}, "name: Field required"),
        ({"name": "a", "inputSchema": {"type": "array"}}, "inputSchema.type: Input should be 'object'"),
        ({"name": "a", "inputSchema": "an object"}, "inputSchema"),
        ("a tool", "Input should be"),
    ],
)
def test_what_cannot_be_mended_is_left_out_with_the_reason(entry, reason, caplog):
    kept, (left_out,) = screened("tools/list", "tools", entry)
    assert kept == []
    assert reason in left_out.reason
    assert reason in caplog.text


def test_a_tool_with_a_bad_header_is_left_out_where_the_protocol_asks_for_it():
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "no header"}}}
    entry = {"name": "a", "inputSchema": schema}
    kept, (left_out,) = screened("tools/list", "tools", entry, version="2026-07-28")
    assert (kept, left_out.name) == ([], "a")
    assert "x-mcp-header" in left_out.reason
    assert screened("tools/list", "tools", entry) == ([entry], ())


def serving(answers, **options):
    return MCPProvider.stdio(sys.executable, [SCRIPTED, json.dumps(answers)], name="s", **options)


def text(words):
    return {"type": "text", "text": words}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("given", "content"),
    [
        ({"content": "done"}, [text("done")]),
        ({"content": [text("one"), text("two")]}, [text("one"), text("two")]),
        ({"content": text("done")}, [text("done")]),
        ({"content": ""}, []),
        ({"content": {}}, []),
        ({"content": None}, []),
        ({}, []),
        ({"toolResult": "done"}, [text("done")]),
        ({"toolResult": {"n": 1}}, [text('{"n": 1}')]),
        ({"toolResult": [1, "\u00e9"]}, [text('[1, "\u00e9"]')]),
        ({"toolResult": 0}, [text("0")]),
        ({"toolResult": None}, []),
        ({"toolResult": "old", "content": [text("new")]}, [text("new")]),
    ],
)
def test_results_of_careless_and_of_old_servers_are_read(given, content, version):
    answer = {**AS_RESULTS, **given}
    found = Screen(LeftOut("s")).screened("tools/call", answer, version=lambda: version)
    assert found["content"] == content


@pytest.mark.parametrize(
    ("method", "key", "given", "expected"),
    [
        ("resources/read", "contents", "words", [{"uri": "", "text": "words"}]),
        ("resources/read", "contents", {"uri": "a://b", "text": "x"}, [{"uri": "a://b", "text": "x"}]),
        ("prompts/get", "messages", "hi", [{"role": "user", "content": text("hi")}]),
        ("prompts/get", "messages", [{"role": "assistant", "content": "hi"}],
         [{"role": "assistant", "content": text("hi")}]),
        ("prompts/get", "messages", {"role": "user", "content": [text("a"), text("b")]},
         [{"role": "user", "content": text("a")}, {"role": "user", "content": text("b")}]),
    ],
)  # fmt: skip
def test_strings_in_the_place_of_contents_and_messages_are_read(method, key, given, expected):
    answer = {**AS_RESULTS, key: given}
    found = Screen(LeftOut("s")).screened(method, answer, version=lambda: "2025-11-25")
    assert found[key] == expected


def test_content_that_cannot_be_read_keeps_its_address_and_is_told_in_short():
    uri = f"file:///{'a' * 200}"
    answer = {**AS_RESULTS, "contents": [{"uri": uri, "type": "x" * 200, "blob": 7}]}
    found = Screen(LeftOut("s")).screened("resources/read", answer, version=lambda: "2025-11-25")
    note = f"[{'x' * 100}…: content that can't be read, not shown]"
    assert found["contents"] == [{"uri": uri, "text": note}]


def test_a_name_of_any_length_is_told_in_short(caplog):
    caplog.set_level("INFO")
    entry = {"name": "a" * 200, "inputSchema": {}}
    assert screened("tools/list", "tools", entry)[0][0]["name"] == "a" * 200
    (left_out,) = screened("tools/list", "tools", {"name": "a" * 200, "inputSchema": 7})[1]
    assert left_out.name == f"{'a' * 100}…"
    assert [f"{'a' * 101}" in message for message in caplog.messages] == [False, False]


async def test_a_tool_whose_result_is_a_string_answers_with_it():
    tools = [{"name": "old", "inputSchema": {"type": "object"}}]
    for result in ({"content": "42 rows"}, {"toolResult": "42 rows"}):
        async with serving({"tools/list": {"tools": tools}, "tools/call": result}) as provider:
            (tool,) = await provider.list_tools({})
            assert await tool.call({}) == "42 rows"


def test_each_entry_without_a_name_is_a_row_of_its_own():
    schema = {"inputSchema": {"type": "object"}}
    kept, left_out = screened("tools/list", "tools", *[schema] * 5, {"name": "a", **schema}, "no tool")
    assert [entry["name"] for entry in kept] == ["a"]
    assert [tool.name for tool in left_out] == [""] * 6


async def test_what_a_server_lists_in_vain_stands_in_the_status_of_the_catalog(caplog):
    schema = {"type": "object"}
    tools = [
        {"name": "whoami", "inputSchema": {}},
        {"name": "list", "inputSchema": {"type": "array"}},
        {"name": "", "inputSchema": schema},
        {"name": "train", "inputSchema": schema, "execution": {"taskSupport": "required"}},
        {"name": "either", "inputSchema": schema, "execution": {"taskSupport": "optional"}},
        {"name": "whoami", "description": "Another.", "inputSchema": schema},
    ]
    answers = {"tools/list": {"tools": tools}, "tools/call": {"content": []}}
    async with serving(answers) as provider:
        catalog = Catalog([provider])
        for _ in range(2):
            await catalog.refresh()
            assert [tool.name for tool in await catalog.list_tools()] == ["whoami", "either"]
            refused = {tool.name: tool.reason for tool in catalog.status().refused}
            assert list(refused) == ["list", "whoami", "", "train"]
        assert "can only be called as a task (execution.taskSupport is 'required')" in refused["train"]
        assert refused["whoami"] == "the server lists another of this name before it"
        assert {tool.provider for tool in catalog.status().refused} == {"s"}
        assert sum("is left out" in message for message in caplog.messages) == 4


@pytest.mark.parametrize("has", [(), ("resources/list",), ("resources/templates/list",), ("prompts/list",)])
async def test_a_server_that_has_some_lists_only_is_up(has, caplog):
    empty = {"resources": [], "resourceTemplates": [], "prompts": []}
    async with serving({"tools/list": {"tools": []}, **dict.fromkeys(has, empty)}) as provider:
        catalog = Catalog([provider])
        await catalog.list_tools()
        listed = (catalog.list_resources, catalog.list_resource_templates, catalog.list_prompts)
        assert [list(await each()) for each in listed] == [[], [], []]
        (status,) = catalog.status().providers
        assert (status.up, status.error) == (True, None)
    assert caplog.messages == []


async def test_a_list_that_fails_otherwise_is_told():
    broken = {"error": {"code": -32603, "message": "disk full"}}
    async with serving({"tools/list": {"tools": []}, "prompts/list": broken}) as provider:
        catalog = Catalog([provider])
        await catalog.list_tools()
        assert not await catalog.list_prompts()
        (status,) = catalog.status().providers
        assert (status.up, "disk full" in status.error) == (False, True)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"structuredContent": {"n": 1}}, '{"n": 1}'),
        ({"content": None, "structuredContent": {"n": 1}}, '{"n": 1}'),
        ({"content": [], "structuredContent": [1, 2]}, '{"result": [1, 2]}'),
        ({"content": {"type": "text", "text": "one block"}}, "one block"),
    ],
)
async def test_a_result_of_a_form_that_the_protocol_does_not_have_is_read(given, told):
    tools = [{"name": "a", "inputSchema": {"type": "object"}}]
    async with serving({"tools/list": {"tools": tools}, "tools/call": given}) as provider:
        (tool,) = await provider.list_tools({})
        assert await tool.call({}) == told


def test_a_result_that_asks_for_more_is_left_as_it_is():
    asks = {"resultType": "input_required", "inputRequests": {}}
    assert Screen(LeftOut("s")).screened("tools/call", asks, version=lambda: "2026-07-28") == asks

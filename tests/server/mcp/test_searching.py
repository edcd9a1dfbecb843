"""The search tool's answer: always one shape, whatever is asked."""

import asyncio
import json
import math
from itertools import chain

import jsonschema
import mcp_types as types
import pytest

from tests.server.mcp.support import (
    WAYS,
    connected,
    create_issue,
    found,
    front,
    list_issues,
    names,
    search,
    text,
)
from tests.support import Down, make, needs
from tool_search_processor.search.protocol import Hit
from tool_search_processor.search.regex import RegexIndex
from tool_search_processor.server.mcp import ToolServer, on_demand

MANY = [on_demand(make(f"tool_{number:03}", f"Does thing {number}.")) for number in range(120)]


async def every(client, **arguments):
    """Return all names that a search finds, page by page."""
    pages = []
    answer = await search(client, **arguments)
    while True:
        pages.append([result["name"] for result in answer["results"]])
        if answer["next_cursor"] is None:
            return pages
        answer = await search(client, **arguments, cursor=answer["next_cursor"])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": ""},
        {"query": "   "},
        {"query": None},
        {"query": []},
        {"query": "e-mail"},
        {"query": ["e-mail", "issues"]},
        {"query": '["e-mail", "issues"]'},
        {"query": "xyzzy"},
        {"query": "issue", "tags": ["github"]},
        {"query": "issue", "tags": ["nowhere"]},
        {"query": {"what": 1}, "limit": "many", "tags": 7, "cursor": 9},
        {"query": "\x00\ud800\u202e", "unknown": True},
        {"query": "issue " * 5000},
    ],
)
async def test_the_answer_always_has_the_shape_that_is_promised(arguments):
    async with connected(front(), "memory without handshake") as client:
        listed = {each.name: each for each in (await client.list_tools()).tools}
        answer = await search(client, **arguments)
    jsonschema.validate(answer, listed["search_tools"].output_schema)
    assert answer["message"]


async def test_results_hold_what_a_call_needs():
    async with connected(front()) as client:
        answer = await search(client, query="list the issues of a repository")
    assert answer == {
        "results": [
            {
                "name": "list_issues",
                "title": None,
                "description": "List the issues of a repository.",
                "namespace": "github",
                "score": answer["results"][0]["score"],
                "parameters": {
                    "type": "object",
                    "properties": {"repo": {"type": "string"}},
                    "additionalProperties": False,
                    "required": ["repo"],
                },
                "annotations": {"readOnlyHint": True},
            }
        ],
        "total": 1,
        "next_cursor": None,
        "message": "Found 1 tool. Run one with call_tool.",
    }
    assert 0 < answer["results"][0]["score"] <= 1


async def test_an_empty_query_lists_everything_page_by_page():
    async with connected(ToolServer(MANY)) as client:
        first = await search(client)
        assert [result["name"] for result in first["results"]] == [tool.name for tool in MANY[:5]]
        assert {result["score"] for result in first["results"]} == {1.0}
        assert first["total"] == 120
        assert first["message"] == (
            "Listed 5 tools, unranked: add a query to rank them. Run one with call_tool. "
            "There are more: pass next_cursor as cursor."
        )
        pages = await every(client, limit=50)
    assert [len(page) for page in pages] == [50, 50, 20]
    assert [*chain(*pages)] == [tool.name for tool in MANY]


async def test_a_query_is_paged_too_and_no_tool_comes_twice():
    async with connected(ToolServer(MANY)) as client:
        pages = await every(client, query="thing", limit=70)
        assert [len(page) for page in pages] == [70, 50]
        assert len(set(chain(*pages))) == 120
        assert (await search(client, query="thing"))["total"] == 120
        two = await search(client, query=["thing", "tool"], limit=10)
        assert (len(two["results"]), two["total"]) == (10, None)
        assert [len(page) for page in await every(client, query=["thing", "tool"], limit=100)] == [100, 20]


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({}, 5),
        ({"limit": 3}, 5),
        ({"max_results": 8}, 8),
        ({"limit": "7"}, 7),
        ({"limit": 0}, 5),
        ({"limit": -3}, 5),
        ({"limit": 1000}, 100),
        ({"max_results": 10**30}, 100),
        ({"limit": True}, 5),
        ({"limit": "no number"}, 5),
        ({"limit": 6, "max_results": 9}, 6),
    ],
)
@pytest.mark.parametrize("query", ["", "thing"])
async def test_a_limit_is_read_and_clamped(arguments, count, query):
    async with connected(ToolServer(MANY), "memory without handshake") as client:
        assert len(await found(client, query=query, **arguments)) == count


@pytest.mark.parametrize("cursor", ["x", "!!", "5", "LTE6eA==", "é", "A" * 5000])
async def test_a_cursor_of_another_search_finds_nothing_and_says_so(cursor):
    async with connected(ToolServer(MANY)) as client:
        theirs = (await search(client, query="tool"))["next_cursor"]
        for wrong in (cursor, theirs):
            answer = await search(client, query="thing", cursor=wrong)
            assert (answer["results"], answer["total"]) == ([], None)
            assert answer["message"] == "This cursor belongs to another query: search again without one."


async def test_past_the_end_there_is_nothing_more():
    server = ToolServer(MANY[:6])
    async with connected(server) as client:
        cursor = (await search(client))["next_cursor"]
        server.unregister_tools("nothing")
        answer = await search(client, cursor=cursor)
        assert [result["name"] for result in answer["results"]] == ["tool_005"]
    async with connected(ToolServer(MANY[:5])) as client:
        assert (await search(client, cursor=cursor))["message"] == "There are no more tools."


async def test_tags_narrow_a_search():
    async with connected(front(mode="discovery")) as client:
        assert await found(client, tags=["mail"]) == ["send_email", "broken_printer"]
        assert await found(client, query="print or list", tags="github") == ["list_issues"]
        assert await found(client, query="print or list", tags=["GitHub"]) == ["list_issues"]
        plain = await search(client, query="issue")
        answer = await search(client, query="issue", tags=["nowhere"])
    told = "Left out tags that no tool has: nowhere. "
    assert answer == {**plain, "message": f"{told}{plain['message']}"}


async def test_patterns_are_searched_for_where_that_is_the_strategy():
    async with connected(front(mode="discovery", search="regex")) as client:
        listed = {each.name: each for each in (await client.list_tools()).tools}
        assert (
            "regular expression" in listed["search_tools"].input_schema["properties"]["query"]["description"]
        )
        assert await found(client, query="^(send|list)_") == ["list_issues", "send_email"]
        assert await found(client, pattern="printer") == ["broken_printer"]
        answer = await search(client, query="([")
    assert answer["results"] == []
    assert "(" in answer["message"]


@pytest.mark.parametrize("failure", [RuntimeError, SystemExit, asyncio.CancelledError])
async def test_a_search_that_fails_is_an_answer_without_anything_from_inside(failure, caplog):
    class Broken:
        def update(self, documents):
            pass

        def search(self, query, *, limit=None, within=None, extra=()):
            raise failure("/secret/path")

    async with connected(front(search=Broken())) as client:
        result = await client.call_tool("search_tools", {"query": "issue"})
        assert await found(client, query="") != []
    assert result.is_error
    assert text(result) == "Error: the search does not work right now. Try once more later."
    assert "/secret/path" in caplog.text


async def test_of_what_an_index_says_only_what_can_be_told_is_told():
    class Odd:
        def update(self, documents):
            pass

        def search(self, query, *, limit=None, within=None, extra=()):
            told = [
                ("nobody", 0.9),
                ("list_issues", math.inf),
                ("send_email", math.nan),
                ("broken_printer", 0.5),
            ]
            return [Hit(name, score) for name, score in told for _ in range(2)]

    async with connected(front(search=Odd())) as client:
        assert await found(client, query="issue") == ["broken_printer"]


async def test_markdown_is_short_and_holds_what_a_call_needs_and_the_data_stays_as_it_is():
    nested = make(
        "book",
        "Book a room.",
        parameters={
            "type": "object",
            "$defs": {"Guest": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "properties": {
                "guest": {"$ref": "#/$defs/Guest"},
                "nights": {"type": "integer", "description": "How\nmany.", "default": 1},
                "odd": True,
            },
            "required": ["guest"],
        },
    )
    server = ToolServer([on_demand(nested), *MANY], result_format="markdown")
    async with connected(server) as client:
        result = await client.call_tool("search_tools", {"query": "book a room"})
        more = await client.call_tool("search_tools", {})
    assert text(result) == (
        "Found 1 tool. Run one with call_tool.\n\n### book\nBook a room.\n"
        "`book(guest: Guest, nights?: integer = 1, odd?: any)`\n"
        '- guest:  `{"$ref":"#/$defs/Guest"}`\n- nights: How many.\n'
        '- $defs: `{"Guest":{"type":"object","properties":{"name":{"type":"string"}}}}`'
    )
    assert result.structured_content["results"][0]["name"] == "book"
    assert text(more).endswith(f"\n\nnext_cursor: {more.structured_content['next_cursor']}")


@pytest.mark.parametrize("way", WAYS)
async def test_results_may_be_entries_of_the_list_of_tools(way):
    noted = create_issue.replace(
        metadata={"title": "New issue", "_meta": {"example.com/team": "core"}, "icons": [{"src": "a.png"}]}
    )
    plain = ToolServer([noted, list_issues])
    server = ToolServer(
        [on_demand(noted), on_demand(list_issues), *MANY], result_format="mcp", mode="discovery"
    )
    async with connected(plain, way) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    async with connected(server, way) as client:
        (search,) = [tool for tool in (await client.list_tools()).tools if tool.name == "search_tools"]
        result = await client.call_tool("search_tools", {"query": "create an issue", "limit": 2})
    data = result.structured_content
    assert json.loads(text(result)) == data
    jsonschema.validate(data, search.output_schema)
    for entry in data["results"]:
        meta = entry.pop("_meta")
        same = types.Tool.model_validate(entry)
        assert same == listed[same.name].model_copy(update={"meta": None})
        assert (meta["namespace"], meta["tags"]) == ("github", ["github"])
        assert 0 < meta["score"] <= 1
        assert meta.get("example.com/team") == ("core" if same.name == "create_issue" else None)
    assert [entry["name"] for entry in data["results"]] == ["create_issue", "list_issues"]
    assert data["results"][0]["outputSchema"]["type"] == "object"
    assert data["results"][0]["icons"] == [{"src": "a.png"}]


async def test_a_long_description_is_cut_and_tools_without_one_are_found_by_name():
    long = on_demand(needs("long_one", "word", description="word " * 1000))
    bare = on_demand(make("bare_one").replace(description=""))
    async with connected(ToolServer([long, bare], result_format="markdown")) as client:
        result = await client.call_tool("search_tools", {"query": "long one"})
        assert len(result.structured_content["results"][0]["description"]) <= 1000
        assert "### bare_one\n`bare_one()`" in text(
            await client.call_tool("search_tools", {"query": "bare_one"})
        )


async def test_hybrid_search_serves_a_front_too():
    async with connected(ToolServer([on_demand(create_issue), *MANY], search="fuzzy")) as client:
        assert (await found(client, query="creat isue"))[0] == "create_issue"
        assert len(await names(client)) == 2


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("email", "email", "archive"),  # an exact name tops all; a word of a name beats a keyword
        ("send email", "send_email", "archive"),  # all words beat some of them
        ("Email-Archiver", "email_archiver", None),  # however a name is written
        ("messages", "email", None),  # and a description is enough
    ],
)
async def test_better_fits_come_first(query, first, last):
    server = ToolServer()
    for name, description, keywords in (
        ("archive", "Put away old things.", ["email"]),
        ("send_email", "Send a letter.", []),
        ("email_archiver", "Archive letters.", []),
        ("email", "Deal with messages.", []),
    ):
        server.register_on_demand_tool(make(name, description), *keywords)
    async with connected(server) as client:
        hits = await found(client, query=query)
    assert hits[0] == first
    assert last is None or hits[-1] == last


async def test_tags_are_offered_where_they_tell_nothing_hidden():
    async def offered(**options):
        async with connected(front(**options)) as client:
            listed = {each.name: each for each in (await client.list_tools()).tools}
        return listed["search_tools"].input_schema["properties"].get("tags")

    assert (await offered(mode="discovery"))["items"]["enum"] == ["github", "mail"]
    assert (await offered(mode="discovery", filter=lambda request: True)) is None


async def test_a_made_up_name_is_answered_with_what_a_search_for_it_finds():
    async with connected(front(mode="discovery")) as client:
        answer = await client.call_tool("call_tool", {"name": "letter_printing", "arguments": {}})
        assert text(answer) == (
            "Error: There is no tool 'letter_printing' to call. Did you mean broken_printer? "
            "Find tools with search_tools."
        )
        answer = await client.call_tool("call_tool", {"name": "create_issue", "repo": "a", "arguments": {}})
        assert text(answer) == '{"repo":"a","title":"none"}'


async def test_where_nothing_is_found_an_outage_is_told_and_a_listed_tool_that_fits_is_named():
    plan = make("floor_plan", "Draw a floor plan")
    async with connected(ToolServer(tools=[plan, Down()])) as client:
        listed = await search(client, query="floor plan")
        missing = await search(client, query="send a letter")
    assert (listed["results"], missing["results"]) == ([], [])
    assert "call floor_plan" in listed["message"]
    assert "Some tools can't be reached now." in missing["message"]
    assert "cad" not in missing["message"]


async def test_an_outage_is_not_told_to_a_client_that_may_find_no_tool_of_that_provider():
    tools = [on_demand(make("weather", "Tell the forecast")), Down()]
    async with connected(ToolServer(tools=tools, filter=lambda request: True)) as client:
        missing = await search(client, query="send a letter")
    assert missing["message"].startswith("No tool matches 'send a letter'. Try other words once")


async def test_in_a_strategy_of_patterns_a_text_is_found_as_it_stands():
    tools = [on_demand(make("compile", "Compiles C++ code"))]
    async with connected(ToolServer(tools=tools, search="regex")) as client:
        answer = await search(client, query="C++")
    assert [result["name"] for result in answer["results"]] == ["compile"]
    assert answer["message"].startswith("'C++' is not a valid pattern, so it was searched for as plain text.")


@pytest.mark.parametrize("strategy", ["regex", RegexIndex, RegexIndex()])
async def test_however_patterns_are_chosen_the_search_tool_says_that_it_takes_one(strategy):
    async with connected(front(search=strategy)) as client:
        tool = next(each for each in (await client.list_tools()).tools if each.name == "search_tools")
    assert tool.input_schema["properties"]["query"]["description"].startswith("A case-insensitive regular")

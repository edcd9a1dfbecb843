"""The search for programs: what it may be limited to, what it ranks by, and what its hits hold."""

import pytest

from tests.counted import Compared, counted_calls
from tests.search.fake_embedder import FakeEmbedder
from tool_search_processor import Tool, ToolSearchProcessor
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.vector import VectorIndex

MAIL = Tool("send_email", "Send an email to somebody.", tags={"mail"})
INBOX = Tool("read_email", "Read an email of the inbox.", tool_type="external_mcp")
WEATHER = Tool("get_weather", "Tell the weather in a city.", tool_type="external_mcp")
TOOLS = [MAIL, INBOX, WEATHER]


def hybrid():
    return HybridIndex(vector=VectorIndex(FakeEmbedder()))


async def names(search, *asked, **options):
    return [hit.name for hit in await search.search(*asked, **options)]


async def test_a_hit_holds_its_tool():
    hits = await ToolSearchProcessor(TOOLS).search("email")
    assert [(hit.name, hit.tool) for hit in hits] == [("read_email", INBOX), ("send_email", MAIL)]
    assert "tool=" not in repr(hits[0])


async def test_a_hit_of_a_request_s_own_tools_holds_that_request_s_tool():
    search = ToolSearchProcessor(
        lambda context: [MAIL.replace(description=f"Send email as {context['me']}.")]
    )
    (hit,) = await search.search("email", context={"me": "Ada"})
    assert hit.tool.description == "Send email as Ada."


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["external_mcp"], ["read_email"]),
        ("external_mcp", ["read_email"]),
        (["custom", "external_mcp"], ["read_email", "send_email"]),
        ((), ["read_email", "send_email"]),
        (["letta_core"], []),
    ],
)
async def test_only_tools_of_the_wanted_types_are_found(types, expected):
    assert await names(ToolSearchProcessor(TOOLS), "email", tool_types=types) == expected


async def test_a_long_list_of_wanted_types_holds_nobody_up():
    tools = [Tool(f"tool_{number}", tool_type=Compared("custom")) for number in range(500)]
    search, types = ToolSearchProcessor(tools), [f"type_{number}" for number in range(5000)]
    assert await names(search, "tool", tool_types="custom", limit=500) == [tool.name for tool in tools]
    with counted_calls(most=500_000):
        assert await names(search, "tool", tool_types=types) == []


async def test_a_mode_ranks_by_its_own_list():
    search = ToolSearchProcessor(TOOLS, search=hybrid())
    words = await search.search("send an email", mode="fts")
    meaning = await search.search("send an email", mode="vector")
    assert [hit.vector_rank for hit in words] == [None] * len(words)
    assert [hit.text_rank for hit in meaning] == [None] * len(meaning)
    assert words[0].tool == meaning[0].tool == MAIL
    both = await search.search("send an email", mode="hybrid")
    assert both == await search.search("send an email")
    assert (both[0].text_rank, both[0].vector_rank) == (1, 1)
    assert await names(search, "email", mode="vector", tool_types="external_mcp", limit=1) == ["read_email"]


async def test_a_mode_finds_what_a_request_brings():
    async def tools(context):
        return context.get("tools", TOOLS)

    search = ToolSearchProcessor(tools, search=hybrid())
    own = [MAIL, Tool("book_flight", "Book a flight.")]
    assert await names(search, "flight", mode="fts", context={"tools": own}) == ["book_flight"]
    assert await names(search, "flight", mode="fts") == []


@pytest.mark.parametrize(
    ("strategy", "mode", "offered"),
    [("bm25", "vector", "'fts'"), ("bm25", "hybrid", "'fts'"), ("fuzzy", "regex", "'fts'")],
)
async def test_a_mode_without_an_index_is_refused_and_says_what_there_is(strategy, mode, offered):
    search = ToolSearchProcessor(TOOLS, search=strategy)
    assert await names(search, "send_email", mode="fts") == await names(search, "send_email")
    with pytest.raises(ConfigurationError, match=f"mode is '{mode}', but this search has only {offered}"):
        await search.search("email", mode=mode)

"""The list of tools: pages in both directions, every filter, and cursors of tools that may not be seen."""

import pytest

from tests.server.rest.serving import TOOLS, client
from tool_search_processor import Tool
from tool_search_processor.server.rest.letta import tool_id

NAMES = [tool.name for tool in TOOLS]
CORE = Tool("core_memory", "Remember.", tool_type="letta_core")


def names(answer):
    assert answer.status_code == 200, answer.text
    return [tool["name"] for tool in answer.json()]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("", [*NAMES, "core_memory"]),
        ("limit=2", NAMES[:2]),
        ("limit=2&order=desc", ["core_memory", NAMES[3]]),
        ("name=get_weather", ["get_weather"]),
        ("name=none", []),
        ("names=get_weather&names=send_email", ["send_email", "get_weather"]),
        ("names=get_weather,send_email", ["send_email", "get_weather"]),
        (f"tool_ids={tool_id('get_weather')}", ["get_weather"]),
        ("search=EMAIL", ["send_email", "read_email"]),
        ("tool_types=external_mcp,letta_core", ["get_weather", "core_memory"]),
        ("exclude_tool_types=custom", ["get_weather", "core_memory"]),
        ("return_only_letta_tools=true", ["core_memory"]),
        ("unknown=1&order_by=created_at", [*NAMES, "core_memory"]),
        (f"after={tool_id(NAMES[0])}&limit=2", NAMES[1:3]),
        (f"before={tool_id(NAMES[3])}&limit=2", NAMES[1:3]),
        (f"after={tool_id(NAMES[0])}&before={tool_id(NAMES[3])}&limit=1", NAMES[1:2]),
        (f"after={tool_id(NAMES[2])}&order=desc", NAMES[1::-1]),
        (f"after={tool_id('core_memory')}", []),
    ],
)
async def test_what_is_listed(asked, expected):
    async with client([*TOOLS, CORE]) as http:
        assert names(await http.get(f"/v1/tools?{asked}")) == expected
        assert names(await http.get(f"/v1/tools/?{asked}")) == expected


@pytest.mark.parametrize(
    ("asked", "place"),
    [("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"), ("order=up", "order")],
)
async def test_bad_parameters_are_named(asked, place):
    async with client() as http:
        answer = await http.get(f"/v1/tools?{asked}")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["query", place]


async def test_a_denied_tool_takes_no_place_and_is_as_if_it_were_not_there():
    async with client(filter=lambda request: request.tool_name != NAMES[1]) as http:
        assert names(await http.get("/v1/tools?limit=2")) == [NAMES[0], NAMES[2]]
        denied, unknown = tool_id(NAMES[1]), tool_id("nothing")
        for path in ("/v1/tools/{}", "/v1/tools?after={}", "/v1/tools?before={}"):
            answers = [await http.get(path.format(wanted)) for wanted in (denied, unknown)]
            assert {answer.status_code for answer in answers} == {404}
            assert answers[0].text.replace(denied, unknown) == answers[1].text
        assert (await http.get(f"/v1/tools/{tool_id(NAMES[0])}")).json()["name"] == NAMES[0]

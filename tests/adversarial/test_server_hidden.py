"""Over any wire, a tool that the filter denies is as one that is not there."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import MCPError

from tests.adversarial.depth import examples
from tests.adversarial.word_index import WordIndex, called, names
from tests.server.mcp.changing import Heard
from tests.server.mcp.support import connected
from tool_search_processor import Tool
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.server.mcp.tool_modes import on_demand
from tool_search_processor.server.rest import create_app
from tool_search_processor.server.rest.letta import tool_id

pytestmark = pytest.mark.slow


@st.composite
def tools_of(draw: st.DrawFn) -> list[Tool]:
    def tool(name: str) -> Tool:
        def execute(**given: Any) -> str:
            return f"{name} ran"

        needs = {"properties": {"title": {"type": "string"}}, "required": ["title"]}
        made = Tool(
            name,
            f"Does {name}.",
            {"type": "object", **(needs if draw(st.booleans()) else {})},
            execute=execute,
            namespace=draw(st.sampled_from([None, "github", "mail"])),
            tags=draw(st.sampled_from([frozenset(), frozenset({"a"}), frozenset({"b"})])),
            tool_type=draw(st.sampled_from(["custom", "external_mcp"])),
        )
        return on_demand(made, "word") if draw(st.booleans()) else made

    return [tool(name) for name in draw(st.lists(names, unique=True, min_size=1, max_size=8))]


searches = st.fixed_dictionaries(
    {},
    optional={
        "query": called.map(lambda name: name.replace("_", " ")),
        "limit": st.sampled_from([1, 2, 20]),
        "tags": st.sampled_from([["a"], ["b"], []]),
        "cursor": st.sampled_from(["", "x", "MTox", "the next one"]),
    },
)
steps = st.one_of(
    st.just(("list", {})),
    st.tuples(st.just("search_tools"), searches),
    st.tuples(called, st.sampled_from([{}, {"title": "x"}, {"tite": 1}])),
    st.tuples(st.just("call_tool"), called.map(lambda name: {"name": name, "arguments": {"title": "x"}})),
)


def policy(hidden: set[str]) -> Any:
    return lambda request: request.tool_name not in hidden


@examples(40)
@given(
    tools=tools_of(),
    denied=st.sets(st.integers(0, 7)),
    script=st.lists(steps, max_size=8),
    options=st.fixed_dictionaries(
        {
            "mode": st.sampled_from(["normal", "discovery"]),
            "result_format": st.sampled_from(["json", "markdown", "mcp"]),
            "top_k": st.sampled_from([1, 5]),
        }
    ),
)
async def test_clients_of_the_protocol_are_answered_the_same(tools, denied, script, options):
    hidden = {tools[place].name for place in denied if place < len(tools)}

    async def answers(given: list[Tool]) -> list[str]:
        server = ToolServer(given, filter=policy(hidden), search=WordIndex, **options)
        heard = [f"{server.lowlevel.instructions}"]
        cursor = "none"
        async with connected(server) as client:
            for name, wanted in script:
                is_next = wanted.get("cursor") == "the next one"
                arguments = {**wanted, "cursor": cursor} if is_next else wanted
                try:
                    if name == "list":
                        answer: Any = await client.list_tools()
                    else:
                        answer = await client.call_tool(name, arguments)
                        cursor = (answer.structured_content or {}).get("next_cursor") or cursor
                    heard.append(answer.model_dump_json())
                except MCPError as exc:
                    heard.append(f"{exc.code} {exc.message} {exc.data}")
        return heard

    assert await answers(tools) == await answers([tool for tool in tools if tool.name not in hidden])


def asked(name: str, others: list[str]) -> list[tuple[str, str, Any]]:
    """Return requests that ask for a tool in every way there is."""
    some_id = tool_id(name)
    page = [f"after={some_id}", f"before={some_id}", f"name={name}", f"names={name}", f"tool_ids={some_id}"]
    more = [
        f"search={name[:4]}",
        "tool_types=external_mcp",
        "order=desc&limit=1",
        f"after={tool_id(others[-1])}",
    ]
    bodies = [{"query": name.replace("_", " ")}, {"query": name, "limit": 1}, {}, {"tags": ["a"]}]
    return [
        *(("GET", f"/v1/tools?{query}", None) for query in (*page, *more)),
        ("GET", f"/v1/tools/{some_id}", None),
        *(("POST", "/v1/tools/search", body) for body in (*bodies, {"tool_types": ["custom"]})),
        *(("POST", "/v1/inspect", body) for body in (*bodies, {"namespaces": ["github"]})),
        ("GET", "/v1/inspect", None),
        ("GET", "/health", None),
    ]


@examples(40)
@given(tools=tools_of(), denied=st.sets(st.integers(0, 7)), name=names)
async def test_clients_of_the_rest_endpoint_are_answered_the_same(tools, denied, name):
    hidden = {tools[place].name for place in denied if place < len(tools)}
    requests = [one for each in (name, tools[0].name) for one in asked(each, [tool.name for tool in tools])]

    async def answers(given: list[Tool]) -> list[Any]:
        app = create_app(given, filter=policy(hidden), search=WordIndex())
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 5000))
        heard = []
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            for method, path, body in requests:
                answer = await http.request(method, path, json=body)
                content = answer.json()
                if isinstance(content, dict):
                    content.pop("milliseconds", None)
                headers = {name: value for name, value in answer.headers.items() if "inspect" not in path}
                heard.append((answer.status_code, json.dumps(content), headers))
            metrics = (await http.get("/metrics")).text
            heard.append(
                [line for line in metrics.splitlines() if "seconds" not in line and "created" not in line]
            )
        return heard

    assert await answers(tools) == await answers([tool for tool in tools if tool.name not in hidden])


@pytest.mark.parametrize("way", ["memory", "http"])
async def test_changes_of_a_denied_tool_are_told_to_nobody(way):
    heard = Heard()
    server = ToolServer([Tool("seen", "Seen.")], filter=lambda request: "secret" not in request.tool_name)
    server.register_on_demand_tool(Tool("found", "Found."))
    async with connected(server, way, message_handler=heard) as client:
        before = await client.list_tools()
        for change in (
            lambda: server.register_tool(Tool("secret", "Secret.")),
            lambda: server.unregister_tools("secret"),
            lambda: server.register_on_demand_tool(Tool("secret_too", "Secret.")),
        ):
            change()
            for _ in range(50):  # until the server has looked
                await asyncio.sleep(0)
        assert await client.list_tools() == before
        server.register_tool(Tool("new", "New."))
        await heard.once()
        assert heard.count == 1

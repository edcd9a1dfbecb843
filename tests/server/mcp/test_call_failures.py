"""What clients are told of what foreign code raises, and what the log is."""

import asyncio

import mcp_types as types
import pytest
from mcp import MCPError

from tests.server.mcp.support import WAYS, connected, proxied, text
from tool_search_processor import ArgTransform, Tool, ToolTransform, ToolTransformConfig, tool
from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ToolCallError
from tool_search_processor.providers import StaticProvider
from tool_search_processor.server.mcp import ToolServer

SECRET = "postgres://admin:hunter2@db"
AIMED = MCPError(-32001, "Ask for less.")


def raises(error):
    def raise_it(*_):
        raise error

    return raise_it


@tool
def connect(times: int) -> str:
    """Connect to the database."""
    raise OSError(SECRET)


@tool
def ask_station(city: str) -> str:
    """Ask a station for the weather."""
    raise ToolCallError(f"There is no station in {city}.")


class Library(StaticProvider):
    """Resources and prompts that can't be had."""

    async def list_resources(self, context):
        return [
            Resource(uri="doc://a", read=raises(OSError(SECRET))),
            Resource(uri="doc://aimed", read=raises(AIMED)),
            Resource(uri="doc://bare"),
        ]

    async def list_resource_templates(self, context):
        return [ResourceTemplate(uri_template="page://{n}", read=raises(OSError(SECRET)))]

    async def list_prompts(self, context):
        return [Prompt(name="greet", render=raises(OSError(SECRET)))]


def front(**options):
    return ToolServer([connect, ask_station, Library([], name="library")], **options)


async def refusal(answer):
    with pytest.raises(MCPError) as refused:
        await answer
    return refused.value.message


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_raised_is_masked_where_that_is_wanted_and_told_to_the_log(way, caplog):
    masked = "Error: the tool 'connect' failed; the server's log says why."
    async with connected(front(mask_error_details=True), way) as client:
        for result in (
            await client.call_tool("connect", {"times": 1}),
            await proxied(client, "connect", {"times": 1}),
        ):
            assert result.is_error
            assert text(result) == masked
        for answer, what in (
            (client.read_resource("doc://a"), "the resource 'doc://a'"),
            (client.read_resource("page://7"), "the resource 'page://7'"),
            (client.get_prompt("greet"), "the prompt 'greet'"),
        ):
            assert await refusal(answer) == f"Error: {what} failed; the server's log says why."
            assert f"{what} failed: OSError: {SECRET}" in caplog.messages
    assert f"the tool 'connect' failed: OSError: {SECRET}" in caplog.messages


async def test_what_is_meant_for_the_client_is_told_all_the_same():
    async with connected(front(mask_error_details=True)) as client:
        wrong = text(await client.call_tool("connect", {"times": "often"}))
        assert "times" in wrong
        station = await client.call_tool("ask_station", {"city": "Ulm"})
        assert text(station) == "Error: There is no station in Ulm."
        assert await refusal(client.read_resource("doc://aimed")) == "Ask for less."
        assert await refusal(client.read_resource("doc://bare")) == (
            "Error: doc://bare can't be read: it is a definition only"
        )


async def test_a_tool_tells_the_client_itself_by_an_error_of_the_protocol():
    server = ToolServer([Tool("ask", execute=raises(AIMED))], mask_error_details=True)
    async with connected(server) as client:
        assert text(await client.call_tool("ask", {})) == "Error: MCPError: Ask for less."


@tool
async def connect_twice(times: int) -> str:
    """Connect, and once more."""
    return await connect.call({"times": SECRET})


@tool
async def connect_at_once(times: int) -> None:
    """Connect in a task group."""
    async with asyncio.TaskGroup() as group:
        group.create_task(connect.call({"times": SECRET}))


RENAMED = ToolTransform({"connect_twice": ToolTransformConfig(arguments={"times": ArgTransform(name="n")})})


@pytest.mark.parametrize("is_masked", [True, False])
@pytest.mark.parametrize("name", ["connect_twice", "connect_at_once", "renamed"])
async def test_wrong_arguments_of_a_call_that_a_tool_makes_are_not_the_clients(name, is_masked):
    renamed = StaticProvider([connect_twice]).with_transforms(RENAMED)
    served = renamed if name == "renamed" else StaticProvider([connect_twice, connect_at_once])
    called = "connect_twice" if name == "renamed" else name
    masked = f"Error: the tool {called!r} failed; the server's log says why."
    told = f'Error: `times` must be an integer, found the string "{SECRET}".'
    async with connected(ToolServer([served], mask_error_details=is_masked)) as client:
        given = {"n" if name == "renamed" else "times": 1}
        for result in (
            await client.call_tool(called, given),
            await proxied(client, called, given),
        ):
            assert text(result) == (masked if is_masked else told)


@pytest.mark.parametrize("is_masked", [True, False])
async def test_wrong_arguments_of_a_call_that_a_resource_makes_are_not_the_clients(is_masked):
    class Shelf(StaticProvider):
        async def list_resources(self, context):
            return [Resource(uri="doc://a", read=lambda: connect.call({"times": SECRET}))]

    async with connected(ToolServer([Shelf([], name="shelf")], mask_error_details=is_masked)) as client:
        assert (SECRET in await refusal(client.read_resource("doc://a"))) is not is_masked


async def test_without_it_everything_is_told_and_logged(caplog):
    async with connected(front()) as client:
        assert text(await client.call_tool("connect", {"times": 1})) == f"Error: OSError: {SECRET}"
        assert await refusal(client.get_prompt("greet")) == f"Error: OSError: {SECRET}"
    assert f"the prompt 'greet' failed: OSError: {SECRET}" in caplog.messages


ENDS = pytest.mark.parametrize(
    "end", [SystemExit(SECRET), asyncio.CancelledError(SECRET)], ids=["exit", "cancel"]
)


@ENDS
@pytest.mark.parametrize("way", WAYS)
async def test_what_would_end_the_server_is_answered_like_any_failure(way, end):
    class Deadly(StaticProvider):
        async def list_resources(self, context):
            return [Resource(uri="doc://a", read=raises(end))]

        async def list_resource_templates(self, context):
            return [ResourceTemplate(uri_template="page://{n}", read=raises(end), complete=raises(end))]

        async def list_prompts(self, context):
            return [Prompt(name="greet", render=raises(end), complete=raises(end))]

        async def get_unlisted_resource(self, uri, context):
            raise end

    server = ToolServer([connect, Deadly([], name="deadly")], mask_error_details=True)
    half = {"name": "n", "value": "1"}
    async with connected(server, way) as client:
        for answer in (
            client.read_resource("doc://a"),
            client.read_resource("page://7"),
            client.get_prompt("greet"),
            client.complete(types.PromptReference(name="greet"), half),
            client.complete(types.ResourceTemplateReference(uri="page://{n}"), half),
        ):
            assert (await refusal(answer)).endswith("failed; the server's log says why.")
        assert await refusal(client.read_resource("other://1")) == "Resource not found"
        assert len((await client.list_tools()).tools) == 1

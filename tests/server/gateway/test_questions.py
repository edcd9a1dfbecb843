"""What an upstream asks during a call reaches the client that made the call, and nobody else."""

import asyncio
import sys
from pathlib import Path

import mcp_types as types
import pytest

from tests.server.gateway import asking_server
from tests.server.gateway.support import config, running
from tests.server.mcp.support import WAYS, client_of, connected, proxied, serving, text
from tool_search_processor import ToolContext, tool
from tool_search_processor.providers.mcp import MCPProvider
from tool_search_processor.server.gateway import Gateway
from tool_search_processor.server.mcp import ToolServer, forward_elicitation, forward_sampling
from tool_search_processor.server.upstreams import read_upstreams

pytestmark = pytest.mark.slow

SCRIPT = Path(asking_server.__file__)
HOOKS = {"elicitation": forward_elicitation, "sampling": forward_sampling}


@pytest.fixture(params=["auto", "legacy"])
async def upstream(request):
    """A provider of the asking server, over either version of the protocol."""
    provider = MCPProvider.in_memory(asking_server.server(), name="asking", **HOOKS)
    provider._connector._mode = request.param
    yield provider
    await provider.aclose()


@pytest.fixture(params=["auto", "legacy"])
async def process(request):
    """A provider of the asking server as a process of its own, over either version of the protocol."""
    provider = MCPProvider.stdio(sys.executable, [str(SCRIPT)], name="asking", **HOOKS)
    provider._connector._mode = request.param
    yield provider
    await provider.aclose()


def answers(name="Ada"):
    """Return the hooks of a client that can answer."""

    async def elicit(context, params):
        assert params.message == "Who are you?"
        return types.ElicitResult(action="accept", content={"name": name})

    async def sample(context, params):
        (message,) = params.messages
        assert (message.content.text, params.max_tokens) == ("Say hello.", 5)
        return types.CreateMessageResult(role="assistant", content=types.TextContent(text=name), model="m")

    return {"elicitation_callback": elicit, "sampling_callback": sample}


@pytest.mark.parametrize("way", WAYS)
async def test_a_client_that_can_answer_is_asked(upstream, way):
    async with connected(ToolServer([upstream]), way, **answers()) as client:
        assert text(await client.call_tool("elicit", {})) == "accept: Ada"
        assert text(await client.call_tool("sample", {})) == "the model says Ada"
        assert text(await client.call_tool("twice", {})) == "accept: Ada, accept: Ada"
        assert text(await client.call_tool("call_tool", {"name": "elicit"})) == "accept: Ada"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["elicit", "sample"])
async def test_a_client_that_cannot_answer_costs_no_time(upstream, way, name):
    async with asyncio.timeout(20), connected(ToolServer([upstream]), way) as client:
        result = await client.call_tool(name, {})
        assert result.is_error
        assert "the client has no way to answer" in text(result)


@pytest.mark.parametrize("way", ["http", "http without handshake"])
async def test_each_of_two_clients_is_asked_what_its_own_call_needs(process, way):
    server = ToolServer([process])
    async with (
        connected(server, way, **answers("Ada")) as one,
        connected(server, way, **answers("Bob")) as other,
    ):
        told = await asyncio.gather(*(client.call_tool("meet", {}) for client in (one, other)))
    if process._connector._mode == "auto":
        assert [text(result) for result in told] == ["accept: Ada", "accept: Bob"]
    else:  # over one pipe, an older server doesn't say for which call it asks
        assert all("it is unknown whose call this is for" in text(result) for result in told)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_over_http_an_older_server_says_for_which_call_it_asks(mode):
    meeting = asyncio.Barrier(2)

    @tool
    async def meet(context: ToolContext) -> str:
        """Ask once two calls are there."""
        ctx = context.context["mcp"]
        await meeting.wait()
        answer = await ctx.session.elicit_form(
            "Who are you?", asking_server.FORM, related_request_id=ctx.request_id
        )
        return answer.content["name"]

    async with serving(ToolServer([meet])) as url:
        provider = MCPProvider.http(url, **HOOKS)
        provider._connector._mode = "legacy"
        front, way = ToolServer([provider]), "http" if mode == "legacy" else "http without handshake"
        async with (
            connected(front, way, **answers("Ada")) as one,
            connected(front, way, **answers("Bob")) as other,
        ):
            told = await asyncio.gather(*(client.call_tool("meet", {}) for client in (one, other)))
        await provider.aclose()
    assert [text(result) for result in told] == ["Ada", "Bob"]


async def test_an_open_call_is_its_client_s_alone(upstream):
    users = {"t-ada": "ada", "t-bob": "bob"}
    server = ToolServer([upstream], authenticate=users.get)
    async with serving(server) as url:

        def client(token):
            headers = {"Authorization": f"Bearer {token}"}
            return client_of(url, headers=headers, **answers())

        async with client("t-ada") as ada, client("t-bob") as bob:

            async def go_on(session, name="elicit", **changed):
                told = {"input_responses": given, "request_state": opened.request_state, **changed}
                return await session.session.call_tool(name, {}, allow_input_required=True, **told)

            opened = await ada.session.call_tool("elicit", {}, allow_input_required=True)
            (key,) = opened.input_requests
            given = {key: types.ElicitResult(action="accept", content={"name": "Eve"})}
            for session, changes in (
                (bob, {}),
                (ada, {"name": "twice"}),
                (ada, {"request_state": "guessed"}),
            ):
                refused = await go_on(session, **changes)
                assert refused.is_error
                assert "this call has ended, or was another's" in text(refused)
            assert text(await go_on(ada)) == "accept: Eve"
            assert (await go_on(ada)).is_error

            opened = await ada.session.call_tool("elicit", {}, allow_input_required=True)
            left_out = await go_on(ada, input_responses={})
            assert left_out.is_error
            assert "the client left it out" in text(left_out)


async def test_a_client_s_own_refusal_reaches_the_server(upstream):
    async def decline(context, params):
        return types.ElicitResult(action="decline")

    async def fail(context, params):
        return types.ErrorData(code=-1, message="not today")

    async with serving(ToolServer([upstream])) as url:
        async with client_of(url, mode="legacy", elicitation_callback=decline) as client:
            assert text(await client.call_tool("elicit", {})) == "decline: None"
        async with client_of(url, mode="legacy", elicitation_callback=fail) as client:
            assert "not today" in text(await client.call_tool("elicit", {}))


async def test_a_client_is_asked_only_in_the_ways_that_it_knows(upstream):
    only = {"elicitation_callback": answers()["elicitation_callback"]}
    async with connected(ToolServer([upstream]), "http", **only) as client:
        assert text(await client.call_tool("elicit", {})) == "accept: Ada"
        assert "the client has no way to answer" in text(await client.call_tool("sample", {}))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_gateway_passes_questions_on(mode):
    entry = {"command": sys.executable, "args": [str(SCRIPT)]}
    gateway = Gateway(read_upstreams(config(asking=entry)))
    async with running(gateway) as url, client_of(url, mode=mode, **answers()) as client:
        assert text(await proxied(client, "asking_elicit")) == "accept: Ada"
        assert text(await proxied(client, "asking_sample")) == "the model says Ada"

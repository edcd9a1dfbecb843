"""A server over streamable HTTP, in the protocol's newer and older form."""

import asyncio

import httpx2
import pytest

from tests.providers.mcp.asking import HttpServer, changed, tools_of
from tool_search_processor import Catalog
from tool_search_processor.errors import ConfigurationError, ProviderError, ToolCallError
from tool_search_processor.providers import MCPProvider


async def test_requests_carry_headers_and_the_token(http_server):
    async with MCPProvider.http(http_server.url, headers={"X-Team": "blue"}, token="sesame") as provider:
        assert provider.name == "127.0.0.1"
        tools = await tools_of(provider)
        headers = (await tools["headers"].call({})).structured_content
        assert (headers["x-team"], headers["authorization"]) == ("blue", "Bearer sesame")
        assert await tools["add"].call({"first": 1, "second": 2}) == '{"result": 3}'
        assert tools["add"].annotations == {"readOnlyHint": True}


async def test_a_hook_signs_each_request(http_server):
    class Signature(httpx2.Auth):
        async def async_auth_flow(self, request):
            request.headers["authorization"] = f"Signed {request.method}"
            yield request

    async with MCPProvider.http(http_server.url, auth=Signature()) as provider:
        headers = (await (await tools_of(provider))["headers"].call({})).structured_content
        assert headers["authorization"] == "Signed POST"


async def test_a_token_from_a_file_and_a_header_of_any_letters(http_server):
    async with MCPProvider.http(http_server.url, headers={"X-Team": "bläu"}, token="sesame\n") as provider:
        headers = (await (await tools_of(provider))["headers"].call({})).structured_content
        assert headers["authorization"] == "Bearer sesame"
        assert headers["x-team"].encode("latin-1").decode() == "bläu"


async def test_what_a_hook_puts_into_a_header_is_not_shown(http_server):
    class Signature(httpx2.Auth):
        async def async_auth_flow(self, request):
            request.headers["authorization"] = "sesame\n"
            yield request

    async with MCPProvider.http(http_server.url, auth=Signature()) as provider:
        with pytest.raises(ProviderError, match="a header that can't be sent") as told:
            await provider.list_tools({})
        assert "sesame" not in str(told.value)


async def test_cancelling_a_call_cancels_it_at_the_server(http_server):
    begun = asyncio.Event()
    async with MCPProvider.http(http_server.url, on_progress=lambda report: begun.set()) as provider:
        tools = await tools_of(provider)
        task = asyncio.create_task(tools["hang"].call({}))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert "cancelled" in await tools["what_was_seen"].call({})


async def test_a_template_is_read(http_server):
    async with MCPProvider.http(http_server.url) as provider:
        (template,) = await provider.list_resource_templates({})
        assert template.uri_template == "note://{key}"
        (content,) = await template.read("note://7")
        assert content["text"] == "The text of 7."


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--old",)], ids=["2026-07-28", "2025-11-25"])
async def test_a_server_changes_its_list_dies_in_a_call_and_comes_back(options):
    server = HttpServer(*options)
    provider = MCPProvider.http(server.url, name="large", on_progress=lambda report: None)
    catalog = Catalog([provider])
    try:
        assert len(await catalog.list_tools()) == 6
        mark = provider.version()
        await (await catalog.get_tool("grow")).call({"name": "new"})
        await changed(provider, mark)
        assert [tool.name for tool in await catalog.list_tools()][-1] == "new"

        add, die = await catalog.get_tool("add"), await catalog.get_tool("die")
        with pytest.raises(ToolCallError, match="ended during the call of die, which may have been carried"):
            await die.call({})
        server.kill()
        with pytest.raises(ToolCallError, match="'large' cannot be reached; add was not run"):
            await add.call({"first": 1, "second": 2})
        mark = provider.version()

        server.start()
        assert await add.call({"first": 1, "second": 2}) == '{"result": 3}'
        await changed(provider, mark)
        await catalog.refresh()
        assert [tool.name for tool in await catalog.list_tools()][-1] == "die"
    finally:
        await provider.aclose()
        server.kill()


async def test_one_call_that_fails_ends_no_other(http_server, monkeypatch):
    begun = asyncio.Event()
    async with MCPProvider.http(http_server.url, on_progress=lambda report: begun.set()) as provider:
        tools = await tools_of(provider)
        task = asyncio.create_task(tools["hang"].call({}))
        await begun.wait()
        sent = httpx2.AsyncClient.send

        async def refuse(client, request, **options):
            raise httpx2.ConnectError("no route")

        monkeypatch.setattr(httpx2.AsyncClient, "send", refuse)
        with pytest.raises(ToolCallError, match="cannot be reached"):
            await tools["add"].call({"first": 1, "second": 2})
        monkeypatch.setattr(httpx2.AsyncClient, "send", sent)
        assert await tools["add"].call({"first": 1, "second": 2}) == '{"result": 3}'
        assert not task.done()
        task.cancel()
        await asyncio.wait({task})


async def test_what_answers_but_is_no_mcp_server(http_server):
    async with MCPProvider.http(http_server.url.replace("/mcp", "/other"), name="other") as provider:
        with pytest.raises(ProviderError, match=r"the MCP server 'other' refused: .*'HTTP 404 Not Found'"):
            await provider.list_tools({})


async def test_nobody_listens():
    async with MCPProvider.http("http://127.0.0.1:9/mcp", name="nobody") as provider:
        with pytest.raises(ProviderError, match=r"'nobody' could not be reached: ConnectError: .*: check"):
            await provider.list_tools({})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"url": "example.com"}, "url begins with http:// or https://, found neither"),
        ({"url": "https://x", "auth": "me"}, "auth is an httpx2.Auth or None, found a str"),
        (
            {"url": "https://x", "headers": {"A": 1}},
            "the header 'A' is a string without line breaks, found a int",
        ),
        ({"url": "https://x", "token": 1}, "token is a string without line breaks, found a int"),
        (
            {"url": "https://x", "token": "t", "headers": {"authorization": "u"}},
            "the authorization is given twice: pass one of token, auth and the header",
        ),
    ],
)
def test_arguments_that_cannot_work(arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        MCPProvider.http(**arguments)

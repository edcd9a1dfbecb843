"""What the SDK gets of a server's answers over HTTP."""

import httpx2
import pytest

from tool_search_processor.providers.mcp.http_client import ContainingClient


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "idna", "punycode"])
async def test_events_are_utf_8_whatever_the_server_says(charset):
    async def pieces():
        yield "data: zwölf\n\n".encode()

    def answer(request):
        kind = f"text/event-stream; charset={charset}"
        return httpx2.Response(200, headers={"content-type": kind}, content=pieces())

    transport = httpx2.MockTransport(answer)
    async with (
        ContainingClient(transport=transport) as client,
        client.stream("POST", "https://a.example/mcp") as response,
    ):
        assert "".join([text async for text in response.aiter_text()]) == "data: zwölf\n\n"

"""What the SDK gets of a server's answers over HTTP."""

import httpx2
import pytest

from tool_search_processor.providers.mcp.http_client import ContainingClient


def client_of(charset, **options):
    """Return a client whose server answers with an event, in UTF-8 whatever it says."""

    async def pieces():
        yield "data: zwölf\n\n".encode()

    def answer(request):
        kind = f"text/event-stream; charset={charset}"
        return httpx2.Response(200, headers={"content-type": kind}, content=pieces())

    return ContainingClient(transport=httpx2.MockTransport(answer), **options)


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "idna", "punycode"])
async def test_events_are_utf_8_whatever_the_server_says(charset):
    async with (
        client_of(charset) as client,
        client.stream("POST", "https://a.example/mcp") as response,
    ):
        assert "".join([text async for text in response.aiter_text()]) == "data: zwölf\n\n"


async def test_events_that_a_hook_has_read_pass_as_they_are():
    class Reading(httpx2.Auth):
        requires_response_body = True

        def auth_flow(self, request):
            assert (yield request).text

    async with client_of("utf-8", auth=Reading()) as client:
        assert (await client.post("https://a.example/mcp")).text == "data: zwölf\n\n"

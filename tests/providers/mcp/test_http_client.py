"""What the SDK gets of a server's answers over HTTP."""

import httpx2
import pytest

from tool_search_processor.providers.mcp.http_client import ContainingClient

URL = "https://a.example/mcp"
EVENT = "data: zwölf\n\n"


def client_of(kind, status=200, **options):
    """Return a client whose server answers with an event, in UTF-8 whatever the media type says."""

    async def pieces():
        yield EVENT.encode()

    def answer(request):
        headers = [(b"content-type", kind.encode()), (b"x-place", "Zürich".encode())]
        return httpx2.Response(status, headers=headers, content=pieces())

    return ContainingClient(transport=httpx2.MockTransport(answer), **options)


@pytest.mark.parametrize("charset", ["utf-8", "latin-1", "idna", "punycode"])
async def test_events_are_utf_8_whatever_the_server_says(charset):
    async with (
        client_of(f"text/event-stream; charset={charset}") as client,
        client.stream("POST", URL) as response,
    ):
        assert "".join([text async for text in response.aiter_text()]) == EVENT


async def test_events_that_a_hook_has_read_pass_as_they_are():
    class Reading(httpx2.Auth):
        requires_response_body = True

        def auth_flow(self, request):
            assert (yield request).text

    async with client_of("text/event-stream", auth=Reading()) as client:
        assert (await client.post(URL)).text == EVENT


@pytest.mark.parametrize("status", [200, 202, 400, 401, 404, 503])
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/plain", "text/zürich", ""])
async def test_no_answer_raises_since_that_would_end_every_call(kind, status):
    async with (
        client_of(kind, status) as client,
        client.stream("POST", URL, headers={"mcp-session-id": "1"}) as response,
    ):
        content = await response.aread()
    assert (response.is_error, content == EVENT.encode()) == (status >= 400, status < 400)

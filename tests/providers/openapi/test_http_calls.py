"""Calls on the wire: what is sent, redirects, limits of time and size, failures in words."""

import asyncio
import json

import httpx
import pytest
import respx

from tests.providers.openapi.apis import SERVER, api, body, in_path, query
from tests.providers.openapi.web import reply, serve
from tool_search_processor import ToolContext, ToolSearchProcessor
from tool_search_processor.errors import ConfigurationError, ToolArgumentsError, ToolCallError
from tool_search_processor.providers import OpenAPIProvider

PET = {"type": "object", "properties": {"name": {"type": "string"}}}
SCHEMES = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"},
                               "q": {"type": "apiKey", "in": "query", "name": "k"},
                               "c": {"type": "apiKey", "in": "cookie", "name": "sid"}}}  # fmt: skip


async def only(operation, *, method="get", path="/p", parts=None, **options):
    """Return the provider of a document with one operation, and its tool."""
    provider = OpenAPIProvider(api({path: {method: operation}}, **(parts or {})), **options)
    (tool,) = await provider.list_tools({})
    return provider, tool


async def call(operation, arguments=None, *, context=None, **options):
    """Call the one operation of a document."""
    provider, tool = await only(operation, **options)
    try:
        return await tool.call(arguments or {}, context)
    finally:
        await provider.aclose()


@respx.mock
async def test_everything_of_a_request_is_on_the_wire():
    route = respx.route().respond(json={"ok": True})
    answer = await call(
        {"parameters": [in_path("id"), query("q"), {**query("sid"), "in": "cookie"},
                        {**query("X-Trace"), "in": "header"}], **body(PET)},
        {"id": "a/b", "q": "ü&", "sid": "s", "X-Trace": "é", "name": "Rex"},
        method="post", path="/p/{id}",
    )  # fmt: skip
    assert answer == {"ok": True}
    sent = route.calls[0].request
    assert (sent.method, str(sent.url)) == ("POST", f"{SERVER}/p/a%2Fb?q=%C3%BC%26")
    assert sent.headers.raw.count((b"x-trace", "é".encode())) == 1
    assert sent.headers["cookie"] == "sid=s"
    assert sent.headers["content-type"] == "application/json"
    assert json.loads(sent.content) == {"name": "Rex"}


@respx.mock
async def test_a_multipart_form_is_on_the_wire():
    route = respx.post(f"{SERVER}/p").respond(204)
    form = {"properties": {"photo": {"type": "string", "format": "binary"}, "name": {"type": "string"}}}
    arguments = {"photo": "data:image/png;base64,AAEC", "name": 'Re"x\r\nEvil: 1'}
    answer = await call(body(form, kind="multipart/form-data"), arguments, method="post")
    assert answer == "HTTP 204 No Content; the answer is empty."
    sent = route.calls[0].request
    boundary = sent.headers["content-type"].partition("boundary=")[2].encode()
    photo, name = sent.content.split(b"--" + boundary)[1:3]
    assert b'name="photo"; filename="photo"\r\nContent-Type: image/png\r\n\r\n\0\1\2\r\n' in photo
    assert name == b'\r\nContent-Disposition: form-data; name="name"\r\n\r\nRe"x\r\nEvil: 1\r\n'


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "application/json", "application/x-www-form-urlencoded"]
)
@respx.mock
async def test_a_required_body_is_sent_even_if_none_of_its_fields_is_given(kind):
    route = respx.post(f"{SERVER}/p").respond(204)
    operation = body({"type": "object", "properties": {"name": {"type": "string"}}}, kind=kind)
    operation["requestBody"]["required"] = True
    await call(operation, {}, method="post")
    sent = route.calls[0].request
    assert sent.headers["content-type"].startswith(kind)
    if kind == "multipart/form-data":
        boundary = sent.headers["content-type"].partition("boundary=")[2]
        assert sent.content == f"--{boundary}--\r\n".encode()
    else:
        assert sent.content == (b"{}" if "json" in kind else b"")


@respx.mock
async def test_what_the_user_gives_stands_over_what_the_model_writes():
    route = respx.get(f"{SERVER}/p").respond(json=[])
    parameters = [{**query(name), "in": "header"} for name in ("X-Key", "X-Static", "X-Auth")]
    await call(
        {"parameters": parameters, "security": [{"key": []}]},
        {"X-Key": "model", "X-Static": "model", "X-Auth": "model"},
        parts={"components": SCHEMES},
        headers={"x-static": "static", "X-KEY": "static"},
        credentials={"key": "secret"},
        auth=lambda context: {"X-AUTH": "auth"},
    )
    sent = route.calls[0].request.headers
    assert (sent["x-key"], sent["x-static"], sent["x-auth"]) == ("secret", "static", "auth")


@respx.mock
async def test_so_do_the_headers_of_a_client_of_the_users_own():
    route = respx.get(f"{SERVER}/p").respond(json=[])
    parameters = [{**query(name), "in": "header"} for name in ("X-Key", "User-Agent")]
    async with httpx.AsyncClient(headers={"x-key": "own"}) as client:
        await call({"parameters": parameters}, {"X-Key": "model", "User-Agent": "model"}, client=client)
    sent = route.calls[0].request.headers
    assert (sent["x-key"], sent["user-agent"], sent["accept"]) == ("own", "model", "*/*")


@respx.mock
async def test_credentials_in_query_and_cookies_stand_beside_the_arguments():
    route = respx.route().respond(json=[])
    await call(
        {"parameters": [query("a"), {**query("b"), "in": "cookie"}], "security": [{"q": [], "c": []}]},
        {"a": "1", "b": "2"},
        parts={"components": SCHEMES},
        credentials={"q": "s", "c": "t"},
        headers={"Cookie": "own=1"},
    )
    sent = route.calls[0].request
    assert str(sent.url) == f"{SERVER}/p?a=1&k=s"
    assert sent.headers["cookie"] == "own=1; b=2; sid=t"
    await call({"security": [{"q": []}]}, parts={"components": SCHEMES}, credentials={"q": "s"})
    assert str(route.calls[1].request.url) == f"{SERVER}/p?k=s"


@pytest.mark.parametrize("is_async", [False, True])
@respx.mock
async def test_auth_is_asked_at_each_call(is_async):
    def of(context):
        token = context.context.get("token")
        if token is None:
            return None
        return httpx.BasicAuth("user", token) if token == "basic" else {"Authorization": token}

    async def late(context):
        return of(context)

    route = respx.get(f"{SERVER}/p").respond(json=[])
    provider, tool = await only({}, auth=late if is_async else of)
    for token in ("a", "b", "basic", None):
        await tool.call({}, ToolContext(context={"token": token} if token else {}))
    sent = [one.request.headers.get("authorization") for one in route.calls]
    assert sent == ["a", "b", "Basic dXNlcjpiYXNpYw==", None]
    await provider.aclose()


@respx.mock
async def test_an_httpx_auth_authenticates_every_call():
    route = respx.get(f"{SERVER}/p").respond(json=[])
    await call({}, auth=httpx.BasicAuth("a", "b"))
    assert route.calls[0].request.headers["authorization"] == "Basic YTpi"


@pytest.mark.parametrize("given", ["token", {"X": "a\nb"}, {"X": 3}])
@respx.mock(assert_all_called=False)
async def test_auth_that_gives_something_else_is_a_mistake_of_the_program(given):
    respx.get(f"{SERVER}/p").respond(json=[])
    with pytest.raises(ConfigurationError):
        await call({}, auth=lambda context: given)


@respx.mock
async def test_cookies_of_one_answer_are_not_sent_with_the_next_call():
    route = respx.get(f"{SERVER}/p").respond(json=[], headers={"set-cookie": "session=alice"})
    provider, tool = await only({})
    await tool.call({})
    await tool.call({})
    assert "cookie" not in route.calls[1].request.headers
    await provider.aclose()


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        (
            httpx.ConnectError("to https://user:secret@host"),
            "GET /p could not be sent: the server can't be reached.",
        ),
        (httpx.ReadError("secret"), r"GET /p could not be sent: the connection failed \(ReadError\)."),
        (httpx.ReadTimeout("secret"), "GET /p took longer than 30 seconds."),
    ],
)
@respx.mock
async def test_a_failure_of_the_network_is_told_in_words(effect, text):
    respx.get(f"{SERVER}/p").mock(side_effect=effect)
    with pytest.raises(ToolCallError, match=f"^{text}$"):
        await call({})


@respx.mock
async def test_the_model_reads_what_went_wrong_and_the_run_goes_on(caplog):
    respx.get(f"{SERVER}/p/9").respond(404, json={"message": "no such pet"})
    provider, _ = await only({"operationId": "getPet", "parameters": [in_path("id")]}, path="/p/{id}")
    processor = ToolSearchProcessor([provider], mode="load")
    async with processor.session(thread_id="t") as session:
        await session.openai_tools([{"role": "user", "content": "pet"}])
        calls = [
            {
                "id": str(n),
                "type": "function",
                "function": {"name": "getPet", "arguments": json.dumps({"id": value})},
            }
            for n, value in enumerate(["9", "../users", 9])
        ]
        texts = [message["content"] for message in await session.execute(calls)]
    assert texts[0].startswith("Error: GET /p/{id} was answered with HTTP 404 Not Found. It says: ")
    assert json.loads(texts[0].partition("It says: ")[2]) == {"message": "no such pet"}
    assert json.loads(texts[1])["error"] == "`id` must not hold `.` or `..` as a step of a path."
    assert json.loads(texts[2])["error"].startswith("`id` must be a string, found")
    assert caplog.records == []
    await provider.aclose()


async def test_redirects_on_one_host_carry_everything():
    async def answer(request, writer):
        if request.target.startswith("/p"):
            await reply(writer, status="307 Temporary Redirect", location="/q")
        else:
            await reply(writer, '{"done": 1}', content_type="application/json")

    async with serve(answer) as server:
        given = {"base_url": server.url, "headers": {"X-Key": "s", "Cookie": "sid=1"}}
        assert await call(body(PET), {"name": "x"}, method="post", **given) == {"done": 1}
        first, second = server.requests
    assert (second.target, second.method, second.body) == ("/q", "POST", b'{"name":"x"}')
    assert first.headers == second.headers
    assert (second.headers["x-key"], second.headers["cookie"]) == ("s", "sid=1")


async def test_redirects_to_another_host_carry_no_credentials():
    async def final(request, writer):
        await reply(writer, "found", content_type="text/plain")

    async with serve(final) as other:

        async def answer(request, writer):
            await reply(writer, status="302 Found", location=f"{other.url}/elsewhere")

        async with serve(answer) as server:
            found = await call(
                {"security": [{"key": []}], "parameters": [{**query("X-Private"), "in": "header"}]},
                {"X-Private": "mine"},
                parts={"components": SCHEMES},
                base_url=server.url,
                headers={"X-Static": "s", "Cookie": "sid=1"},
                credentials={"key": "s"},
                auth=httpx.BasicAuth("a", "b"),
            )
            assert found == "found"
            assert {"x-key", "x-static", "x-private", "authorization", "cookie"} <= server.requests[
                0
            ].headers.keys()
        (elsewhere,) = other.requests
    assert elsewhere.target == "/elsewhere"
    assert set(elsewhere.headers) == {"host", "accept", "accept-encoding", "connection", "user-agent"}


@respx.mock(assert_all_called=False)
async def test_content_is_not_carried_to_another_host(respx_mock):
    respx_mock.post(f"{SERVER}/p").respond(307, headers={"location": "https://other.example/q"})
    other = respx_mock.route(host="other.example").respond(json=[])
    with pytest.raises(ToolCallError, match="redirected to another host, which only a reading call follows"):
        await call(body(PET), {"name": "x"}, method="post")
    assert not other.called


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.1", "2130706433", "169.254.169.254", "10.0.0.1", "[::1]", "localhost.", "a.localhost"],
)
@respx.mock(assert_all_called=False)
async def test_a_public_server_does_not_lead_into_the_own_network(respx_mock, host):
    respx_mock.get(f"{SERVER}/p").respond(302, headers={"location": f"http://{host}/latest/meta-data"})
    with pytest.raises(ToolCallError, match="an address of this machine's own network: not followed"):
        await call({})


@respx.mock
async def test_to_https_of_the_same_host_credentials_are_carried():
    respx.get("http://api.example.com/p").respond(301, headers={"location": "https://api.example.com/p"})
    route = respx.get("https://api.example.com/p").respond(json=[])
    await call({}, base_url="http://api.example.com", headers={"X-Key": "s"})
    assert route.calls[0].request.headers["x-key"] == "s"


@respx.mock
async def test_redirects_come_to_an_end():
    route = respx.get(f"{SERVER}/p").respond(302, headers={"location": f"{SERVER}/p"})
    with pytest.raises(ToolCallError, match=r"^GET /p was redirected more than 5 times\.$"):
        await call({})
    assert route.call_count == 6


async def test_reading_stops_at_the_limit():
    stopped = asyncio.Event()

    async def answer(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 10_000)
                await writer.drain()
        finally:
            stopped.set()

    async with serve(answer) as server:
        text = await call({}, base_url=server.url, max_response_bytes=50_000, max_response_chars=10)
        assert text.startswith("xxxxxxxxxx\n… (the first 10 of more than 50,000 characters")
        await asyncio.wait_for(stopped.wait(), 10)


async def test_a_call_has_an_end_also_where_bytes_keep_coming():
    async def answer(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0)

    async with serve(answer) as server, httpx.AsyncClient(timeout=30) as client:
        with pytest.raises(ToolCallError, match=r"^GET /p took longer than 0\.2 seconds\.$"):
            await call({}, base_url=server.url, client=client, timeout_seconds=0.2)


async def test_a_server_that_is_not_there_is_told():
    async with serve(reply) as server:
        url = server.url
    with pytest.raises(ToolCallError, match="the server can't be reached"):
        await call({}, base_url=url)


async def test_a_timeout_of_the_users_own_passes_through():
    def auth(context):
        raise TimeoutError("the vault is closed")

    with pytest.raises(TimeoutError, match="the vault is closed"):
        await call({}, auth=auth)


async def test_cancelling_passes_through():
    began, end = asyncio.Event(), asyncio.Event()

    async def answer(request, writer):
        began.set()
        await end.wait()

    async with serve(answer) as server:
        provider, tool = await only({}, base_url=server.url)
        task = asyncio.create_task(tool.call({}))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.aclose()
        end.set()


def test_bad_arguments_never_reach_the_wire():
    with pytest.raises(ToolArgumentsError, match="`name` must be a string"):
        asyncio.run(call(body(PET), {"name": 3}, method="post"))

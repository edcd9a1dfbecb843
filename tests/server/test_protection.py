"""What stands before the endpoints: hosts, origins, tokens, sizes, rates."""

import asyncio
import json

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.protection import (
    CALLER_KEY,
    Protection,
    Rate,
)
from tool_search_processor.testing import ManualClock


async def echo(scope, receive, send):
    """Answer with the caller, the body, and what comes after the body."""
    message = await receive()
    user = scope[CALLER_KEY] and scope[CALLER_KEY].user
    answer = {"user": user, "size": len(message["body"]), "more": message["more_body"]}
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


async def ask(
    app,
    *chunks,
    path="/",
    scheme="http",
    client=("10.0.0.1", 5),
    host="localhost:8000",
    method="POST",
    root_path="",
    **headers,
):
    """Send one request in pieces; returns the status, the answer and its headers."""
    given = {"host": host, **headers}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "root_path": root_path,
        "scheme": scheme,
        "client": client,
        "headers": [
            (name.replace("_", "-").encode(), value.encode("latin-1"))
            for name, values in given.items()
            for value in ([values] if isinstance(values, str) else values or ())
        ],
    }
    messages = [
        {"type": "http.request", "body": chunk, "more_body": place < len(chunks) - 1}
        for place, chunk in enumerate(chunks or (b"",))
    ]
    sent = []

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    if not sent:
        return None, None, {}
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], json.loads(sent[1]["body"] or "null"), answered


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("LocalHost", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:80", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example:8000", 421),
        ("evil.example:localhost", 421),
        ("", 421),
        (None, 421),
        ("localhost.", 421),
        ("localhost@evil.example", 421),
        ("localhost:80@evil.example", 421),
        ("[::1].evil.example", 421),
        ("[::1]evil.example:80", 421),
        ("localhost:", 421),
        ("localhost, evil.example", 421),
        ("::1", 421),
        ("LOCALHOST:8000", 200),
    ],
)
async def test_only_known_hosts_are_served(host, status):
    assert (await ask(Protection(echo), host=host))[0] == status


async def test_hosts_can_be_chosen():
    chosen = Protection(echo, allowed_hosts=["Tools.Example"])
    assert (await ask(chosen, host="tools.example:443"))[0] == 200
    assert (await ask(chosen, host="localhost"))[0] == 421
    assert (await ask(Protection(echo, allowed_hosts=None), host="anything"))[0] == 200


@pytest.mark.parametrize(
    ("options", "host", "origin", "status"),
    [
        ({}, "localhost:8000", None, 200),
        ({}, "localhost:8000", "http://localhost:8000", 200),
        ({}, "localhost:8000", "http://127.0.0.1:6274", 200),
        ({}, "localhost:8000", "http://[::1]:3000", 200),
        ({}, "localhost:8000", "https://evil.example", 403),
        ({}, "localhost:8000", "http://localhost.evil.example", 403),
        ({}, "localhost:8000", "null", 403),
        ({}, "localhost:8000", "", 403),
        ({"allowed_origins": ["https://app.example"]}, "localhost:8000", "https://app.example", 200),
        ({"allowed_hosts": None}, "tools.example", "http://tools.example", 200),
        ({"allowed_hosts": None}, "tools.example", "http://localhost:1", 403),
        ({"allowed_hosts": None}, "tools.example", "https://tools.example", 200),
        ({"allowed_hosts": None}, "tools.example", "https://tools.example:8443", 403),
        ({}, "localhost:8000", "http://[::1", 403),
        ({}, "localhost:8000", "http://localhost:80@evil.example", 403),
        ({}, "localhost:8000", "http://localhost.", 403),
        ({}, "LocalHost:8000", "http://localhost:8000", 200),
        ({"allowed_hosts": None}, "Tools.example", "http://tools.example", 200),
    ],
)
async def test_pages_from_elsewhere_may_not_ask(options, host, origin, status):
    assert (await ask(Protection(echo, **options), host=host, origin=origin))[0] == status


@pytest.mark.parametrize(
    ("authorization", "status", "user"),
    [
        (None, 401, None),
        ("Bearer wrong", 401, None),
        ("Bearer", 401, None),
        ("Bearer right", 200, "ada"),
        ("bearer  right ", 200, "ada"),
        ("Basic eDpyaWdodA==", 200, "ada"),
    ],
)
async def test_a_token_is_needed_where_there_is_one_to_check(authorization, status, user):
    app = Protection(echo, token=lambda token: "ada" if token == "right" else None, open_paths=["/health"])
    found, answer, headers = await ask(app, authorization=authorization)
    assert found == status
    assert answer.get("user") == user
    assert ("www-authenticate" in headers) == (status == 401)
    assert (await ask(app, path="/health", authorization=authorization))[0] == 200


@pytest.mark.parametrize(
    ("root", "path", "status"),
    [
        ("/tools", "/tools/health", 200),
        ("", "/health", 200),
        ("/tools", "/tools/mcp", 401),
        ("/health", "/health/mcp", 401),
        ("/tools", "/toolshealth", 401),
        ("/tools/", "/tools/health", 401),
        ("/tools", "/health", 200),
        ("", "/tools/health", 401),
    ],
)
async def test_a_path_is_open_wherever_the_app_is_mounted(root, path, status):
    app = Protection(echo, token="right", open_paths=["/health"])
    assert (await ask(app, path=path, root_path=root))[0] == status


async def test_one_token_for_all():
    app = Protection(echo, token="secret")
    assert (await ask(app, authorization="Bearer secret"))[0] == 200
    assert (await ask(app, authorization="Bearer secre"))[0] == 401


@pytest.mark.parametrize(
    ("chunks", "headers", "status", "size"),
    [
        ((b"x" * 10,), {}, 200, 10),
        ((b"x" * 5, b"x" * 5), {}, 200, 10),
        ((), {}, 200, 0),
        ((b"x" * 11,), {}, 413, None),
        ((b"x" * 5, b"x" * 6), {}, 413, None),
        ((b"",), {"content_length": "11"}, 413, None),
        ((b"",), {"content_length": "99999999999999999999"}, 413, None),
        ((b"x",), {"content_length": "no number"}, 200, 1),
    ],
)
async def test_a_body_has_a_limit_and_comes_whole(chunks, headers, status, size):
    found, answer, _ = await ask(Protection(echo, max_body_bytes=10), *chunks, **headers)
    assert found == status
    assert answer == ({"user": None, "size": size, "more": False} if status == 200 else answer)


async def test_a_body_that_does_not_come_is_given_up():
    async def receive():
        await asyncio.Event().wait()

    sent = []

    async def send(message):
        sent.append(message)

    app = Protection(echo, body_timeout_seconds=0.01)
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost")]}
    await app(scope, receive, send)
    assert sent[0]["status"] == 408


async def test_a_client_that_leaves_before_its_body_is_complete_is_not_answered():
    app = Protection(echo)
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost")]}
    messages = [{"type": "http.request", "body": b"x", "more_body": True}, {"type": "http.disconnect"}]

    async def receive():
        return messages.pop(0)

    async def send(message):
        raise AssertionError(message)

    await app(scope, receive, send)


async def test_an_app_hears_when_its_client_leaves():
    heard = []

    async def app(scope, receive, send):
        heard.extend([(await receive())["type"], (await receive())["type"]])

    await ask(Protection(app), b"x")
    assert heard == ["http.request", "http.disconnect"]


async def test_only_so_many_requests_at_once():
    inside, go = asyncio.Event(), asyncio.Event()

    async def slow(scope, receive, send):
        inside.set()
        await go.wait()
        await echo(scope, receive, send)

    app = Protection(slow, max_concurrent=1)
    first = asyncio.create_task(ask(app))
    await inside.wait()
    status, _, headers = await ask(app)
    assert (status, headers["retry-after"]) == (503, "1")
    go.set()
    assert (await first)[0] == 200
    assert (await ask(app))[0] == 200


async def test_a_place_is_free_again_after_a_failure():
    async def fails(scope, receive, send):
        raise RuntimeError

    app = Protection(fails, max_concurrent=1)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            await ask(app)


async def test_a_client_may_ask_so_often_and_others_meanwhile():
    clock = ManualClock()
    app = Protection(echo, requests_per_second=2, clock=clock)
    assert [(await ask(app))[0] for _ in range(5)] == [200, 200, 200, 200, 429]
    assert (await ask(app, client=("10.0.0.2", 5)))[0] == 200
    assert (await ask(app, client=None))[0] == 200
    clock.advance(0.5)
    assert [(await ask(app))[0] for _ in range(2)] == [200, 429]
    clock.advance(1000)
    assert [(await ask(app))[0] for _ in range(5)] == [200, 200, 200, 200, 429]
    assert (await ask(Protection(echo, requests_per_second=None)))[0] == 200


async def test_guesses_of_tokens_count():
    app = Protection(echo, token="secret", requests_per_second=1, clock=ManualClock())
    assert [(await ask(app, authorization="Bearer x"))[0] for _ in range(3)] == [401, 401, 429]


def test_less_than_one_request_a_second_lets_one_through():
    clock = ManualClock()
    rate = Rate(0.1, clock=clock)
    assert [rate.admits("a"), rate.admits("a")] == [True, False]
    clock.advance(10)
    assert rate.admits("a")


async def test_other_connections_pass_unchanged():
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["type"])

    await Protection(app)({"type": "lifespan"}, None, None)
    assert seen == ["lifespan"]


@pytest.mark.parametrize(
    "options",
    [
        {"max_body_bytes": 0},
        {"max_concurrent": True},
        {"max_concurrent": 1.5},
        {"body_timeout_seconds": 0},
        {"requests_per_second": 0},
        {"requests_per_second": float("nan")},
        {"allowed_hosts": "localhost"},
        {"allowed_origins": "https://x"},
        {"token": ""},
    ],
)
def test_limits_that_let_nothing_through_are_refused(options):
    with pytest.raises(ConfigurationError):
        Protection(echo, **options)


@pytest.mark.parametrize(
    ("name", "values", "status"),
    [
        ("host", ["localhost", "evil.example"], 421),
        ("host", ["evil.example", "localhost"], 421),
        ("host", ["localhost", "localhost"], 421),
        ("origin", ["https://evil.example", "http://localhost"], 403),
        ("authorization", ["Bearer right", "Bearer wrong"], 401),
        ("authorization", ["Bearer wrong", "Bearer right"], 401),
        ("x-forwarded-host", ["localhost", "evil.example"], 200),
    ],
)
async def test_what_comes_twice_is_nothing_that_is_known(name, values, status):
    given = {"host": ["localhost"], "authorization": ["Bearer right"]} | {name: values}
    app = Protection(echo, token="right")
    assert (await ask(app, **given))[0] == status


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example"])
@pytest.mark.parametrize("header", ["x_forwarded_host", "forwarded", "x_original_host"])
async def test_what_a_client_says_that_a_proxy_said_counts_nothing(host, header):
    assert (await ask(Protection(echo), host=host, **{header: "localhost"}))[0] == 421


PAGE = "https://app.example"
ASKS = {"method": "OPTIONS", "access_control_request_method": "POST", "origin": PAGE}


async def test_a_browser_lets_a_page_that_may_ask_read_the_answer():
    app = Protection(echo, token="right", allowed_origins=[PAGE])
    status, _, headers = await ask(app, **ASKS, access_control_request_headers="authorization, x-mine")
    assert status == 204
    assert headers == {
        "access-control-allow-origin": PAGE,
        "access-control-allow-methods": "GET, POST, DELETE",
        "access-control-allow-headers": "authorization, x-mine",
        "access-control-expose-headers": "mcp-session-id, www-authenticate, retry-after",
        "access-control-max-age": "600",
        "vary": "origin",
    }
    for authorization, expected in (("Bearer right", 200), ("Bearer wrong", 401)):
        status, _, headers = await ask(app, origin=PAGE, authorization=authorization)
        assert (status, headers["access-control-allow-origin"]) == (expected, PAGE)


@pytest.mark.parametrize(
    ("origin", "method", "status"),
    [
        ("https://evil.example", "OPTIONS", 403),
        ("http://localhost:3000", "OPTIONS", 401),
        (None, "OPTIONS", 401),
        ("http://localhost:3000", "POST", 401),
    ],
)
async def test_other_pages_are_told_nothing(origin, method, status):
    app = Protection(echo, token="right", allowed_origins=[PAGE])
    found, _, headers = await ask(app, **{**ASKS, "origin": origin, "method": method})
    assert found == status
    assert not any(name.startswith("access-control") for name in headers)

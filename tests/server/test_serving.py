"""Running an app: it is told to stop, it ends what is under way, and idle connections cost nothing."""

import asyncio
import os
import signal
import socket
import threading

import httpx
import pytest

from tool_search_processor.errors import ConfigurationError, ToolSearchError
from tool_search_processor.server.serving import drop_the_vanished, serve


class App:
    """Answers when it is allowed to."""

    def __init__(self, answer=None):
        self.answer = answer
        self.inside = asyncio.Event()
        self.go = asyncio.Event()
        self.seen = []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            while True:
                self.seen.append((await receive())["type"])
                await send({"type": f"{self.seen[-1]}.complete"})
                if self.seen[-1] == "lifespan.shutdown":
                    return
        self.inside.set()
        if self.answer is not None:
            await self.answer(scope, receive, send)
            return
        await self.go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


async def started(app, **options):
    """Serve an app; returns the task and the URL."""
    ready = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(app, port=0, ready=ready.set_result, **options))
    return task, await asyncio.wait_for(ready, 10)


GET = b"GET / HTTP/1.1\r\nhost: x\r\n"


async def asked(url, request, **options):
    """Open a connection whose request is there before it is accepted, so that no delay makes it idle."""
    connected = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])))
    connected.sendall(request)
    return await asyncio.open_connection(sock=connected, **options)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux has it")
def test_a_client_whose_network_is_gone_is_given_up_as_early_as_one_that_reads_nothing():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        drop_the_vanished(listener, seconds=30)
        with socket.create_connection(listener.getsockname()):
            connection, _ = listener.accept()
            with connection:
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_lets_what_is_under_way_end(number):
    app, stopped = App(), asyncio.Event()
    before = signal.getsignal(number)
    task, url = await started(app, stopping=stopped.set)
    # sse-starlette looks here for a server that stops, and breaks off its open answers
    assert not hasattr(signal.getsignal(number), "__self__")
    async with httpx.AsyncClient() as client:
        call = asyncio.create_task(client.get(url))
        await app.inside.wait()
        os.kill(os.getpid(), number)
        await asyncio.wait_for(stopped.wait(), 10)
        app.go.set()
        assert (await call).text == "ok"
        await asyncio.wait_for(task, 10)
        with pytest.raises(httpx.ConnectError):
            await client.get(url)
    assert app.seen == ["lifespan.startup", "lifespan.shutdown"]
    assert signal.getsignal(number) is before


async def test_what_does_not_end_is_ended_after_the_grace_period():
    app = App()
    task, url = await started(app, grace_seconds=0)
    async with httpx.AsyncClient() as client:
        call = asyncio.create_task(client.get(url))
        await app.inside.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(task, 10)
        assert (await call).status_code == 500
    assert app.seen[-1] == "lifespan.shutdown"


async def test_a_cancelled_server_closes_what_it_opened():
    app = App()
    task, url = await started(app)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert app.seen[-1] == "lifespan.shutdown"
    async with httpx.AsyncClient() as client:
        with pytest.raises(httpx.ConnectError):
            await client.get(url)


async def test_a_silent_connection_is_closed_and_one_too_many_at_once():
    app = App()
    app.go.set()
    task, url = await started(app, idle_seconds=0.05, max_connections=2)
    port = int(url.rpartition(":")[2])
    try:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        ends = [reader.read() for reader, _ in silent]
        assert await asyncio.wait_for(asyncio.gather(*ends), 10) == [b""] * 20
        for _, writer in silent:
            writer.close()
        reader, writer = await asked(url, GET + b"connection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"ok")
        writer.close()
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_a_connection_that_asks_in_time_stays_open():
    app = App()
    task, url = await started(app, idle_seconds=0.05)
    try:
        answer, writer = await asked(url, GET + b"connection: close\r\n\r\n")
        await app.inside.wait()
        silent, other = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        assert await asyncio.wait_for(silent.read(), 10) == b""  # so the time of both has passed
        other.close()
        app.go.set()
        assert (await answer.read()).endswith(b"ok")
        writer.close()
    finally:
        task.cancel()
        await asyncio.wait({task})


SLOW_STARTS = {
    "the head of a second request": b"GET / HTTP/1.1\r\nhost: x\r\nx-slow: ",
    "a body that nobody waits for": b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nab",
}


@pytest.mark.parametrize("start", SLOW_STARTS.values(), ids=SLOW_STARTS)
async def test_a_connection_that_was_answered_once_may_not_dawdle_either(start):
    app = App()
    app.go.set()
    task, url = await started(app, idle_seconds=0.2)
    reader, writer = await asked(url, GET + b"\r\n")
    try:
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.write(start)
        await asyncio.wait_for(reader.read(), 3)  # well before uvicorn's 5 s between two requests
    finally:
        writer.close()
        task.cancel()
        await asyncio.wait({task})


@pytest.mark.parametrize("reads", [False, True])
async def test_a_client_that_takes_no_answer_is_dropped_and_a_slow_one_is_not(reads):
    left = asyncio.Event()

    async def app(scope, receive, send):
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(1 << 24), "more_body": not reads})
        if not reads:
            assert (await receive())["type"] == "http.disconnect"
            left.set()

    task, url = await started(App(app), idle_seconds=0.1)
    reader, writer = await asked(url, GET + b"connection: close\r\n\r\n", limit=1 << 12)
    try:
        if reads:
            assert len(await asyncio.wait_for(reader.read(), 10)) > 1 << 24
        else:
            await asyncio.wait_for(left.wait(), 10)
    finally:
        writer.close()
        task.cancel()
        await asyncio.wait({task})


def test_a_server_in_a_thread_leaves_signals_alone():
    before = signal.getsignal(signal.SIGTERM)
    during = []

    async def run():
        app = App()
        app.go.set()
        task, url = await started(app, host="::1")
        assert url.startswith("http://[::1]:")
        async with httpx.AsyncClient() as client:
            assert (await client.get(url)).text == "ok"
        during.append(signal.getsignal(signal.SIGTERM))
        task.cancel()
        await asyncio.wait({task})

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    thread.join()
    assert during == [before]


@pytest.mark.parametrize("port", ["8000", 70000, -1, None])
async def test_a_port_is_a_number(port):
    with pytest.raises(
        ConfigurationError, match=f"port must be a whole number from 0 to 65535, found {port!r}"
    ):
        await serve(App(), port=port)


async def test_an_address_in_use_is_an_error_and_ends_nothing():
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(OSError, match="already in use"):
        await serve(App(), port=other.getsockname()[1])


async def test_an_app_that_cannot_start_is_an_error():
    async def broken(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no index"})

    with pytest.raises(ToolSearchError, match="could not start"):
        await serve(broken, port=0, ready=lambda url: None)

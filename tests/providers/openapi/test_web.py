"""The server on loopback leaves no connection open, whenever a client comes."""

import asyncio
import gc
import socket
import warnings
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from tests.providers.openapi.web import serve


@pytest.mark.parametrize(
    ("before", "after"), [*((0, turns) for turns in range(9)), *((turns, 0) for turns in range(1, 9))]
)
def test_a_connection_is_closed_however_far_the_loop_was_with_it(before, after):
    async def never(request, writer):
        await asyncio.Event().wait()

    async def turn(turns):
        for _ in range(turns):
            await asyncio.sleep(0)

    async def come(url):
        await turn(before)
        with suppress(ConnectionRefusedError):
            return socket.create_connection((urlsplit(url).hostname, urlsplit(url).port))

    async def connect():
        async with serve(never) as server:
            coming = asyncio.create_task(come(server.url))
            await turn(after)
        return await coming

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client = asyncio.run(asyncio.wait_for(connect(), 10))
        if client is not None:
            client.close()
        gc.collect()
    assert [str(warning.message) for warning in caught] == []

"""The server on loopback leaves no connection open, whenever a client comes."""

import asyncio
import gc
import socket
import warnings
from urllib.parse import urlsplit

import pytest

from tests.providers.openapi.web import serve


@pytest.mark.parametrize("turns", range(8))
def test_a_connection_is_closed_however_far_the_loop_was_with_it(turns):
    async def never(request, writer):
        await asyncio.Event().wait()

    async def connect():
        async with serve(never) as server:
            address = urlsplit(server.url)
            client = socket.create_connection((address.hostname, address.port))
            for _ in range(turns):
                await asyncio.sleep(0)
        return client

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(asyncio.wait_for(connect(), 30)).close()
        gc.collect()
    assert [str(warning.message) for warning in caught] == []

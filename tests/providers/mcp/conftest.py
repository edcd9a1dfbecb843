import asyncio
import sys

import pytest

from tests.providers.mcp.asking import SMALL, HttpServer
from tool_search_processor.providers import MCPProvider


@pytest.fixture(autouse=True, scope="module")
def _closed_afterwards(mcp_closed):
    """Leave no connection open after any module."""


@pytest.fixture
async def provide():
    """Make providers of the small server, which are closed afterwards."""
    made = []

    def make(*arguments, **options):
        options.setdefault("name", "small")
        made.append(MCPProvider.stdio(sys.executable, [SMALL, *arguments], **options))
        return made[-1]

    yield make
    await asyncio.gather(*(provider.aclose() for provider in made))


@pytest.fixture(scope="module")
def http_server():
    """A server over HTTP that the tests of a module share."""
    server = HttpServer()
    yield server
    server.kill()

"""What every test needs: no network of litellm's own, and properties tried on the same examples each time.

`HYPOTHESIS_PROFILE=long` tries others at each run. No example is timed.
"""

import gc
import os

import pytest
from hypothesis import settings

os.environ["LITELLM_OFFLINE_MODE"] = "true"
os.environ["DISABLE_AIOHTTP_TRANSPORT"] = "True"
settings.register_profile("tests", deadline=None, derandomize=os.environ.get("HYPOTHESIS_PROFILE") != "long")
settings.load_profile("tests")


@pytest.fixture(autouse=True, scope="module")
def _short_pauses():
    """Collect garbage of the earlier modules, and leave what stays out of later collections.

    Among 14,000 tests a whole one takes a second or two, and what a test waits for runs out of time.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
async def http():
    """A client of servers on loopback."""
    import httpx2

    async with httpx2.AsyncClient(timeout=20) as client:
        yield client


@pytest.fixture(scope="module")
def mcp_closed():
    """Close every connection to an MCP server that a module left open, and the loop that held it."""
    from tool_search_processor.providers.mcp.background import close_background

    yield
    close_background()

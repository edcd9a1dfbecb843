import pytest

from tests.agent.litellm_clients import close_litellm


@pytest.fixture
async def litellm_closed():
    """Let litellm use httpx alone, and leave none of its clients open."""
    import litellm

    litellm.suppress_debug_info = True
    litellm.disable_aiohttp_transport = True
    yield
    await close_litellm()

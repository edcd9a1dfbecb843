"""Servers that many tests ask; starting one takes longer than asking it."""

import pytest

from tests.http_server import HttpServer
from tests.server.rest.serving import TOOLS, hybrid
from tool_search_processor.server.rest import create_app


@pytest.fixture(scope="session")
def rest_url():
    """Return the URL of an endpoint with the token "secret" and three search modes."""
    with HttpServer(create_app(TOOLS, search=hybrid(), token="secret")) as server:
        yield server.url

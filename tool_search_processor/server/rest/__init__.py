"""The REST search endpoint, as Letta's client speaks it, and a page for people."""

from importlib.util import find_spec

# The MCP SDK brings Starlette, and not the other.
if find_spec("starlette") is None or find_spec("prometheus_client") is None:
    raise ImportError(
        'the REST endpoint needs Starlette and prometheus-client: pip install "tool-search-processor[server]"'
    )

from tool_search_processor.server.rest.app import create_app

__all__ = ["create_app"]

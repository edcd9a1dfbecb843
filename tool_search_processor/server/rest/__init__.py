"""The REST search endpoint, as Letta's client speaks it, and a page for people."""

from importlib.util import find_spec

if find_spec("starlette") is None:
    raise ImportError('the REST endpoint needs Starlette: pip install "tool-search-processor[server]"')

from tool_search_processor.server.rest.app import create_app

__all__ = ["create_app"]

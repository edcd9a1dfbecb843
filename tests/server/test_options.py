"""Options that one door passes on to another are typed as the other has them."""

import inspect

import pytest

from tool_search_processor.server.gateway import Gateway
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.server.mcp.running import HttpOptions
from tool_search_processor.server.mcp.server_options import ToolServerOptions
from tool_search_processor.server.protection import Limits, Protection


def annotations(function, *, without=()):
    parameters = inspect.signature(function).parameters.values()
    named = {each.name: each.annotation for each in parameters if each.kind is not each.VAR_KEYWORD}
    return {name: kind for name, kind in named.items() if name not in {"self", *without}}


def fields(options):
    return {name: getattr(kind, "__forward_arg__", kind) for name, kind in options.__annotations__.items()}


def test_limits_are_what_protection_takes():
    assert fields(Limits) == annotations(Protection.__init__, without={"app", "token"})


def test_options_of_run_are_what_run_http_takes():
    assert fields(HttpOptions) == annotations(ToolServer.run_http) | fields(Limits)


def test_a_gateway_passes_on_what_it_does_not_take_itself():
    own = {*annotations(Gateway.__init__), "tools", "authenticate", "provider_timeout_seconds"}
    assert fields(ToolServerOptions) == annotations(ToolServer.__init__, without=own)


def test_an_option_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="tool_limit"):
        Gateway([], tool_limit=5)

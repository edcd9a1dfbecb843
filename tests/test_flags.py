"""An option that is True or False refuses anything else: a configuration's "no" would count as true."""

import asyncio

import pytest

from tool_search_processor import (
    Agent,
    Catalog,
    ConfigurationError,
    InvalidToolError,
    MCPProvider,
    TokenLimiter,
    Tool,
    ToolSearchProcessor,
    ToolSession,
    Visibility,
    tool,
)
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.server.gateway import Gateway
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.session import CallOptions


def stdio(**options):
    return MCPProvider.stdio("no-such-program", **options)


def ready(**options):
    asyncio.run(Catalog([]).make_ready(**options))


def native_request(**options):
    asyncio.run(ToolSession().responses_request([], **options))


OPTIONS = [
    (ToolSearchProcessor, "include_step_tools"),
    (ToolSearchProcessor, "catalog_in_prompt"),
    (ToolSearchProcessor, "allow_unload"),
    (ToolSearchProcessor().functions, "sync"),
    (ToolSession, "mask_error_details"),
    (native_request, "native"),
    (CallOptions, "concurrent"),
    (CallOptions, "mask_error_details"),
    (lambda **options: Agent("a", "m", **options), "parallel_tool_calls"),
    (lambda **options: Agent("a", "m", **options), "mask_error_details"),
    (lambda **options: TokenLimiter(100, **options), "count_tools"),
    (lambda **options: TokenLimiter(100, **options), "keep_last_turn"),
    (Visibility, "enabled"),
    (lambda **options: Visibility(True, names=["a"], **options), "only"),
    (ToolServer, "search_when_empty"),
    (ToolServer, "mask_error_details"),
    (ToolServer, "keep_sessions"),
    (lambda **options: Gateway([], **options), "mask_error_details"),
    (stdio, "progress_extends_timeout"),
    (stdio, "resources_as_tools"),
    (stdio, "prompts_as_tools"),
    (lambda **options: MCPProvider.from_config({"mcpServers": {}}, **options), "namespaced"),
    (lambda **options: VectorIndex(len, **options), "background"),
    (ready, "wait_for_vectors"),
]


@pytest.mark.parametrize("wrong", ["no", "", 1, None])
@pytest.mark.parametrize(("make", "option"), OPTIONS, ids=[option for _, option in OPTIONS])
def test_an_option_is_true_or_false(make, option, wrong):
    with pytest.raises(ConfigurationError) as refused:
        make(**{option: wrong})
    assert str(refused.value) == f"{option} must be True or False, found {wrong!r}"


@pytest.mark.parametrize("wrong", ["no", "", 0, None, []])
@pytest.mark.parametrize("field", ["pinned", "requires_approval"])
@pytest.mark.parametrize(
    "make",
    [
        lambda **fields: Tool("pay", **fields),
        lambda **fields: Tool("pay").replace(**fields),
        lambda **fields: tool(**fields)(pay),
        lambda **fields: Tool.from_openai({"name": "pay"}, **fields),
    ],
    ids=["Tool", "replace", "@tool", "from_openai"],
)
def test_a_field_of_a_tool_is_true_or_false(make, field, wrong):
    with pytest.raises(InvalidToolError) as refused:
        make(**{field: wrong})
    assert str(refused.value) == f"{field} of the tool 'pay' is True or False, found {wrong!r}"


def pay() -> None:
    """Pay."""


@pytest.mark.parametrize("wrong", ["", None, 3])
def test_the_type_of_a_tool_is_a_string(wrong):
    with pytest.raises(InvalidToolError, match="tool_type of the tool 'pay' is a string that is not empty"):
        Tool("pay", tool_type=wrong)


def test_what_every_adapter_calls_hide_own_is_true_or_false():
    with pytest.raises(ConfigurationError, match="hide_own must be True or False, found 'no'"):
        ToolSearchProcessor().for_framework(include_step_tools="no")

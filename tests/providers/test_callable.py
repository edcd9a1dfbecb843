"""Tools that a function gives, anew for each request."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, NewType, TypedDict

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers import CallableProvider
from tool_search_processor.tools import Tool, ToolContext


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


def by_plan(context):
    return [Tool(f"for_{context['plan']}")]


async def by_plan_later(context):
    await asyncio.sleep(0)
    return by_plan(context)


class Tenant:
    """A callable object without a name."""

    def __call__(self, context):
        return by_plan(context)


async def names(provider, context=None):
    return [tool.name for tool in await provider.list_tools(context or {})]


@pytest.mark.parametrize("function", [by_plan, by_plan_later, Tenant(), partial(by_plan)])
async def test_each_request_gets_its_own(function):
    provider = CallableProvider(function)
    assert await names(provider, {"plan": "free"}) == ["for_free"]
    assert await names(provider, {"plan": "pro"}) == ["for_pro"]
    assert provider.version() is None
    assert not provider.static


@pytest.mark.parametrize(
    ("function", "name"), [(by_plan, "by_plan"), (Tenant(), "Tenant"), (lambda context: [], "<lambda>")]
)
def test_it_is_called_after_its_function(function, name):
    assert CallableProvider(function).name == name
    assert CallableProvider(function, name="mine").name == "mine"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        ((Tool("b"), Tool("a")), ["b", "a"]),
        ([Tool("a"), greet], ["a", "greet"]),
        ({"hello": greet, "b": Tool("x")}, ["hello", "x"]),
        ((Tool(name) for name in "ba"), ["b", "a"]),
    ],
)
async def test_it_may_give_what_a_static_provider_takes(given, expected):
    assert await names(CallableProvider(lambda context: given)) == expected


@pytest.mark.parametrize("given", [None, 3, "tools", ["a"], [None]])
async def test_anything_else_is_refused_by_name(given):
    def broken(context):
        return given

    with pytest.raises(ConfigurationError, match=r"broken: .*found|broken: .*neither a Tool nor a function"):
        await CallableProvider(broken).list_tools({})


@pytest.mark.parametrize("function", [lambda: [greet], lambda context, user: [greet]])
def test_it_is_called_with_the_context_alone(function):
    with pytest.raises(ConfigurationError, match=r"lambda.* doesn't take the context of a request"):
        CallableProvider(function)


@pytest.mark.parametrize("function", [None, [], "tools", 3])
def test_it_takes_a_function(function):
    with pytest.raises(ConfigurationError, match="CallableProvider takes a function, found"):
        CallableProvider(function)


class Plan(TypedDict):
    plan: str


Named = NewType("Named", dict[str, str])


def takes_a_mapping(request: Mapping[str, object]): ...
def takes_a_dict(request: dict): ...
def takes_a_typed_dict(request: Plan): ...
def takes_a_new_type(request: Named): ...
def takes_either(request: dict | None): ...
def takes_annotated(request: Annotated[Mapping | None, "theirs"]): ...
def takes_a_text_of_one(request: "dict[str, str]"): ...
def takes_one_for_type_checkers(request: "typing_only.Mapping[str, object]"): ...  # noqa: F821
def takes_ctx(ctx): ...
def takes_any(context: Any): ...
def takes_what_it_does_not_look_at(_context): ...
def takes_its_own_kind(context: "RequestContext"): ...  # noqa: F821


SOURCES = [function for name, function in globals().items() if name.startswith("takes_")]


@pytest.mark.parametrize("function", SOURCES, ids=lambda function: function.__name__)
def test_a_function_that_takes_a_context_gives_tools(function):
    assert CallableProvider(function).name == function.__name__


def no_mapping(name): ...
def no_mapping_either(names: list[dict]): ...
def no_context(context: ToolContext): ...
def no_context_either(context: ToolContext | None = None): ...
def no_request(context: str): ...
def no_list_of_them(context: list[str] | None): ...
def no_literal(context: Literal["a", "b"]): ...
def no_parameter_at_all(): ...
def no_places(*contexts): ...
def no_names(**context): ...
async def no_coroutine(name: str = "all"): ...


TOOLS = [function for name, function in globals().items() if name.startswith("no_")]


@pytest.mark.parametrize("function", TOOLS, ids=lambda function: function.__name__)
def test_any_other_function_is_a_tool_whose_brackets_were_forgotten(function):
    with pytest.raises(ConfigurationError, match="if it is a tool, put it in a list; if it returns tools"):
        CallableProvider(function)

"""What providers share: transforms around them, and the optional parts of the protocol."""

import logging

import pytest

from tool_search_processor.providers import Provider, StaticProvider, ToolProvider, TransformedProvider
from tool_search_processor.providers.provider import close_provider, provider_name, provider_version
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import Namespace, Transform


class Bare:
    """The least that is a provider."""

    async def list_tools(self, context):
        return [Tool("a")]


class Full(Bare):
    name = "full"
    closed = 0

    def version(self):
        return "v1"

    async def aclose(self):
        self.closed += 1


class Own(Provider):
    async def list_tools(self, context):
        return [Tool(context.get("name", "a"))]


class Suffix(Transform):
    def __init__(self, suffix):
        self.suffix = suffix

    async def list_tools(self, tools):
        return [tool.replace(name=tool.name + self.suffix) for tool in tools]


class Denies(Transform):
    """Its two methods disagree about `a`."""

    async def get_tool(self, name, call_next):
        return None if name == "a" else await call_next(name)


async def names(provider, context=None):
    return [tool.name for tool in await provider.list_tools(context or {})]


def test_the_optional_parts_may_be_missing():
    assert isinstance(Bare(), ToolProvider)
    assert provider_name(Bare()) == "Bare"
    assert provider_version(Bare()) is None
    assert (provider_name(Full()), provider_version(Full())) == ("full", "v1")


async def test_closing_what_can_be_closed():
    await close_provider(Bare())
    full = Full()
    await close_provider(full)
    assert full.closed == 1


async def test_the_base_has_defaults():
    own = Own()
    assert (own.name, own.static, own.version()) == ("provider", False, None)
    await own.aclose()
    assert await names(own, {"name": "b"}) == ["b"]


async def test_transforms_apply_innermost_first():
    provider = StaticProvider([Tool("a")]).with_transforms(Suffix("1"), Suffix("2"))
    assert await names(provider) == ["a12"]
    assert await names(provider.with_transforms(Suffix("3"))) == ["a123"]


async def test_a_namespace_names_and_labels():
    provider = StaticProvider([Tool("a"), Tool("b", namespace="own")]).with_transforms(Namespace("api"))
    listed = await provider.list_tools({})
    assert [(tool.name, tool.namespace) for tool in listed] == [("api_a", "api"), ("api_b", "own")]


async def test_what_is_wrapped_shines_through():
    full = Full()
    wrapped = TransformedProvider(full, [Suffix("1")])
    assert (wrapped.name, wrapped.version(), wrapped.static) == ("full", "v1", False)
    await wrapped.aclose()
    assert full.closed == 1
    assert StaticProvider().with_transforms().static
    static = StaticProvider([Tool("a")])
    wrapped = static.with_transforms(Suffix("1"))
    before = wrapped.version()
    static.add(Tool("b"))
    assert wrapped.version() != before
    assert await names(wrapped) == ["a1", "b1"]


async def test_the_context_reaches_a_wrapped_provider():
    assert await names(Own().with_transforms(Suffix("1")), {"name": "b"}) == ["b1"]


async def test_a_get_tool_that_disagrees_takes_the_tool_away(caplog):
    provider = StaticProvider([Tool("a"), Tool("b")]).with_transforms(Denies())
    with caplog.at_level(logging.WARNING):
        assert await names(provider) == ["b"]
    assert "'a' is not given" in caplog.text


@pytest.mark.parametrize("transforms", [["upper"], [Namespace]])
def test_what_is_no_transform_is_refused(transforms):
    with pytest.raises(ValueError, match="Transform"):
        StaticProvider().with_transforms(*transforms)

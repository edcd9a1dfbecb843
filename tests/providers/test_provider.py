"""What providers share: transforms around them, and the optional parts of the protocol."""

import logging

import pytest

from tool_search_processor import Catalog
from tool_search_processor.components import Prompt
from tool_search_processor.providers import Provider, StaticProvider, ToolProvider, TransformedProvider
from tool_search_processor.providers.provider import adapt
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
    assert adapt(Bare()).label == "Bare"
    assert adapt(Bare()).version() is None
    assert (adapt(Full()).label, adapt(Full()).version()) == ("full", "v1")


async def test_closing_what_can_be_closed():
    await adapt(Bare()).aclose()
    full = Full()
    await adapt(full).aclose()
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


class Plain:
    """A foreign provider all of whose methods are plain functions."""

    version = "no method"

    def list_tools(self, context):
        return [Tool("a")]

    def list_prompts(self, context):
        return [Prompt(name="greet")]

    def failure(self):
        return "half of it is down"

    def aclose(self):
        self.closed = True


async def test_a_foreign_provider_is_adapted_once_and_lists_whatever_it_has():
    plain = Plain()
    provider = adapt(plain)
    assert adapt(provider) is provider
    assert (provider.label, provider.version(), provider.failure()) == ("Plain", None, "half of it is down")
    assert await names(provider) == ["a"]
    assert [prompt.name for prompt in await provider.list_prompts({})] == ["greet"]
    assert list(await provider.list_resources({})) == []
    assert not await provider.hides_resource("file:///a", {})
    await provider.aclose()
    assert plain.closed


@pytest.mark.parametrize(
    "provider", [Plain(), Own(), StaticProvider([Tool("a")])], ids=lambda p: type(p).__name__
)
async def test_every_provider_has_the_optional_methods_in_a_catalog(provider):
    catalog = Catalog([provider])
    assert await names(catalog) == ["a"]
    assert list(await catalog.list_resources()) == []
    assert await catalog.get_unlisted_resource("file:///a") is None
    assert catalog.status().refused == ()
    await catalog.aclose()

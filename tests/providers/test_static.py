"""Tools that are given: what is taken for a tool, and changes while a catalog runs."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tool_search_processor.errors import ConfigurationError, DuplicateToolError
from tool_search_processor.providers import StaticProvider, ToolProvider
from tool_search_processor.tools import Tool


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


async def wave() -> None:
    """Wave."""


async def names(provider):
    return [tool.name for tool in await provider.list_tools({})]


def test_it_is_a_provider_with_a_name():
    provider = StaticProvider()
    assert isinstance(provider, ToolProvider)
    assert provider.name == "static"
    assert StaticProvider(name="mine").name == "mine"


async def test_tools_and_functions_come_in_order():
    b, a = Tool("b"), Tool("a")
    provider = StaticProvider(iter([b, greet, a, wave]))
    assert await names(provider) == ["b", "greet", "a", "wave"]
    listed = await provider.list_tools({})
    assert listed[0] is b
    assert listed[1].description == "Greet somebody."
    assert await listed[1].call({"name": "Ada"}) == "Hello Ada"


async def test_a_tool_under_several_keys_is_one_tool():
    x = Tool("x")
    provider = StaticProvider({"a": x, "b": x, "x": x})
    (listed,) = await provider.list_tools({})
    assert (listed.name, listed.aliases) == ("x", ("a", "b"))
    provider.remove("b")
    assert await provider.list_tools({}) == ()


async def test_the_key_of_a_mapping_names_a_function_and_is_an_alias_of_a_tool():
    provider = StaticProvider({"b": Tool("x", description="X"), "hello": greet, "a": Tool("a")})
    listed = await provider.list_tools({})
    assert [(tool.name, tool.description) for tool in listed] == [
        ("x", "X"),
        ("hello", "Greet somebody."),
        ("a", ""),
    ]
    assert [tool.aliases for tool in listed] == [("b",), (), ()]
    assert await listed[1].call({"name": "Ada"}) == "Hello Ada"


@pytest.mark.parametrize("context", [{}, {"plan": "pro"}])
async def test_every_request_gets_the_same_list(context):
    provider = StaticProvider([Tool("a")])
    assert await provider.list_tools(context) is await provider.list_tools({})


@pytest.mark.parametrize("item", ["a", 1, None, {"name": "a"}, Tool, object()])
def test_what_is_no_tool_is_refused(item):
    with pytest.raises(ConfigurationError, match=r"mine: .* is neither a Tool nor a function: pass the"):
        StaticProvider([item], name="mine")


@pytest.mark.parametrize("source", ["tools", b"tools", 3, Tool("a")])
def test_what_is_no_list_is_refused(source):
    with pytest.raises(ConfigurationError, match=r"expected tools, found .*: pass a list of them"):
        StaticProvider(source)


def test_two_tools_of_one_name_are_refused_with_both_places():
    with pytest.raises(DuplicateToolError) as caught:
        StaticProvider([Tool("a"), Tool("b"), Tool("a")], name="mine")
    assert caught.value.name == "a"
    assert caught.value.origins == ("mine[0]", "mine[2]")


def test_equal_originals_are_duplicates_and_different_ones_are_not():
    dot, slash = (Tool("a_b", metadata={"original_name": name}) for name in ("a.b", "a/b"))
    StaticProvider([dot, slash, Tool("a_b")])
    with pytest.raises(DuplicateToolError):
        StaticProvider([dot, slash, dot])


async def test_adding_puts_at_the_end_and_changes_the_version():
    provider = StaticProvider([Tool("b")])
    before, listed = provider.version(), await provider.list_tools({})
    provider.add(Tool("a"), greet)
    assert await names(provider) == ["b", "a", "greet"]
    assert [tool.name for tool in listed] == ["b"]
    assert provider.version() != before


async def test_an_add_that_clashes_changes_nothing():
    provider = StaticProvider([Tool("a")])
    before = provider.version()
    for tools in ((Tool("b"), Tool("a")), (Tool("c"), Tool("c"))):
        with pytest.raises(DuplicateToolError):
            provider.add(*tools)
    with pytest.raises(ConfigurationError, match="neither a Tool nor a function"):
        provider.add(Tool("b"), "c")
    assert await names(provider) == ["a"]
    assert provider.version() == before


async def test_removing_passes_over_what_is_not_there():
    provider = StaticProvider([Tool("a"), Tool("b"), Tool("c")])
    before = provider.version()
    provider.remove("c", "unknown", "a")
    assert await names(provider) == ["b"]
    assert provider.version() != before
    provider.add(Tool("a"))
    assert await names(provider) == ["b", "a"]


async def test_changes_from_many_threads_lose_nothing():
    provider = StaticProvider([Tool("first")])
    ready = threading.Barrier(8)

    def change(worker):
        ready.wait(30)
        for i in range(25):
            provider.add(Tool(f"tool_{worker}_{i}"))
            if i % 2:
                provider.remove(f"tool_{worker}_{i}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(change, range(8)))
    assert await names(provider) == ["first", *(n for n in await names(provider) if n != "first")]
    assert set(await names(provider)) == {"first"} | {
        f"tool_{w}_{i}" for w in range(8) for i in range(0, 25, 2)
    }
    assert provider.version() == 8 * (25 + 12)


async def test_closing_does_nothing():
    provider = StaticProvider([Tool("a")])
    await provider.aclose()
    assert await names(provider) == ["a"]

"""Plain functions in lists: tools, and the same ones each time."""

from functools import partial

import pytest

from tool_search_processor import Catalog, ToolSearchProcessor
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers import CallableProvider, StaticProvider, TransformedProvider, functions
from tool_search_processor.providers.functions import FunctionTools, is_function, to_tool
from tool_search_processor.providers.given import as_providers
from tool_search_processor.session.checks import checked_tools
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import Namespace


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


class Desk:
    """A method of it is a new object at each look; the object itself can be called, and has no hash."""

    __hash__ = None
    __name__ = "desk"

    def greet(self, name: str) -> str:
        """Greet somebody at the desk."""
        return f"Hello {name}"

    def __call__(self, name: str) -> str:
        """Call."""
        return name


class Custom:
    """A provider of a user's own that lists functions."""

    def __init__(self, *items, version=None):
        self.items, self.mark = items, version

    def version(self):
        return self.mark

    async def list_tools(self, context):
        return [*self.items]


DESK = Desk()
GREET_ADA = partial(greet, name="Ada")


@pytest.mark.parametrize(
    ("look", "name"),
    [(lambda: greet, None), (lambda: DESK.greet, None), (lambda: GREET_ADA, "greet_ada")],
    ids=["function", "method", "partial"],
)
def test_one_function_is_one_tool(look, name):
    make = FunctionTools()
    made = make(look(), name=name, origin="here")
    assert make(look(), name=name, origin="there") is made
    assert make(look(), name="other", origin="there").name == "other"


def test_what_has_no_hash_is_made_anew():
    with pytest.raises(TypeError):
        hash(DESK)
    make = FunctionTools()
    one, two = (make(DESK, name="desk", origin="here") for _ in range(2))
    assert one is not two
    assert one.fingerprint == two.fingerprint


def test_a_tool_is_itself():
    tool = Tool("a")
    assert FunctionTools()(tool, origin="here") is tool
    keyed = to_tool(tool, name="b", origin="here")
    assert (keyed.name, keyed.aliases) == ("a", ("b",))


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(functions, "_MAX_KEPT", 3)
    make = FunctionTools()
    made = [make(partial(greet, name=str(i)), name=f"t{i}", origin="here") for i in range(10)]
    assert len(make._made) == 3
    assert [tool.name for tool in made] == [f"t{i}" for i in range(10)]


@pytest.mark.parametrize(
    "provider", [CallableProvider, lambda function: Custom(*function({}))], ids=["function", "own"]
)
async def test_a_list_longer_than_what_is_remembered_is_made_once(monkeypatch, provider):
    monkeypatch.setattr(functions, "_MAX_KEPT", 3)
    many = [tool_function(number) for number in range(10)]
    catalog = Catalog([provider(lambda context: many)])
    first, second = await catalog.list_tools({}), await catalog.list_tools({})
    assert len(first) == 10
    assert all(one is other for one, other in zip(first, second, strict=True))


def tool_function(number):
    """Return a function with a name of its own."""

    def function(text: str) -> str:
        """Say it."""
        return text

    function.__name__ = f"function_{number}"
    return function


@pytest.mark.parametrize(
    ("item", "expected"), [(greet, True), (DESK, True), (Tool("a"), False), (Desk, False), ("greet", False)]
)
def test_what_a_tool_can_be_made_of(item, expected):
    assert is_function(item) is expected


def test_anything_else_is_refused():
    with pytest.raises(ConfigurationError, match="here: 3 is neither a Tool nor a function"):
        FunctionTools()(3, origin="here")
    with pytest.raises(ConfigurationError, match=r"here: <.*StaticProvider.*> is a provider, which a Tool"):
        FunctionTools()(StaticProvider(), origin="here")


@pytest.mark.parametrize(
    ("package", "way"),
    [
        ("langchain_core.tools.structured", "make it ours, from_langchain"),
        ("pydantic_ai.tools", "hide_own=True"),
        ("agents.tool", "hide_own=True"),
        ("google.adk.tools.base_tool", "inner="),
        ("strands.types.tools", "hide_own=True"),
    ],
)
def test_a_framework_s_tool_is_told_where_it_belongs(package, way):
    base = type("BaseTool", (), {"__module__": package})
    mine = type("Mine", (base,), {"__module__": "mine"})()
    with pytest.raises(ConfigurationError, match=f"is a tool of a framework: .*{way}"):
        ToolSearchProcessor([mine])


async def later() -> list[Tool]:
    return [Tool("a")]


def test_a_forgotten_await_is_told():
    for refused in (
        lambda: FunctionTools()(later(), origin="tools"),
        lambda: as_providers(later()),
        lambda: checked_tools(later(), owner="x"),
    ):
        with pytest.raises(
            ConfigurationError, match=r"tools.*: <coroutine .*> was not awaited: write `await`"
        ):
            refused()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda: Custom(greet, Tool("a")),
        lambda: Custom(greet, Tool("a"), version=1),
        lambda: CallableProvider(lambda context: [greet, Tool("a")]),
        lambda: StaticProvider([greet, Tool("a")]),
    ],
    ids=["by request", "with a version", "function", "static"],
)
async def test_a_catalog_serves_functions_as_the_same_tools(wrap):
    catalog = Catalog([wrap()])
    first = await catalog.list_tools({})
    assert [tool.name for tool in first] == ["greet", "a"]
    assert await first[0].call({"name": "Ada"}) == "Hello Ada"
    again = await catalog.list_tools({})
    assert again[0] is first[0]
    assert catalog.status().providers[0].up


async def test_transforms_see_tools():
    catalog = Catalog([TransformedProvider(Custom(greet, version=1), [Namespace("n")])])
    assert [tool.name for tool in await catalog.list_tools()] == ["n_greet"]

"""What a user may pass as tools, and the providers that are made of it."""

import pytest

from tool_search_processor import Catalog, ToolSearchProcessor
from tool_search_processor.errors import ConfigurationError, DuplicateToolError
from tool_search_processor.providers import CallableProvider, StaticProvider
from tool_search_processor.providers.given import as_providers, is_provider
from tool_search_processor.server.gateway import Gateway
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.server.rest import create_app
from tool_search_processor.tools import Tool


def a_function(x: int) -> int:
    """Return it."""
    return x


class Lister:
    """A provider of somebody's own."""

    def __init__(self, *tools):
        self.tools = [*tools]

    async def list_tools(self, context):
        return self.tools


def names(tools):
    return [tool.name for tool in tools]


async def listed(providers):
    return [names(await provider.list_tools({})) for provider in providers]


async def test_neighbouring_tools_and_functions_are_one_provider():
    between = Lister(Tool("x"))
    providers = as_providers([Tool("b"), a_function, between, Tool("a")])
    assert await listed(providers) == [["b", "a_function"], ["x"], ["a"]]
    assert providers[1].provider is between


async def test_a_mapping_names_its_functions_and_no_tool():
    assert await listed(as_providers({"b": Tool("x"), "a": a_function})) == [["x", "a"]]


async def test_the_class_of_a_provider_is_told_from_a_provider():
    for given in ([Lister], Lister):
        with pytest.raises(ConfigurationError, match=r"the class of a provider: create it, Lister\(\.\.\.\)"):
            as_providers(given)


def test_a_list_within_the_list_is_told_how_to_unpack():
    with pytest.raises(ConfigurationError, match=r"is a list within the list: unpack it with a star"):
        as_providers([Tool("a"), [Lister(Tool("b"))]])


async def test_any_iterable_is_a_list():
    assert await listed(as_providers(tool for tool in (Tool("b"), Tool("a")))) == [["b", "a"]]
    assert as_providers(()) == []


def test_one_provider_stands_for_itself():
    provider = StaticProvider([Tool("a")])
    assert as_providers(provider) == [provider]


async def test_one_function_is_asked_for_each_request():
    (provider,) = as_providers(lambda context: [Tool(context["name"])])
    assert isinstance(provider, CallableProvider)
    assert names(await provider.list_tools({"name": "a"})) == ["a"]


@pytest.mark.parametrize(
    "take", [as_providers, ToolSearchProcessor, Catalog, ToolServer, Gateway, create_app]
)
def test_a_function_whose_brackets_were_forgotten_never_runs(take):
    def delete_account(name: str) -> str:
        """Delete an account."""
        raise AssertionError

    with pytest.raises(ConfigurationError, match="if it is a tool, put it in a list; if it returns tools"):
        take(delete_account)


@pytest.mark.parametrize("source", [None, 3, "tools", b"tools", Tool("a")])
def test_anything_else_is_refused(source):
    with pytest.raises(ConfigurationError, match=r"tools must be a list .*, found .*: put it in a list"):
        as_providers(source)


def test_a_list_with_something_else_in_it_is_refused():
    with pytest.raises(ConfigurationError, match="neither a Tool nor a function"):
        as_providers([Tool("a"), {"type": "function"}])
    with pytest.raises(DuplicateToolError):
        as_providers([Tool("a"), Tool("a")])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Lister(), True),
        (StaticProvider(), True),
        (StaticProvider, False),
        (Tool("a"), False),
        (a_function, False),
    ],
)
def test_a_provider_can_list_tools(value, expected):
    assert is_provider(value) is expected

"""Who holds a name, however the lists of several providers change and in whatever order they stand."""

import itertools

import pytest

from tool_search_processor import Catalog
from tool_search_processor.errors import DuplicateToolError
from tool_search_processor.providers import StaticProvider
from tool_search_processor.tools import Tool
from tool_search_processor.tools.tool_names import hashed_tool_name
from tool_search_processor.transforms import Namespace


class Remote(StaticProvider):
    static = False


def foreign(name):
    return Tool.from_mcp({"name": name, "inputSchema": {"type": "object"}})


async def names_of(catalog):
    return [tool.name for tool in await catalog.list_tools()]


def nested(*providers):
    return Catalog([Catalog([provider]) for provider in providers])


def namespaced(*providers):
    return Catalog(providers, transforms=[Namespace("api")])


SHAPES = [Catalog, nested, namespaced, lambda *providers: Catalog(providers).adapted()]


def catalog_of(shape, *providers):
    return Catalog(list(providers)) if shape is Catalog else shape(*providers)


async def originals(catalog):
    return {tool.name.removeprefix("api_"): tool.original_name for tool in await catalog.list_tools()}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("newcomer", ["delete.note", "delete/note", "delete note"])
async def test_who_holds_a_name_keeps_it_wherever_a_made_name_comes_from(shape, newcomer):
    server, notes = StaticProvider([]), StaticProvider([foreign("delete_note")])
    catalog = catalog_of(shape, server, notes)
    await catalog.list_tools()
    server.add(foreign(newcomer))
    hashed = hashed_tool_name(f"{'api_' if shape is namespaced else ''}delete_note", newcomer)
    found = {tool.original_name: tool.name for tool in await catalog.list_tools()}
    assert found["delete_note"].endswith("delete_note")
    assert found[newcomer] in (hashed, f"api_{hashed_tool_name('delete_note', newcomer)}")


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_tool_whose_name_was_made_keeps_it_from_one_that_is_valid_as_it_stands(shape, caplog):
    server, notes = StaticProvider([]), StaticProvider([foreign("delete.note")])
    catalog = catalog_of(shape, server, notes)
    assert await originals(catalog) == {"delete_note": "delete.note"}
    server.add(foreign("delete_note"))
    assert await originals(catalog) == {"delete_note": "delete.note"}
    (refused,) = catalog.status().refused
    assert "given to the tool 'delete.note'" in refused.reason
    assert refused.reason in caplog.text
    await catalog.refresh()  # which is for mistakes of the program
    notes.remove("delete_note")
    assert await originals(catalog) == {"delete_note": "delete_note"}
    assert catalog.status().refused == ()


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_equal_name_is_refused_however_early_its_provider_stands(shape):
    server, notes = StaticProvider([], name="server"), StaticProvider([Tool("a", "notes")], name="notes")
    catalog = catalog_of(shape, server, notes)
    await catalog.list_tools()
    server.add(Tool("a", "server"), Tool("b"))
    assert [tool.description for tool in await catalog.list_tools()] == ["", "notes"]
    assert [tool.name.removeprefix("api_") for tool in catalog.status().refused] == ["a"]
    with pytest.raises(DuplicateToolError):
        await catalog.refresh()


async def test_a_tool_that_was_told_apart_keeps_its_name_when_the_other_one_is_gone():
    first, second = StaticProvider([foreign("a.b")]), StaticProvider([foreign("a/b")])
    catalog = Catalog([first, second])
    both = await names_of(catalog)
    first.remove(both[0])  # which is no name of its own
    assert await names_of(catalog) == both
    first.remove("a_b")
    assert await names_of(catalog) == both[1:]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("wrap", [lambda tools: tools, lambda tools: {t.name: t for t in tools}])
async def test_tools_given_directly_come_before_those_that_providers_bring(turned, wrap):
    remote = Remote([Tool("a", "remote")], name="remote")
    given = [remote, Tool("a", "direct")]
    catalog = Catalog(given[::-1] if turned else given)
    assert [tool.description for tool in await catalog.list_tools()] == ["direct"]
    assert [tool.provider for tool in catalog.status().refused] == [remote.name]


@pytest.mark.parametrize(
    "names_", [["pets/all", "pets_all"], ["a.b", "a/b", "a b", "a_b"], ["x.y", "x/y"], ["é", "e", "è"]]
)
async def test_names_do_not_depend_on_the_order_of_a_list(names_):
    found = [await originals(Catalog([StaticProvider([foreign(n) for n in order])])) for order in
             itertools.permutations(names_)]  # fmt: skip
    assert all(each == found[0] for each in found)
    assert sorted(found[0].values()) == sorted(names_)
    for name, original in found[0].items():
        assert name == original or original not in found[0]

"""A loaded name never comes to mean another tool, in any store, in one process or the next."""

import pytest

from tests.stores import servers
from tests.stores.chats import Chat
from tool_search_processor import Catalog, StaticProvider, Tool, ToolSearchProcessor
from tool_search_processor.providers import CallableProvider
from tool_search_processor.stores import HistoryStore, LoadScope, MemoryStore, RedisStore
from tool_search_processor.transforms import Namespace, Transform

KINDS = ["memory", "history", pytest.param("redis", marks=servers.NEEDED)]


@pytest.fixture(params=KINDS)
def store(request):
    if request.param == "redis":
        return RedisStore(request.getfixturevalue("redis_server").url, on_error="raise", timeout_seconds=30)
    return {"memory": MemoryStore, "history": HistoryStore}[request.param]()


def foreign(name, of="notes"):
    definition = {"name": name, "inputSchema": {"type": "object"}}
    return Tool.from_mcp(definition, execute=lambda **_: f"{name} of {of}")


class Servers:
    """Two providers, and a processor over them in some shape."""

    def __init__(self, store, shape="flat", *, server=(), notes=(), direct=(), **options):
        self.server = StaticProvider([foreign(name, "server") for name in server])
        self.notes = StaticProvider([foreign(name) for name in notes])
        tools = [*direct, self.server, self.notes]
        if shape == "catalog":
            tools = Catalog(tools)
        elif shape == "nested":
            tools = [Catalog([self.server, self.notes])]
        elif shape == "neighbours":
            tools = [Catalog([self.server]), Catalog([self.notes])]
        elif shape == "renamed":
            options["transforms"] = [Renaming()]
        elif shape == "namespaced":
            options["transforms"] = [Namespace("api")]
        self.processor = ToolSearchProcessor(tools, store=store, **options)


class Renaming(Transform):
    """A transform of the user's own, which makes copies by `replace`."""

    async def list_tools(self, tools):
        return [tool.replace(name=f"api_{tool.name}") for tool in tools]


SHAPES = ["flat", "catalog", "nested", "neighbours", "renamed", "namespaced"]


def name_in(shape, name):
    return f"api_{name}" if shape in ("renamed", "namespaced") else name


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("newcomer", ["delete_note", "delete.note"])
async def test_a_name_that_another_provider_takes_over_is_not_loaded(store, shape, newcomer):
    servers = Servers(store, shape, notes=["delete_note"])
    chat, name = Chat(servers.processor), name_in(shape, "delete_note")
    await chat.turn()
    await chat.load(name)
    assert await chat.step() == [name]
    servers.notes.remove("delete_note")
    servers.server.add(foreign(newcomer, "server"))
    assert await chat.step() == []
    answer = await chat.call(name)
    assert answer == (
        f"Error: The tool {name} that you loaded is gone, and another tool has its name. Search with "
        "search_tools to see what it does before you use it."
    )
    assert await chat.turn() == []
    servers.server.remove("delete_note")
    servers.notes.add(foreign("delete_note"))
    assert await chat.turn() == [name]
    assert await chat.call(name) == "delete_note of notes"
    await servers.processor.aclose()


async def test_a_tool_that_comes_and_goes_stays_loaded(store):
    servers = Servers(store, notes=["a", "b"])
    chat = Chat(servers.processor)
    await chat.turn()
    await chat.load("a", "b")
    servers.notes.remove("a")
    assert await chat.turn() == ["b"]
    servers.notes.add(foreign("a").replace(description="is described otherwise"))
    assert await chat.turn() == ["a", "b"]


async def test_what_is_loaded_again_is_the_tool_of_now(store):
    servers = Servers(store, notes=["a"], allow_unload=True)
    chat = Chat(servers.processor)
    await chat.turn()
    await chat.load("a")
    servers.notes.remove("a")
    servers.server.add(foreign("a", "server"))
    await chat.turn()
    assert (await chat.load("a"))["loaded"] == ["a"]
    assert await chat.turn() == ["a"]
    assert await chat.call("a") == "a of server"
    servers.server.remove("a")
    servers.notes.add(foreign("a"))
    assert await chat.turn() == []
    servers.notes.remove("a")
    servers.server.add(foreign("a", "server"))
    assert await chat.turn() == ["a"]
    assert (await chat.unload("a"))["unloaded"] == ["a"]
    assert await chat.turn() == []
    await servers.processor.aclose()


@pytest.mark.parametrize("shape", ["flat", "nested", "neighbours", "namespaced"])
@pytest.mark.parametrize("before", ["delete_note", "delete.note"])
async def test_another_process_lists_the_same_tool_and_no_other_of_its_name(store, shape, before):
    servers = Servers(store, shape, notes=[before])
    chat, name = Chat(servers.processor), name_in(shape, "delete_note")
    await chat.turn()
    await chat.load(name)
    await chat.restart(Servers(store, shape, notes=[before]).processor)
    assert await chat.turn() == [name]
    assert await chat.call(name) == f"{before} of notes"
    await chat.restart(Servers(store, shape, server=["delete_note"], notes=["delete.note"]).processor)
    assert await chat.turn() == []
    assert "another tool has its name" in await chat.call(name)
    await chat.processor.aclose()


async def test_the_name_of_a_tool_given_directly_goes_to_no_server(store):
    direct = Tool("a", execute=lambda **_: "direct")
    servers = Servers(store, direct=[direct])
    chat = Chat(servers.processor)
    await chat.turn()
    await chat.load("a")
    assert await chat.call("a") == "direct"
    await chat.restart(Servers(store, server=["a"]).processor)
    assert await chat.turn() == []
    assert "another tool has its name" in await chat.call("a")
    # More tools and providers, in another order, make it no other tool.
    more = [Tool("first"), StaticProvider([Tool("x")]), direct]
    await chat.restart(ToolSearchProcessor(more, store=store))
    assert await chat.turn() == ["a"]
    await chat.processor.aclose()


async def test_a_denied_tool_that_has_a_loaded_name_is_told_as_one_that_is_not_there(store):
    servers = Servers(store, notes=["a"], filter=lambda request: request.tool.original_name == "a")
    chat = Chat(servers.processor)
    await chat.turn()
    await chat.load("a")
    servers.notes.remove("a")
    gone = await chat.call("a")
    servers.server.add(foreign("a", "server").replace(metadata={"original_name": "secret"}))
    assert await chat.turn() == []
    assert await chat.call("a") == gone
    await servers.processor.aclose()


@pytest.mark.parametrize("mode", ["auto_load", "load"])
async def test_a_search_tells_that_the_tool_of_now_is_not_loaded(store, mode):
    servers = Servers(store, notes=["delete_note"], mode=mode, preload=0)
    chat = Chat(servers.processor)
    await chat.turn()
    await chat.call("search_tools", query="delete note")
    if mode == "load":
        await chat.load("delete_note")
    servers.notes.remove("delete_note")
    servers.server.add(foreign("delete_note", "server"))
    assert await chat.turn() == []
    (found,) = (await chat.call("search_tools", query="delete note"))["results"]
    assert found["loaded"] is (mode == "auto_load")
    assert await chat.step() == (["delete_note"] if mode == "auto_load" else [])
    await servers.processor.aclose()


async def test_loaded_tells_of_no_name_that_another_tool_has():
    servers = Servers(MemoryStore(), notes=["a"])
    await servers.processor.load("a", thread_id="t")
    assert await servers.processor.loaded("t") == ["a"]
    servers.notes.remove("a")
    assert await servers.processor.loaded("t") == ["a"]
    servers.server.add(foreign("a", "server"))
    assert await servers.processor.loaded("t") == []
    assert (await servers.processor.unload("a", thread_id="t"))["unloaded"] == ["a"]


async def test_tools_that_were_given_directly_are_kept_and_noted_by_their_name_alone():
    store, history = MemoryStore(), HistoryStore()
    search = ToolSearchProcessor([Tool("a")], store=store)
    await search.load("a", thread_id="t")
    assert await store.loaded(LoadScope(processor_id=search.id, thread_id="t")) == ("a",)
    chat = Chat(ToolSearchProcessor([Tool("a")], store=history))
    await chat.turn()
    assert (await chat.load("a"))["receipt"] == {"type": "tool-search/loaded", "v": 1, "names": ["a"]}


async def test_tools_of_a_request_are_told_apart_by_their_provider(store):
    shared, context = StaticProvider([]), {"user": "ada"}

    def mine(context):
        return [foreign("a", "mine")] if context.get("user") else []

    search = ToolSearchProcessor([CallableProvider(mine), shared], store=store)
    chat = Chat(search, context=context)
    await chat.turn()
    await chat.load("a")
    assert await chat.turn() == ["a"]
    shared.add(foreign("a", "shared"))
    assert await chat.turn() == []
    assert "another tool has its name" in await chat.call("a")
    await search.aclose()

"""Ready when asked: providers read, index and vectors made before the first request."""

import asyncio

import pytest

from tests.search.fake_embedder import HeldEmbedder
from tool_search_processor import CallableProvider, Catalog, StaticProvider, Tool, ToolSearchProcessor
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.vector import VectorIndex

TOOLS = [Tool(f"tool_{number}", f"Does job {number}.") for number in range(600)]


def hybrid(embedder):
    return HybridIndex(vector=VectorIndex(embedder, background=True, timeout_seconds=None))


async def test_words_are_ready_at_once():
    search = ToolSearchProcessor(TOOLS)
    assert (await search.stats())["ready"] is False
    told = []
    assert await search.warm_up(on_progress=told.append) is True
    assert [(now.stage, now.done, now.total) for now in told] == [
        ("providers", 0, 1),
        ("providers", 1, 1),
        ("index", 0, 600),
        ("index", 600, 600),
    ]
    assert (await search.stats())["ready"] is True


async def test_vectors_are_waited_for_and_their_progress_is_told():
    embedder, told = HeldEmbedder(), []

    def tell(progress):
        told.append(progress)
        if progress.stage == "vectors":
            embedder.go.set()

    search = ToolSearchProcessor(TOOLS, search=hybrid(embedder))
    assert await search.warm_up(on_progress=tell) is True
    vectors = [(now.done, now.total) for now in told if now.stage == "vectors"]
    assert vectors[0] == (0, 600)
    assert vectors[-1] == (600, 600)
    assert search.catalog.is_ready


async def test_vectors_need_not_be_waited_for():
    embedder = HeldEmbedder()
    search = ToolSearchProcessor(TOOLS, search=hybrid(embedder))
    assert await search.warm_up(wait_for_vectors=False) is False
    assert (await search.stats())["ready"] is False
    embedder.go.set()
    assert await search.warm_up() is True


async def test_an_embedder_that_fails_is_no_endless_wait(caplog):
    embedder = HeldEmbedder()
    embedder.failure = OSError("the embedder is down")
    embedder.go.set()
    search = ToolSearchProcessor(TOOLS, search=hybrid(embedder))
    assert await search.warm_up() is False
    assert "words answer alone" in caplog.text
    assert [hit.name for hit in await search.search("job 17", limit=1)] == ["tool_17"]


@pytest.mark.parametrize("background", [True, False])
async def test_whoever_asks_again_gets_another_attempt(background, caplog):
    embedder = HeldEmbedder()
    embedder.go.set()
    embedder.failure = OSError("the embedder is down")
    index = VectorIndex(embedder, background=background, timeout_seconds=None)
    search = ToolSearchProcessor(TOOLS, search=HybridIndex(vector=index) if background else index)
    assert await search.warm_up() is False
    embedder.failure = None
    assert await search.warm_up() is True
    assert caplog.text.count("words answer alone") == 1


async def test_an_attempt_that_was_cancelled_leaves_the_next_one_everything():
    embedder = HeldEmbedder()
    search = ToolSearchProcessor(TOOLS, search=hybrid(embedder))
    reached = asyncio.Event()
    first = asyncio.create_task(
        search.warm_up(on_progress=lambda now: now.stage == "vectors" and reached.set())
    )
    await reached.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    embedder.go.set()
    assert await search.warm_up() is True


async def test_many_at_once_embed_everything_once():
    embedder = HeldEmbedder()
    embedder.go.set()
    search = ToolSearchProcessor(TOOLS, search=hybrid(embedder))
    assert await asyncio.gather(*(search.warm_up() for _ in range(10))) == [True] * 10
    assert len(embedder.texts) == len(TOOLS)


async def test_a_catalog_that_changes_meanwhile_is_ready_as_it_is_then():
    embedder, provider = HeldEmbedder(), StaticProvider(TOOLS)
    search = ToolSearchProcessor([provider], search=hybrid(embedder))

    def change(progress):
        if progress.stage == "vectors" and not embedder.go.is_set():
            provider.add(Tool("late_one", "Came late."))
            embedder.go.set()

    assert await search.warm_up(on_progress=change) is True
    assert await search.warm_up() is True
    assert [hit.name for hit in await search.search("late one", limit=1)] == ["late_one"]


async def test_a_provider_that_hangs_is_left_out_after_its_time():
    async def hangs(context):
        await asyncio.Event().wait()

    catalog = Catalog([*TOOLS[:3], CallableProvider(hangs)], provider_timeout_seconds=0.05)
    assert await catalog.make_ready() is True
    assert len(await catalog.list_tools()) == 3


async def test_progress_may_be_told_to_an_async_function():
    told = []

    async def tell(progress):
        told.append(progress.stage)

    assert await ToolSearchProcessor(TOOLS).warm_up(on_progress=tell)
    assert told == ["providers", "providers", "index", "index"]


async def test_a_bar_that_fails_is_no_failure(caplog):
    def fails(progress):
        raise ValueError("no terminal")

    assert await ToolSearchProcessor(TOOLS).warm_up(on_progress=fails) is True
    assert "on_progress failed" in caplog.text


async def test_a_dead_provider_holds_nobody_up():
    async def dead(context):
        raise OSError("no route")

    catalog = Catalog([*TOOLS[:3], CallableProvider(dead)])
    assert await catalog.make_ready() is True
    assert catalog.status().providers[1].up is False


@pytest.mark.parametrize("door", ["ToolServer", "Gateway"])
async def test_servers_can_be_warmed_up_too(door):
    if door == "ToolServer":
        from tool_search_processor.server.mcp import ToolServer

        server = ToolServer(TOOLS)
    else:
        from tool_search_processor import StaticProvider
        from tool_search_processor.server.gateway import Gateway

        server = Gateway([StaticProvider(TOOLS)])
    async with server:
        assert await server.warm_up() is True
        assert server.catalog.is_ready

"""Ready when asked: providers read, index and vectors made before the first request."""

import threading

import numpy as np
import pytest

from tool_search_processor import CallableProvider, Catalog, Tool, ToolSearchProcessor
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.vector import VectorIndex

TOOLS = [Tool(f"tool_{number}", f"Does job {number}.") for number in range(600)]


class Gate:
    """A slow embedder: it waits until it is opened."""

    model_id = "gate"
    blocking = True
    cosine_range = (0.0, 1.0)

    def __init__(self):
        self.opened = threading.Event()
        self.fails = False

    def embed_documents(self, texts):
        assert self.opened.wait(20)
        if self.fails:
            raise OSError("the embedder is down")
        return np.eye(len(texts), 8, dtype=np.float32) + 0.1

    def embed_query(self, text):
        return np.full(8, 0.1, np.float32)


def hybrid(gate):
    return HybridIndex(vector=VectorIndex(gate, background=True, timeout_seconds=None))


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
    gate, told = Gate(), []

    def tell(progress):
        told.append(progress)
        if progress.stage == "vectors":
            gate.opened.set()

    search = ToolSearchProcessor(TOOLS, search=hybrid(gate))
    assert await search.warm_up(on_progress=tell) is True
    vectors = [(now.done, now.total) for now in told if now.stage == "vectors"]
    assert vectors[0] == (0, 600)
    assert vectors[-1] == (600, 600)
    assert search.catalog.is_ready


async def test_vectors_need_not_be_waited_for():
    gate = Gate()
    search = ToolSearchProcessor(TOOLS, search=hybrid(gate))
    assert await search.warm_up(wait_for_vectors=False) is False
    assert (await search.stats())["ready"] is False
    gate.opened.set()
    assert await search.warm_up() is True


async def test_an_embedder_that_fails_is_no_endless_wait(caplog):
    gate = Gate()
    gate.fails = True
    gate.opened.set()
    search = ToolSearchProcessor(TOOLS, search=hybrid(gate))
    assert await search.warm_up() is False
    assert "words answer alone" in caplog.text
    assert [hit.name for hit in await search.search("job 17", limit=1)] == ["tool_17"]


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

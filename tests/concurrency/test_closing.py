"""What has connections is closed by `async with`."""

from __future__ import annotations

import pytest

from tool_search_processor import Catalog, MemoryStore, StaticProvider, ToolProvider, ToolSearchProcessor
from tool_search_processor.stores import HistoryStore, RedisStore


class Counting(MemoryStore):
    closed = 0

    async def aclose(self):
        self.closed += 1


class Source(ToolProvider):
    closed = 0

    async def list_tools(self, context):
        return []

    async def aclose(self):
        self.closed += 1


async def test_leaving_a_processor_closes_its_store_and_its_providers():
    store, source = Counting(), Source()
    async with ToolSearchProcessor([source], store=store) as search:
        assert isinstance(search, ToolSearchProcessor)
        assert (store.closed, source.closed) == (0, 0)
    assert (store.closed, source.closed) == (1, 1)


async def test_leaving_by_an_error_closes_too():
    source = Source()
    with pytest.raises(RuntimeError, match="mine"):
        async with Catalog([source]):
            raise RuntimeError("mine")
    assert source.closed == 1


@pytest.mark.parametrize(
    "make",
    [
        MemoryStore,
        HistoryStore,
        lambda: RedisStore("redis://127.0.0.1:1"),
        lambda: StaticProvider([]),
    ],
)
async def test_stores_and_providers_are_closed_so(make):
    thing = make()
    async with thing as entered:
        assert entered is thing

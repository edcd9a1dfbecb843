"""`index_cache=`: what an index is made of outlives the process, whatever holds the index."""

import logging
from functools import partial

import pytest

from tool_search_processor import CallableProvider, Catalog, Tool, ToolSearchProcessor, tool
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.bm25 import BM25Index, disk
from tool_search_processor.search.embedders import CachedEmbedder
from tool_search_processor.search.fuzzy import FuzzyIndex
from tool_search_processor.server.gateway import Gateway
from tool_search_processor.server.mcp import ToolServer


@tool
def create_issue(title: str) -> str:
    """Report a bug in a repository."""
    return title


@tool(example_requests=["did anyone write to me?"])
def list_mail() -> str:
    """Show the inbox."""
    return ""


TOOLS = [create_issue, list_mail]
DOORS = [ToolSearchProcessor, ToolServer, Gateway, Catalog, partial(ToolSearchProcessor, preload=1)]


async def made_ready(holder):
    catalog = holder if isinstance(holder, Catalog) else holder.catalog
    assert await catalog.make_ready()
    return await catalog.search("did anyone write to me")


def refused(*_):
    raise AssertionError("it was built again")


@pytest.mark.parametrize("door", DOORS)
async def test_the_next_process_reads_the_index(door, tmp_path, monkeypatch, caplog):
    first = await made_ready(door(TOOLS, index_cache=tmp_path / "made"))
    assert [path.suffix for path in (tmp_path / "made").iterdir()] == [".index"]
    monkeypatch.setattr(disk, "build", refused)
    assert await made_ready(door(TOOLS, index_cache=str(tmp_path / "made"))) == first
    assert first[0].name == "list_mail"
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("strategy", ["vector", "hybrid"])
async def test_nothing_is_embedded_again(strategy, tmp_path, monkeypatch):
    pytest.importorskip("wordllama")
    pytest.importorskip("tokenizers")
    search = ToolSearchProcessor(TOOLS, search=strategy, index_cache=tmp_path)
    assert await search.warm_up()
    first = await search.search("did anyone write to me", limit=1)
    again = ToolSearchProcessor(TOOLS, search=strategy, index_cache=tmp_path)
    monkeypatch.setattr(CachedEmbedder, "_embedded", refused)
    monkeypatch.setattr(disk, "build", refused)
    assert await again.warm_up()
    monkeypatch.undo()
    assert await again.search("did anyone write to me", limit=1) == first
    assert (tmp_path / "vectors.db").exists()


@pytest.mark.parametrize("strategy", ["regex", "fuzzy"])
async def test_strategies_that_keep_nothing_work_with_it(strategy, tmp_path):
    search = ToolSearchProcessor(TOOLS, search=strategy, index_cache=tmp_path)
    assert (await search.search("create_issue"))[0].name == "create_issue"
    assert list(tmp_path.iterdir()) == []


async def test_a_catalog_of_ones_own_brings_its_folder(tmp_path):
    catalog = Catalog(TOOLS, index_cache=tmp_path / "a")
    await made_ready(ToolSearchProcessor(catalog))
    await made_ready(ToolSearchProcessor(catalog, index_cache=tmp_path / "b"))
    await made_ready(ToolSearchProcessor(catalog, search=BM25Index()))
    assert len(list((tmp_path / "a").iterdir())) == len(list((tmp_path / "b").iterdir())) == 1


async def test_lists_of_single_requests_are_not_kept(tmp_path):
    def for_request(context):
        return [Tool(f"issue_{number}", "Reports a bug.") for number in range(300)]

    search = ToolSearchProcessor([list_mail, CallableProvider(for_request)], index_cache=tmp_path)
    assert await search.search("issue_7")
    await search.warm_up()
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("strategy", [BM25Index(), BM25Index, FuzzyIndex, partial(BM25Index)])
def test_an_index_of_ones_own_takes_its_own_path(door, strategy, tmp_path):
    with pytest.raises(
        ConfigurationError, match=r"give the index its own path: BM25Index\(cache_path=FOLDER"
    ):
        door(TOOLS, search=strategy, index_cache=tmp_path)


@pytest.mark.parametrize("folder", ["", 3, True, b"here", ["here"]])
def test_what_is_not_a_path_is_refused(folder):
    with pytest.raises(ConfigurationError, match="index_cache must be the path of a folder"):
        ToolSearchProcessor(TOOLS, index_cache=folder)


async def test_a_disk_that_fails_is_no_error(tmp_path, caplog):
    (tmp_path / "file").touch()
    search = ToolSearchProcessor(TOOLS, index_cache=tmp_path / "file")
    assert (await made_ready(search))[0].name == "list_mail"
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == 1

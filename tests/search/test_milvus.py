"""MilvusIndex on the embedded engine, and between two processes on its server.

One database serves all tests, since milvus-lite keeps its lock until the process ends; each test that
writes has a collection of its own.
"""

import asyncio
import itertools
import os
import socket
import subprocess
import sys
import time

import pytest
from pymilvus import MilvusClient, MilvusException

from tests.search.fake_embedder import FakeEmbedder
from tests.support import Policy, Run, make, names
from tool_search_processor import Catalog, ToolSearchProcessor
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.milvus import MilvusIndex
from tool_search_processor.search.milvus import row_masks as views
from tool_search_processor.search.milvus.collection import _tools_schema
from tool_search_processor.search.protocol import AsyncSearchIndex, Document

DOCUMENTS = (
    Document(
        name="create_issue",
        namespace="github",
        description="Open a bug report in a repository.",
        tags=("code", "write"),
        parameter_names=("repo", "title"),
    ),
    Document(name="list_issues", namespace="github", description="Show the bug reports.", tags=("code",)),
    Document(
        name="sendMail", namespace="office", description="Write a message to a person.", tags=("write",)
    ),
    Document(name="get_forecast", description="Rain and sun of the coming days."),
    Document(name="查询天气", description="查询城市的天气预报。"),
    Document(name="mcp__browser__open_page", namespace="browser", description="Go to an address."),
    Document(name="searchFiles", description="Look for text in the files of a folder.", keywords=("grep",)),
    Document(name="twin_b", description="Feed the elephants."),
    Document(name="twin_a", description="Feed the elephants."),
)
MODES = ("bm25", "vector", "hybrid")
_numbers = itertools.count()


def embedder_for(mode):
    return None if mode == "bm25" else FakeEmbedder()


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    return tmp_path_factory.mktemp("milvus") / "tools.db"


@pytest.fixture(scope="module")
def published(uri):
    """An index for each mode, over DOCUMENTS."""
    made = {
        mode: MilvusIndex(uri, f"shared_{mode}", mode=mode, embedder=embedder_for(mode)) for mode in MODES
    }
    for index in made.values():
        asyncio.run(index.update(DOCUMENTS))
    yield made
    for index in made.values():
        asyncio.run(index.aclose())


@pytest.fixture
async def own(uri):
    """Makes indexes on one new collection."""
    collection = f"own_{next(_numbers)}"
    made = []

    def make_index(**options):
        made.append(MilvusIndex(uri, collection, **options))
        return made[-1]

    yield make_index
    for index in made:
        await index.aclose()


def documents(count, *, description="Moves a crate."):
    return [Document(name=f"tool_{place:03}", description=description) for place in range(count)]


# Ranking


def test_it_is_an_async_index(published):
    assert isinstance(published["bm25"], AsyncSearchIndex)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("open a bug report", "create_issue"),
        ("issues", "list_issues"),
        ("a mail to send", "sendMail"),
        ("repo title", "create_issue"),
        ("天气预报", "查询天气"),
        ("grep", "searchFiles"),
        ("sunny days", "get_forecast"),
        ("email somebody a message", "sendMail"),
    ],
)
async def test_words_stems_identifiers_and_chinese_find_their_tool(published, query, name):
    hits = await published["bm25"].search(query)
    assert hits[0].name == name
    assert [hit.text_rank for hit in hits] == list(range(1, len(hits) + 1))
    assert all(0 < hit.score < 0.94 for hit in hits)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["create_issue", "Create Issue", " createIssue "])
async def test_an_exact_name_is_first_with_1(published, mode, query):
    hits = await published[mode].search(query)
    assert (hits[0].name, hits[0].score) == ("create_issue", 1.0)
    assert all(hit.score < 1 for hit in hits[1:])
    assert len({hit.name for hit in hits}) == len(hits)


@pytest.mark.parametrize("mode", ["bm25", "hybrid"])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("open_page", [("mcp__browser__open_page", 0.96)]),
        ("then call `sendMail` twice", [("sendMail", 0.98)]),
        ("select:list_issues, twin_a", [("list_issues", 1.0), ("twin_a", 1.0)]),
    ],
)
async def test_other_ways_to_name_a_tool(published, mode, query, found):
    hits = await published[mode].search(query)
    assert [(hit.name, hit.score) for hit in hits[: len(found)]] == found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["", "  \n", "?!"])
async def test_a_query_without_words_finds_nothing_by_words(published, mode, query):
    hits = await published[mode].search(query)
    assert hits == [] or (mode != "bm25" and query == "?!")


async def test_words_alone_answer_where_the_query_has_no_vector(own):
    class Speechless(FakeEmbedder):
        def embed_query(self, text):
            return super().embed_query(text) * 0

    index = own(mode="hybrid", embedder=Speechless())
    await index.update(DOCUMENTS)
    assert (await index.search("grep"))[0].name == "searchFiles"


@pytest.mark.parametrize("mode", MODES)
async def test_a_longer_list_begins_as_the_shorter(published, mode):
    index = published[mode]
    for query in ("feed a bug", "open the files", "elephants"):
        every = await index.search(query)
        for limit in range(1, len(every) + 1):
            assert await index.search(query, limit=limit) == every[:limit]
        assert [await index.search(query, limit=limit) for limit in (0, -1)] == [[], []]
        scores = [hit.score for hit in every]
        assert scores == sorted(scores, reverse=True)


async def test_ties_are_in_the_order_of_update(published):
    hits = await published["bm25"].search("feed elephants")
    assert [hit.name for hit in hits] == ["twin_b", "twin_a"]
    assert hits[0].score == hits[1].score


async def test_the_order_is_about_that_of_the_index_in_the_process(published):
    inside = BM25Index()
    inside.update(DOCUMENTS)
    for query in ("report a bug in a repository", "write a message", "look for text", "天气"):
        assert (await published["bm25"].search(query))[0].name == inside.search(query)[0].name


# Views


@pytest.mark.parametrize("mode", MODES)
async def test_within_shows_nothing_else(published, mode):
    within = frozenset({"list_issues", "twin_a"})
    hits = await published[mode].search("bug reports of elephants", within=within)
    assert {hit.name for hit in hits} == within
    assert all(hit.name in within for hit in await published[mode].search("create_issue", within=within))
    assert await published[mode].search("bug", within=()) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("window", [3, 1000])
async def test_a_large_within_is_fetched_deeper_or_asked_for_in_parts(own, monkeypatch, mode, window):
    monkeypatch.setattr(views, "PUSHED_NAMES", 4)
    index = own(mode=mode, embedder=embedder_for(mode), depth=2)
    await index.update(documents(40))
    index._window = window
    within = frozenset(f"tool_{place:03}" for place in range(30, 40))
    hits = await index.search("move crates", within=within, limit=8)
    assert [hit.name for hit in hits if hit.name not in within] == []
    assert len(hits) == 8
    assert await index.search("move crates", within=within, limit=3) == hits[:3]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"tags": ["code"]}, {"create_issue", "list_issues"}),
        ({"tags": ["write", "none"]}, {"create_issue", "sendMail"}),
        ({"namespaces": ["github"]}, {"create_issue", "list_issues"}),
        ({"namespaces": ["office", "github"], "tags": {"write"}}, {"create_issue", "sendMail"}),
        ({"tags": ['"] or name != "']}, set()),
    ],
)
async def test_tags_and_namespaces_are_filtered_by_the_engine(published, mode, filters, expected):
    hits = await published[mode].search("write a bug report message", **filters)
    assert {hit.name for hit in hits} == expected


async def test_tags_of_any_characters_are_found(own):
    tags = ('a "quoted" one', "back\\slash", "new\nline", "工具", "x" * 2000)
    index = own()
    await index.update(
        [Document(name=f"t{place}", description="crate", tags=(tag,)) for place, tag in enumerate(tags)]
    )
    for place, tag in enumerate(tags):
        assert names(await index.search("crate", tags=[tag])) == [f"t{place}"]


# Documents of a request


@pytest.mark.parametrize("mode", MODES)
async def test_documents_of_a_request_are_ranked_among_the_stored(published, mode):
    extra = [
        Document(name="zebra_care", description="Look after zebras: feed and wash them."),
        Document(name="list_issues", description="Count the planets.", tags=("mine",)),
    ]
    index = published[mode]
    assert (await index.search("wash zebras", extra=extra))[0].name == "zebra_care"
    found = await index.search("show the bug reports", extra=extra)
    assert found[0].name == "create_issue"
    assert names(found).count("list_issues") <= 1
    assert (await index.search("list_issues", extra=extra))[0].score == 1.0
    assert names(await index.search("planets", extra=extra, tags=["mine"], limit=1)) == ["list_issues"]
    assert "zebra_care" not in names(await index.search("zebras", extra=extra, tags=["mine"]))
    # `within` is not about them.
    assert (await index.search("wash zebras", extra=extra, within=()))[0].name == "zebra_care"
    assert "zebra_care" not in names(await index.search("wash zebras"))


@pytest.mark.parametrize("mode", MODES)
async def test_before_anything_is_published_only_the_requests_own_are_found(own, mode):
    index = own(mode=mode, embedder=embedder_for(mode), writer=False)
    await index.update(DOCUMENTS)
    assert await index.version() is None
    assert await index.search("create_issue") == []
    hits = await index.search("feed elephants", extra=DOCUMENTS)
    assert {hit.name for hit in hits[:2]} == {"twin_b", "twin_a"}


# Publishing


class CountingEmbedder(FakeEmbedder):
    """Tells which tools were embedded."""

    def fresh(self):
        found = [text.partition(":")[0] for text in self.texts if text != "tool"]
        self.texts.clear()
        return found


async def test_an_update_writes_only_what_differs(own):
    embedder = CountingEmbedder()
    index = own(mode="hybrid", embedder=embedder)
    first = documents(5)
    await index.update(first)
    assert embedder.fresh() == [f"tool {place:03}" for place in range(5)]
    before = await index.version()
    await index.update(list(reversed(first)))
    assert await index.version() == before

    changed = [*first[1:], Document(name="tool_009", description="Washes a zebra.")]
    changed[0] = Document(name="tool_001", description="Paints a wall.")
    await index.update(changed)
    assert embedder.fresh() == ["tool 001", "tool 009"]
    after = await index.version()
    assert (after.number, after.size, after.complete) == (before.number + 1, 5, True)
    assert names(await index.search("paint the wall", limit=1)) == ["tool_001"]
    assert "tool_000" not in names(await index.search("tool_000"))

    await index.update(())
    assert await index.search("wall") == []
    assert (await index.version()).size == 0


async def test_another_writer_of_equal_content_writes_nothing(own):
    await own().update(DOCUMENTS)
    again = own()
    before = await again.version()
    await again.update(DOCUMENTS)
    assert await again.version() == before
    await again.update(DOCUMENTS[1:])
    assert (await again.version()).number == before.number + 1


async def test_what_a_writer_left_half_done_is_finished(own):
    class Failing(FakeEmbedder):
        def embed_documents(self, texts):
            if any("Paints" in text for text in texts):
                raise OSError("the network is down")
            return super().embed_documents(texts)

    index = own(mode="vector", embedder=Failing())
    await index.update(documents(3))
    with pytest.raises(OSError, match="network is down"):
        await index.update([*documents(2), Document(name="wall", description="Paints a wall.")])
    assert not (await index.version()).complete
    await index.update(documents(3))
    version = await index.version()
    assert (version.complete, version.size) == (True, 3)
    assert len(await index.search("crate")) == 3


async def test_more_rows_than_one_page_are_compared(own, monkeypatch):
    from tool_search_processor.search.milvus import collection

    await own().update(documents(7))
    monkeypatch.setattr(collection, "WINDOW", 3)
    index = own()
    assert len(index._collection.hashes()) == 7


async def test_a_writer_with_another_embedder_creates_the_collection_again(own):
    await own(mode="vector", embedder=FakeEmbedder()).update(DOCUMENTS)
    follower = own(mode="vector", embedder=FakeEmbedder(model_id="fake-2"), writer=False)
    with pytest.raises(
        ConfigurationError, match=r"64 dimensions of 'fake-1'.* 64 of 'fake-2'.*another collection"
    ):
        await follower.search("bug")
    # Words need no vectors.
    assert (await own(writer=False).search("grep"))[0].name == "searchFiles"
    writer = own(mode="vector", embedder=FakeEmbedder(model_id="fake-2"))
    await writer.update(DOCUMENTS[:3])
    assert (await writer.version()).number == 2
    assert len(await follower.search("write a message")) <= 3


async def test_a_collection_that_was_released_is_loaded_again(own):
    index = own()
    await index.update(DOCUMENTS)
    index._collection.client.release_collection(index._collection.name)
    assert (await index.search("grep"))[0].name == "searchFiles"


async def test_a_collection_that_was_dropped_is_empty_until_the_next_update(own):
    index = own()
    await index.update(DOCUMENTS)
    for name in (index._collection.name, f"{index._collection.name}_version"):
        index._collection.client.drop_collection(name)
    assert await index.search("grep") == []
    await index.update(DOCUMENTS)
    assert (await index.search("grep"))[0].name == "searchFiles"


async def test_a_follower_looks_at_the_version_now_and_then(own):
    now = [0.0]
    writer, follower = own(), own(writer=False, follow_seconds=5, clock=lambda: now[0])
    await writer.update(documents(3))
    assert len(await follower.search("crate")) == 3
    await writer.update(documents(4))
    assert len(await follower.search("crate")) == 4
    assert follower._current().size == 3
    now[0] = 5.0
    assert follower._current().size == 4


# In a catalog and a processor


async def test_a_catalog_searches_it_by_tags_and_with_tools_of_a_request(uri):
    tools = [
        make("create_issue", tags={"code"}),
        make("create_note", tags={"text"}),
        make("lock_door", pinned=True),
    ]
    catalog = Catalog(tools, search=MilvusIndex(uri, f"own_{next(_numbers)}"))
    view = await catalog.view()
    assert names(await view.search("create something", limit=5, tags=frozenset({"code"}))) == ["create_issue"]
    assert await view.count("create") == 2


async def test_a_denied_tool_never_appears_and_takes_no_place(uri):
    tools = [make(f"move_crate_{place:02}", "Moves a crate.", tags={"crate"}) for place in range(90)]
    allowed = {"move_crate_81", "move_crate_89"}
    policy = Policy(
        *((phase, tool.name) for tool in tools if tool.name not in allowed for phase in ("search", "load"))
    )
    processor = ToolSearchProcessor(tools, search=MilvusIndex(uri, f"own_{next(_numbers)}"), filter=policy)
    run = Run(processor)
    for arguments in ({}, {"tags": ["crate"]}):
        found = await run.search("move a crate", limit=5, **arguments)
        assert set(names(found["results"])) == allowed
    assert (await run.load("move_crate_05"))["loaded"] == []
    assert names((await run.search("move_crate_05"))["results"])[:1] != ["move_crate_05"]


# Processes

SCRIPT = """
import asyncio, sys
from tool_search_processor.search.protocol import Document
from tool_search_processor.search.milvus import MilvusIndex

async def main(uri, writer, *names):
    index = MilvusIndex(uri, "tools", writer=writer == "write")
    await index.update([Document(name=name, description="Moves a crate.") for name in names])
    print(*[hit.name for hit in await index.search("move crates")])

asyncio.run(main(*sys.argv[1:]))
"""


def process(*arguments):
    command = [sys.executable, "-W", "error", "-c", SCRIPT, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_database_is_opened_again_by_the_next_process(tmp_path):
    path = tmp_path / "again.db"
    assert process(path, "write", "b_tool", "a_tool") == ["b_tool", "a_tool"]
    assert process(path, "follow", "b_tool") == ["b_tool", "a_tool"]
    # Words weigh by segment here, so that what is new is not quite equal.
    assert sorted(process(path, "write", "b_tool", "c_tool")) == ["b_tool", "c_tool"]


@pytest.fixture
def server(tmp_path):
    """milvus-lite as a server on loopback, its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = [sys.executable, "-m", "milvus_lite", "server"]
    options = ["--data-dir", str(tmp_path / "data"), "--host", "127.0.0.1", "--port", str(port)]
    running = subprocess.Popen([*program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert running.poll() is None
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(timeout=30)


async def test_one_process_publishes_and_others_follow(server):
    follower = MilvusIndex(server, writer=False, follow_seconds=0)
    assert await follower.search("move crates") == []
    assert await asyncio.to_thread(process, server, "write", "b_tool", "a_tool") == ["b_tool", "a_tool"]
    assert names(await follower.search("move crates")) == ["a_tool", "b_tool"]
    first = await follower.version()
    found = await asyncio.to_thread(process, server, "write", "b_tool", "c_tool")
    assert sorted(found) == ["b_tool", "c_tool"]
    assert names(await follower.search("move crates")) == found
    assert (await follower.version()).number == first.number + 1
    await follower.aclose()


async def test_a_forked_process_makes_its_own_client(own):
    index = own()
    await index.update(DOCUMENTS)
    before = index._collection.client
    assert index._collection.client is before
    index._collection._owner = os.getpid() + 1
    assert index._collection.client is not before
    assert (await index.search("grep"))[0].name == "searchFiles"
    before.close()


async def test_what_the_engine_refuses_is_raised(own):
    index = own(mode="vector", embedder=FakeEmbedder())
    await index.update(DOCUMENTS)
    with pytest.raises(MilvusException, match=r"(?i)dim"):
        index._collection.by_vector([1.0, 0.0], limit=1)


class ServerClient:
    """What a collection is described with; says that it is of a server's version."""

    create_schema = MilvusClient.create_schema
    prepare_index_params = MilvusClient.prepare_index_params

    def __init__(self, version):
        self.version = version

    def get_server_version(self):
        return self.version


@pytest.mark.parametrize(("version", "filtered"), [("v2.6.4", 7), ("milvus-lite-3.2.2", 0)])
def test_a_server_has_an_index_for_each_field_that_is_filtered(version, filtered):
    schema, indexes = _tools_schema(ServerClient(version), dimensions=8, vector_index="AUTOINDEX")
    kinds = {params.field_name: params.index_type for params in indexes}
    assert (kinds.pop("words"), kinds.pop("vector")) == ("SPARSE_INVERTED_INDEX", "AUTOINDEX")
    assert list(kinds.values()) == ["INVERTED"] * filtered
    fields = {field.name for field in schema.fields}
    assert fields > {"name", "hash", "text", *kinds}

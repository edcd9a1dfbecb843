"""The indexes behind a catalog: what is put into them, how often, and how each kind is searched."""

import asyncio
import threading
from functools import partial

import pytest

from tests.support import names
from tool_search_processor.catalog.indexes import MAX_EXTRA, IndexPool
from tool_search_processor.catalog.toolsets import Part, ToolSet
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.regex import RegexIndex
from tool_search_processor.search.strategies import index_factory
from tool_search_processor.tools import Tool


class RecordingIndex:
    """A real index that writes down what it is asked."""

    def __init__(self, log=None):
        self.inner = BM25Index()
        self.log = [] if log is None else log

    def update(self, documents):
        self.log.append(("update", len(documents)))
        self.inner.update(documents)

    def search(self, query, *, limit=None, within=None, extra=()):
        self.log.append(("search", within, len(extra)))
        return self.inner.search(query, limit=limit, within=within, extra=extra)

    @property
    def updates(self):
        return [size for kind, size, *_ in self.log if kind == "update"]


class CountingIndex(RecordingIndex):
    """Can tell how many match without listing them."""

    def count(self, query, *, min_score=0.0, within=None, extra=()):
        self.log.append(("count", within, len(extra)))
        return self.inner.count(query, min_score=min_score, within=within, extra=extra)


class BlockingIndex(CountingIndex):
    """Takes long, and remembers in which thread."""

    blocking = True

    def __init__(self):
        super().__init__()
        self.threads = []

    def update(self, documents):
        self.threads.append(threading.get_ident())
        super().update(documents)

    def search(self, query, **options):
        self.threads.append(threading.get_ident())
        return super().search(query, **options)

    def count(self, query, **options):
        self.threads.append(threading.get_ident())
        return super().count(query, **options)


class RemoteIndex:
    """An engine outside."""

    def __init__(self):
        self.inner = CountingIndex()

    async def update(self, documents):
        await asyncio.sleep(0)
        self.inner.update(documents)

    async def search(self, query, *, limit=None, within=None, extra=()):
        await asyncio.sleep(0)
        return self.inner.search(query, limit=limit, within=within, extra=extra)


class RemoteCountingIndex(RemoteIndex):
    async def count(self, query, **options):
        await asyncio.sleep(0)
        return self.inner.count(query, **options)


class Factory:
    """Makes recording indexes, and keeps them."""

    def __init__(self):
        self.made = []

    def __call__(self):
        self.made.append(RecordingIndex())
        return self.made[-1]


SHARED = ToolSet(
    [
        Tool("read_file", description="Read a file", tags={"fs"}),
        Tool("write_file", description="Write a file", tags={"fs", "write"}),
        Tool("send_mail", description="Send a mail", tags={"mail"}),
    ]
)


def many(word, number=MAX_EXTRA + 1):
    return [Tool(f"{word}_{i}", description=f"{word} number {i}") for i in range(number)]


# -- strategies


@pytest.mark.parametrize(
    ("strategy", "kind"), [("bm25", BM25Index), ("regex", RegexIndex), (BM25Index, BM25Index)]
)
def test_a_name_or_a_factory_makes_a_new_index_each_time(strategy, kind):
    make = index_factory(strategy)
    assert isinstance(make(), kind)
    assert make() is not make()


def test_an_instance_is_handed_out_as_it_is():
    index = BM25Index()
    make = index_factory(index)
    assert make() is make() is index


def test_a_factory_may_be_any_callable():
    assert isinstance(index_factory(partial(RecordingIndex, []))(), RecordingIndex)


@pytest.mark.parametrize("name", ["bm52", "", "BM25"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(
        ConfigurationError, match=f"no search strategy '{name}': choose one of 'bm25', 'regex'"
    ):
        index_factory(name)


@pytest.mark.parametrize("strategy", [None, 3, [], {"search": "bm25"}])
def test_what_cannot_search_is_refused(strategy):
    with pytest.raises(ConfigurationError, match=r"search must be one of .*an index with update\(\)"):
        index_factory(strategy)


def test_a_factory_that_needs_something_or_makes_something_else_is_told():
    with pytest.raises(
        ConfigurationError, match=r"takes no argument, .* needs one: .* goes into VectorIndex"
    ):
        index_factory(lambda texts: [[1.0] for _ in texts])
    with pytest.raises(
        ConfigurationError, match=r"must make an index with update\(\) and search\(\), found {}"
    ):
        index_factory(dict)()


# -- searching what is shared


async def test_the_index_is_made_at_the_first_search_and_filled_once():
    factory = Factory()
    pool = IndexPool(factory)
    assert factory.made == []
    for _ in range(3):
        assert names(await pool.search("read", shared=SHARED)) == ["read_file"]
    assert [index.updates for index in factory.made] == [[3]]


async def test_preparing_fills_it_before_the_first_search():
    factory = Factory()
    pool = IndexPool(factory)
    await pool.prepare(SHARED)
    assert factory.made[0].updates == [3]
    await pool.search("read", shared=SHARED)
    assert factory.made[0].updates == [3]


async def test_a_later_set_replaces_an_earlier_one_and_not_the_other_way_round():
    index = RecordingIndex()
    pool = IndexPool(index)
    later = ToolSet([*SHARED, Tool("read_mail")])
    assert names(await pool.search("read", shared=SHARED)) == ["read_file"]
    assert sorted(names(await pool.search("read", shared=later))) == ["read_file", "read_mail"]
    await pool.search("read", shared=SHARED)
    assert index.updates == [3, 4]


async def test_limit_tags_and_names_left_out():
    pool = IndexPool("bm25")
    assert names(await pool.search("file", shared=SHARED)) == ["read_file", "write_file"]
    assert names(await pool.search("file", shared=SHARED, limit=1)) == ["read_file"]
    assert names(await pool.search("file", shared=SHARED, tags=frozenset({"write", "x"}))) == ["write_file"]
    assert names(await pool.search("file", shared=SHARED, tags=frozenset({"x"}))) == []
    assert names(await pool.search("file", shared=SHARED, without=frozenset({"read_file"}))) == ["write_file"]


async def test_the_same_selection_is_the_same_object_to_the_index():
    index = RecordingIndex()
    pool = IndexPool(index)
    for _ in range(2):
        await pool.search("file", shared=SHARED, tags=frozenset({"fs"}), own=ToolSet([Tool("read_file")]))
    one, two = (within for kind, within, *_ in index.log if kind == "search")
    assert one is two
    assert one == {"write_file"}


# -- searching a request's own


async def test_a_few_own_tools_are_scored_beside_the_shared_index():
    index = RecordingIndex()
    pool = IndexPool(index)
    for user in ("ada", "bob", "ada"):
        own = ToolSet([Tool(f"read_{user}", description="Read a file", tags={"own"}), Tool("other")])
        found = names(await pool.search("read", shared=SHARED, own=own))
        assert set(found) == {"read_file", f"read_{user}"}
        assert names(await pool.search("read", shared=SHARED, own=own, tags=frozenset({"own"}))) == [
            f"read_{user}"
        ]
        assert names(
            await pool.search("read", shared=SHARED, own=own, without=frozenset({f"read_{user}"}))
        ) == ["read_file"]
    assert index.updates == [3]


@pytest.mark.parametrize("number", [1, MAX_EXTRA + 1])
async def test_an_own_tool_hides_a_shared_one_of_the_same_name(number):
    pool = IndexPool("bm25")
    own = ToolSet([Tool("send_mail", description="Deliver a parcel"), *many("noise", number - 1)])
    assert names(await pool.search("parcel", shared=SHARED, own=own)) == ["send_mail"]
    assert names(await pool.search("send mail", shared=SHARED, own=own)).count("send_mail") == 1
    assert await pool.count("send mail", shared=SHARED, own=own) == 1
    tags = frozenset({"mail"})
    assert await pool.search("send mail", shared=SHARED, own=own, tags=tags) == []


async def test_up_to_256_own_tools_use_the_shared_index_and_more_get_their_own():
    factory = Factory()
    pool = IndexPool(factory)
    await pool.search("x", shared=SHARED, own=ToolSet(many("x", MAX_EXTRA)))
    assert [index.updates for index in factory.made] == [[3]]
    await pool.search("x", shared=SHARED, own=ToolSet(many("x", MAX_EXTRA + 1)))
    assert [index.updates for index in factory.made] == [[3], [3 + MAX_EXTRA + 1]]


async def test_two_callers_with_large_views_do_not_rebuild_each_others_index():
    factory = Factory()
    pool = IndexPool(factory)
    for _ in range(3):
        for user in ("ada", "bob"):
            own = ToolSet(many(user))
            assert names(await pool.search(f"{user}_7", shared=SHARED, own=own))[0] == f"{user}_7"
            assert names(await pool.search("read file", shared=SHARED, own=own, limit=1)) == ["read_file"]
    assert [index.updates for index in factory.made] == [[MAX_EXTRA + 4], [MAX_EXTRA + 4]]


async def test_own_indexes_are_kept_by_content():
    factory = Factory()
    pool = IndexPool(factory)
    own = many("x")
    changed = [own[0].replace(description="something about zebras"), *own[1:]]
    await pool.search("x", shared=SHARED, own=ToolSet(own))
    assert names(await pool.search("zebras", shared=SHARED, own=ToolSet(changed))) == ["x_0"]
    assert await pool.search("zebras", shared=SHARED, own=ToolSet(many("x"))) == []
    assert len(factory.made) == 2


async def test_what_is_shared_is_gone_through_once_for_equal_own_tools():
    class Counted(ToolSet):
        passes = 0

        def __iter__(self):
            self.passes += 1
            return super().__iter__()

    shared = Counted(SHARED)
    pool = IndexPool("bm25")
    for _ in range(3):
        assert names(await pool.search("x_7", shared=shared, own=ToolSet(many("x"))))[0] == "x_7"
    assert shared.passes == 1


async def test_own_indexes_are_bounded():
    factory = Factory()
    pool = IndexPool(factory)
    for user in range(17):
        await pool.search("x", shared=SHARED, own=ToolSet(many(f"u{user}")))
    await pool.search("x", shared=SHARED, own=ToolSet(many("u16")))
    assert len(factory.made) == 17
    await pool.search("x", shared=SHARED, own=ToolSet(many("u0")))
    assert len(factory.made) == 18


async def test_an_instance_holds_the_shared_tools_alone():
    index = RecordingIndex()
    pool = IndexPool(index)
    own = ToolSet(many("x", 2 * MAX_EXTRA))
    assert names(await pool.search("x_300", shared=SHARED, own=own))[0] == "x_300"
    assert index.updates == [3]


# -- kinds of index


@pytest.mark.parametrize(
    "make", [RecordingIndex, CountingIndex, BlockingIndex, RemoteIndex, RemoteCountingIndex]
)
async def test_every_kind_of_index_searches_and_counts_alike(make):
    for strategy in (make(), make):
        pool = IndexPool(strategy)
        own = ToolSet([Tool("rename_file", description="Rename a file")])
        assert set(names(await pool.search("file", shared=SHARED, own=own))) == {
            "read_file",
            "write_file",
            "rename_file",
        }
        assert await pool.count("file", shared=SHARED, own=own) == 3
        assert await pool.count("file", shared=SHARED, own=own, min_score=1.0) == 0
        assert await pool.count("file", shared=SHARED, tags=frozenset({"write"})) == 1
        assert await pool.count("file", shared=SHARED, without=frozenset({"read_file"})) == 1


async def test_an_index_that_counts_is_not_made_to_list():
    index = CountingIndex()
    assert await IndexPool(index).count("file", shared=SHARED) == 2
    assert [kind for kind, *_ in index.log] == ["update", "count"]


async def test_an_index_that_hangs_takes_no_thread_from_the_rest_of_the_program():
    go = threading.Event()

    class Hanging(BlockingIndex):
        def search(self, query, **options):
            go.wait(60)
            return super().search(query, **options)

    pool, tools = IndexPool(Hanging()), ToolSet([Tool("a")])
    await pool.prepare(tools)
    searches = [asyncio.ensure_future(pool.search("a", shared=tools)) for _ in range(100)]
    try:
        assert await asyncio.wait_for(asyncio.to_thread(lambda: 7), 30) == 7
    finally:
        go.set()
    assert all(len(hits) == 1 for hits in await asyncio.gather(*searches))


async def test_a_blocking_index_is_filled_and_asked_in_a_thread():
    index = BlockingIndex()
    pool = IndexPool(index)
    await pool.search("file", shared=SHARED)
    await pool.count("file", shared=SHARED)
    assert len(index.threads) == 3
    assert threading.get_ident() not in index.threads


async def test_a_large_update_leaves_the_event_loop_free():
    here, seen = threading.get_ident(), []

    class Noting(RecordingIndex):
        def update(self, documents):
            seen.append(threading.get_ident() == here)
            super().update(documents)

    await IndexPool(Noting()).search("x", shared=ToolSet(many("x", 500)))
    await IndexPool(Noting()).search("x", shared=ToolSet(many("x", 501)))
    assert seen == [True, False]


async def test_searches_at_once_fill_the_index_once():
    index = RecordingIndex()
    pool = IndexPool(index)
    shared = ToolSet(many("x", 600))
    found = await asyncio.gather(*(pool.search("x_5", shared=shared, limit=1) for _ in range(8)))
    assert [names(hits) for hits in found] == [["x_5"]] * 8
    assert index.updates == [600]


async def test_searches_at_once_fill_a_remote_index_once():
    index = RemoteIndex()
    pool = IndexPool(index)
    found = await asyncio.gather(*(pool.search("read", shared=SHARED) for _ in range(8)))
    assert [names(hits) for hits in found] == [["read_file"]] * 8
    assert index.inner.updates == [3]


@pytest.mark.parametrize("answer", [["tool_0"], [("tool_0", 1.0)], None, (hit for hit in ())])
async def test_an_index_that_gives_no_hits_is_named(answer):
    class Odd(RecordingIndex):
        def search(self, query, **_):
            return answer

    with pytest.raises(ConfigurationError, match=r"Odd\.search must return a list of Hit, found "):
        await IndexPool(Odd()).search("x", shared=ToolSet([Tool("tool_0")]))


async def test_an_update_that_fails_is_tried_again():
    class Failing(RecordingIndex):
        def update(self, documents):
            if not self.log:
                self.log.append(("update", None))
                raise ConnectionError("no engine")
            super().update(documents)

    pool = IndexPool(Failing())
    with pytest.raises(ConnectionError):
        await pool.search("read", shared=SHARED)
    assert names(await pool.search("read", shared=SHARED)) == ["read_file"]


@pytest.mark.parametrize("strategy", ["vector", "hybrid"])
def test_a_missing_extra_is_told_at_construction(strategy, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "tool-search-processor\[embeddings\]"'):
        IndexPool(strategy)


# -- parts of a set


async def test_parts_of_a_set_are_ranked_in_the_index_of_the_whole():
    factory = Factory()
    pool = IndexPool(factory)
    files = Part([SHARED.by_name["read_file"], SHARED.by_name["write_file"]], whole=SHARED)
    mail = Part([SHARED.by_name["send_mail"]], whole=SHARED)
    for _ in range(2):
        assert names(await pool.search("file mail", shared=files)) == ["read_file", "write_file"]
        assert names(await pool.search("file mail", shared=mail)) == ["send_mail"]
        assert names(await pool.search("file", shared=files, without=frozenset({"read_file"}))) == [
            "write_file"
        ]
        assert names(await pool.search("file", shared=files, tags=frozenset({"write"}))) == ["write_file"]
        assert await pool.count("file mail", shared=mail) == 1
    assert [index.updates for index in factory.made] == [[3]]

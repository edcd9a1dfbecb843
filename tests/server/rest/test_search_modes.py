"""Search by words, by meaning and by both: the formula, and what a caller who may see less is told."""

from dataclasses import replace

import pytest

from tests.support import ScoredIndex
from tool_search_processor import Tool
from tool_search_processor.catalog import Catalog
from tool_search_processor.catalog.finding import Wanted
from tool_search_processor.catalog.policy_view import PolicyOptions
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.index import OneList
from tool_search_processor.search.protocol import Hit
from tool_search_processor.server.rest.search_modes import ModeSearch, fuse

TOOLS = {name: Tool(name) for name in "abcdefgh"}


def ranked(names):
    return [(Hit(name, 0.5, matched=("word",)), TOOLS[name]) for name in names]


def shown(found):
    return [(one.tool.name, one.score, one.fts_rank, one.vector_rank) for one in found]


def test_scores_by_hand():
    found = fuse({"fts": ranked("abc"), "vector": ranked("cd")})
    assert shown(found) == [
        ("c", 0.5 / 63 + 0.5 / 61, 3, 1),
        ("a", 0.5 / 61, 1, None),
        ("b", 0.5 / 62, 2, None),
        ("d", 0.5 / 62, None, 2),
    ]


@pytest.mark.parametrize("lists", [{"fts": ranked("abc")}, {"vector": ranked("abc")}])
def test_one_list_scores_by_place(lists):
    assert [one.score for one in fuse(lists)] == [1, 1 / 2, 1 / 3]
    assert fuse({"fts": [], "vector": []}) == []


class TwoScored:
    """An index of two lists whose scores are given, and whose own order is that of the words."""

    def __init__(self, lexical, vector):
        self.lexical = ScoredIndex({name: 1 - place / 1000 for place, name in enumerate(lexical)})
        self.vector = ScoredIndex({name: 1 - place / 1000 for place, name in enumerate(vector)})
        self.vector.blocking = True

    def update(self, documents):
        self.lexical.update(documents)
        self.vector.update(documents)

    def search(self, query, **options):
        return [Hit(hit.name, hit.score / 2) for hit in self.lexical.search(query, **options)]


def search_of(lexical, vector, tools=None):
    names = tools or sorted({*lexical, *vector})
    return ModeSearch(
        Catalog([Tool(name) for name in names], search="bm25"), TwoScored(lexical, vector), PolicyOptions()
    )


async def find(search, *, limit, mode="hybrid", allow=None, **wanted):
    search.options = replace(search.options, filter=allow)
    view = await search.view({})
    return await view.find("q", view.admission(), mode=mode, wanted=Wanted(limit=limit, **wanted))


async def test_lists_are_fetched_deeper_than_the_limit():
    words = [f"w{number}" for number in range(5)]
    meaning = [f"m{number}" for number in range(5)]
    search = search_of([*words, "both"], [*meaning, "both"])
    assert shown(await find(search, limit=1)) == [("both", 1 / 66, 6, 6)]


async def test_a_greater_limit_only_makes_the_list_longer():
    names = [f"t{number:03}" for number in range(200)]
    search = search_of(names, names[::-1])
    long = await find(search, limit=100)
    assert len(long) == 100
    assert shown(long[:16]) == shown(await find(search, limit=16))


async def test_ranks_and_scores_tell_nothing_of_denied_tools():
    names = [f"t{number:03}" for number in range(500)]
    search = search_of(names, names[::-1])
    mine = {"t200", "t400"}
    hidden = await find(search, limit=5, allow=lambda request: request.tool_name in mine)
    alone = await find(search_of(["t200", "t400"], ["t400", "t200"]), limit=5)
    assert shown(hidden) == shown(alone)
    assert shown(hidden)[0] == ("t200", 0.5 / 61 + 0.5 / 62, 1, 2)


@pytest.mark.parametrize(
    ("ranking", "scores"), [("score", [0.5, 0.4995]), ("fts", [1.0, 0.999]), ("vector", [1.0, 0.999])]
)
async def test_people_see_the_scores_of_what_ranks_and_places_in_every_list(ranking, scores):
    search = search_of("ab", "ba")
    view = await search.view({})
    found = await view.judge("q", view.admission(), ranking=ranking, wanted=Wanted(limit=5))
    assert [one.score for one in found] == pytest.approx(scores)
    places = {one.tool.name: (one.fts_rank, one.vector_rank) for one in found}
    assert places == {"a": (1, 2), "b": (2, 1)}


async def test_only_the_list_of_a_mode_is_searched_and_words_in_no_thread():
    search = search_of("ab", "ba")
    assert shown(await find(search, limit=5, mode="fts"))[0] == ("a", 1, 1, None)
    assert shown(await find(search, limit=5, mode="vector"))[0] == ("b", 1, None, 1)
    assert shown(await find(search, limit=5, without=frozenset("a")))[0] == ("b", 1 / 61, 1, 1)
    index = TwoScored("a", "a")
    assert (OneList(index, index.lexical).blocking, OneList(index, index.vector).blocking) == (
        False,
        True,
    )


class Outside:
    """An engine outside this process."""

    def __init__(self, *names):
        self.inner = ScoredIndex(dict.fromkeys(names, 0.5))

    async def update(self, documents):
        self.inner.update(documents)

    async def search(self, query, **options):
        return self.inner.search(query, **options)


async def test_an_engine_outside_answers_as_one_list():
    search = ModeSearch(Catalog([Tool("a"), Tool("b")]), Outside("b"), PolicyOptions())
    await search.prepare()
    assert (search.modes, search.has_vectors, search.indexes.is_ready) == (("fts",), False, True)
    assert shown(await find(search, limit=5, mode="fts")) == [("b", 1, 1, None)]


def test_an_index_of_the_catalog_s_strategy_is_the_catalog_s():
    catalog = Catalog([Tool("a")], search=BM25Index)
    assert ModeSearch(catalog, BM25Index, PolicyOptions()).indexes is catalog.indexes
    assert ModeSearch(catalog, "bm25", PolicyOptions()).indexes is not catalog.indexes
    assert ModeSearch(catalog, "bm25", PolicyOptions()).rankings == ("score",)

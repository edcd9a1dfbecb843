"""An index that somebody else wrote offers everything that the package asks of one."""

import inspect
from functools import partial

import pytest

from tool_search_processor.catalog.indexes import IndexPool
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.index import adapted
from tool_search_processor.search.protocol import Document, Hit
from tool_search_processor.search.regex import RegexIndex

DOCUMENTS = [Document("create_issue"), Document("list_issues")]


class Plain:
    """Two methods and nothing else."""

    def update(self, documents):
        self.names = [document.name for document in documents]

    def search(self, query, *, limit=None, within=None, extra=()):
        return [Hit(name, 0.5) for name in self.names if query in name][:limit]


class Remote(Plain):
    """The same, asynchronous."""

    async def update(self, documents):
        super().update(documents)

    async def search(self, query, **options):
        return super().search(query, **options)


class Rich(Plain):
    """All that an index may have."""

    takes_pattern = blocking = True
    ready = False

    def count(self, query, *, min_score=0.0, within=None, extra=()):
        return 7

    def wait(self, timeout_seconds=None):
        return timeout_seconds == 3


def test_what_an_index_does_not_have_has_a_default():
    index = adapted(Plain())
    index.update(DOCUMENTS)
    assert index.count("issue") == 2
    assert index.count("issue", min_score=0.6) == 0
    assert (index.takes_pattern, index.blocking, index.is_outside, index.ready) == (False, False, False, True)
    assert index.wait()
    assert index.log_odds("issue") is None
    assert index.lists() == {"fts": index}


def test_what_an_index_has_is_used():
    index = adapted(Rich())
    assert (index.takes_pattern, index.blocking, index.ready) == (True, True, False)
    assert index.count("issue") == 7
    assert index.wait(3)
    assert not index.wait()


async def test_the_answers_of_an_engine_outside_can_be_awaited():
    index = adapted(Remote())
    assert index.is_outside
    await index.update(DOCUMENTS)
    assert [hit.name for hit in await index.search("list")] == ["list_issues"]
    counted = index.count("issue", min_score=0.5)
    assert inspect.isawaitable(counted)
    assert await counted == 2


def test_our_own_indexes_stay_what_they_are():
    index = BM25Index()
    assert adapted(index) is index


def test_something_else_than_hits_is_refused():
    class Wrong(Plain):
        def search(self, query, **options):
            return "create_issue"

    with pytest.raises(
        ConfigurationError, match=r"Wrong\.search must return a list of Hit, found 'create_issue'"
    ):
        adapted(Wrong()).search("issue")


@pytest.mark.parametrize("strategy", ["regex", RegexIndex, RegexIndex(), partial(RegexIndex), Rich])
def test_queries_are_patterns_however_the_index_is_given(strategy):
    assert IndexPool(strategy).takes_pattern
    assert not IndexPool(BM25Index).takes_pattern

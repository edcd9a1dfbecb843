"""What every index in this process keeps to, whatever it is given."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.makers import MAKERS
from tests.support import names
from tool_search_processor.errors import InvalidPatternError
from tool_search_processor.search.index import Index
from tool_search_processor.search.protocol import Document, SearchIndex

EVERY = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)

HOSTILE = (
    Document(""),
    Document("😀", description="👍 mail"),
    Document("\ud800", description="\udfff mail"),
    Document("\x00\x01", description="\u202e mail"),
    Document("a\nb", description="İ ß ﬁ"),
    Document("long" * 10_000, description="mail " * 10_000),
    Document("...", description=" "),
)
QUERIES = (
    *("", " ", "mail", "the of and", "😀", "\ud800", "mail\ud800box", "\x00\x01", "İ ß ﬁ", "(", ","),
    "a" * 100_000,
    "send a mail to them. " * 40,
    ". ".join(f"word{number} mail please now" for number in range(40)),
)
FEW = (
    Document("create_issue", description="Open an issue in a repository."),
    Document("sendMail", description="Send a message to a person."),
    Document("поиск_файла", description="Найти файл по имени"),
    Document("天気予報", description="東京の天気"),
)


def searched(index, query):
    """Return hits whose scores are in range and in order; None where the query is a pattern that is none."""
    try:
        hits = index.search(query)
    except InvalidPatternError:
        return None
    assert all(0 < hit.score <= 1 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return hits


@EVERY
def test_it_is_a_search_index_that_counts(make):
    assert isinstance(make(), SearchIndex)
    assert isinstance(make(), Index)


@EVERY
@pytest.mark.parametrize("limit", [0, -1, -3])
def test_a_limit_of_nothing_gives_nothing(make, limit):
    index = make()
    index.update([Document("send_mail"), Document("list_mail"), Document("read_mail")])
    assert len(index.search("mail")) == 3
    assert index.search("mail", limit=limit) == []


@EVERY
def test_a_smaller_limit_is_the_beginning_of_a_greater_one(make):
    index = make()
    index.update(Document(f"tool_{number % 7}{number}", description="open a bug") for number in range(40))
    whole = index.search("bug")
    assert len(whole) == 40
    for limit in (1, 5, 39, 40, 99):
        assert index.search("bug", limit=limit) == whole[:limit]


@EVERY
def test_of_two_documents_of_one_name_the_later_counts(make):
    index = make()
    index.update([Document("twice", description="first alpha"), Document("twice", description="second beta")])
    (good,) = index.search("beta")
    assert [hit.name for hit in index.search("alpha") if hit.score >= good.score] == []
    assert index.count("beta") == 1


@EVERY
@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
@pytest.mark.parametrize("documents", [(), HOSTILE[:1], HOSTILE[1:2], HOSTILE], ids=[0, 1, "emoji", "all"])
def test_hostile_texts_give_a_list_in_order_of_whole_scores(make, documents, query):
    index = make()
    index.update(documents)
    if (hits := searched(index, query)) is None:
        return
    assert index.search(query, limit=10**18) == hits
    assert names(index.search(query, limit=2)) == names(hits)[:2]
    assert index.search(query, within=["unknown"]) == index.search(query, within=[]) == []
    for least in (-1, 0, 0.5, 1, math.inf, *(hit.score for hit in hits[:2])):
        assert index.count(query, min_score=least) == sum(hit.score >= least for hit in hits)


@EVERY
@given(query=st.text(max_size=30), limit=st.integers(0, 4))
def test_any_text_gives_scores_in_range_and_a_stable_beginning(make, query, limit):
    index = make()
    index.update(FEW)
    if (hits := searched(index, query)) is None:
        return
    assert index.search(query, limit=limit) == hits[:limit]


@EVERY
def test_searches_see_the_content_of_before_or_of_after(make):
    contents = [
        [Document(f"{word}_{number}", description="open a bug report") for number in range(count)]
        for word, count in (("alpha", 30), ("beta", 45))
    ]
    index = make()
    index.update(contents[0])

    def search():
        return {frozenset(names(index.search("bug"))) for _ in range(30)}

    with ThreadPoolExecutor(3) as threads:
        searches = [threads.submit(search) for _ in range(3)]
        for turn in range(30):
            index.update(contents[turn % 2])
    seen = set().union(*(each.result() for each in searches))
    assert seen <= {frozenset(names(content)) for content in contents}

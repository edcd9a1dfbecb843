"""An index changed step by step: it finds what one built at once finds."""

from dataclasses import replace

import pytest

from tool_search_processor.search.bm25 import BM25Index, snapshot
from tool_search_processor.search.protocol import Document

SHELF = tuple(Document(name=f"tool_{n}", description=f"Handles matter {n}.") for n in range(20))
NAMESAKES = (
    Document(name="create_issue"),
    Document(name="createIssue"),
    Document(name="github_create_issue"),
    Document(name="jira_create_issue"),
)


def grown(*documents: Document) -> BM25Index:
    """Return an index of a shelf to which documents were added one after another."""
    index = BM25Index()
    for count in range(len(documents) + 1):
        index.update((*SHELF, *documents[:count]))
    assert index._snapshot.tail.names  # not merged yet
    return index


def at_once(*documents: Document) -> BM25Index:
    index = BM25Index()
    index.update((*SHELF, *documents))
    return index


@pytest.mark.parametrize("query", ["thermostat", "set the heat", "thermsotat", "matter 3", "thermo"])
def test_documents_that_share_words_may_come_one_after_another(query):
    added = [
        Document(name="heat_set", description="Sets the thermostat."),
        Document(
            name="heat_get", description="Tells, of all rooms of a house, what the thermostat is set to."
        ),
        Document(name="thermostat", description="Heat of matter 3."),
    ]
    assert grown(*added).search(query) == at_once(*added).search(query)


@pytest.mark.parametrize("split", range(4))
@pytest.mark.parametrize("query", ["create_issue", "jira_create_issue", "use `create_issue` for it"])
def test_namesakes_are_called_whenever_they_came(query, split):
    index = BM25Index()
    index.update((*SHELF, *NAMESAKES[:split]))
    index.update((*SHELF, *NAMESAKES))
    assert index.search(query) == at_once(*NAMESAKES).search(query)


@pytest.mark.parametrize("split", range(3))
def test_the_end_of_a_name_finds_all_that_end_so(split):
    ends = NAMESAKES[2:]
    index = BM25Index()
    index.update((*SHELF, *ends[:split]))
    index.update((*SHELF, *ends))
    hits = index.search("create_issue")
    assert [hit.name for hit in hits if hit.score > 0.95] == ["github_create_issue", "jira_create_issue"]


@pytest.mark.parametrize("query", ["jira_create_issue", "create_issue", "use `jira_create_issue` for it"])
def test_what_was_removed_or_replaced_is_not_called_by_its_name(query):
    index = at_once(*NAMESAKES[2:])
    index.update((*SHELF, NAMESAKES[2]))
    assert "jira_create_issue" not in [hit.name for hit in index.search(query)]
    index.update((*SHELF, replace(NAMESAKES[2], description="Another one.")))
    assert [hit.name for hit in index.search("github_create_issue")] == ["github_create_issue"]


@pytest.mark.parametrize("order", [(3, 2, 1, 0), (1, 2, 3, 0), (0, 2, 1, 3), (1, 0)])
def test_ties_stand_in_the_order_of_now(order):
    same = [Document(name=f"copy_{letter}", description="Renders a sparkline.") for letter in "abcd"]
    index = BM25Index()
    index.update(same)
    index.update([same[place] for place in order])
    assert [hit.name for hit in index.search("sparkline")] == [same[place].name for place in order]


def test_what_unknown_words_stand_for_is_kept_within_bounds(monkeypatch):
    monkeypatch.setattr(snapshot, "_ALTERNATIVES", 3)
    index = at_once(Document(name="thermostat"))
    for word in ("thermsotat", "themostat", "thermostta", "thermosat", "thermostatt", "thermsotat"):
        assert [hit.name for hit in index.search(word)] == ["thermostat"]
    assert len(index._snapshot._alternatives) <= 3

"""The evidence for a request: its words weighed against one another, and its clauses."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.bm25.ranking import kth_greatest
from tool_search_processor.search.protocol import Document

DESK = (
    Document(name="get_weather", description="Current weather of a city."),
    Document(name="mail_dispatch", description="Send email to a recipient."),
    Document(name="cafe_finder", description="Finds a place to drink coffee."),
    Document(name="calendar_add", description="Adds an event to the calendar."),
)


def index_of(*documents: Document) -> BM25Index:
    index = BM25Index()
    index.update(documents)
    return index


def score(query: str, name: str) -> float:
    (found,) = [hit.score for hit in index_of(*DESK).search(query) if hit.name == name]
    return found


def test_each_word_that_nobody_has_takes_something_from_the_score():
    queries = [
        "weather city",
        "weather city xylo",
        "weather city xylo quagmire",
        "weather city xylo quagmire zz",
    ]
    scores = [score(query, "get_weather") for query in queries]
    assert all(more > less for more, less in pairwise(scores))
    assert scores[-1] > score("weather coffee event recipient place email", "get_weather") / 2


@pytest.mark.parametrize("value", ["4711", "a1b2c3"])
def test_a_value_that_nobody_has_takes_nothing(value):
    assert score(f"weather {value}", "get_weather") == score("weather", "get_weather")


def test_a_slip_takes_less_from_other_tools_than_a_word_that_nobody_has():
    assert score("weather coffe", "get_weather") > score("weather xylophone", "get_weather")


@pytest.mark.parametrize("query", ["weather coffee event", "event coffee weather", "coffee weather event"])
def test_words_that_other_tools_answer_count_against_a_tool_wherever_they_stand(query):
    assert score(query, "get_weather") == pytest.approx(score("weather coffee event", "get_weather"))
    assert score(query, "get_weather") < score("weather", "get_weather")


def test_a_name_in_two_words_is_found_as_in_one():
    index = index_of(Document(name="github_status", description="Tells whether it is up."), *DESK)
    for query in ("github coffee page", "git hub coffee page"):
        assert [hit.name for hit in index.search(query)] == ["github_status", "cafe_finder"]


def test_a_word_that_some_tool_has_stands_for_itself_beside_one_that_completes_a_name():
    tools = Document(name="github_status", description="Is it up?"), Document(name="git_log")
    assert {hit.name for hit in index_of(*tools).search("git hub")} == {"github_status", "git_log"}


def test_an_unknown_word_with_a_capital_is_a_name_unless_it_begins_the_request():
    index = index_of(*DESK)
    for query in ("Wether", "WETHER"):
        assert [hit.name for hit in index.search(query)] == ["get_weather"]
    assert [hit.name for hit in index.search("page wether")] == ["get_weather"]
    assert index.search("page Wether") == []


REQUEST = "Are there storm warnings for sailors off the coast of Norway? Also translate my long text please."


def test_a_clause_in_many_rare_words_does_not_crowd_out_the_other():
    index = index_of(
        Document(name="storms", description="Storm warnings for sailors off the coast of Norway."),
        *(Document(name=f"coast_{n}", description="Lists warnings.") for n in range(5)),
        *(Document(name=f"plain_{n}", description="Reads a page.") for n in range(9)),
        Document(
            name="dictionary", description="Translate a word or a phrase from one language into others."
        ),
    )
    in_one = REQUEST.replace("?", "").replace(".", "")
    assert [hit.name for hit in index.search(in_one, limit=2)] == ["storms", "coast_0"]
    assert [hit.name for hit in index.search(REQUEST, limit=2)] == ["storms", "dictionary"]


def test_a_word_said_before_counts_in_a_later_clause_too():
    tools = [
        Document(name="a", description="helix ember"),
        Document(name="b", description="helix flint"),
        Document(name="c", description="ember flint grove"),
        *(Document(name=f"other_{n}", description="weather page") for n in range(9)),
    ]
    hits = index_of(*tools).search("Ember and flint of a grove. Then a helix of flint in an igloo.")
    assert [hit.name for hit in hits] == ["c", "b", "a"]


def test_what_was_removed_is_not_found_by_a_request_of_several_clauses():
    tools = [Document(name=f"other_{n}", description=f"matter {n}") for n in range(9)]
    tools.append(Document(name="dictionary", description="Translate a word."))
    index = index_of(*tools, Document(name="storms", description="Translates storm warnings."))
    assert len(index.search(REQUEST)) == 2
    index.update(tools)
    assert [hit.name for hit in index.search(REQUEST)] == ["dictionary"]
    assert index.count(REQUEST) == 1


def test_a_word_that_every_clause_says_weighs_no_more_than_one_said_once():
    tools = [
        Document(name="whole_1", description="ember flint grove"),
        Document(name="whole_2", description="ember helix igloo"),
        Document(name="twice", description="ember"),
        Document(name="once", description="flint"),
        Document(name="more", description="flint"),
    ]
    hits = index_of(*tools).search("Ember flint grove. Ember helix igloo.")
    found = {hit.name: hit.score for hit in hits}
    assert found["twice"] == pytest.approx(found["once"])


def test_in_a_later_clause_a_word_said_before_is_worth_as_much_as_a_new_one():
    tools = [
        Document(name="first", description="ember flint grove"),
        Document(name="second", description="helix flint igloo"),
        Document(name="before", description="helix flint"),
        Document(name="new", description="helix igloo"),
        Document(name="more", description="igloo"),
    ]
    hits = index_of(*tools).search("Ember flint grove. Helix flint igloo.")
    found = {hit.name: hit.score for hit in hits}
    assert found["before"] == pytest.approx(found["new"])


def test_a_request_says_the_same_in_two_sentences_as_in_one():
    tool = Document(name="all", description="ember flint grove helix igloo joker")
    index = index_of(tool, *DESK)
    (one,), (two,) = (index.search(query) for query in ("ember flint grove helix igloo joker",
                                                        "Ember flint grove. Helix igloo joker."))  # fmt: skip
    assert one.score == pytest.approx(two.score)


def test_a_request_of_several_clauses_may_have_more_words_than_are_read():
    clauses = [" ".join(f"word{clause}x{n}" for n in range(70)) for clause in range(3)]
    hits = index_of(*DESK).search(f"current weather of a city. {'. '.join(clauses)}.")
    assert [hit.name for hit in hits] == ["get_weather"]


@given(st.lists(st.floats(0, 8, width=32), max_size=40), st.integers(1, 5), st.integers(1, 60))
def test_at_least_count_values_reach_the_kth_greatest(values, count, repeats):
    array = np.array(values * repeats, np.float32)
    bound = kth_greatest(array, count)
    assert np.count_nonzero(array >= bound) >= min(count, len(array))
    if len(array) < 200:
        assert bound == (sorted(array.tolist())[-count] if len(array) >= count else 0)

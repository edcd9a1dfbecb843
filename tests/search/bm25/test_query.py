"""Reading a query: its words and clauses."""

import math

import pytest

from tool_search_processor.search import text
from tool_search_processor.search.bm25.query import idf, joined, keys_of, parse
from tool_search_processor.search.bm25.thesaurus import CONCEPT_SHARE, concepts_of


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("Could you please send an email to me?", ("send", "email")),
        ("emails email EMAIL", ("emails",)),
        ("what is it", ("what", "is", "it")),
        ("list all open issues", ("list", "open", "issues")),
        ("", ()),
    ],
)
def test_words(query, words):
    found = parse(query).words
    assert tuple(word for word in found if word != "all") == words


def test_clauses_are_parts_of_a_request_with_enough_words():
    query = parse(
        "Get the weather in Oslo today. Translate this text to Norwegian, and then send email to Bob!"
    )
    assert query.clauses == (
        ("Get", "weather", "Oslo", "today"),
        ("Translate", "text", "Norwegian"),
        ("send", "email", "Bob"),
    )
    assert parse("Get the weather in Oslo today. Thanks a lot").clauses == ()
    assert parse("version 3.5 of node.js with v1.2 libraries").clauses == ()


@pytest.mark.parametrize(
    ("query", "clauses"),
    [
        ("Get weather in Oslo today. Send email", ()),
        ("Translate text to Norwegian. Send email. Get weather in Oslo today",
         (("Translate", "text", "Norwegian", "Send", "email"), ("Get", "weather", "Oslo", "today"))),
        ("Get weather in Oslo. Translate text to Norwegian. Send email",
         (("Get", "weather", "Oslo"), ("Translate", "text", "Norwegian", "Send", "email"))),
        ("Send email. Get weather in Oslo today. Translate text to Norwegian",
         (("Send", "email", "Get", "weather", "Oslo", "today"), ("Translate", "text", "Norwegian"))),
        ("Hello! Get weather in Oslo. Please. Translate text to Norwegian",
         (("Get", "weather", "Oslo"), ("Translate", "text", "Norwegian"))),
    ],
)  # fmt: skip
def test_a_part_of_two_words_belongs_to_the_one_beside_it(query, clauses):
    assert parse(query).clauses == clauses


def test_a_question_of_very_many_clauses_is_taken_as_a_whole():
    assert (
        parse(
            "send green apples home. " * 1 + "".join(f"ask number{n} something else. " for n in range(40))
        ).clauses
        == ()
    )


def test_a_query_is_read_up_to_its_limits():
    assert len(parse(" ".join(f"word{n}" for n in range(1_000))).words) == text.QUERY_WORDS
    assert parse("x " * text.QUERY_CHARACTERS + "weather").words == ("x",)


def test_idf_by_hand():
    assert idf(1, 3) == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert idf(3, 3) > 0


def test_a_word_shares_its_weight_with_its_concepts():
    (concept,) = concepts_of("delet")
    assert keys_of("delete") == {"delet": 1 - CONCEPT_SHARE, concept: CONCEPT_SHARE}
    assert keys_of("zebra") == {"zebra": 1.0}


def test_neighbours_may_be_one_term():
    held = {"github": 1}
    words = ("open", "git", "hub", "issue")
    assert [joined(words, place, lambda key: held.get(key, 0)) for place in range(4)] == [
        None,
        "github",
        "github",
        None,
    ]


@pytest.mark.parametrize(
    ("words", "place", "term"),
    [
        (("git", "hub"), 0, "github"),
        (("git", "hub"), 1, "github"),
        (("Git", "Hub"), 1, "github"),
        (("open", "case"), 0, None),  # a word alone is no pair
        (("web", "3"), 1, None),
        (("天气", "图"), 1, None),
    ],
)
def test_only_latin_words_are_joined_and_only_as_a_whole(words, place, term):
    held = {"github": 1, "open": 1, "web": 1, "天气": 1}
    assert joined(words, place, lambda key: held.get(key, 0)) == term


@pytest.mark.parametrize(
    ("query", "compounds"),
    [
        ("Which day of the week was it?", ("weekday",)),
        ("the Name of a File and the zone of time", ("filename", "timezone")),
        ("day of the week", ("weekday",)),
        ("out of it, 3 of 5, of the week", ()),
        ("day  off the week", ()),
        ("a " * 50 + "part of whole " * 50, ("wholepart",)),
        ("Get the day of the week in Oslo. Translate this text to Norwegian now", ()),
    ],
)
def test_a_thing_of_another_may_be_written_as_one_word(query, compounds):
    assert parse(query).compounds == compounds

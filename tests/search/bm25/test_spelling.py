"""Words that no tool holds, and what they may stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from tool_search_processor.search.bm25.spelling import Alternative, Vocabulary, alternatives

FREQUENCIES = {
    "send": 5, "email": 4, "record": 3, "recor": 0, "weather": 2, "notif": 6, "repositori": 7, "report": 8,
    "reporter": 1, "repose": 1, "listen": 9, "天气": 2, "气象": 1, "aaaa": 1, "aaca": 2, "aaba": 2, "§4": 9,
    "transact": 3,
}  # fmt: skip


def of(word: str) -> tuple[Alternative, ...]:
    return alternatives(
        word, vocabularies=[Vocabulary(FREQUENCIES)], frequency=lambda term: FREQUENCIES.get(term, 0)
    )


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("sendemail", ["send", "email"]),
        ("sendemailreport", ["send", "email", "report"]),
        ("weat", ["weather"]),
        ("rec", ["record"]),
        ("repo", ["report", "repositori", "reporter"]),
        ("recrod", ["record"]),
        ("redord", ["record"]),
        ("eecord", ["record"]),
        ("ercord", ["record"]),
        ("recorrd", ["record"]),
        ("wether", ["weather"]),
        ("trnasatc", ["transact"]),
        ("气", ["天气", "气象"]),
        ("aada", ["aaba", "aaca", "aaaa"]),
        ("sned", ["send"]),
        ("esnd", ["send"]),
        ("lend", []),  # another word
        ("snd", []),  # a short word is near to everything
        ("wxathxr", []),
        ("trxxxact", []),
        ("silent", []),  # the same letters, but not slips
        ("xyz", []),
        ("wea2her", []),
        ("quagmire", []),
        ("x" * 200, []),
        ("re", []),
    ],
)
def test_alternatives(word, terms):
    assert [alternative.term for alternative in of(word)] == terms


def test_certain_ones_count_for_more():
    assert of("sendemail")[0].share > of("recrod")[0].share
    assert all(
        0 < alternative.share < 1 for word in ("sendemail", "weat", "recrod") for alternative in of(word)
    )


def test_terms_that_no_document_holds_any_more_are_passed_over():
    assert "recor" not in [alternative.term for alternative in of("recors")]
    assert [alternative.term for alternative in of("reco")] == ["record"]


@pytest.mark.parametrize(
    ("held", "word", "parts"),
    [
        (["data", "base", "databas", "tabl"], "databasetable", ["databas", "tabl"]),
        (["abc", "def", "ghijkl", "abcdefghi", "jkl"], "abcdefghijkl", ["abcdefghi", "jkl"]),
        (["log", "out"], "logout", ["log", "out"]),
        (["db", "tabl"], "tabledb", []),
    ],
)
def test_a_word_is_broken_into_the_fewest_of_three_letters_at_least(held, word, parts):
    found = alternatives(word, vocabularies=[Vocabulary(held)], frequency=lambda term: int(term in held))
    assert [alternative.term for alternative in found] == parts


def test_of_many_words_as_near_the_commonest_count():
    held = {f"recor{letter}": place for place, letter in enumerate("abcefghi", 1)}
    found = alternatives("recorz", vocabularies=[Vocabulary(held)], frequency=lambda term: held.get(term, 0))
    assert [alternative.term for alternative in found] == ["recori", "recorh", "recorg"]


def test_a_word_ends_terms_of_one_letter_more():
    vocabulary = Vocabulary(["мая", "шмая", "ая", "аям"])
    assert vocabulary.ending_with("ая") == ["мая"]


def test_a_word_stands_for_no_term_of_more_than_twice_its_length_and_four():
    vocabulary = Vocabulary(["notif" + "x" * more for more in range(20)])
    assert [len(term) for term in vocabulary.beginning_with("notif")] == list(range(6, 15))


def test_a_vocabulary_of_nothing_offers_nothing():
    assert alternatives("record", vocabularies=[Vocabulary([])], frequency=lambda _term: 0) == ()


@given(
    st.lists(st.text("abcя", min_size=1, max_size=9), max_size=30), st.text("abcя", min_size=4, max_size=9)
)
def test_no_near_term_is_left_out(terms, word):
    vocabulary = Vocabulary(terms)
    for slips in (1, 2):
        near = {term for term in terms if OSA.distance(term, word) <= slips}
        same_end = {term for term in near if term[0] in word[:2] or term[-1] == word[-1]}
        assert same_end <= set(vocabulary.near(word, slips))
    longer = [term for term in terms if len(word) < len(term) < len(word) * 2 + 5]
    assert sorted(vocabulary.beginning_with(word)) == sorted(t for t in longer if t.startswith(word))
    assert sorted(vocabulary.ending_with(word)) == sorted(
        term for term in longer if term.endswith(word) and len(term) == len(word) + 1
    )

"""Words that no tool holds, and what they may stand for."""

import pytest

from tool_search_processor.search.spelling import Alternative, Vocabulary, alternatives

FREQUENCIES = {
    "send": 5, "email": 4, "record": 3, "recor": 0, "weather": 2, "notif": 6, "repositori": 7, "report": 8,
    "reporter": 1, "天气": 2, "气象": 1, "aaaa": 1, "caaa": 2, "baaa": 2, "§4": 9, "transact": 3,
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
        ("repo", ["report", "repositori", "reporter"]),
        ("recrod", ["record"]),
        ("redord", ["record"]),
        ("eecord", ["record"]),
        ("ercord", ["record"]),
        ("recorrd", ["record"]),
        ("wether", ["weather"]),
        ("trnasatc", ["transact"]),
        ("气", ["天气", "气象"]),
        ("eaaa", ["baaa", "caaa", "aaaa"]),
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

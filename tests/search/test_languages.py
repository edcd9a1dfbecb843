"""Fourteen languages: polite requests find their tool, and what no tool does finds nothing.

`languages.json` holds, for each language, the description of 23 tools and a request for each. Requests for
the three tools of `ABSENT` are asked without these tools, and again with them.
"""

import json
from pathlib import Path

import pytest

from tool_search_processor.search.bm25.index import BM25Index
from tool_search_processor.search.protocol import Document

LANGUAGES = json.loads(Path(__file__).with_name("languages.json").read_text(encoding="utf-8"))
ABSENT = ("order_pizza", "call_taxi", "water_plants")
FLOORS = dict.fromkeys(LANGUAGES, (0.95, 0.95)) | {"lo": (0.9, 0.9)}
"""The recall at 1 and at 5, at least."""


def index(language, *, without=()):
    made = BM25Index()
    made.update(
        Document(name=name, description=tool["description"])
        for name, tool in LANGUAGES[language].items()
        if name not in without
    )
    return made


def found(made, language, name):
    return [hit.name for hit in made.search(LANGUAGES[language][name]["request"], limit=5)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_requests_find_their_tool(language):
    made = index(language, without=ABSENT)
    asked = [name for name in LANGUAGES[language] if name not in ABSENT]
    answers = [found(made, language, name) for name in asked]
    first = sum(names[:1] == [name] for name, names in zip(asked, answers, strict=True))
    among = sum(name in names for name, names in zip(asked, answers, strict=True))
    at_first, at_five = FLOORS[language]
    assert first / len(asked) >= at_first
    assert among / len(asked) >= at_five


@pytest.mark.parametrize("name", ABSENT)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_no_tool_does_finds_nothing(language, name):
    assert found(index(language, without=ABSENT), language, name) == []


@pytest.mark.parametrize("name", ABSENT)
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_found_where_a_tool_does_it(language, name):
    assert found(index(language), language, name)[0] == name


def test_there_are_twenty_tools_of_each_language():
    assert len(LANGUAGES) == 14
    assert {len(tools) for tools in LANGUAGES.values()} == {20 + len(ABSENT)}

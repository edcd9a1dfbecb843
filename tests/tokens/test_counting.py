"""Token estimates, and definitions counted once by content."""

from __future__ import annotations

import pytest

from tool_search_processor.tokens.counting import DefinitionCounter, estimate_tokens
from tool_search_processor.tools import Tool


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("你好", 2), ("é" * 4, 1), ("ab你", 2)]
)
def test_estimate(text, tokens):
    assert estimate_tokens(text) == tokens


def test_definitions_are_counted_once_by_content():
    counted = []
    counter = DefinitionCounter(lambda text: counted.append(text) or len(text))
    one, same, other = Tool(name="a"), Tool(name="a"), Tool(name="b", description="x")
    total = counter.count([one, same, other])
    assert counted == [one.definition_json, other.definition_json]
    assert total == 2 * len(one.definition_json) + len(other.definition_json)
    assert counter.count([one]) == len(one.definition_json)


def test_the_cache_is_bounded():
    counted = []
    counter = DefinitionCounter(lambda text: counted.append(text) or 1, max_entries=2)
    tools = [Tool(name=name) for name in "abc"]
    counter.count(tools)
    counter.count(tools[:1])
    assert len(counted) == 4

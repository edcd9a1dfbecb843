"""What models write into calls of the meta-tools."""

import pytest

from tool_search_processor.meta_tools.reading import read_call


@pytest.mark.parametrize("nothing", [None, "", " ", "null", "[]", []])
def test_no_arguments_of_a_proxied_call_are_written_in_many_ways(nothing):
    assert read_call({"name": "a", "arguments": nothing}) == ("a", {})
    assert read_call({"name": "a"}) == ("a", {})


@pytest.mark.parametrize("given", [0, False, {"a": 1}, '{"a": 1}', [1], "x", {}])
def test_other_arguments_are_handed_on(given):
    assert read_call({"name": " a ", "arguments": given}) == ("a", given)


@pytest.mark.parametrize("name", [None, 5, ["a"], {"name": "a"}])
def test_what_is_no_name_is_empty(name):
    assert read_call({"name": name})[0] == ""


@pytest.mark.parametrize("key", ["name", "tool_name", "toolName", "tool"])
def test_arguments_that_stand_beside_the_name_are_the_tools(key):
    assert read_call({key: "a", "title": "x", "n": 1}) == ("a", {"title": "x", "n": 1})


@pytest.mark.parametrize("key", ["arguments", "parameters", "args"])
def test_what_stands_beside_arguments_is_none_of_them(key):
    assert read_call({"name": "a", "title": "x", key: {"n": 1}}) == ("a", {"n": 1})


@pytest.mark.parametrize("nothing", [None, "", "null", [], {}])
@pytest.mark.parametrize("key", ["arguments", "parameters", "args"])
def test_what_stands_beside_empty_arguments_is_taken(key, nothing):
    assert read_call({"name": "a", "title": "x", key: nothing}) == ("a", {"title": "x"})


def test_an_argument_that_is_called_as_a_name_may_be_is_taken():
    assert read_call({"name": "a", "tool": "hammer"}) == ("a", {"tool": "hammer"})
    assert read_call({"tool_name": "a", "tool": "hammer"}) == ("a", {"tool": "hammer"})

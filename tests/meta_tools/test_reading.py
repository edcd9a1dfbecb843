"""What models write into calls of the meta-tools."""

import pytest

from tool_search_processor.meta_tools import read_call


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

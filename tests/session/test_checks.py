"""Mistakes in tools and processors are found at construction."""

from __future__ import annotations

import pytest

from tool_search_processor import Agent, TokenLimiter, ToolSearchProcessor, ToolSession
from tool_search_processor.errors import ConfigurationError, DuplicateToolError, ReservedToolNameError
from tool_search_processor.session.checks import (
    check_approvals,
    checked_processors,
    checked_tools,
    reserved_names,
    resolvers,
)
from tool_search_processor.tools import Tool


class Pass:
    def __init__(self, name="pass", reserved_names=()):
        self.id = name
        self.reserved_names = frozenset(reserved_names)

    async def process_input_step(self, step):
        return step


class Resolver(Pass):
    async def resolve_call(self, step, name):
        return None

    async def definition_tokens(self, step):
        return 0

    async def end_run(self, step):
        return None


def double(n: int) -> int:
    """Double a number."""
    return 2 * n


def test_functions_become_tools():
    tools = checked_tools([Tool(name="a"), double], owner="x")
    assert [tool.name for tool in tools] == ["a", "double"]


@pytest.mark.parametrize("given", [Tool(name="a"), double, "abc"])
def test_tools_must_be_a_list(given):
    with pytest.raises(ConfigurationError, match="tools of x must be a list of tools and functions, found"):
        checked_tools(given, owner="x")


def test_what_is_no_tool_is_named():
    with pytest.raises(
        ConfigurationError, match=r"tools\[1\] of x: 3 is neither a Tool nor a function: pass the"
    ):
        checked_tools([double, 3], owner="x")


def test_two_tools_of_one_name():
    with pytest.raises(DuplicateToolError, match=r"tools\[0\] of x, one from tools\[2\] of x"):
        checked_tools([double, Tool(name="a"), Tool(name="double")], owner="x")


def test_processors_come_back_in_order():
    one, two = Pass("one"), Resolver("two")
    assert checked_processors([one, two]) == (one, two)
    assert resolvers([one, two]) == [two]


def test_a_single_processor_is_no_list():
    with pytest.raises(ConfigurationError, match="put it in a list"):
        checked_processors(Pass())


def test_what_is_no_processor_is_shown():
    with pytest.raises(ConfigurationError, match=r"process_input_step.*found 'x'"):
        checked_processors(["x"])
    with pytest.raises(ConfigurationError, match=r"is the class of a processor: create it, Pass\(\.\.\.\)"):
        checked_processors([Pass])


def test_one_id_twice():
    with pytest.raises(ConfigurationError, match=r"two input processors have the id 'a'.*id='a-2'"):
        checked_processors([Pass("a"), Pass("a")])


def test_one_reserved_name_twice():
    one, two = Pass("one", {"search_tools", "x"}), Pass("two", {"search_tools", "y"})
    with pytest.raises(
        ConfigurationError, match=r"'one' and 'two' both offer.*search_tools.*search_tool_name="
    ):
        checked_processors([one, two])


def test_a_tool_that_bears_a_reserved_name():
    with pytest.raises(ReservedToolNameError, match=r"'search_tools'.*processor 'one'"):
        checked_processors([Pass("one", {"search_tools"})], tools=[Tool(name="search_tools")])


def test_two_searchers_with_different_meta_tool_names_work_without_an_id():
    first = ToolSearchProcessor(search_tool_name="find_a", load_tool_name="load_a")
    second = ToolSearchProcessor(search_tool_name="find_b", load_tool_name="load_b")
    assert Agent("a", "m", input_processors=[first, second]).input_processors == (first, second)


@pytest.mark.parametrize("limiters", [1, 2])
def test_what_counts_comes_after_what_adds(limiters):
    limits = [TokenLimiter(100, id=f"limit-{n}") for n in range(limiters)]
    searcher = ToolSearchProcessor()
    for build in (ToolSession, lambda *given: Agent("a", "m", input_processors=given)):
        build(searcher, *limits)
        build(*limits, Pass())
        with pytest.raises(ConfigurationError, match=r"'limit-0' counts.*'tool-search'.*put 'limit-0' last"):
            build(*limits, Pass(), searcher)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "9"])
def test_the_most_characters_of_a_result_are_a_number(limit):
    match = rf"max_result_characters .*found {limit!r}"
    with pytest.raises(ConfigurationError, match=match):
        ToolSession(max_result_characters=limit)
    with pytest.raises(ConfigurationError, match=match):
        Agent("a", "m", max_result_characters=limit)


class Counting(Pass):
    counts_what_is_sent = True


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (
            lambda: checked_processors(Pass()),
            "input_processors must be a list, found one processor: put it in a list",
        ),
        (lambda: checked_processors(5), "input_processors must be a list, found 5"),
        (
            lambda: checked_processors([Pass(), 5]),
            "an input processor has `id` and `async process_input_step(step)`, found 5",
        ),
        (
            lambda: checked_processors([Pass("a"), Pass("b"), Pass("a")]),
            "two input processors have the id 'a', under which each keeps its state of a run: give one of "
            "them another, such as id='a-2'",
        ),
        (
            lambda: checked_processors([Pass("a", "yx"), Pass("b", "xyz")]),
            "the processors 'a' and 'b' both offer tools named x, y: give one of them names of its own "
            "(search_tool_name=, load_tool_name=, call_tool_name=, unload_tool_name=) and an id of its own "
            "(id=)",
        ),
        (
            lambda: checked_processors([Counting("a"), Pass("b"), Resolver("c")]),
            "the processor 'a' counts what is sent, and 'c', which comes after it, adds tools that it could "
            "not count: put 'a' last in the list",
        ),
        (
            lambda: checked_processors([Pass("a", "yx")], tools=[Tool("z"), Tool("y"), Tool("x")]),
            "the tool 'x' has a name that the processor 'a' offers itself: rename the tool, or give the "
            "processor other names (search_tool_name=, load_tool_name=, …)",
        ),
        (
            lambda: check_approvals([("c1", True)]),
            "approvals must be a mapping of call ids to True, False or a reason, found [('c1', True)]",
        ),
    ],
)
def test_a_mistake_is_told_whole_with_what_to_do(build, says):
    with pytest.raises(ConfigurationError) as caught:
        build()
    assert str(caught.value) == says


def test_what_fits_together_is_fine():
    fine = (Resolver("a", "x"), Pass("b", "y"), Counting("c"), Pass("d"))
    assert checked_processors(iter(fine), tools=[Tool("z")]) == fine
    assert [reserved_names(one) for one in (fine[0], object())] == [{"x"}, frozenset()]
    check_approvals({"c1": True})

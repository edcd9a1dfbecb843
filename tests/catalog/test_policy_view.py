"""What every view of a catalog under policy has in common, whoever serves it."""

from dataclasses import dataclass

import pytest

from tests.support import Policy
from tool_search_processor import Catalog, Tool
from tool_search_processor.catalog.policy_view import PolicyOptions, PolicyView
from tool_search_processor.meta_tools import MetaToolNames
from tool_search_processor.tools.origins import origin_of

TOOLS = [Tool(name, namespace="n", tags={name[:4]}) for name in ("read_a", "read_b", "send_a", "send_b")]


@dataclass(frozen=True, kw_only=True)
class View(PolicyView):
    unsearched: frozenset[str] = frozenset()


async def view(filter=None, **fields):  # noqa: A002 - the option's public name
    options = PolicyOptions(names=MetaToolNames(mode="call"), filter=filter)
    return View(catalog=await Catalog(TOOLS).view(), options=options, context={}, **fields)


@pytest.mark.parametrize(
    ("denied", "asked"), [((), ["read_a"]), ([("search", "read_a")], ["read_a", "read_b"])]
)
async def test_that_something_is_down_is_asked_of_one_tool_that_may_be_found(denied, asked):
    policy = Policy(*denied)
    seen = await view(policy)
    seen.catalog.outages = lambda: {origin_of(TOOLS[0])}
    with seen.admission() as admission:
        assert await seen.has_outage(admission)
    assert policy.asked == [("search", name) for name in asked]


@pytest.mark.parametrize("down", [(), {origin_of(TOOLS[0])}])
async def test_without_a_filter_every_request_may_know_what_is_down(down):
    seen = await view()
    seen.catalog.outages = lambda: down
    with seen.admission() as admission:
        assert await seen.has_outage(admission) is bool(down)


async def test_a_missing_tool_is_answered_with_likely_names_and_the_search_only_where_it_can_find():
    for unsearched, more in ((), " Find tools with search_tools."), ([tool.name for tool in TOOLS], ""):
        seen = await view(unsearched=frozenset(unsearched))
        with seen.admission() as admission:
            text = await seen.missing_text("raed_a", admission)
        assert text == f"There is no tool 'raed_a' to call. Did you mean read_a?{more}"


async def test_a_missing_tool_has_the_filter_asked_about_one_tool_that_can_be_found():
    policy = Policy()
    seen = await view(policy)
    with seen.admission() as admission:
        text = await seen.missing_text("zzz", admission)
    assert text == "There is no tool 'zzz' to call. Find tools with search_tools."
    assert policy.asked == [("search", "read_a")]


async def test_listed_tools_are_not_part_of_the_inventory():
    text, labels = (await view(unsearched=frozenset({"read_a", "read_b", "elsewhere"}))).inventory()
    assert text == "There are 2 of them, including those for: n (2)."
    assert labels == ("n", "send")
    assert (await view(Policy())).inventory() == ("", ())

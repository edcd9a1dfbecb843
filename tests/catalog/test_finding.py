"""Finding by query: what is ranked, what is passed over, and how deep the ranking is fetched."""

import asyncio
import math

import pytest

from tests.catalog.views import TOOLS, Given, view_of
from tests.support import Policy
from tool_search_processor.catalog.finding import (
    ToolHit,
    Wanted,
    interleave,
    listed_fits,
    rank,
    rank_query,
)
from tool_search_processor.catalog.policy_view import PolicyOptions, PolicyView
from tool_search_processor.errors import InvalidPatternError
from tool_search_processor.policy.admission import Admission
from tool_search_processor.search.protocol import Hit
from tool_search_processor.tools import Tool


async def ranked(index, *, filter=None, timeout_seconds=None, phase="search", **wanted):  # noqa: A002 - the option's public name
    wanted.setdefault("limit", 3)
    with Admission(filter, context={}, timeout_seconds=timeout_seconds) as admission:
        found = await rank(view_of(index), "q", wanted=Wanted(**wanted), admission=admission, phase=phase)
    assert all(hit.name == tool.name for hit, tool in found)
    return [tool.name for _, tool in found]


def only(*names):
    """Return a policy that denies every other tool."""
    return Policy(
        *((phase, tool.name) for tool in TOOLS for phase in ("search", "load") if tool.name not in names)
    )


def upto(last):
    return [tool.name for tool in TOOLS[:last]]


def test_a_hit_with_its_tool_says_all_that_the_hit_says():
    hit = Hit(name="a", score=0.5, text_rank=2, vector_rank=3, matched=("x",))
    found = ToolHit.of(hit, TOOLS[0])
    assert found.tool is TOOLS[0]
    assert [getattr(found, name) for name in ("name", "score", "text_rank", "vector_rank", "matched")] == [
        "a",
        0.5,
        2,
        3,
        ("x",),
    ]


@pytest.mark.parametrize("limit", [1, 3])
async def test_without_a_filter_one_look_is_enough(limit):
    index = Given(upto(20))
    assert await ranked(index, limit=limit) == upto(limit)
    assert index.limits == [limit]


async def test_what_scores_nothing_too_little_or_no_number_is_not_found():
    scores = {"t0": math.inf, "t1": 1.0, "t2": 0.3, "t3": 0.29, "t4": 0.0, "t5": -1.0, "t6": math.nan}
    ranking = [Hit(name=name, score=score) for name, score in scores.items()]
    assert await ranked(Given(ranking), limit=9) == ["t1", "t2", "t3"]
    assert await ranked(Given(ranking), limit=9, min_score=0.3) == ["t1", "t2"]


async def test_denied_tools_take_no_place_and_the_ranking_is_fetched_deeper_until_enough_are_admitted():
    index = Given(upto(300))
    assert await ranked(index, filter=only("t3", "t40", "t299"), limit=2) == ["t3", "t40"]
    assert index.limits == [8, 64]


async def test_a_ranking_is_fetched_no_deeper_than_it_is_long():
    index = Given(upto(20))
    assert await ranked(index, filter=only(), limit=2) == []
    assert index.limits == [8, 64]


@pytest.mark.parametrize(("last", "limits"), [(0.5, [4, 32]), (0.49, [4])])
async def test_a_ranking_is_fetched_deeper_while_its_last_hit_scores_enough(last, limits):
    ranking = [*upto(3), Hit(name="t3", score=last), Hit(name="t4", score=last)]
    index = Given(ranking)
    found = await ranked(index, filter=only("t4"), limit=1, min_score=0.5)
    assert found == (["t4"] if last == 0.5 else [])
    assert index.limits == limits


async def test_the_hook_is_asked_about_each_tool_once_and_no_more_than_needed():
    policy = only("t3", "t10")
    assert await ranked(Given(upto(300)), filter=policy, limit=2) == ["t3", "t10"]
    assert policy.asked == [("search", name) for name in upto(11)]


async def test_the_phase_is_the_one_that_is_asked():
    policy = Policy(("load", "t0"))
    assert await ranked(Given(upto(3)), filter=policy, limit=1, phase="load") == ["t1"]
    assert {phase for phase, _ in policy.asked} == {"load"}


async def test_a_hung_policy_ends_the_search():
    async def hung(request):
        await asyncio.Event().wait()

    index = Given(upto(300))
    assert await ranked(index, filter=hung, timeout_seconds=0.01) == []
    assert len(index.limits) == 1


async def test_what_the_request_does_not_see_is_passed_over():
    assert await ranked(Given(["gone", "t1"])) == ["t1"]


async def test_a_ranking_that_changes_meanwhile_gives_no_tool_twice():
    index = Given(upto(8), [*(f"t{n}" for n in range(20, 28)), *upto(8), "t9"])
    assert await ranked(index, filter=only("t0", "t9"), limit=2) == ["t0", "t9"]


async def test_tags_narrow_a_search_and_names_are_left_out():
    assert await ranked(Given(upto(9)), tags=frozenset({"even"}), without=frozenset({"t2"})) == [
        "t0",
        "t4",
        "t6",
    ]


async def queried(query, *tools, filter=None, search="regex"):  # noqa: A002 - the option's public name
    with Admission(filter, context={}) as admission:
        found = await rank_query(view_of(search, tools), query, wanted=Wanted(limit=5), admission=admission)
    return found.query, [tool.name for _, tool in found.ranked], found.note, type(found.problem)


PRICED = [Tool("price", description="C++ at $5 (net)"), Tool("other", description="Cats")]
NO_PROBLEM = type(None)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("^price$", ("^price$", ["price"], "", NO_PROBLEM)),
        ("dog", ("dog", [], "", NO_PROBLEM)),
        ("dog$", ("dog$", [], "", NO_PROBLEM)),
        ("(dog", ("(dog", [], "", InvalidPatternError)),
        ("(" * 199, ("(" * 199, [], "", InvalidPatternError)),  # escaped, it is too long
        (
            "C++",
            (
                "C\\+\\+",
                ["price"],
                "'C++' is not a valid pattern, so it was searched for as plain text. ",
                NO_PROBLEM,
            ),
        ),
        (
            "$5 (net)",
            (
                r"\$5\ \(net\)",
                ["price"],
                "'$5 (net)' matches nothing as a pattern, so it was searched for as plain text. ",
                NO_PROBLEM,
            ),
        ),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
async def test_a_query_that_finds_nothing_as_a_pattern_is_searched_for_as_text(query, expected):
    assert await queried(query, *PRICED) == expected


async def test_words_are_searched_for_as_they_are():
    assert await queried("C++", *PRICED, search=Given([])) == ("C++", [], "", NO_PROBLEM)


@pytest.mark.parametrize("query", ["^price$", "$5 (net)"])
async def test_the_phase_of_a_query_is_search(query):
    policy = Policy(("search", "price"))
    assert (await queried(query, *PRICED, filter=policy))[1] == []
    assert {phase for phase, _ in policy.asked} == {"search"}


@pytest.mark.parametrize(("limit", "names"), [(0, ""), (1, "a"), (3, "acb"), (9, "acbd")])
def test_results_of_several_queries_take_turns_and_each_tool_stands_once(limit, names):
    pairs = {name: (Hit(name=name, score=0.5), Tool(name)) for name in "abcd"}
    again = (Hit(name="a", score=0.1), pairs["a"][1])
    rankings = [[pairs["a"], pairs["b"]], [], [pairs["c"], again, pairs["d"]]]
    assert interleave(rankings, limit=limit) == [pairs[name] for name in names]


async def test_what_may_be_found_is_listed_in_the_catalogs_order():
    class Seen(PolicyView):
        unsearched = frozenset({"t2"})

    async def listed(**given):
        options = PolicyOptions(filter=Policy(("search", "t1"), ("load", "t0")))
        view = Seen(catalog=view_of(Given([]), TOOLS[:8]), options=options, context={})
        with view.admission() as admission:
            return [tool.name for tool in await view.list_findable(admission, **given)]

    assert await listed() == ["t0", *(f"t{n}" for n in range(3, 8))]
    assert await listed(limit=2) == ["t0", "t3"]
    assert await listed(tags=frozenset({"even"})) == ["t0", "t4", "t6"]


async def test_listed_tools_that_queries_find_are_named_once_and_best_first():
    listed = {name: Tool(name) for name in ("t49", "t3", "t50", "t60", "t70")}
    first = [*upto(49), Hit(name="t60", score=0.0), "t50"]  # t50 lies too deep, t60 scores nothing
    second = ["t70", "t3"]
    view = view_of(Given(first, second))
    assert await listed_fits(view, ["q", "r"], listed=listed) == ["t3", "t70"]
    for min_score, names in ((0.5, ["t3"]), (0.51, [])):
        assert await listed_fits(view_of(Given(first)), ["q"], listed=listed, min_score=min_score) == names


async def test_a_query_that_is_no_pattern_finds_no_listed_tool_and_the_next_is_tried():
    view = view_of("regex")
    assert await listed_fits(view, ["(", "^t3$"], listed={"t3": TOOLS[3]}) == ["t3"]


async def test_tools_of_elsewhere_that_are_listed_cost_no_search():
    index = Given(upto(3))
    assert await listed_fits(view_of(index), ["q"], listed={"elsewhere": Tool("elsewhere")}) == []
    assert index.limits == []

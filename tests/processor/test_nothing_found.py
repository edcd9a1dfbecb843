"""What an answer says where a search finds nothing: tools out of reach, and listed ones that fit."""

from __future__ import annotations

import pytest

from tests.support import Down, Run
from tool_search_processor import Catalog, ProviderError, Tool, ToolSearchProcessor
from tool_search_processor.providers import StaticProvider

PLAN = Tool("floor_plan", description="Draw a floor plan")
OTHER = Tool("weather", description="Tell the forecast")


@pytest.mark.parametrize("tools", [[Down()], [OTHER, Down()], [Catalog([Down()]), OTHER]])
async def test_a_provider_that_is_down_is_told_and_not_named(tools):
    answer = await Run(ToolSearchProcessor(tools)).search("draw a floor plan")
    assert answer["results"] == []
    assert "Some tools can't be reached now" in answer["message"]
    assert "no tool fits" not in answer["message"]
    assert "cad" not in answer["message"]


class LastSeen:
    """Lists tools once, and can't be reached after that."""

    name = "cad-server"

    def __init__(self, *tools):
        self.tools = tools
        self.asked = 0

    async def list_tools(self, context):
        self.asked += 1
        if self.asked > 1:
            raise ProviderError("cannot be reached")
        return list(self.tools)

    def version(self):
        return self.asked


@pytest.mark.parametrize("inside", [lambda *tools: tools, lambda *tools: [Catalog(tools)]])
async def test_with_a_filter_an_outage_is_told_to_who_may_find_a_tool_of_that_provider(inside):
    down = LastSeen(Tool("lathe", description="Turns a part"))
    search = ToolSearchProcessor(
        inside(down, StaticProvider([OTHER])),
        filter=lambda request: request.tool_name == request.context["may"],
    )
    told = {}
    for may in ("weather", "lathe", "weather"):  # the first search reads the list while it can be had
        run = Run(search, context={"may": may})
        told[may] = ["can't be reached" in (await run.search("file taxes"))["message"] for _ in range(2)]
    assert told == {"weather": [False, False], "lathe": [True, True]}


async def test_with_a_filter_an_outage_of_tools_that_nobody_has_seen_is_not_told():
    run = Run(ToolSearchProcessor([OTHER, Down()], filter=lambda request: True))
    assert "reached" not in (await run.search("file taxes"))["message"]


async def test_a_repeated_search_is_told_of_an_outage_too():
    run = Run(ToolSearchProcessor([Down()]))
    first, again = [(await run.search("draw a floor plan"))["message"] for _ in range(2)]
    assert first != again
    assert again.startswith("Some tools can't be reached now. You have searched for this before")


async def test_with_a_filter_the_answer_is_the_same_whatever_is_hidden():
    def nothing(request):
        return False

    answers = [
        await Run(ToolSearchProcessor([*tools, Down()], filter=nothing)).search("draw a floor plan")
        for tools in ([OTHER], [OTHER, PLAN], [OTHER, PLAN.replace(pinned=True)])
    ]
    assert answers[0] == answers[1] == answers[2]


async def test_what_is_found_is_told_as_ever():
    answer = await Run(ToolSearchProcessor([PLAN, Down()])).search("draw a floor plan")
    assert [result["name"] for result in answer["results"]] == ["floor_plan"]
    assert "reached" not in answer["message"]


@pytest.mark.parametrize("search", ["bm25", "regex", "fuzzy"])
async def test_a_pinned_tool_that_fits_is_named(search):
    run = Run(ToolSearchProcessor([PLAN.replace(pinned=True), OTHER], search=search))
    answer = await run.search("floor plan")
    assert answer["results"] == []
    assert answer["message"] == (
        "No other tool matches 'floor plan', but a listed tool does: call floor_plan."
    )
    assert "floor_plan" not in (await run.search("send a letter"))["message"]


async def test_a_pinned_tool_that_fits_too_little_is_not_named():
    tools = [PLAN.replace(pinned=True), OTHER]
    message = (await Run(ToolSearchProcessor(tools, min_score=1.0)).search("a plan of the floor"))["message"]
    assert message.startswith("No tool matches")

"""A mapping's key is an alias of its tool: finding, loading and calling know it, and policy does not."""

import pytest

from tests.support import Run, make, names
from tool_search_processor import ToolSearchProcessor

PREMIUM = make("premium_forecast", "Tells the weather of next week.")
CATALOG = {"weatherOutlook": PREMIUM, "send_mail": make("send_mail", "Sends a letter.")}


def free(request):
    return not request.tool_name.startswith("premium_")


def run_with(tools=CATALOG, **options):
    return Run(ToolSearchProcessor(tools, **options), thread="t")


async def test_the_filter_sees_the_tools_own_name():
    run = run_with(filter=free)
    assert "premium_forecast" not in names((await run.search("weatherOutlook", "weather"))["results"])
    answer = await run.load("weatherOutlook", "premium_forecast")
    assert answer["loaded"] == []
    assert [missing["suggestions"] for missing in answer["not_found"]] == [[], []]
    assert "There is no tool" in await run.direct("weatherOutlook")


async def test_a_filter_of_the_request_sees_it_too():
    run = run_with(lambda context: {"weatherOutlook": PREMIUM}, filter=free)
    assert (await run.load("weatherOutlook"))["loaded"] == []


async def test_it_is_loaded_by_its_alias():
    run = run_with()
    assert (await run.load("weatherOutlook", "weather-outlook"))["loaded"] == ["premium_forecast"]
    assert names(await run.step()) == ["search_tools", "load_tool", "premium_forecast"]
    assert (await run.load("weatherOutlook"))["already_loaded"] == ["premium_forecast"]


async def test_it_is_found_by_its_alias():
    (shown,) = (await run_with().search("weatherOutlook"))["results"]
    assert shown["name"] == "premium_forecast"


async def test_it_is_called_by_its_alias():
    run = run_with()
    assert await run.direct("weatherOutlook") == {"ran": "premium_forecast"}
    assert names(await run.step()) == ["search_tools", "load_tool", "premium_forecast"]
    assert await run.direct("weatherOutlook") == {"ran": "premium_forecast"}
    proxy = run_with(mode="call")
    assert await proxy.call("call_tool", name="weatherOutlook") == {"ran": "premium_forecast"}


async def test_it_is_pinned_by_its_alias(caplog):
    run = run_with(pinned=["weatherOutlook"])
    assert names(await run.step())[2:] == ["premium_forecast"]
    assert caplog.records == []


async def test_a_name_goes_before_an_alias():
    run = run_with({"send_mail": PREMIUM, "post": make("send_mail")})
    assert (await run.load("send_mail"))["loaded"] == ["send_mail"]


async def test_an_alias_of_two_tools_means_neither():
    run = run_with([ToolSearchProcessor({"x": make(name)}).catalog for name in ("one", "two")])
    assert (await run.load("x"))["loaded"] == []


@pytest.mark.parametrize("key", ["search_tools", "not a name", 3])
async def test_a_key_is_no_name_and_may_be_anything(key):
    run = run_with({key: PREMIUM})
    assert names(await run.processor.catalog.list_tools()) == ["premium_forecast"]

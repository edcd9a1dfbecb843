"""`include_step_tools`: what a step brings is searched, withheld until loaded, and runs as it came."""

import pytest

from tests.counted import counted_calls
from tests.support import Run, call, listed, make, names, needs, step
from tool_search_processor import ToolSearchProcessor, run_processors, tool

CATALOG = [make("send_mail", "Sends a letter."), make("stock_quote", "Looks up a share price.")]


def brought(user="ann"):
    return [
        needs(
            "calendar_add", "day", description="Puts a date into the diary.", execute=lambda day: user + day
        ),
        make("calendar_list", "Shows the diary.", execute=lambda: f"diary of {user}"),
    ]


def include(tools=CATALOG, **options):
    return ToolSearchProcessor(tools, include_step_tools=True, **options)


async def test_by_default_the_steps_tools_are_untouched():
    run = Run(ToolSearchProcessor(CATALOG))
    own = brought()
    processed = await run.step(*own)
    assert list(processed.tools[2:]) == own
    assert (await run.search("diary"))["results"] == []


async def test_they_are_withheld_searchable_and_listed_once_loaded():
    run = Run(include())
    own = brought()
    assert names(await run.step(*own)) == ["search_tools", "load_tool"]
    assert set(names((await run.search("diary"))["results"])) == {"calendar_add", "calendar_list"}
    await run.load("calendar_list", "send_mail")
    assert names(await run.step(*own))[2:] == ["calendar_list", "send_mail"]
    assert await run.call("calendar_list") == "diary of ann"


async def test_catalog_and_step_are_searched_together():
    run = Run(include())
    await run.step(*brought())
    answer = await run.search("diary", "letter")
    assert set(names(answer["results"])) == {"calendar_add", "calendar_list", "send_mail"}
    assert answer["total"] == 3


async def test_an_empty_catalog_will_do():
    run = Run(include([]))
    await run.step(*brought())
    await run.load("calendar_add")
    assert names(await run.step(*brought()))[2:] == ["calendar_add"]
    assert await run.call("calendar_add", day="monday") == "annmonday"


async def test_the_requests_own_instance_runs():
    processor = include()
    for user in ("ann", "bob"):
        run = Run(processor, thread="shared")
        await run.step(*brought(user))
        await run.load("calendar_list")
        await run.step(*brought(user))
        assert await run.call("calendar_list") == f"diary of {user}"
        assert await run.call("calendar_list") == f"diary of {user}"


async def test_two_requests_at_the_same_time_run_each_its_own():
    processor = include()
    runs = {user: Run(processor, thread="shared") for user in ("ann", "bob")}
    await processor.load("send_mail", thread_id="shared")
    for user, run in runs.items():
        await run.step(*brought(user))
        await run.load("calendar_list")
    steps = {user: await run.step(*brought(user)) for user, run in runs.items()}
    for user, at in reversed(steps.items()):
        assert await call(at, "calendar_list") == f"diary of {user}"


async def test_a_later_step_runs_the_instance_that_it_brought():
    run = Run(include())
    await run.step(*brought("first"))
    await run.load("calendar_list")
    await run.step(*brought("second"))
    assert await run.call("calendar_list") == "diary of second"


async def test_a_step_tool_hides_a_catalog_tool_of_its_name():
    own = make("send_mail", "Sends a telegram.", execute=lambda: "own")
    run = Run(include())
    await run.step(own)
    assert (await run.search("letter"))["results"] == []
    (found,) = (await run.search("telegram"))["results"]
    assert found["name"] == "send_mail"
    await run.load("send_mail")
    assert names(await run.step(own))[2:] == ["send_mail"]
    assert await run.call("send_mail") == "own"
    await run.step()
    assert await run.call("send_mail") == {"ran": "send_mail"}


async def test_a_loaded_step_tool_is_listed_only_by_steps_that_bring_it():
    run = Run(include(), thread="t")
    await run.step(*brought())
    await run.load("calendar_list")
    assert names(await run.step())[2:] == []
    assert names(await run.step(*brought()))[2:] == ["calendar_list"]


async def test_pinned_step_tools_stay_listed():
    run = Run(include())
    pinned = make("now", pinned=True)
    processed = await run.step(pinned, *brought())
    assert names(processed) == ["search_tools", "load_tool", "now"]
    assert processed.tools[-1] is pinned
    assert "now" not in names((await run.search("now"))["results"])


async def test_a_step_tool_can_be_pinned_by_the_option():
    run = Run(include(pinned=["calendar_list"]))
    assert names(await run.step(*brought()))[2:] == ["calendar_list"]
    assert await run.call("calendar_list") == "diary of ann"


async def test_functions_made_tools_keep_running_as_they_do():
    @tool
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    run = Run(include())
    await run.step(double)
    await run.load("double")
    await run.step(double)
    assert await run.call("double", n="4") == 8


async def test_resolving_works_on_the_processed_step():
    processor = include()
    at = await processor.process_input_step(step(*brought(), thread="t"))
    assert names(at) == ["search_tools", "load_tool"]
    found = await processor.resolve_call(at, "calendar_list")
    assert await found.call({}) == "diary of ann"
    answer = await (await processor.resolve_call(at, "calendar_add")).call({"day": 5})
    assert "calendar_add was not run" in answer["message"]
    assert "calendar_list" in await processor.missing_tool_text(at, "calender_list")
    assert await processor.loaded(thread_id="t") == ["calendar_list", "calendar_add"]


async def test_what_they_cost_is_left_to_whoever_brought_them():
    processor = include(counter=lambda text: 10)
    at = await processor.process_input_step(step(*brought()))
    assert await processor.definition_tokens(at) == await processor.definition_tokens(step()) == 20


async def test_tools_that_another_searcher_lists_are_not_withheld():
    first = ToolSearchProcessor(
        [make("crm_note")], id="crm", search_tool_name="search_crm", load_tool_name="load_crm"
    )
    second = include()
    given = step(*brought(), thread="t")
    at = await run_processors([first, second], given)
    assert names(at) == ["search_tools", "load_tool", "search_crm", "load_crm"]
    await call(at, "load_crm", tool_names=["crm_note"])
    await call(at, "load_tool", tool_names=["calendar_list"])
    at = await run_processors([first, second], given)
    assert names(at)[4:] == ["crm_note", "calendar_list"]
    assert await call(at, "crm_note") == {"ran": "crm_note"}


@pytest.mark.parametrize("mode", ["auto_load", "call"])
async def test_the_other_modes_find_and_run_them_too(mode):
    run = Run(include(mode=mode))
    await run.step(*brought())
    answer = await run.search("diary", limit=5)
    assert len(answer["results"]) == 2
    if mode == "call":
        assert await run.call("call_tool", name="calendar_list") == "diary of ann"
    else:
        await run.step(*brought())
        assert await run.call("calendar_list") == "diary of ann"


async def test_catalog_in_the_prompt_and_preload_know_them():
    processor = include(catalog_in_prompt=True, preload=1)
    run = Run(processor, text="put a date into the diary")
    at = await run.step(*brought())
    assert "- calendar_list: Shows the diary." in at.instructions[1]
    assert names(at)[2:] == ["calendar_add"]


async def test_while_all_fits_they_are_listed_as_they_would_be():
    at = await include(passthrough_tokens=10_000).process_input_step(step(*brought()))
    assert names(at) == ["send_mail", "stock_quote", "calendar_add", "calendar_list"]
    assert await call(at, "calendar_list") == "diary of ann"


async def test_the_index_of_the_catalog_is_not_built_again_for_them():
    class Counting:
        updates = 0

        def update(self, documents):
            Counting.updates += 1

        def search(self, query, *, limit=None, within=None, extra=()):
            return []

    processor = include(search=Counting)
    for user in ("ann", "bob", "eve"):
        run = Run(processor)
        await run.step(*brought(user))
        await run.search("diary")
    assert Counting.updates == 1


async def test_more_of_them_than_are_scored_one_by_one_are_found_too():
    run = Run(include(top_k=1))
    many = [make(f"case_{n}", f"Handles invoice {n}.") for n in range(400)]
    await run.step(*many)
    answer = await run.search("case_321")
    assert names(answer["results"]) == ["case_321"]
    await run.load("case_321")
    assert names(await run.step(*many))[2:] == ["case_321"]


async def test_their_cost_is_that_of_the_request_not_of_the_catalog():
    small, large = (include([make(f"tool_{n}") for n in range(size)]) for size in (100, 5000))
    own = [make(f"own_{n}") for n in range(20)]
    numbers = []
    for processor in (small, large):
        await processor.process_input_step(step(*own))
        with counted_calls() as calls:
            await processor.process_input_step(step(*own))
        numbers.append(calls.number)
    assert numbers[1] < 2 * numbers[0]


async def test_a_processed_step_lists_no_withheld_tool_twice():
    run = Run(include())
    own = brought()
    await run.step(*own)
    await run.load("calendar_list")
    processed = await run.step(*own)
    assert names(processed).count("calendar_list") == 1
    assert listed(processed, "calendar_list") is not own[1]

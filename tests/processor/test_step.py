"""What a step lists and says: order, growth, modes, pinned tools, the catalog in the prompt, preload."""

import json

import pytest

from tests.support import Down, Policy, Run, ScoredIndex, call, listed, make, names, needs, step
from tool_search_processor import (
    AbortRun,
    CallableProvider,
    ConfigurationError,
    DuplicateToolError,
    InputProcessor,
    MemoryStore,
    ReservedToolNameError,
    StaticProvider,
    Tool,
    ToolResolver,
    ToolSearchProcessor,
    run_processors,
    tool,
)
from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames
from tool_search_processor.meta_tools.texts import instruction_text
from tool_search_processor.steps import InputStep
from tool_search_processor.stores import HistoryStore
from tool_search_processor.testing import ManualClock
from tool_search_processor.tokens.counting import estimate_tokens
from tool_search_processor.tokens.limiter import TokenLimiter
from tool_search_processor.transforms import Namespace

WEATHER = make("weather_forecast", "Tells tomorrow's weather.")
MAIL = make("send_mail", "Sends a letter.")
STOCKS = make("stock_quote", "Looks up a share price.")
CATALOG = [WEATHER, MAIL, STOCKS]
MANY = [make(f"tool_{n}", f"Handles case {n}.") for n in range(30)]


@tool
def always_on(topic: str) -> str:
    """Answer at once."""
    return topic


def wire(processed):
    return json.dumps([item.to_openai() for item in processed.tools]).encode()


# -- what is there and in which order


def test_it_is_a_processor_and_a_resolver():
    processor = ToolSearchProcessor(CATALOG)
    assert isinstance(processor, InputProcessor)
    assert isinstance(processor, ToolResolver)
    assert processor.id == "tool-search"
    assert ToolSearchProcessor(CATALOG, id="mine").id == "mine"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["search_tools", "load_tool"]),
        ({"allow_unload": True}, ["search_tools", "load_tool", "unload_tool"]),
        ({"mode": "auto_load"}, ["search_tools"]),
        ({"mode": "auto_load", "allow_unload": True}, ["search_tools", "unload_tool"]),
        ({"mode": "call"}, ["search_tools", "call_tool"]),
        ({"search_tool_name": "find", "load_tool_name": "take"}, ["find", "take"]),
        ({"mode": "call", "call_tool_name": "run"}, ["search_tools", "run"]),
        ({"allow_unload": True, "unload_tool_name": "drop"}, ["search_tools", "load_tool", "drop"]),
    ],
)
async def test_the_meta_tools_of_each_mode(options, expected):
    processor = ToolSearchProcessor(CATALOG, **options)
    processed = await processor.process_input_step(step())
    assert names(processed) == expected
    assert processor.reserved_names == set(expected)


async def test_order_is_meta_tools_then_the_steps_own_then_pinned_then_loaded_in_load_order():
    pinned = make("clock", pinned=True)
    run = Run(ToolSearchProcessor([*CATALOG, pinned], allow_unload=True))
    await run.step(always_on)
    await run.load("stock_quote", "weather_forecast")
    await run.load("send_mail")
    assert names(await run.step(always_on)) == [
        *("search_tools", "load_tool", "unload_tool"),
        "always_on",
        "clock",
        *("stock_quote", "weather_forecast", "send_mail"),
    ]


async def test_the_list_only_grows_at_its_end_over_a_run_of_loads():
    run = Run(ToolSearchProcessor(MANY), thread="t")
    before = names(await run.step(always_on))
    for wanted in ("tool_9", "tool_3", "tool_27", "tool_3", "tool_0"):
        await run.load(wanted)
        after = names(await run.step(always_on))
        assert after[: len(before)] == before
        before = after
    assert before[3:] == ["tool_9", "tool_3", "tool_27", "tool_0"]


async def test_unloading_takes_one_out_and_leaves_the_order_of_the_rest():
    run = Run(ToolSearchProcessor(MANY, allow_unload=True))
    await run.load("tool_1", "tool_2", "tool_3")
    await run.step()
    await run.call("unload_tool", tool_names=["tool_2"])
    assert names(await run.step())[3:] == ["tool_1", "tool_3"]


async def test_the_steps_own_tools_are_kept_by_identity():
    run = Run(ToolSearchProcessor(CATALOG))
    processed = await run.step(always_on, MAIL.replace(name="other"))
    assert processed.tools[2] is always_on
    assert names(processed)[2:] == ["always_on", "other"]


async def test_everything_else_of_the_step_is_passed_on():
    given = step(
        always_on,
        thread="t",
        context={"plan": "pro"},
        instructions=("Be brief.",),
        model="m",
        tool_choice="auto",
        model_settings={"temperature": 0},
    )
    processed = await ToolSearchProcessor(CATALOG).process_input_step(given)
    assert processed.replace(tools=given.tools, instructions=given.instructions) == given
    assert processed.instructions[0] == "Be brief."


async def test_a_tool_of_the_step_hides_a_catalog_tool_of_the_same_name():
    run = Run(ToolSearchProcessor(CATALOG))
    own = make("send_mail", "The application's own mailer.", execute=lambda: "own")
    processed = await run.step(own)
    assert listed(processed, "send_mail") is own
    assert "send_mail" not in names((await run.search("mail letter mailer"))["results"])
    assert (await run.load("send_mail"))["already_loaded"] == ["send_mail"]
    assert names(await run.step(own)).count("send_mail") == 1


async def test_a_pinned_catalog_tool_gives_way_to_the_steps_own():
    own = make("clock", "Another clock.")
    processed = await ToolSearchProcessor([make("clock", pinned=True)]).process_input_step(step(own))
    assert names(processed) == ["search_tools", "load_tool", "clock"]
    assert processed.tools[-1] is own


async def test_a_loaded_tool_gives_way_once_a_step_brings_its_name():
    run = Run(ToolSearchProcessor(CATALOG))
    await run.load("send_mail")
    own = make("send_mail")
    processed = await run.step(own)
    assert names(processed) == ["search_tools", "load_tool", "send_mail"]
    assert processed.tools[-1] is own
    assert names(await run.step()) == ["search_tools", "load_tool", "send_mail"]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "search_tools"),
        ({}, "load_tool"),
        ({"mode": "call"}, "call_tool"),
        ({"allow_unload": True}, "unload_tool"),
        ({"search_tool_name": "find"}, "find"),
    ],
)
async def test_a_step_that_brings_a_meta_tools_name_raises(options, name):
    processor = ToolSearchProcessor(CATALOG, **options)
    with pytest.raises(ReservedToolNameError, match=rf"{name}.*meta-tool of 'tool-search.*rename"):
        await processor.process_input_step(step(make(name)))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "search_tools"),
        ({}, "load_tool"),
        ({"mode": "call"}, "call_tool"),
        ({"load_tool_name": "x"}, "x"),
    ],
)
def test_a_catalog_tool_that_bears_a_meta_tools_name_raises_at_construction(options, name):
    with pytest.raises(ReservedToolNameError, match=name):
        ToolSearchProcessor([make(name)], **options)


async def test_names_of_meta_tools_that_are_absent_are_free():
    processor = ToolSearchProcessor([make("load_tool"), make("call_tool")], mode="auto_load")
    assert names(await processor.process_input_step(step(make("unload_tool")))) == [
        "search_tools",
        "unload_tool",
    ]


def test_duplicate_static_tools_raise_at_construction():
    with pytest.raises(DuplicateToolError, match="send_mail"):
        ToolSearchProcessor([MAIL, MAIL.replace(description="Another.")])


async def test_what_is_only_known_later_raises_at_refresh_and_never_in_a_run(caplog):
    async def later(context):
        return [make("search_tools"), MAIL]

    processor = ToolSearchProcessor(later)
    with pytest.raises(ReservedToolNameError, match="search_tools"):
        await processor.catalog.refresh()
    processed = await processor.process_input_step(step())
    assert names(processed) == ["search_tools", "load_tool"]
    assert [refused.name for refused in processor.catalog.status().refused] == ["search_tools"]
    assert "search_tools" in caplog.text


async def test_the_earlier_of_two_clashing_tools_keeps_the_name_during_a_run(caplog):
    provider = StaticProvider([make("late")], name="second")
    processor = ToolSearchProcessor([StaticProvider([make("first")], name="first"), provider])
    provider.add(make("first", execute=lambda: "newcomer"))
    run = Run(processor)
    await run.load("first")
    await run.step()
    assert await run.call("first") == {"ran": "first"}
    assert [(r.name, r.provider) for r in processor.catalog.status().refused] == [("first", "second")]
    assert "first" in caplog.text


@pytest.mark.parametrize(
    "tools",
    [
        [MAIL, always_on],
        {"send_mail": MAIL, "always_on": always_on},
        {"send_mail": MAIL, "always_on": lambda topic: topic},
        StaticProvider([MAIL, always_on]),
        [StaticProvider([MAIL]), always_on],
        lambda context: [MAIL, always_on],
    ],
    ids=["list", "mapping", "mapping of functions", "provider", "mixed", "function"],
)
async def test_tools_come_in_every_shape(tools):
    processor = ToolSearchProcessor(tools)
    assert names(await processor.catalog.list_tools()) == ["send_mail", "always_on"]


async def test_an_async_function_gives_the_tools_of_each_request():
    async def resolve(context):
        return [make(f"tool_of_{context['user']}")]

    processor = ToolSearchProcessor(resolve)
    for user in ("ann", "bob"):
        run = Run(processor, context={"user": user}, thread="shared")
        assert names((await run.search(f"tool of {user}"))["results"]) == [f"tool_of_{user}"]
        other = "bob" if user == "ann" else "ann"
        assert (await run.load(f"tool_of_{other}"))["loaded"] == []


async def test_transforms_shape_what_is_found():
    run = Run(ToolSearchProcessor([MAIL], transforms=[Namespace("office")]))
    (result,) = (await run.search("send letter"))["results"]
    await run.load(result["name"])
    assert names(await run.step())[-1] == result["name"] != "send_mail"
    assert await run.call(result["name"]) == {"ran": "send_mail"}


# -- the instruction


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({"load_tool_name": "call_tool"}, [{"query", "limit"}, {"tool_names"}]),
        ({"load_tool_name": "unload_tool"}, [{"query", "limit"}, {"tool_names"}]),
        ({"mode": "call", "call_tool_name": "load_tool"}, [{"query", "limit"}, {"name", "arguments"}]),
        ({"mode": "auto_load", "search_tool_name": "load_tool"}, [{"query", "limit"}]),
    ],
)
async def test_a_meta_tool_may_have_the_name_of_one_that_is_not_there(options, parameters):
    processor = ToolSearchProcessor([STOCKS], **options)
    step = await processor.process_input_step(InputStep(messages=[]))
    assert [set(tool.parameters["properties"]) for tool in step.tools] == parameters


@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
@pytest.mark.parametrize("allow_unload", [False, True])
async def test_one_fixed_instruction_names_the_meta_tools_that_are_present_and_no_other(mode, allow_unload):
    all_names = {"search": "find_x", "load": "take_x", "call": "call_x", "unload": "drop_x"}
    processor = ToolSearchProcessor(
        CATALOG,
        mode=mode,
        allow_unload=allow_unload,
        **{f"{key}_tool_name": value for key, value in all_names.items()},
    )
    processed = await processor.process_input_step(step())
    (text,) = processed.instructions
    present = set(names(processed))
    assert {name for name in all_names.values() if name in text} == present
    again = await processor.process_input_step(step(step_number=4, text="something else"))
    assert again.instructions == (text,)


async def test_the_instruction_is_for_one_step_and_never_piles_up():
    processor = ToolSearchProcessor(CATALOG)
    given = step(instructions=("Be brief.",))
    for _ in range(3):
        assert len((await processor.process_input_step(given)).instructions) == 2
    assert given.instructions == ("Be brief.",)


# -- pinned


async def test_pinned_tools_are_listed_by_their_own_word_or_by_the_option():
    clock = make("clock", pinned=True)
    processor = ToolSearchProcessor([*CATALOG, clock], pinned=["stock_quote"])
    processed = await processor.process_input_step(step())
    assert names(processed) == ["search_tools", "load_tool", "clock", "stock_quote"]
    assert await call(processed, "stock_quote") == {"ran": "stock_quote"}


async def test_a_pinned_tool_is_loaded_already_whatever_load_is_asked():
    run = Run(ToolSearchProcessor([make("clock", pinned=True), MAIL]))
    answer = await run.load("clock", "send_mail")
    assert (answer["loaded"], answer["already_loaded"]) == (["send_mail"], ["clock"])
    assert names(await run.step()).count("clock") == 1


async def test_a_pinned_name_that_a_request_does_not_have_is_passed_over():
    processor = ToolSearchProcessor(lambda context: [MAIL], pinned=["clock"])
    assert names(await processor.process_input_step(step())) == ["search_tools", "load_tool"]


async def test_a_pinned_name_that_nothing_bears_is_told_in_the_log(caplog):
    ToolSearchProcessor([MAIL], pinned=["send_mial", "send_mail", "zz"])
    assert caplog.messages == [
        "no tool of the catalog is named 'send_mial', which is pinned: did you mean 'send_mail'?",
        "no tool of the catalog is named 'zz', which is pinned",
    ]


async def test_a_searcher_of_a_framework_s_own_tools_pins_them_without_a_word(caplog):
    ToolSearchProcessor(pinned=["clock"]).for_framework(include_step_tools=True)
    assert caplog.messages == []


# -- modes


async def test_auto_load_lists_what_a_search_returned():
    run = Run(ToolSearchProcessor(CATALOG, mode="auto_load"))
    answer = await run.search("weather")
    assert [(r["name"], r["loaded"]) for r in answer["results"]] == [("weather_forecast", True)]
    assert "weather_forecast" in answer["message"]
    assert "next step" in answer["message"]
    assert names(await run.step()) == ["search_tools", "weather_forecast"]


async def test_auto_load_says_when_all_is_loaded_already():
    run = Run(ToolSearchProcessor(CATALOG, mode="auto_load"))
    await run.search("weather")
    again = await run.search("weather forecast")
    assert "loaded already" in again["message"]
    assert names(await run.step()) == ["search_tools", "weather_forecast"]


async def test_auto_load_without_a_match_loads_nothing():
    run = Run(ToolSearchProcessor(CATALOG, mode="auto_load"))
    assert (await run.search("zzz"))["results"] == []
    assert names(await run.step()) == ["search_tools"]


async def test_in_call_mode_the_bytes_of_the_definitions_are_the_same_at_every_step():
    processor = ToolSearchProcessor([*CATALOG, make("clock", pinned=True)], mode="call", preload=2)
    run = Run(processor, thread="t", text="weather share price")
    first = wire(await run.step(always_on))
    await run.search("weather")
    await run.call("call_tool", name="weather_forecast")
    await run.direct("send_mail")
    await processor.load(["stock_quote"], thread_id="t")
    assert wire(await run.step(always_on)) == first
    assert wire(await Run(processor, thread="other").step(always_on)) == first


@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
async def test_definitions_of_the_meta_tools_hold_in_every_mode(mode):
    processor = ToolSearchProcessor(CATALOG, mode=mode, allow_unload=True)
    first = await processor.process_input_step(step(step_number=0))
    later = await processor.process_input_step(step(step_number=7, text="else", context={"user": 1}))
    assert wire(first) == wire(later)


async def test_the_search_tools_description_changes_when_the_catalog_does():
    provider = StaticProvider(CATALOG)
    processor = ToolSearchProcessor([provider])
    first = listed(await processor.process_input_step(step()), "search_tools").description
    provider.add(make("one_more"))
    assert "3 of them" in first
    assert "4 of them" in listed(await processor.process_input_step(step()), "search_tools").description


# -- several searchers


def two_searchers(**options):
    one = ToolSearchProcessor([MAIL, WEATHER], **options)
    other = ToolSearchProcessor(
        [STOCKS],
        id="finance",
        search_tool_name="search_finance",
        load_tool_name="load_finance",
        **options,
    )
    return one, other


async def test_two_searchers_chain_and_each_keeps_its_own():
    one, other = two_searchers()
    given = step(always_on, thread="t")
    processed = await run_processors([one, other], given)
    assert names(processed) == ["search_finance", "load_finance", "search_tools", "load_tool", "always_on"]
    await call(processed, "load_tool", tool_names=["send_mail"])
    await call(processed, "load_finance", tool_names=["stock_quote"])
    again = await run_processors([one, other], given)
    assert names(again) == [
        *("search_finance", "load_finance", "search_tools", "load_tool"),
        *("always_on", "send_mail", "stock_quote"),
    ]
    assert len(again.instructions) == 2
    assert await one.loaded(thread_id="t") == ["send_mail"]
    assert await other.loaded(thread_id="t") == ["stock_quote"]


async def test_another_search_tool_name_is_id_enough():
    one = ToolSearchProcessor([MAIL])
    other = ToolSearchProcessor([STOCKS], search_tool_name="find", load_tool_name="take")
    assert (one.id, other.id) == ("tool-search", "tool-search:find")
    run = await run_processors([one, other], step(thread="t"))
    await call(run, "take", tool_names=["stock_quote"])
    assert await one.loaded(thread_id="t") == []
    assert await other.loaded(thread_id="t") == ["stock_quote"]


async def test_two_searchers_with_the_same_names_raise_in_the_fold_and_name_the_processor():
    one, other = ToolSearchProcessor([MAIL]), ToolSearchProcessor([STOCKS], id="finance")
    with pytest.raises(ReservedToolNameError, match="search_tools") as caught:
        await run_processors([one, other], step())
    assert caught.value.processor_id == "finance"


async def test_a_processor_before_it_may_end_the_run():
    class Stop:
        id = "stop"

        async def process_input_step(self, given):
            raise AbortRun("closed")

    with pytest.raises(AbortRun, match="closed"):
        await run_processors([ToolSearchProcessor(CATALOG), Stop()], step())


# -- passthrough


async def test_while_all_definitions_fit_they_are_listed_and_no_meta_tool_is():
    cost = sum(estimate_tokens(tool.definition_json) for tool in CATALOG)
    fits = await ToolSearchProcessor(CATALOG, passthrough_tokens=cost).process_input_step(step(always_on))
    assert names(fits) == ["always_on", "weather_forecast", "send_mail", "stock_quote"]
    assert fits.instructions == ()
    assert await call(fits, "send_mail") == {"ran": "send_mail"}
    over = await ToolSearchProcessor(CATALOG, passthrough_tokens=cost - 1).process_input_step(step())
    assert names(over) == ["search_tools", "load_tool"]


async def test_passthrough_counts_allowed_tools_alone_and_lists_no_other():
    policy = Policy(("load", "send_mail"), ("active", "stock_quote"))
    cost = estimate_tokens(WEATHER.definition_json)
    processor = ToolSearchProcessor(CATALOG, passthrough_tokens=cost, filter=policy)
    assert names(await processor.process_input_step(step())) == ["weather_forecast"]


@pytest.mark.parametrize("passthrough_tokens", [0, 10_000])
async def test_a_pinned_tool_is_listed_if_active_admits_it_whatever_load_says(passthrough_tokens):
    tools = [make("clock", pinned=True), make("calendar", pinned=True), *CATALOG]
    policy = Policy(("load", "clock"), ("load", "send_mail"), ("active", "calendar"))
    processor = ToolSearchProcessor(
        tools, pinned=["send_mail"], passthrough_tokens=passthrough_tokens, filter=policy
    )
    listed = names(await processor.process_input_step(step()))
    assert ("clock" in listed, "send_mail" in listed, "calendar" in listed) == (True, True, False)


async def test_passthrough_lists_the_steps_own_tool_rather_than_the_catalogs():
    own = make("send_mail", "The application's own mailer.")
    processed = await ToolSearchProcessor(CATALOG, passthrough_tokens=10_000).process_input_step(step(own))
    assert names(processed) == ["send_mail", "weather_forecast", "stock_quote"]
    assert processed.tools[0] is own


async def test_passthrough_follows_the_catalog():
    provider = StaticProvider([MAIL])
    cost = estimate_tokens(MAIL.definition_json)
    processor = ToolSearchProcessor([provider], passthrough_tokens=cost)
    assert names(await processor.process_input_step(step())) == ["send_mail"]
    provider.add(WEATHER)
    assert names(await processor.process_input_step(step())) == ["search_tools", "load_tool"]


async def test_passthrough_is_off_by_default_and_at_0():
    for options in ({}, {"passthrough_tokens": 0}):
        processed = await ToolSearchProcessor([], **options).process_input_step(step())
        assert names(processed) == ["search_tools", "load_tool"]


async def test_passthrough_counts_with_the_counter_that_was_given():
    processor = ToolSearchProcessor(CATALOG, passthrough_tokens=3, counter=lambda text: 1)
    assert names(await processor.process_input_step(step()))[0] == "weather_forecast"


# -- the catalog in the prompt


async def test_the_catalog_in_the_prompt_lists_names_and_descriptions():
    processor = ToolSearchProcessor(
        [MAIL, Tool("bare"), make("long", "word " * 100), make("clock", pinned=True)], catalog_in_prompt=True
    )
    processed = await processor.process_input_step(step(always_on))
    fixed, text = processed.instructions
    assert fixed == instruction_text(
        MetaToolNames(
            mode="load", search="search_tools", load="load_tool", call="c", unload="u", allow_unload=False
        )
    )
    head, *lines = text.splitlines()
    assert head == "All tools that can be found. Load them by name with load_tool, without a search:"
    assert lines[:2] == ["- send_mail: Sends a letter.", "- bare"]
    assert lines[2].startswith("- long: word")
    assert len(lines[2]) <= len("- long: ") + 150
    assert len(lines) == 3
    assert names(processed) == ["search_tools", "load_tool", "always_on", "clock"]


async def test_a_description_of_several_lines_stays_one_line_of_the_catalog():
    tools = [make("a", "One.\n\n  Two."), Tool("blank", " \n ")]
    processor = ToolSearchProcessor(tools, catalog_in_prompt=True)
    text = (await processor.process_input_step(step())).instructions[1]
    assert text.splitlines()[1:] == ["- a: One. Two.", "- blank"]


async def test_the_catalog_in_the_prompt_holds_allowed_tools_only():
    policy = Policy(("search", "send_mail"))
    processor = ToolSearchProcessor(CATALOG, catalog_in_prompt=True, filter=policy)
    text = (await processor.process_input_step(step())).instructions[1]
    assert "send_mail" not in text
    assert "weather_forecast" in text
    assert {phase for phase, _ in policy.asked} == {"search"}


@pytest.mark.parametrize("policy", [None, Policy(("search", "tool_3"))])
async def test_the_catalog_in_the_prompt_says_when_more_can_be_found(policy):
    for limit, start in ((200, "Some of the tools"), (4000, "All tools")):
        processor = ToolSearchProcessor(
            MANY, catalog_in_prompt=True, catalog_token_limit=limit, filter=policy
        )
        assert (await processor.process_input_step(step())).instructions[1].startswith(start)


async def test_the_catalog_in_the_prompt_is_not_all_while_a_provider_is_down():
    processor = ToolSearchProcessor([MAIL, Down()], catalog_in_prompt=True)
    text = (await processor.process_input_step(step())).instructions[1]
    assert text.startswith("Some of the tools that can be found.")


async def test_no_list_stands_in_the_prompt_when_nothing_is_allowed():
    processor = ToolSearchProcessor(CATALOG, catalog_in_prompt=True, filter=lambda request: False)
    assert len((await processor.process_input_step(step())).instructions) == 1


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 20, 100, 4000])
async def test_the_catalog_in_the_prompt_keeps_its_token_limit_at_10_000_tools(limit):
    tools = [make(f"tool_{n}", f"Handles case number {n} of the many.") for n in range(10_000)]
    processor = ToolSearchProcessor(tools, catalog_in_prompt=True, catalog_token_limit=limit)
    texts = (await processor.process_input_step(step())).instructions[1:]
    assert sum(map(estimate_tokens, texts)) <= limit
    if limit >= 100:
        assert "- tool_0: " in texts[0]
    if limit == 4000:
        assert estimate_tokens(texts[0]) > 3600


async def test_the_token_limit_of_the_list_is_counted_with_the_counter_that_was_given():
    processor = ToolSearchProcessor(MANY, catalog_in_prompt=True, catalog_token_limit=200, counter=len)
    text = (await processor.process_input_step(step())).instructions[1]
    assert 100 < len(text) <= 200


# -- preload


async def test_preload_lists_the_best_tools_for_the_last_user_message_at_once():
    run = Run(ToolSearchProcessor(CATALOG, preload=1), text="What is the share price of ACME?")
    assert names(await run.step()) == ["search_tools", "load_tool", "stock_quote"]
    assert await run.call("stock_quote") == {"ran": "stock_quote"}


async def test_preload_happens_once_a_user_turn():
    index = ScoredIndex({"first": {"send_mail": 0.9}, "second": {"stock_quote": 0.9}})
    asked = []
    search = index.search
    index.search = lambda query, **options: asked.append(query) or search(query, **options)
    processor = ToolSearchProcessor(CATALOG, preload=1, search=index)
    run = Run(processor)
    turn = [{"role": "user", "content": "first"}]
    await run.step(messages=turn)
    await run.step(messages=[*turn, {"role": "assistant", "content": "hm"}])
    assert asked == ["first"]
    more = [*turn, {"role": "assistant", "content": "hm"}, {"role": "user", "content": "second"}]
    assert names(await run.step(messages=more))[2:] == ["send_mail", "stock_quote"]
    assert asked == ["first", "second"]
    await run.step(messages=[*more, {"role": "user", "content": "second"}])
    assert asked == ["first", "second", "second"]


@pytest.mark.parametrize("before", [["send_mail", "weather_forecast"], ["stock_quote", "send_mail"]])
async def test_preload_adds_behind_what_the_thread_has_loaded_before(before):
    processor = ToolSearchProcessor(CATALOG, preload=1)
    await processor.load(before, thread_id="t")
    run = Run(processor, thread="t", text="the share price")
    assert names(await run.step())[2:] == list(dict.fromkeys([*before, "stock_quote"]))
    assert await processor.loaded(thread_id="t") == names(await run.step())[2:]


async def test_preload_asks_phase_load_and_fills_up_from_lower_ranks():
    index = ScoredIndex({"send_mail": 0.9, "stock_quote": 0.8, "weather_forecast": 0.7})
    policy = Policy(("load", "send_mail"))
    run = Run(ToolSearchProcessor(CATALOG, preload=2, search=index, filter=policy))
    assert names(await run.step())[2:] == ["stock_quote", "weather_forecast"]
    assert {phase for phase, _ in policy.asked} == {"load", "active"}


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "assistant", "content": "share price"}],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
    ],
)
async def test_preload_without_a_user_text_loads_nothing(messages):
    index = ScoredIndex({"send_mail": 0.9})
    run = Run(ToolSearchProcessor(CATALOG, preload=3, search=index), messages=messages)
    assert names(await run.step()) == ["search_tools", "load_tool"]


async def test_preload_leaves_pinned_and_own_tools_out_and_keeps_min_score():
    index = ScoredIndex({"clock": 0.9, "always_on": 0.9, "send_mail": 0.5, "stock_quote": 0.1})
    processor = ToolSearchProcessor(
        [*CATALOG, make("clock", pinned=True)], preload=4, search=index, min_score=0.3
    )
    run = Run(processor)
    assert names(await run.step(always_on))[2:] == ["always_on", "clock", "send_mail"]


async def test_a_user_message_that_is_no_pattern_preloads_nothing_under_regex():
    run = Run(ToolSearchProcessor(CATALOG, preload=2, search="regex"), text="what (is this")
    assert names(await run.step()) == ["search_tools", "load_tool"]


async def test_preload_is_off_by_default():
    run = Run(ToolSearchProcessor(CATALOG), text="share price")
    assert names(await run.step()) == ["search_tools", "load_tool"]


# -- figures


class OfRequest:
    """Lists what the request brings."""

    name = "of request"

    async def list_tools(self, context):
        return list(context.get("tools", ()))


async def test_definition_tokens_are_those_of_the_whole_catalog():
    extra = needs("of_request", "a", "b")
    processor = ToolSearchProcessor([StaticProvider(CATALOG), OfRequest()])
    without = await processor.definition_tokens(step())
    assert without == sum(estimate_tokens(tool.definition_json) for tool in CATALOG)
    with_more = await processor.definition_tokens(step(context={"tools": [extra]}))
    assert with_more == without + estimate_tokens(extra.definition_json)


async def test_definition_tokens_use_the_counter_and_follow_the_catalog():
    provider = StaticProvider(CATALOG)
    processor = ToolSearchProcessor([provider], counter=lambda text: 10)
    assert await processor.definition_tokens(step()) == 30
    provider.add(make("one_more"))
    assert await processor.definition_tokens(step()) == 40


async def test_a_session_is_a_run_of_this_processor_alone():
    processor = ToolSearchProcessor(CATALOG, filter=lambda request: request.context.get("plan") == "pro")
    async with processor.session(thread_id="t", context={"plan": "pro"}) as session:
        listing = await session.openai_tools([{"role": "user", "content": "hello"}])
        assert [item["function"]["name"] for item in listing] == ["search_tools", "load_tool"]
        asked = {"id": "c", "function": {"name": "load_tool", "arguments": '{"tool_names": "send_mail"}'}}
        (answer,) = await session.execute([asked])
        assert json.loads(answer["content"])["loaded"] == ["send_mail"]
    assert await processor.loaded(thread_id="t") == ["send_mail"]
    async with processor.session() as session:
        assert names(await session.tools([])) == ["search_tools", "load_tool"]


async def test_stats_tell_tools_threads_loaded_and_the_oldest_access():
    clock = ManualClock(100.0)
    processor = ToolSearchProcessor(CATALOG, clock=clock)
    empty = {"tools": 3, "ready": False, "threads": 0, "loaded": 0, "oldest_access": None}
    assert await processor.stats() == empty
    await processor.load("send_mail", thread_id="a")
    clock.advance(5)
    await processor.load(["send_mail", "stock_quote"], thread_id="b")
    assert await processor.stats() == {**empty, "threads": 2, "loaded": 3, "oldest_access": 100.0}
    await processor.clear("a")
    assert (await processor.stats())["oldest_access"] == 105.0
    assert await ToolSearchProcessor(CATALOG, store=HistoryStore()).stats() == empty


def test_processors_have_a_name_for_people_beside_their_id():
    assert ToolSearchProcessor(CATALOG, id="mine").name == "Tool Search Processor"
    assert TokenLimiter(1000, id="mine").name == "Token Limiter"


async def test_closing_closes_the_store_and_the_providers():
    class Closing:
        name = "closing"
        closed = 0

        async def list_tools(self, context):
            return [MAIL]

        async def aclose(self):
            self.closed += 1

    provider = Closing()
    processor = ToolSearchProcessor([provider])
    await processor.process_input_step(step())
    await processor.aclose()
    assert provider.closed == 1


@pytest.mark.parametrize("junk", [{}, [1], None, "x"], ids=repr)
async def test_what_stands_in_the_place_of_its_state_is_told(junk):
    processor = ToolSearchProcessor(CATALOG)
    given = step(state={"tool-search": junk})
    with pytest.raises(ConfigurationError, match=r"step.state\['tool-search'\] .*found .*another key"):
        await processor.process_input_step(given)
    with pytest.raises(ConfigurationError, match="another id"):
        await processor.resolve_call(given, "send_mail")


async def test_what_is_listed_anyway_takes_no_place_of_a_preload():
    index = ScoredIndex({"clock": 0.9, "always_on": 0.8, "send_mail": 0.5})
    processor = ToolSearchProcessor([*CATALOG, make("clock", pinned=True)], preload=1, search=index)
    assert names(await Run(processor).step(always_on))[2:] == ["always_on", "clock", "send_mail"]


# -- processors of others


class Plain:
    """An input processor by a function."""

    id = "plain"

    def __init__(self, process):
        self.process_input_step = process


async def test_a_processor_may_be_a_plain_def():
    processed = await run_processors([Plain(lambda given: given.replace(instructions=["Hi."]))], step())
    assert processed.instructions == ["Hi."]


async def waiting(given):
    yield given


@pytest.mark.parametrize(
    ("process", "told"),
    [
        (waiting, "must return an InputStep, found async_generator: return the step"),
        (
            lambda given: given.replace(tools=[*given.tools, list]),
            "InputStep.tools holds Tools, found <class",
        ),
        (lambda given: None, "must return an InputStep, found NoneType"),
    ],
)
async def test_what_a_processor_does_wrong_is_told_with_its_name(process, told):
    with pytest.raises(ConfigurationError, match=told) as caught:
        await run_processors([Plain(process)], step())
    assert caught.value.__notes__ == ["raised by the input processor 'plain'"]


class Forgetful(MemoryStore):
    async def add(self, *args, **options):
        await super().add(*args, **options)


async def test_a_store_that_says_nothing_of_an_add_is_told():
    processor = ToolSearchProcessor(CATALOG, store=Forgetful())
    with pytest.raises(ConfigurationError, match=r"Forgetful\.add must return an AddResult, found None"):
        await processor.load("send_mail", thread_id="t")


def test_a_store_without_a_method_is_told_which():
    class Half:
        loaded = add = remove = clear = stats = MemoryStore.loaded

    with pytest.raises(ConfigurationError, match=r"found .*, whose class has no touch, aclose$"):
        ToolSearchProcessor(CATALOG, store=Half())


def test_a_url_is_no_store_and_its_password_is_not_shown():
    with pytest.raises(
        ConfigurationError, match=r"store is a URL, a string: for a Redis URL, pass RedisStore\(url\)$"
    ):
        ToolSearchProcessor(CATALOG, store="redis://user:secret@localhost")


async def said_of_the_catalog(search, **context):
    return (await search.process_input_step(step(context=context))).tools[0].description


async def test_the_search_tool_follows_the_catalog_and_the_request():
    provider = StaticProvider([WEATHER, MAIL])
    extra = [make("extra_1"), make("extra_2")]
    search = ToolSearchProcessor([provider, CallableProvider(lambda context: extra if context else [])])
    assert "There are 2 of them." in await said_of_the_catalog(search)
    assert "There are 4 of them." in await said_of_the_catalog(search, plan="pro")
    assert "There are 2 of them." in await said_of_the_catalog(search)
    provider.add(make("third"))
    assert "There are 3 of them." in await said_of_the_catalog(search)
    assert "There are 5 of them." in await said_of_the_catalog(search, plan="pro")


async def test_with_a_filter_the_search_tool_says_nothing_of_the_catalog():
    search = ToolSearchProcessor([WEATHER, MAIL], filter=lambda request: True)
    assert await said_of_the_catalog(search) == (
        "Find tools that are available but not listed. Then make tools callable with load_tool."
    )


async def test_two_steps_share_the_definitions_and_each_answers_with_what_it_saw():
    search = ToolSearchProcessor([WEATHER], include_step_tools=True)
    first = await search.process_input_step(step(make("mine")))
    second = await search.process_input_step(step(make("yours")))
    assert first.tools[0] == second.tools[0]
    assert names((await first.tools[0].call({"query": "mine"}))["results"]) == ["mine"]
    assert names((await second.tools[0].call({"query": "yours"}))["results"]) == ["yours"]

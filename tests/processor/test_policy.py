"""The filter in the processor: its phases, what a hook gets, and that nothing tells what is hidden."""

import asyncio
import logging

import pytest

from tests.support import Policy, Run, ScoredIndex, call, listed, make, names, step
from tool_search_processor import FilterRequest, ToolSearchProcessor, ToolUnavailableError
from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.wire.calls import CallRequest

ISSUE = make("create_issue", "Opens a ticket.")
MAIL = make("send_mail", "Sends a letter.")
PREMIUM = make("premium_report", "Writes a report.")
CATALOG = [ISSUE, MAIL, PREMIUM]
SCORES = ScoredIndex({"premium_report": 0.9, "create_issue": 0.8, "send_mail": 0.7})


def run_with(policy, tools=CATALOG, *, thread="t", context=None, **options):
    return Run(ToolSearchProcessor(tools, filter=policy, **options), thread=thread, context=context)


async def a_use(run, name="send_mail"):
    """Search for, load and use a tool."""
    await run.search(name, limit=1)
    await run.load(name)
    await run.step()
    return await run.call(name)


# -- phases


async def test_the_phases_come_in_order_and_each_gets_the_request():
    policy = Policy()
    run = run_with(policy, context={"plan": "pro"})
    assert await a_use(run) == {"ran": "send_mail"}
    assert policy.asked == [
        ("search", "send_mail"),
        ("load", "send_mail"),
        ("active", "send_mail"),
        ("active", "send_mail"),
    ]
    for request in policy.requests:
        assert isinstance(request, FilterRequest)
        assert request.tool == MAIL
        assert request.context == {"plan": "pro"}
        assert request.thread_id == "t"


async def test_an_anonymous_request_has_no_thread_id():
    policy = Policy()
    await run_with(policy, thread=" ").load("send_mail")
    assert policy.requests[0].thread_id is None


async def test_denied_by_search_it_is_not_found_but_can_be_loaded_by_name():
    run = run_with(Policy(("search", "send_mail")))
    assert "send_mail" not in names((await run.search("send_mail", "letter"))["results"])
    assert (await run.load("send_mail"))["loaded"] == ["send_mail"]
    assert names(await run.step())[2:] == ["send_mail"]


async def test_denied_by_load_it_is_found_but_not_loaded():
    run = run_with(Policy(("load", "send_mail")))
    assert "send_mail" in names((await run.search("send_mail"))["results"])
    assert (await run.load("send_mail"))["loaded"] == []
    assert names(await run.step()) == ["search_tools", "load_tool"]


async def test_denied_by_active_it_is_loaded_but_neither_listed_nor_run():
    policy = Policy(("active", "send_mail"))
    run = run_with(policy)
    await run.load("send_mail")
    assert names(await run.step()) == ["search_tools", "load_tool"]
    assert "There is no tool" in await run.direct("send_mail")
    assert await run.processor.loaded(thread_id="t") == ["send_mail"]


async def test_active_hides_without_unloading_and_the_tool_comes_back_in_its_place():
    policy = Policy()
    run = run_with(policy)
    await run.load("send_mail", "create_issue", "premium_report")
    policy.deny("create_issue", "active")
    assert names(await run.step())[2:] == ["send_mail", "premium_report"]
    policy.allow("create_issue")
    assert names(await run.step())[2:] == ["send_mail", "create_issue", "premium_report"]
    assert await run.processor.loaded(thread_id="t") == ["send_mail", "create_issue", "premium_report"]


async def test_a_flip_between_listing_and_calling_is_refused():
    policy = Policy()
    run = run_with(policy)
    await run.load("send_mail")
    await run.step()
    policy.deny("send_mail", "active")
    with pytest.raises(ToolUnavailableError):
        await run.call("send_mail")
    policy.allow("send_mail")
    assert await run.call("send_mail") == {"ran": "send_mail"}


async def test_each_caller_of_one_processor_is_asked_about_for_itself():
    processor = ToolSearchProcessor(CATALOG, filter=lambda request: request.context.get("plan") == "pro")
    pro = Run(processor, thread="t", context={"plan": "pro"})
    free = Run(processor, thread="t", context={"plan": "free"})
    await pro.load("send_mail")
    assert names(await pro.step()) == ["search_tools", "load_tool", "send_mail"]
    assert names(await free.step()) == ["search_tools", "load_tool"]
    assert (await free.search("send_mail"))["results"] == []


# -- failing and slow hooks


def raising(request):
    raise RuntimeError("policy server is down")


async def raising_later(request):
    await asyncio.sleep(0)
    raise RuntimeError("policy server is down")


class Stopping(BaseException):
    """Neither an Exception nor a cancellation."""


def stopping(request):
    raise Stopping


@pytest.mark.parametrize("hook", [raising, raising_later, stopping], ids=["sync", "async", "base exception"])
@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
async def test_a_hook_that_raises_denies_and_never_breaks_a_run(hook, mode, caplog):
    run = run_with(hook, [*CATALOG, make("clock", pinned=True)], mode=mode, preload=1, catalog_in_prompt=True)
    meta = names(await run.step())
    assert "clock" not in meta
    assert (await run.search("letter"))["results"] == []
    if mode == "load":
        assert (await run.load("send_mail"))["loaded"] == []
    if mode == "call":
        assert "There is no tool" in await run.call("call_tool", name="send_mail")
    assert "There is no tool" in await run.direct("send_mail")
    assert names(await run.step()) == meta


async def test_failures_are_one_warning_a_phase_and_request_with_the_count_and_the_traceback(caplog):
    run = run_with(raising, search=SCORES)
    await run.step()
    caplog.clear()
    await run.search("x")
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "3 tool(s) in phase 'search'" in record.getMessage()
    assert record.exc_info[0] is RuntimeError


@pytest.mark.parametrize("verdict", [None, 0, 1, "", "no", [], [0], {"a": 0}, (False, "why"), False])
async def test_only_true_admits(verdict):
    run = run_with(lambda request: verdict)
    assert (await run.load("send_mail"))["loaded"] == []
    assert (await run.search("send mail"))["results"] == []
    assert (await run_with(lambda request: True).load("send_mail"))["loaded"] == ["send_mail"]


class Hung:
    """A policy that never answers; counts how often it was asked while nobody else was waiting."""

    def __init__(self):
        self.rounds = self.waiting = 0

    async def __call__(self, request):
        self.rounds += self.waiting == 0
        self.waiting += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.waiting -= 1


@pytest.mark.parametrize(
    ("options", "use"),
    [
        ({}, lambda run: run.search("tool")),
        ({}, lambda run: run.search("tool", "another")),
        ({"mode": "auto_load"}, lambda run: run.search("tool")),
        ({}, lambda run: run.load(*(f"tool_{n}" for n in range(90)))),
        ({}, lambda run: run.load("no_such_tool")),
        ({}, lambda run: run.direct("tool_3")),
        ({"mode": "call"}, lambda run: run.call("call_tool", name="tool_3")),
        ({}, lambda run: run.step()),
        ({"catalog_in_prompt": True, "preload": 3, "pinned": ["tool_1"]}, lambda run: run.step()),
        ({"passthrough_tokens": 10**6}, lambda run: run.step()),
    ],
)
async def test_a_hung_policy_costs_one_time_limit_a_request(options, use):
    hung = Hung()
    run = run_with(hung, [make(f"tool_{n}") for n in range(300)], filter_timeout_seconds=0.01, **options)
    await run.step()
    hung.rounds = 0
    await use(run)
    assert hung.rounds <= 1


@pytest.mark.parametrize("use", ["direct", "call_tool"])
async def test_a_tool_that_policy_fails_at_is_answered_as_one_that_is_not_there(use):
    def fails(request):
        if request.tool_name == "send_mail":
            raise KeyError("plan")
        return True

    others = [make("send_mails"), make("create_issue")]
    answers = []
    for tools in ([MAIL, *others], others):
        run = run_with(fails, tools, mode="call" if use == "call_tool" else "load")
        for _ in range(3):
            if use == "direct":
                answers.append(await run.direct("send_mail"))
            else:
                answers.append(await agent_like(run, "send_mail"))
    assert answers[:3] == answers[3:]
    assert "send_mails" in answers[0]


async def agent_like(run, name):
    """Return what an agent answers to a call through the call tool."""
    at = run.current or await run.step()
    request = CallRequest(id="c", name="call_tool", arguments={"name": name})
    (prepared,) = await ModelCall([run.processor], at).prepare([request])
    return prepared.error or await prepared.tool.call(prepared.arguments)


async def test_a_search_goes_no_deeper_once_policy_hangs():
    class Counting(ScoredIndex):
        searches = 0

        def search(self, query, **options):
            self.searches += 1
            return super().search(query, **options)

    tools = [make(f"tool_{n}") for n in range(300)]
    index = Counting({tool.name: 0.5 for tool in tools})
    run = run_with(Hung(), tools, search=index, filter_timeout_seconds=0.01)
    await run.search("tool")
    assert index.searches == 1


async def test_of_many_names_one_that_policy_is_slow_about_costs_the_others_nothing():
    async def slow(request):
        return request.tool_name != "send_mail" or await asyncio.Event().wait()

    run = run_with(slow, filter_timeout_seconds=0.01)
    assert (await run.load("send_mail", "create_issue"))["loaded"] == ["create_issue"]


async def test_async_hooks_are_asked_at_once_and_the_order_is_kept():
    waiting, most = 0, 0

    async def hook(request):
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        # The later ones answer first.
        for _ in range(10 - int(request.tool_name.removeprefix("tool_"))):
            await asyncio.sleep(0)
        waiting -= 1
        return True

    tools = [make(f"tool_{n}") for n in range(10)]
    run = run_with(hook, tools, search=ScoredIndex({tool.name: 0.5 for tool in tools}))
    assert names((await run.search("x", limit=10))["results"]) == [tool.name for tool in tools]
    assert most == 10


@pytest.mark.parametrize("phase", ["search", "load", "active"])
async def test_an_async_hook_that_takes_too_long_denies(phase, caplog):
    async def hook(request):
        if request.phase == phase and request.tool_name == "send_mail":
            await asyncio.Event().wait()
        return True

    run = run_with(hook, filter_timeout_seconds=0.01, search=SCORES)
    found = names((await run.search("x"))["results"])
    await run.load("send_mail", "create_issue")
    shown = names(await run.step())[2:]
    assert ("send_mail" in found, "send_mail" in shown) == {
        "search": (False, True),
        "load": (True, False),
        "active": (True, False),
    }[phase]
    assert "create_issue" in found
    assert "create_issue" in shown
    assert "no verdict in time" in caplog.text


async def test_cancellation_passes_through():
    started = asyncio.Event()

    async def hook(request):
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(run_with(hook).load("send_mail"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# -- what stays hidden


async def test_denied_tools_are_replaced_by_lower_ranks():
    run = run_with(Policy(("search", "premium_report")), search=SCORES, top_k=2)
    assert names((await run.search("x"))["results"]) == ["create_issue", "send_mail"]


async def test_suggestions_hold_only_what_load_allows():
    tools = [make("create_issue"), make("create_issues"), make("create_issue_1"), make("create_issue_2")]
    run = run_with(Policy(("load", "create_issue"), ("load", "create_issue_1")), tools)
    (missing,) = (await run.load("create_isue"))["not_found"]
    assert set(missing["suggestions"]) == {"create_issues", "create_issue_2"}


@pytest.mark.parametrize("asked", ["premium_report", "premiumReport", "Premium-Report"])
async def test_load_answers_a_denied_tool_as_one_that_does_not_exist(asked):
    denied = run_with(Policy(("load", "premium_report")))
    missing = run_with(lambda request: True, CATALOG[:2])
    assert await denied.load(asked) == await missing.load(asked)


async def test_a_tool_denied_throughout_leaves_no_trace_anywhere():
    def deny(request):
        return request.tool_name != "premium_report"

    async def everything(processor):
        run = Run(processor, thread="t", text="premium report")
        at = await run.step()
        seen = [names(at), at.instructions, listed(at, "search_tools").to_openai()]
        seen += [await run.search(query) for query in ("premium_report", "premium report", "zzz", "")]
        seen += [await run.load("premium_report", "premium"), await run.direct("premium_report")]
        seen += [await run.call("unload_tool", tool_names=["premium_report"]), names(await run.step())]
        return seen

    options = {"catalog_in_prompt": True, "preload": 2, "allow_unload": True, "search": "regex"}
    with_it = await everything(ToolSearchProcessor(CATALOG, filter=deny, **options))
    without = await everything(ToolSearchProcessor(CATALOG[:2], filter=deny, **options))
    assert with_it == without


async def test_a_loaded_tool_that_was_denied_since_is_not_named_by_the_loop_guard():
    policy = Policy()
    run = run_with(policy, search=SCORES)
    await run.load("premium_report", "send_mail")
    policy.deny("premium_report")
    await run.step()
    await run.search("x")
    message = (await run.search("x"))["message"]
    assert "send_mail" in message
    assert "premium_report" not in message


# -- modes and options


async def test_auto_load_asks_load_and_a_denied_tool_is_shown_but_not_loaded():
    policy = Policy(("load", "premium_report"))
    run = run_with(policy, mode="auto_load", search=SCORES)
    answer = await run.search("x")
    assert [(r["name"], r["loaded"]) for r in answer["results"]] == [
        ("premium_report", False),
        ("create_issue", True),
        ("send_mail", True),
    ]
    assert "Loaded: create_issue, send_mail" in answer["message"]
    assert names(await run.step()) == ["search_tools", "create_issue", "send_mail"]
    assert [phase for phase, name in policy.asked if name == "premium_report"] == ["search", "load"]


async def test_auto_load_says_when_nothing_found_can_be_loaded():
    run = run_with(lambda request: request.phase != "load", mode="auto_load", search=SCORES)
    answer = await run.search("x")
    assert len(answer["results"]) == 3
    assert "none of which can be loaded" in answer["message"]
    assert names(await run.step()) == ["search_tools"]


async def test_pinned_tools_are_asked_about_in_phase_active():
    policy = Policy()
    tools = [*CATALOG, make("clock", pinned=True)]
    run = run_with(policy, tools)
    assert names(await run.step())[2:] == ["clock"]
    assert policy.asked == [("active", "clock")]
    policy.deny("clock", "active")
    assert names(await run.step()) == ["search_tools", "load_tool"]
    policy.allow("clock")
    assert names(await run.step())[2:] == ["clock"]


async def test_nothing_is_asked_about_meta_tools_and_the_steps_own():
    policy = Policy()
    run = run_with(policy, CATALOG, allow_unload=True)
    await run.step(make("own"))
    await run.search("own search load tool letter")
    await run.load("own", "search_tools", "send_mail")
    await run.call("own")
    await run.call("unload_tool", tool_names=["own"])
    assert {name for _, name in policy.asked} <= {tool.name for tool in CATALOG}


async def test_step_tools_are_asked_about_where_they_have_to_be_found():
    policy = Policy(("active", "mcp_two"), ("load", "mcp_three"), ("search", "mcp_one"))
    run = run_with(policy, [], include_step_tools=True)
    brought = [make("mcp_one"), make("mcp_two"), make("mcp_three")]
    assert names(await run.step(*brought)) == ["search_tools", "load_tool"]
    assert set(names((await run.search("mcp"))["results"])) == {"mcp_two", "mcp_three"}
    assert (await run.load("mcp_one", "mcp_two", "mcp_three"))["loaded"] == ["mcp_one", "mcp_two"]
    assert names(await run.step(*brought))[2:] == ["mcp_one"]


async def test_a_tool_is_asked_about_once_a_phase_and_request():
    policy = Policy()
    run = run_with(policy, search=SCORES)
    await run.step()
    await run.search("x", "y", "z")
    assert len(policy.asked) == len(set(policy.asked)) == 3


async def test_load_is_asked_about_a_loaded_tool_too():
    policy = Policy()
    run = run_with(policy)
    await run.load("send_mail")
    policy.deny("send_mail", "load")
    answer = await run.load("send_mail")
    assert (answer["loaded"], answer["already_loaded"]) == ([], [])
    assert [item["name"] for item in answer["not_found"]] == ["send_mail"]


# -- a hook can't change anything


async def test_what_a_hook_gets_is_read_only():
    refused = []

    def hook(request):
        for change in (
            lambda: request.context.update(plan="pro"),
            lambda: request.context.__setitem__("plan", "pro"),
            lambda: request.tool.parameters.update(x=1),
            lambda: request.tool.metadata.__setitem__("x", 1),
            lambda: request.tool.parameters["properties"].update(x=1),
            lambda: setattr(request.tool, "name", "other"),
            lambda: setattr(request, "tool_name", "other"),
        ):
            try:
                change()
            except (AttributeError, TypeError):
                refused.append(request.phase)
        return True

    context = {"plan": "free"}
    run = run_with(hook, context=context)
    await a_use(run)
    assert refused == ["search"] * 7 + ["load"] * 7 + ["active"] * 14
    assert context == {"plan": "free"}


async def test_the_hook_sees_the_tool_that_would_run():
    seen = []

    def hook(request):
        seen.append(request.tool)
        return True

    own = make("create_issue", "The request's own.")
    run = Run(ToolSearchProcessor([ISSUE], filter=hook, include_step_tools=True))
    await run.step(own)
    await run.load("create_issue")
    assert seen == [own]


# -- requests side by side


async def test_requests_at_the_same_time_on_one_thread_are_judged_each_for_itself():
    async def hook(request):
        await asyncio.sleep(0)
        return request.context["user"] == "ann" or request.tool_name != "premium_report"

    processor = ToolSearchProcessor(CATALOG, filter=hook)

    async def one(user):
        run = Run(processor, thread="t", context={"user": user})
        await run.load("premium_report", "send_mail")
        return names(await run.step())[2:]

    results = await asyncio.gather(*(one(user) for user in ("ann", "bob") * 5))
    for user, shown in zip(("ann", "bob") * 5, results, strict=True):
        assert ("premium_report" in shown) == (user == "ann")
        assert "send_mail" in shown


async def test_an_aborted_request_leaves_nothing_loaded():
    asked = asyncio.Event()

    async def hook(request):
        asked.set()
        await asyncio.Event().wait()

    processor = ToolSearchProcessor(CATALOG, filter=hook)
    at = await processor.process_input_step(step(thread="t"))
    task = asyncio.create_task(call(at, "load_tool", tool_names=["send_mail"]))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await processor.loaded(thread_id="t") == []


async def test_a_pinned_tool_that_active_denies_is_answered_as_one_that_is_not_there():
    clock = make("clock", pinned=True)
    policy = Policy()
    run = Run(ToolSearchProcessor([clock, *CATALOG], filter=policy), thread="t")
    for asked in ("clock", "Clock"):
        answer = await run.load(asked)
        assert (answer["already_loaded"], answer["not_found"]) == (["clock"], [])
    policy.deny("clock", "active")
    await run.step()
    for asked in ("clock", "Clock", "clocks"):
        answer = await run.load(asked)
        assert (answer["loaded"], answer["already_loaded"]) == ([], [])
        assert answer["not_found"] == [{"name": asked, "suggestions": []}]
    by_program = await run.processor.load(["clock"], thread_id="t")
    assert by_program["not_found"] == [{"name": "clock", "suggestions": []}]
    policy.allow("clock")
    assert (await run.processor.load(["clock"], thread_id="t"))["already_loaded"] == ["clock"]
    assert await run.processor.loaded("t") == []

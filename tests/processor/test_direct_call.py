"""Calls of tools that a step does not list, calls through the proxy, and the guard around every call."""

import json

import pytest

from tests.support import Policy, Run, call, listed, make, names, needs, step
from tool_search_processor import (
    Tool,
    ToolArgumentsError,
    ToolContext,
    ToolNotCallableError,
    ToolSearchProcessor,
    ToolUnavailableError,
    run_processors,
    tool,
)

ISSUE = needs("create_issue", "repo", "title", description="Opens an issue.", namespace="github")
MAIL = make("send_mail", "Sends a letter.")
CATALOG = [ISSUE, MAIL, make("premium_report")]
FIT = {"repo": "octo/hello", "title": "Bug"}


@tool
def who(topic: str, context: ToolContext) -> dict:
    """Tell who asks."""
    return {
        "topic": topic,
        "thread": context.thread_id,
        "run": context.run_id,
        "call": context.tool_call_id,
        "data": dict(context.context),
    }


# -- a tool that is in the catalog but not loaded


async def test_arguments_that_fit_run_it_and_it_is_listed_from_the_next_step():
    run = Run(ToolSearchProcessor(CATALOG), thread="t")
    await run.step()
    assert await run.direct("create_issue", **FIT) == {"ran": "create_issue", **FIT}
    assert names(await run.step())[2:] == ["create_issue"]
    assert await run.processor.loaded(thread_id="t") == ["create_issue"]


async def test_arguments_that_do_not_fit_load_it_and_are_answered_with_its_parameters():
    run = Run(ToolSearchProcessor(CATALOG))
    answer = await run.direct("create_issue", repo=5)
    assert answer["parameters"] == ISSUE.wire_schema()
    assert "title" in answer["error"]
    assert answer["message"] == (
        "create_issue was not run. The tool is loaded now. "
        "Call it again with arguments that fit its parameters."
    )
    assert names(await run.step())[2:] == ["create_issue"]
    assert await run.call("create_issue", **FIT) == {"ran": "create_issue", **FIT}


async def test_a_tool_that_failed_at_a_call_of_its_own_is_not_said_to_have_been_left_alone():
    @tool
    async def create_both(repo: str) -> None:
        """Open two issues."""
        await ISSUE.call({"repo": repo})

    run = Run(ToolSearchProcessor([create_both, ISSUE]))
    with pytest.raises(ToolArgumentsError, match="title") as caught:
        await run.direct("create_both", repo="octo/hello")
    assert caught.value.ran


async def test_where_no_more_can_be_loaded_the_answer_does_not_say_that_it_is():
    run = Run(ToolSearchProcessor(CATALOG, max_loaded=1))
    await run.load("send_mail")
    answer = await run.direct("create_issue")
    assert "loaded now" not in answer["message"]
    assert answer["parameters"] == ISSUE.wire_schema()


async def test_an_unlisted_tool_is_admitted_by_load_and_then_by_active():
    policy = Policy()
    run = Run(ToolSearchProcessor(CATALOG, filter=policy))
    at = await run.step()
    found = await run.processor.resolve_call(at, "send_mail")
    assert policy.asked == [("load", "send_mail"), ("active", "send_mail")]
    await found.call({})
    assert policy.asked[2:] == [("active", "send_mail")]


@pytest.mark.parametrize("phase", ["load", "active"])
async def test_a_denied_tool_and_a_missing_one_are_answered_alike(phase):
    denying = ToolSearchProcessor(CATALOG, filter=Policy((phase, "premium_report")))
    without = ToolSearchProcessor(CATALOG[:2], filter=lambda request: True)
    texts = []
    for processor in (denying, without):
        run = Run(processor)
        assert await processor.resolve_call(await run.step(), "premium_report") is None
        texts.append(await run.direct("premium_report"))
    assert texts[0] == texts[1]
    assert "search_tools" in texts[0]


async def test_an_unknown_tool_is_answered_with_the_search_tool_and_suggestions_not_the_catalog():
    tools = [make(f"create_{n}") for n in range(200)]
    run = Run(ToolSearchProcessor([*tools, ISSUE], search_tool_name="find"))
    text = await run.direct("create_isue")
    assert text.startswith("Error: There is no tool 'create_isue'")
    assert "create_issue" in text
    assert "find" in text
    assert len(text) < 300


async def test_suggestions_hold_allowed_tools_only():
    run = Run(ToolSearchProcessor(CATALOG, filter=Policy(("load", "create_issue"))))
    assert "create_issue" not in (await run.direct("create_issues")).replace("'create_issues'", "")


@pytest.mark.parametrize("name", ["search_tools", "load_tool", "constructor", "__class__", "", "x" * 9999])
async def test_names_that_are_no_catalog_tool_resolve_to_nothing(name):
    run = Run(ToolSearchProcessor(CATALOG))
    assert await run.processor.resolve_call(await run.step(), name) is None
    assert len(await run.direct(name)) < 300


async def test_a_direct_call_gets_the_context_of_its_run():
    run = Run(ToolSearchProcessor([who]), thread="t", context={"plan": "pro"})
    at = await run.step()
    found = await run.processor.resolve_call(at, "who")
    given = ToolContext(thread_id="t", run_id=at.run_id, tool_call_id="call_7", context=at.context)
    assert (await found.call({"topic": "x"}, given))["call"] == "call_7"
    assert await found.call({"topic": "x"}) == {
        "topic": "x",
        "thread": "t",
        "run": at.run_id,
        "call": "",
        "data": {"plan": "pro"},
    }


async def test_a_definition_without_anything_to_run_says_so():
    run = Run(ToolSearchProcessor([Tool("outside", "Runs elsewhere.")]))
    with pytest.raises(ToolNotCallableError, match="outside"):
        await run.direct("outside")


async def test_what_a_tool_raises_is_its_own():
    def fails():
        raise OSError("disk full")

    run = Run(ToolSearchProcessor([make("fails", execute=fails)]))
    with pytest.raises(OSError, match="disk full"):
        await run.direct("fails")


# -- guarded copies


async def loaded_run(policy, *tools, **options):
    run = Run(ToolSearchProcessor(tools or CATALOG, filter=policy, **options), thread="t")
    await run.load("create_issue", "send_mail")
    return run, await run.step()


def as_call(guarded):
    return guarded.call(FIT)


def as_json(guarded):
    return guarded.call(json.dumps(FIT))


def as_execute(guarded):
    return guarded.execute(**FIT)


@pytest.mark.parametrize("way", [as_call, as_json, as_execute])
async def test_every_way_to_call_a_listed_tool_asks_active_at_that_moment(way):
    policy = Policy()
    _, at = await loaded_run(policy)
    guarded = listed(at, "create_issue")
    policy.requests.clear()
    assert await way(guarded) == {"ran": "create_issue", **FIT}
    assert policy.asked == [("active", "create_issue")]
    policy.deny("create_issue", "active")
    with pytest.raises(ToolUnavailableError, match="There is no tool 'create_issue'"):
        await way(guarded)
    policy.allow("create_issue")
    assert await way(guarded) == {"ran": "create_issue", **FIT}


async def test_a_plain_call_of_a_listed_tool_is_refused():
    @tool
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    run = Run(ToolSearchProcessor([double]))
    await run.load("double")
    guarded = listed(await run.step(), "double")
    assert double(4) == 8
    with pytest.raises(ToolNotCallableError, match=r"await tool\.call"):
        guarded(4)
    assert await guarded.call({"n": 4}) == 8


@pytest.mark.parametrize("change", [{"name": "other"}, {"description": "Changed."}])
async def test_a_changed_copy_of_a_listed_tool_is_guarded_too(change):
    policy = Policy()
    _, at = await loaded_run(policy)
    copy = listed(at, "create_issue").replace(**change)
    policy.deny("create_issue", "active")
    with pytest.raises(ToolUnavailableError):
        await copy.call(FIT)


async def test_a_flip_between_call_and_execution_is_refused_for_unlisted_tools():
    policy = Policy()
    run = Run(ToolSearchProcessor(CATALOG, filter=policy))
    found = await run.processor.resolve_call(await run.step(), "create_issue")
    policy.deny("create_issue", "active")
    with pytest.raises(ToolUnavailableError, match="There is no tool"):
        await found.call(FIT)
    assert names(await run.step()) == ["search_tools", "load_tool"]


async def test_a_refused_call_reads_like_a_missing_tool():
    policy = Policy()
    _, at = await loaded_run(policy)
    policy.deny("create_issue", "load", "active")
    with pytest.raises(ToolUnavailableError) as caught:
        await listed(at, "create_issue").call(FIT)
    without = Run(ToolSearchProcessor(CATALOG[1:], filter=lambda request: True))
    assert f"Error: {caught.value}" == await without.direct("create_issue")


async def test_pinned_tools_are_guarded_and_the_steps_own_are_not():
    policy = Policy()
    own = make("own")
    processor = ToolSearchProcessor([make("clock", pinned=True)], filter=policy)
    at = await processor.process_input_step(step(own))
    policy.deny("clock")
    policy.deny("own")
    with pytest.raises(ToolUnavailableError):
        await call(at, "clock")
    assert await call(at, "own") == {"ran": "own"}


async def test_a_guarded_copy_shows_what_the_tool_shows():
    _, at = await loaded_run(None)
    guarded = listed(at, "create_issue")
    assert guarded.to_openai() == ISSUE.to_openai()
    assert guarded.to_anthropic() == ISSUE.to_anthropic()
    assert guarded.to_mcp() == ISSUE.to_mcp()
    assert guarded.fingerprint == ISSUE.fingerprint
    assert hash(guarded) == hash(ISSUE)
    assert await guarded.target(FIT) == (guarded, FIT)


@pytest.mark.parametrize("arguments", [{"n": "4"}, {"n": 4}, '{"n": 4.0}', {"n": "four"}, {}])
async def test_a_guarded_copy_takes_the_arguments_that_the_tool_takes(arguments):
    @tool
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    run = Run(ToolSearchProcessor([double]))
    at = await run.step()
    found = await run.processor.resolve_call(at, "double")
    outcomes = []
    for subject in (found, double):
        try:
            outcomes.append(subject.check_arguments(arguments))
        except ToolArgumentsError as exc:
            outcomes.append(str(exc))
    assert outcomes[0] == outcomes[1]


async def test_arguments_of_a_listed_tool_that_do_not_fit_raise_as_the_tool_would():
    _, at = await loaded_run(None)
    with pytest.raises(ToolArgumentsError, match="title"):
        await listed(at, "create_issue").call({"repo": "x"})


async def test_a_listed_tool_called_without_a_context_gets_that_of_its_step():
    run = Run(ToolSearchProcessor([who]), thread="t", context={"plan": "pro"})
    await run.load("who")
    at = await run.step()
    assert (await call(at, "who", topic="x"))["data"] == {"plan": "pro"}


async def test_a_call_may_leave_its_arguments_out_as_any_tools_may():
    run, at = await loaded_run(None)
    assert await listed(at, "send_mail").call() == {"ran": "send_mail"}
    assert "empty" in (await listed(at, "search_tools").call())["message"]
    found = await run.processor.resolve_call(at, "premium_report")
    assert await found.call() == {"ran": "premium_report"}


async def test_resolving_leaves_the_listed_copies_alone():
    run, at = await loaded_run(None)
    again = await run.processor.process_input_step(at.replace(tools=()))
    assert names(again) == names(at)


# -- call mode


def call_mode(*tools, **options):
    return Run(ToolSearchProcessor(tools or CATALOG, mode="call", **options), thread="t")


@pytest.mark.parametrize(
    "given",
    [
        {"name": "create_issue", "arguments": FIT},
        {"name": "create_issue", "arguments": json.dumps(FIT)},
        {"name": " create_issue ", "arguments": FIT},
        {"name": "createIssue", "arguments": FIT},
        {"name": "github.create_issue", "arguments": FIT},
        {"tool_name": "create_issue", "parameters": FIT},
        {"tool": "create_issue", "args": FIT},
    ],
)
async def test_call_tool_runs_a_tool_by_name(given):
    run = call_mode()
    at = await run.step()
    assert await listed(at, "call_tool").call(given) == {"ran": "create_issue", **FIT}
    assert await listed(at, "call_tool").call(json.dumps(given)) == {"ran": "create_issue", **FIT}


@pytest.mark.parametrize("given", [{}, {"arguments": None}, {"arguments": {}}, {"arguments": ""}])
async def test_arguments_may_be_absent(given):
    assert await call_mode().call("call_tool", name="send_mail", **given) == {"ran": "send_mail"}


@pytest.mark.parametrize("arguments", [None, {"repo": 5}, '{"repo"', "[1, 2]", 7])
async def test_arguments_that_do_not_fit_are_answered_with_the_parameters(arguments):
    run = call_mode()
    answer = await run.call("call_tool", name="create_issue", arguments=arguments)
    assert answer["parameters"] == ISSUE.wire_schema()
    assert answer["error"]
    assert "loaded" not in answer["message"]
    assert names(await run.step()) == ["search_tools", "call_tool"]


@pytest.mark.parametrize("name", ["search_tools", "call_tool", " call_tool "])
async def test_meta_tools_are_refused(name):
    text = await call_mode().call("call_tool", name=name, arguments={"query": "x"})
    assert text == f"Error: {name.strip()} can't be run through call_tool: call it directly."


@pytest.mark.parametrize("name", ["", None, 5, ["send_mail"], "nowhere", "__class__", "load_tool"])
async def test_a_name_that_is_none_is_answered(name):
    text = await call_mode().call("call_tool", name=name)
    assert text.startswith("Error: There is no tool")
    assert "search_tools" in text


@pytest.mark.parametrize("phase", ["load", "active"])
async def test_call_tool_asks_load_and_active_and_answers_denied_as_missing(phase):
    denied = call_mode(filter=Policy((phase, "premium_report")))
    missing = call_mode(*CATALOG[:2], filter=lambda request: True)
    texts = [await run.call("call_tool", name="premium_report") for run in (denied, missing)]
    assert texts[0] == texts[1]


async def test_a_flip_after_the_look_up_is_refused_in_call_mode():
    asked = []

    def once(request):
        asked.append(request.phase)
        return asked.count("active") < 2

    with pytest.raises(ToolUnavailableError):
        await call_mode(filter=once).call("call_tool", name="send_mail")
    assert asked[:3] == ["load", "active", "active"]


async def test_call_tool_runs_tools_that_the_step_lists():
    policy = Policy()
    run = call_mode(*CATALOG, make("clock", pinned=True), filter=policy)
    at = await run.step(make("own"))
    assert await call(at, "call_tool", name="own") == {"ran": "own"}
    assert await call(at, "call_tool", name="clock") == {"ran": "clock"}
    policy.deny("clock")
    with pytest.raises(ToolUnavailableError):
        await call(at, "call_tool", name="clock")


async def test_approval_and_context_are_the_targets():
    danger = needs("drop_table", "table", requires_approval=True)
    at = await call_mode(danger, who).step()
    proxy = listed(at, "call_tool")
    assert not proxy.requires_approval
    target, arguments = await proxy.target({"name": "drop_table", "arguments": {"table": "users"}})
    assert (target.name, target.requires_approval, arguments) == ("drop_table", True, {"table": "users"})
    context = ToolContext(thread_id="t", run_id="r", tool_call_id="c", context={"plan": "pro"})
    answer = await proxy.call({"name": "who", "arguments": {"topic": "x"}}, context)
    assert answer == {"topic": "x", "thread": "t", "run": "r", "call": "c", "data": {"plan": "pro"}}


@pytest.mark.parametrize("phase", ["load", "active"])
async def test_the_proxy_itself_runs_nothing_that_needs_approval(phase):
    """A filter may deny when a call is looked up, for its time limit say, and admit when it is run."""
    policy = Policy((phase, "drop_table"))
    ran = []
    danger = make("drop_table", execute=lambda: ran.append("drop_table"), requires_approval=True)
    proxy = listed(await call_mode(danger, filter=policy).step(), "call_tool")
    target, arguments = await proxy.target({"name": "drop_table"})
    assert target is proxy
    policy.denied.clear()
    answer = await target.call(arguments)
    assert ran == []
    assert answer == "Error: drop_table needs the approval of a person, which was not given; it was not run."


@pytest.mark.parametrize("given", [{"name": "search_tools"}, {"name": "nowhere"}, {}, "nonsense", None])
async def test_what_the_proxy_answers_itself_is_its_own_target(given):
    proxy = listed(await call_mode().step(), "call_tool")
    target, _ = await proxy.target(given)
    assert target is proxy
    assert isinstance(await target.call(given), str)


async def test_a_proxy_does_not_run_another_proxy_whose_target_may_need_approval():
    danger = needs("drop_table", "table", requires_approval=True)
    inner = ToolSearchProcessor([danger], mode="call")
    outer = ToolSearchProcessor(
        CATALOG, mode="call", id="outer", search_tool_name="find", call_tool_name="run"
    )
    at = await run_processors([inner, outer], step(thread="t"))
    given = {"name": "call_tool", "arguments": {"name": "drop_table", "arguments": {"table": "users"}}}
    target, arguments = await listed(at, "run").target(given)
    assert target is listed(at, "run")
    assert await target.call(arguments) == "Error: call_tool can't be run through run: call it directly."


async def test_a_target_is_guarded():
    policy = Policy()
    proxy = listed(await call_mode(filter=policy).step(), "call_tool")
    target, arguments = await proxy.target({"name": "send_mail"})
    policy.deny("send_mail", "active")
    with pytest.raises(ToolUnavailableError):
        await target.call(arguments)


async def test_a_direct_call_in_call_mode_runs_and_lists_nothing():
    run = call_mode()
    assert await run.direct("send_mail") == {"ran": "send_mail"}
    assert names(await run.step()) == ["search_tools", "call_tool"]
    assert await run.processor.loaded(thread_id="t") == []

"""The searcher under the real agent: a scripted model searches, loads and calls."""

import json

import pytest

from tests.support import Policy, kept_runs, make, needs
from tool_search_processor import Agent, ConfigurationError, RunResult, ToolContext, ToolSearchProcessor, tool
from tool_search_processor.agent import ToolCallEvent
from tool_search_processor.testing import ScriptedModel, call, say

FILLER = [make(f"filler_{n}", f"Handles topic number {n}.") for n in range(200)]
ISSUE = needs("create_issue", "repo", "title", description="Opens an issue in a repository.")
MAIL = make("send_mail", "Sends a letter.")
PREMIUM = make("premium_report", "Writes a report on shares.")
CATALOG = [ISSUE, MAIL, PREMIUM, *FILLER]
FIT = {"repo": "octo/hello", "title": "Login is broken"}


@tool
def always_on(topic: str) -> str:
    """Answer at once."""
    return topic


def agent_with(script, *processors, **options):
    model = ScriptedModel(script)
    agent = Agent(name="a", model="scripted", completion=model, input_processors=processors, **options)
    return agent, model


def results(outcome):
    """Return the tool results of a run: decoded where they are JSON."""
    found = []
    for message in outcome.messages:
        if message["role"] == "tool":
            text = message["content"]
            found.append(json.loads(text) if text.startswith("{") else text)
    return found


DISCOVER = [
    call("search_tools", {"query": "open an issue"}),
    call("load_tool", {"tool_names": ["create_issue"]}),
    call("create_issue", FIT),
    say("Done."),
]


async def test_a_model_discovers_loads_and_calls():
    agent, model = agent_with(DISCOVER, ToolSearchProcessor(CATALOG), tools=[always_on], instructions="Help.")
    outcome = await agent.run("File a bug about the login page")
    searched, loaded, ran = results(outcome)
    assert searched["results"][0]["name"] == "create_issue"
    assert loaded["loaded"] == ["create_issue"]
    assert ran == {"ran": "create_issue", **FIT}
    assert (outcome.output, outcome.finish_reason, outcome.steps) == ("Done.", "stop", 4)
    first = ["search_tools", "load_tool", "always_on"]
    assert [request.tool_names for request in model.requests] == [
        first,
        first,
        [*first, "create_issue"],
        [*first, "create_issue"],
    ]
    assert all("search_tools" in request.system and "Help." in request.system for request in model.requests)
    assert model.requests[3].tools[-1] == ISSUE.to_openai()


async def test_the_figures_tell_what_was_saved():
    agent, model = agent_with(DISCOVER, ToolSearchProcessor(CATALOG), tools=[always_on])
    usage = (await agent.run("File a bug")).usage
    assert usage.definition_tokens_sent < 0.1 * usage.definition_tokens_full
    sent = sum(len(request.tools_bytes) for request in model.requests) / 4
    assert sent == pytest.approx(usage.definition_tokens_sent, rel=0.1)


async def test_a_thread_keeps_its_tools_and_another_does_not_have_them():
    processor = ToolSearchProcessor(CATALOG)
    agent, model = agent_with([*DISCOVER, say("again"), say("other"), say("anonymous")], processor)
    first = await agent.run("File a bug", thread_id="t")
    await agent.run("Another", thread_id="t", messages=first.messages)
    await agent.run("Another", thread_id="u")
    await agent.run("Another")
    assert [request.tool_names[2:] for request in model.requests[4:]] == [["create_issue"], [], []]


async def test_an_anonymous_run_leaves_nothing_in_the_processor():
    processor = ToolSearchProcessor(CATALOG)
    agent, _ = agent_with(DISCOVER, processor)
    await agent.run("File a bug")
    assert (await processor.stats())["threads"] == 0
    assert await kept_runs(processor) == 0


async def test_a_filter_by_plan():
    script = [
        call("search_tools", {"query": "premium_report"}),
        call("load_tool", {"tool_names": "premium_report"}),
        call("premium_report"),
        say("ok"),
    ]

    def by_plan(request):
        return request.context.get("plan") == "pro" or not request.tool_name.startswith("premium_")

    answers = {}
    for plan in ("pro", "free"):
        agent, model = agent_with(script, ToolSearchProcessor(CATALOG, filter=by_plan))
        answers[plan] = results(await agent.run("A report", context={"plan": plan}, thread_id="t"))
        assert ("premium_report" in model.requests[-1].tool_names) == (plan == "pro")
    searched, loaded, ran = answers["pro"]
    assert (searched["results"][0]["name"], searched["total"]) == ("premium_report", None)
    assert (loaded["loaded"], ran) == (["premium_report"], {"ran": "premium_report"})
    searched, loaded, ran = answers["free"]
    assert "premium_report" not in json.dumps(searched["results"])
    assert loaded["loaded"] == []
    assert ran.startswith("Error: There is no tool 'premium_report' to call.")


async def test_what_is_denied_between_listing_and_calling_reads_like_a_missing_tool():
    policy = Policy()

    def flip(request):
        policy.deny("send_mail")
        return call("send_mail")

    script = [call("load_tool", {"tool_names": ["send_mail"]}), flip, call("send_mail"), say("ok")]
    agent, model = agent_with(script, ToolSearchProcessor(CATALOG, filter=policy))
    outcome = await agent.run("Write")
    assert "send_mail" in model.requests[1].tool_names
    assert "send_mail" not in model.requests[2].tool_names
    _, flipped, missing = results(outcome)
    assert flipped == missing
    assert flipped.startswith("Error: There is no tool 'send_mail' to call.")


async def test_a_tool_called_right_after_the_search_runs():
    script = [call("search_tools", {"query": "letter"}), call("send_mail", {"to": "ann"}), say("ok")]
    agent, model = agent_with(script, ToolSearchProcessor(CATALOG))
    outcome = await agent.run("Write")
    assert results(outcome)[1] == {"ran": "send_mail", "to": "ann"}
    assert model.requests[2].tool_names[2:] == ["send_mail"]


async def test_a_tool_called_right_away_with_wrong_arguments_is_loaded_and_explained():
    script = [call("create_issue", {"repo": "x"}), call("create_issue", FIT), say("ok")]
    agent, model = agent_with(script, ToolSearchProcessor(CATALOG))
    told, ran = results(await agent.run("File a bug"))
    assert told["parameters"] == ISSUE.wire_schema()
    assert "title" in told["error"]
    assert ran == {"ran": "create_issue", **FIT}
    assert model.requests[1].tool_names[2:] == ["create_issue"]


async def test_a_tool_called_in_the_same_answer_as_its_loading_runs():
    script = [[call("load_tool", {"tool_names": ["send_mail"]}), call("send_mail")], say("ok")]
    agent, _ = agent_with(script, ToolSearchProcessor(CATALOG))
    loaded, ran = results(await agent.run("Write"))
    assert loaded["loaded"] + loaded["already_loaded"] == ["send_mail"]
    assert ran == {"ran": "send_mail"}


async def test_an_unknown_tool_is_answered_and_the_run_goes_on():
    agent, _ = agent_with([call("send_male"), say("ok")], ToolSearchProcessor(CATALOG))
    outcome = await agent.run("Write")
    (text,) = results(outcome)
    assert "send_mail" in text
    assert "search_tools" in text
    assert len(text) < 300
    assert outcome.output == "ok"


@pytest.mark.parametrize("arguments", ["", "null", "{broken", "[]", '"text"', '{"query": 5}'])
async def test_broken_arguments_of_meta_tools_never_end_a_run(arguments):
    script = [[call("search_tools", arguments), call("load_tool", arguments)], say("ok")]
    agent, _ = agent_with(script, ToolSearchProcessor(CATALOG))
    outcome = await agent.run("Write")
    assert outcome.output == "ok"
    assert all(results(outcome))


async def test_auto_load_needs_one_step_less():
    script = [
        call("search_tools", {"query": "open an issue", "limit": 1}),
        call("create_issue", FIT),
        say("ok"),
    ]
    agent, model = agent_with(script, ToolSearchProcessor(CATALOG, mode="auto_load"))
    outcome = await agent.run("File a bug")
    assert model.requests[1].tool_names == ["search_tools", "create_issue"]
    assert results(outcome)[1] == {"ran": "create_issue", **FIT}


async def test_in_call_mode_the_same_bytes_are_sent_at_every_step():
    script = [
        call("search_tools", {"query": "open an issue"}),
        call("call_tool", {"name": "create_issue", "arguments": {}}),
        call("call_tool", {"name": "create_issue", "arguments": FIT}),
        call("send_mail"),
        say("ok"),
    ]
    agent, model = agent_with(script, ToolSearchProcessor(CATALOG, mode="call"), tools=[always_on])
    outcome = await agent.run("File a bug", thread_id="t")
    assert len({request.tools_bytes for request in model.requests}) == 1
    searched, told, ran, direct = results(outcome)
    assert searched["results"][0]["parameters"] == ISSUE.wire_schema() == told["parameters"]
    assert ran == {"ran": "create_issue", **FIT}
    assert direct == {"ran": "send_mail"}


async def test_two_searchers_on_one_agent():
    finance = ToolSearchProcessor(
        [PREMIUM], id="finance", search_tool_name="search_finance", load_tool_name="load_finance"
    )
    script = [
        [call("search_tools", {"query": "letter"}), call("search_finance", {"query": "report on shares"})],
        [
            call("load_tool", {"tool_names": "send_mail"}),
            call("load_finance", {"tool_names": "premium_report"}),
        ],
        [call("send_mail"), call("premium_report")],
        say("ok"),
    ]
    agent, model = agent_with(script, ToolSearchProcessor([MAIL]), finance)
    outcome = await agent.run("Write a report", thread_id="t")
    assert model.requests[2].tool_names == [
        *("search_finance", "load_finance", "search_tools", "load_tool"),
        *("send_mail", "premium_report"),
    ]
    assert results(outcome)[4:] == [{"ran": "send_mail"}, {"ran": "premium_report"}]


async def test_the_second_searcher_resolves_calls_too():
    finance = ToolSearchProcessor(
        [PREMIUM], id="finance", search_tool_name="search_finance", load_tool_name="load_finance"
    )
    agent, _ = agent_with([call("premium_report"), say("ok")], ToolSearchProcessor([MAIL]), finance)
    assert results(await agent.run("Report")) == [{"ran": "premium_report"}]


@pytest.mark.parametrize("options", [{}, {"passthrough_tokens": 10_000}], ids=["loaded", "passed through"])
async def test_what_one_searcher_lists_under_the_name_of_anothers_meta_tool_ends_no_run(options, caplog):
    """A server may list a tool of any name at any time: the thread would be lost with it."""
    finance = ToolSearchProcessor(
        [PREMIUM], id="finance", search_tool_name="search_finance", load_tool_name="load_finance"
    )
    taken = make("search_finance", "Sends a letter.")
    script = [
        call("load_tool", {"tool_names": "search_finance"}),
        call("search_finance", {"query": "report on shares"}),
        say("ok"),
    ]
    agent, model = agent_with(script, ToolSearchProcessor([taken, MAIL], **options), finance)
    outcome = await agent.run("Report", thread_id="t")
    assert results(outcome)[1]["results"][0]["name"] == "premium_report"
    assert all(request.tool_names.count("search_finance") == 1 for request in model.requests)
    assert "'search_finance', which is the name of a meta-tool of 'finance'" in caplog.text


def test_two_searchers_with_equal_names_raise_at_construction():
    with pytest.raises(ConfigurationError, match=r"search_tools.*search_tool_name="):
        agent_with([], ToolSearchProcessor([MAIL]), ToolSearchProcessor([PREMIUM], id="finance"))


def test_an_agents_tool_with_a_meta_tools_name_raises_at_construction():
    with pytest.raises(ConfigurationError, match="search_tools"):
        agent_with([], ToolSearchProcessor([MAIL]), tools=[make("search_tools")])


async def test_a_loaded_tool_gets_the_context_of_the_run_and_of_the_call():
    seen = []

    @tool
    def who(context: ToolContext) -> str:
        """Tell who asks."""
        seen.append(context)
        return "noted"

    script = [
        call("who", id="direct"),
        call("who", id="listed"),
        call("call_x", {"name": "who"}, id="proxied"),
        say("ok"),
    ]
    proxying = ToolSearchProcessor(
        [who], mode="call", id="proxy", search_tool_name="search_x", call_tool_name="call_x"
    )
    agent, _ = agent_with(script, ToolSearchProcessor([who]), proxying)
    outcome = await agent.run("Who?", thread_id="t", context={"user": "ann"})
    assert [context.tool_call_id for context in seen] == ["direct", "listed", "proxied"]
    assert {context.thread_id for context in seen} == {"t"}
    assert {context.run_id for context in seen} == {outcome.run_id}
    assert all(context.context == {"user": "ann"} for context in seen)


DANGER = needs("drop_table", "table", description="Drops a table.", requires_approval=True)


@pytest.mark.parametrize(
    ("options", "script"),
    [
        (
            {},
            [call("load_tool", {"tool_names": "drop_table"}), call("drop_table", {"table": "users"}, id="c")],
        ),
        ({}, [call("drop_table", {"table": "users"}, id="c")]),
        (
            {"mode": "call"},
            [call("call_tool", {"name": "drop_table", "arguments": {"table": "users"}}, id="c")],
        ),
        (
            {"mode": "call"},
            [call("call_tool", {"name": "drop_table", "arguments": '{"table": "users"}'}, id="c")],
        ),
    ],
    ids=["loaded", "direct", "proxied", "proxied with arguments as text"],
)
@pytest.mark.parametrize("thread", ["t", None])
@pytest.mark.parametrize("cold", [False, True], ids=["same process", "new process"])
async def test_approval_survives_loading_and_resumes(options, script, thread, cold):
    agent, _ = agent_with([*script, say("ok")], ToolSearchProcessor([DANGER, *FILLER], **options))
    stopped = await agent.run("Clean up", thread_id=thread)
    assert stopped.finish_reason == "pending"
    (waiting,) = stopped.pending
    assert (waiting.call_id, waiting.name, waiting.arguments) == ("c", "drop_table", {"table": "users"})
    assert not any("drop_table" in str(result) and "ran" in result for result in results(stopped))
    if cold:
        agent, _ = agent_with([say("ok")], ToolSearchProcessor([DANGER, *FILLER], **options))
        stopped = RunResult.from_json(stopped.to_json())
    done = await agent.resume(stopped, {"c": True})
    assert done.output == "ok"
    assert results(done)[-1] == {"ran": "drop_table", "table": "users"}


WHOLE = make("wipe", parameters={"type": "array", "items": {"type": "integer"}}, requires_approval=True)


@pytest.mark.parametrize("given", [[1], "[1]", 5, "nonsense", [], "", '""', {"value": [1]}])
async def test_what_a_person_is_shown_of_a_proxied_call_can_be_kept(given):
    agent, _ = agent_with(
        [call("call_tool", {"name": "wipe", "arguments": given}), say("ok")],
        ToolSearchProcessor([WHOLE], mode="call"),
    )
    events = [event async for event in agent.stream("Clean up", thread_id="t")]
    shown = [event.arguments for event in events if isinstance(event, ToolCallEvent)]
    assert [type(arguments) for arguments in shown] == [dict]
    result = events[-1].result
    assert RunResult.from_json(result.to_json()) == result
    assert [call.arguments for call in result.pending] == (shown if result.pending else [])


async def test_a_refused_approval_is_told_to_the_model():
    agent, _ = agent_with([call("drop_table", {"table": "users"}), say("ok")], ToolSearchProcessor([DANGER]))
    stopped = await agent.run("Clean up", thread_id="t")
    done = await agent.resume(stopped, {stopped.pending[0].call_id: "not on a Friday"})
    assert "not on a Friday" in results(done)[-1]


async def test_policy_is_asked_again_when_a_run_is_resumed():
    policy = Policy()
    agent, _ = agent_with(
        [call("drop_table", {"table": "users"}), say("ok")], ToolSearchProcessor([DANGER], filter=policy)
    )
    stopped = await agent.run("Clean up", thread_id="t")
    policy.deny("drop_table", "active")
    done = await agent.resume(stopped, {stopped.pending[0].call_id: True})
    assert results(done)[-1].startswith("Error: There is no tool 'drop_table' to call.")


PROXIED = [
    call("call_tool", {"name": "drop_table", "arguments": {"table": "users"}}, id="c"),
    call("call_tool", {"name": "drop_table", "arguments": {"table": "roles"}}, id="d"),
]


async def test_a_proxied_call_whose_tool_is_gone_when_its_run_goes_on_is_answered_so():
    policy = Policy()
    agent, _ = agent_with([PROXIED, say("ok")], ToolSearchProcessor([DANGER], mode="call", filter=policy))
    stopped = await agent.run("Clean up", thread_id="t")
    policy.deny("drop_table")
    done = await agent.resume(stopped, {"c": True, "d": False})
    gone, refused = results(done)
    assert gone.startswith("Error: There is no tool 'drop_table' to call."), "the call has not changed"
    assert "refused" in refused


async def test_a_proxied_call_keeps_waiting_as_it_was_shown_while_its_tool_is_gone():
    policy = Policy()
    agent, _ = agent_with([PROXIED, say("ok")], ToolSearchProcessor([DANGER], mode="call", filter=policy))
    stopped = await agent.run("Clean up", thread_id="t")
    policy.deny("drop_table")
    waiting = await agent.resume(stopped, {"c": "no"})
    assert waiting.pending == stopped.pending[1:]
    policy.denied.clear()
    done = await agent.resume(waiting, {"d": True})
    assert results(done)[-1] == {"ran": "drop_table", "table": "roles"}


async def test_a_step_tool_of_the_agent_is_found_loaded_and_run():
    script = [
        call("search_tools", {"query": "answer at once"}),
        call("load_tool", {"tool_names": ["always_on"]}),
        call("always_on", {"topic": "x"}),
        say("ok"),
    ]
    processor = ToolSearchProcessor(FILLER, include_step_tools=True)
    agent, model = agent_with(script, processor, tools=[always_on])
    outcome = await agent.run("Hello", thread_id="t")
    assert results(outcome)[2] == "x"
    assert model.requests[0].tool_names == ["search_tools", "load_tool"]
    assert model.requests[2].tool_names == ["search_tools", "load_tool", "always_on"]


async def test_a_model_that_goes_on_searching_is_told_so():
    script = [*[call("search_tools", {"query": "letter"})] * 3, say("ok")]
    agent, _ = agent_with(script, ToolSearchProcessor(CATALOG))
    messages = [result["message"] for result in results(await agent.run("Write"))]
    assert ["Stop searching" in message for message in messages] == [False, True, True]


@pytest.mark.parametrize(
    ("options", "written", "loaded"),
    [
        ({}, call("drop_table", {"tabel": "users"}), True),
        ({"mode": "call"}, call("call_tool", {"name": "drop_table", "arguments": {}}), False),
    ],
    ids=["direct", "proxied"],
)
async def test_nobody_approves_wrong_arguments_and_the_tool_is_loaded_and_explained(options, written, loaded):
    processor = ToolSearchProcessor([DANGER, *FILLER], **options)
    agent, model = agent_with([written, say("ok")], processor)
    result = await agent.run("Clean up", thread_id="t")
    assert (result.output, result.pending) == ("ok", [])
    (answer,) = results(result)
    assert list(answer) == ["error", "parameters", "message"]
    assert answer["parameters"] == DANGER.parameters
    assert ("The tool is loaded now." in answer["message"]) is loaded
    assert ("drop_table" in model.requests[1].tool_names) is loaded


@pytest.mark.parametrize("flipped", [False, True], ids=["denied at once", "denied after it was found"])
async def test_what_policy_denies_is_not_explained_either(flipped):
    policy = Policy()
    policy.deny("drop_table", "active")

    def allow_once(request):
        # Allowed when the call is looked up, denied when its arguments turn out to be wrong.
        asked = [item for item in policy.asked if item == ("active", "drop_table")]
        return policy(request) or (flipped and not asked)

    agent, model = agent_with(
        [call("drop_table", {}), say("ok")], ToolSearchProcessor([DANGER, *FILLER], filter=allow_once)
    )
    (answer,) = results(await agent.run("Clean up", thread_id="t"))
    assert "There is no tool 'drop_table' to call." in answer
    assert "drop_table" not in model.requests[1].tool_names


@pytest.mark.parametrize("arguments", ["[3]", "3", '"loud"', '{"level": ', '{"level": "loud"}', "null"])
async def test_a_call_of_an_unlisted_tool_that_can_not_run_loads_it_and_shows_its_parameters(arguments):
    def set_volume(level: int) -> str:
        """Set the volume."""
        return f"volume {level}"

    model = ScriptedModel([call("set_volume", arguments), "ok"])
    agent = Agent("a", "m", completion=model, input_processors=[ToolSearchProcessor([set_volume])])
    result = await agent.run("louder")
    told = json.loads(result.messages[2]["content"])
    assert told["parameters"]["properties"] == {"level": {"type": "integer"}}
    assert told["message"].startswith("set_volume was not run. The tool is loaded now.")
    assert model.requests[1].tool_names == ["search_tools", "load_tool", "set_volume"]


@pytest.mark.parametrize("arguments", ["[3]", '{"level": '])
async def test_a_call_of_a_tool_that_nobody_knows_is_told_so_whatever_its_arguments(arguments):
    model = ScriptedModel([call("set_colour", arguments), "ok"])
    agent = Agent("a", "m", completion=model, input_processors=[ToolSearchProcessor([])])
    result = await agent.run("redder")
    assert "search_tools" in result.messages[2]["content"]

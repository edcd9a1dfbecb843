"""`ToolSearchCapability` and `search_strategy` in agents of pydantic-ai, with its scripted models."""

import asyncio
import json
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai", reason='needs pip install "tool-search-processor[pydantic-ai]"')

from pydantic_ai import (
    Agent,
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    ModelRetry,
    RunContext,
)
from pydantic_ai import Tool as TheirTool
from pydantic_ai.capabilities import Capability, ToolSearch
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import (
    ImageUrl,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset

from tests.support import kept_runs
from tests.test_migrations import run_section
from tool_search_processor import (
    ConfigurationError,
    MemoryStore,
    ReservedToolNameError,
    Tool,
    ToolContext,
    ToolSearchProcessor,
)
from tool_search_processor.adapters.pydantic_ai import ToolSearchCapability, search_strategy
from tool_search_processor.adapters.pydantic_ai_messages import openai_messages
from tool_search_processor.session.foreign_tools import ForeignTool, run_by_framework

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ADA = {"user": "ada"}


def forecast(arguments, context: ToolContext):
    return f"sunny in {arguments['city']} for {context.context.get('user')}"


def weather(**fields):
    return Tool("weather_forecast", "Tells the weather of a city.", CITY, forecast, **fields)


def catalog():
    others = [
        Tool(
            f"{service}_{verb}_issue",
            f"{verb.title()} an issue in {service}.",
            {"type": "object"},
            lambda: "ok",
        )
        for service in ("github", "jira")
        for verb in ("create", "list", "delete")
    ]
    return [weather(), *others]


def scripted(*replies):
    """Return a model that answers with these replies, and the list of the tools that it was offered."""
    script, offered = iter(replies), []

    def answer(messages, info):
        offered.append([tool.name for tool in info.function_tools])
        reply = next(script)
        if isinstance(reply, str):
            return ModelResponse([TextPart(reply)])
        calls = reply if isinstance(reply, list) else [reply]
        return ModelResponse([ToolCallPart(name, arguments) for name, arguments in calls])

    return FunctionModel(answer), offered


SEARCH = ("search_tools", {"query": "weather of a city"})
LOAD = ("load_tool", {"tool_names": ["weather_forecast"]})
CALL = ("weather_forecast", {"city": "Rome"})
META = ["search_tools", "load_tool"]


def agent_of(search, *replies, hide_own=False, context=None, **options):
    model, offered = scripted(*replies)
    capability = ToolSearchCapability(search, hide_own=hide_own, context=context)
    return Agent(model, capabilities=[capability], **options), offered


def results(result):
    """Return the answers of tools in a run, by the tool's name; the last of each."""
    parts = [part for message in result.all_messages() for part in message.parts]
    return {part.tool_name: part for part in parts if isinstance(part, ToolReturnPart)}


@pytest.fixture
def loop_of_their_own():
    """Close the event loop that `run_sync` leaves open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


class TestSearchLoadCall:
    async def test_a_tool_is_found_loaded_and_called(self):
        agent, offered = agent_of(ToolSearchProcessor(catalog()), SEARCH, LOAD, CALL, "done")
        result = await agent.run("weather?", deps=ADA)
        assert result.output == "done"
        assert offered == [META, META, [*META, "weather_forecast"], [*META, "weather_forecast"]]
        assert json.loads(results(result)["search_tools"].content)["results"][0]["name"] == "weather_forecast"
        assert results(result)["weather_forecast"].content == "sunny in Rome for ada"

    async def test_the_instruction_stands_in_the_request_beside_those_of_the_agent(self):
        agent, _ = agent_of(ToolSearchProcessor(catalog()), "done", instructions="Be brief.")
        result = await agent.run("hi", deps=ADA)
        assert "Be brief." in result.all_messages()[0].instructions
        assert "search_tools" in result.all_messages()[0].instructions

    async def test_mode_auto_load(self):
        search = ToolSearchProcessor(catalog(), mode="auto_load", top_k=1)
        agent, offered = agent_of(search, SEARCH, CALL, "done")
        result = await agent.run("weather?", deps=ADA)
        assert offered == [["search_tools"], *[["search_tools", "weather_forecast"]] * 2]
        assert results(result)["weather_forecast"].content == "sunny in Rome for ada"

    async def test_mode_call_keeps_the_list(self):
        call = ("call_tool", {"name": "weather_forecast", "arguments": {"city": "Rome"}})
        agent, offered = agent_of(ToolSearchProcessor(catalog(), mode="call"), SEARCH, call, "done")
        result = await agent.run("weather?", deps=ADA)
        assert offered == [["search_tools", "call_tool"]] * 3
        assert results(result)["call_tool"].content == "sunny in Rome for ada"

    async def test_parallel_calls_of_one_reply(self):
        calls = [("weather_forecast", {"city": city}) for city in ("Rome", "Oslo", "Lima")]
        agent, _ = agent_of(ToolSearchProcessor(catalog()), LOAD, calls, "done")
        messages = (await agent.run("weather?", deps=ADA)).all_messages()
        parts = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        assert [part.content for part in parts[1:]] == [
            f"sunny in {city} for ada" for city in ("Rome", "Oslo", "Lima")
        ]

    async def test_streaming(self):
        steps = iter([LOAD, CALL, "all done"])

        async def stream(messages, info):
            step = next(steps)
            if isinstance(step, str):
                for word in step.split():
                    yield f"{word} "
            else:
                yield {0: DeltaToolCall(step[0], json.dumps(step[1]), tool_call_id=step[0])}

        capability = ToolSearchCapability(ToolSearchProcessor(catalog()))
        agent = Agent(FunctionModel(stream_function=stream), capabilities=[capability])
        async with agent.run_stream("weather?", deps=ADA) as streamed:
            assert [text async for text in streamed.stream_text(delta=True, debounce_by=None)] == [
                "all ",
                "done ",
            ]
        assert results(streamed)["weather_forecast"].content == "sunny in Rome for ada"

    def test_run_sync(self, loop_of_their_own):
        agent, _ = agent_of(ToolSearchProcessor(catalog()), LOAD, CALL, "done")
        assert agent.run_sync("weather?", deps=ADA).output == "done"

    async def test_their_test_model(self):
        capability = ToolSearchCapability(ToolSearchProcessor(catalog()))
        agent = Agent(TestModel(call_tools=["search_tools"]), capabilities=[capability])
        assert "results" in (await agent.run("weather?", deps=ADA)).output

    async def test_preloads_for_the_users_message(self):
        agent, offered = agent_of(ToolSearchProcessor(catalog(), preload=1), "done")
        await agent.run("the weather of a city", deps=ADA)
        assert offered == [[*META, "weather_forecast"]]

    async def test_a_models_mistake_is_a_failed_answer_and_ends_no_run(self):
        wrong = ("weather_forecast", {"town": "Rome"})
        agent, _ = agent_of(ToolSearchProcessor(catalog()), LOAD, wrong, wrong, wrong, "done")
        result = await agent.run("weather?", deps=ADA)
        assert results(result)["weather_forecast"].outcome == "failed"
        assert "city" in results(result)["weather_forecast"].content

    async def test_a_call_of_an_unlisted_tool_is_refused_by_pydantic_ai(self):
        agent, _ = agent_of(ToolSearchProcessor(catalog()), CALL, CALL, "done")
        with pytest.raises(UnexpectedModelBehavior):
            await agent.run("weather?", deps=ADA)


class TestTurns:
    async def test_the_next_turn_lists_what_was_loaded(self):
        search = ToolSearchProcessor(catalog())
        agent, offered = agent_of(search, LOAD, "done", "again")
        first = await agent.run("weather?", deps=ADA)
        await agent.run("and now?", deps=ADA, message_history=first.all_messages())
        assert offered[-1] == [*META, "weather_forecast"]

    async def test_a_new_process_lists_what_was_loaded(self, tmp_path):
        agent, _ = agent_of(ToolSearchProcessor(catalog()), LOAD, "done")
        (tmp_path / "history.json").write_bytes((await agent.run("weather?", deps=ADA)).all_messages_json())
        program = f"""
import sys
from pathlib import Path
from pydantic_ai import ModelMessagesTypeAdapter
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from tests.adapters.frameworks.test_pydantic_ai import *
messages = ModelMessagesTypeAdapter.validate_json(Path("history.json").read_bytes())
agent, offered = agent_of(ToolSearchProcessor(catalog()), CALL, "done")
result = agent.run_sync("and now?", deps=ADA, message_history=messages)
print(offered[0], results(result)["weather_forecast"].content)
"""
        command = [sys.executable, "-c", program]
        process = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, stdout=asyncio.subprocess.PIPE)
        said, _ = await process.communicate()
        assert said.decode() == f"{[*META, 'weather_forecast']} sunny in Rome for ada\n"

    async def test_a_given_store_keeps_loads_by_conversation(self):
        search = ToolSearchProcessor(catalog(), store=MemoryStore())
        agent, offered = agent_of(search, LOAD, "done", "again", "other")
        await agent.run("weather?", deps=ADA, conversation_id="c1")
        await agent.run("and now?", deps=ADA, conversation_id="c1")
        await agent.run("and now?", deps=ADA, conversation_id="c2")
        assert offered[-2:] == [[*META, "weather_forecast"], META]

    async def test_concurrent_runs_dont_mix(self):
        search = ToolSearchProcessor(catalog(), filter=lambda request: request.context["user"] == "ada")
        capability = ToolSearchCapability(search)

        async def run(user):
            model, offered = scripted(LOAD, "done")
            result = await Agent(model, capabilities=[capability]).run("weather?", deps={"user": user})
            return offered, json.loads(results(result)["load_tool"].content)["loaded"]

        answers = await asyncio.gather(*(run(user) for user in ("ada", "bob") * 10))
        assert answers[::2] == [([META, [*META, "weather_forecast"]], ["weather_forecast"])] * 10
        assert answers[1::2] == [([META, META], [])] * 10

    async def test_a_run_that_fails_leaves_nothing(self):
        async def fail(messages, info):
            raise RuntimeError("no model")

        capability = ToolSearchCapability(ToolSearchProcessor(catalog()))
        with pytest.raises(RuntimeError):
            await Agent(FunctionModel(fail), capabilities=[capability]).run("hi", deps=ADA)
        assert await kept_runs(capability._pipeline) == 0

    async def test_a_run_that_is_cancelled_leaves_nothing(self):
        began = asyncio.Event()

        async def hang(messages, info):
            if len(messages) == 1:
                return ModelResponse([ToolCallPart(*LOAD)])
            began.set()
            return await asyncio.Event().wait()

        capability = ToolSearchCapability(ToolSearchProcessor(catalog()))
        run = asyncio.create_task(Agent(FunctionModel(hang), capabilities=[capability]).run("hi", deps=ADA))
        await began.wait()
        assert await kept_runs(capability._pipeline) == 1
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert await kept_runs(capability._pipeline) == 0


@dataclass
class Deps:
    user: str


class TestPolicy:
    @pytest.mark.parametrize("phase", ["search", "load", "active"])
    async def test_a_denied_tool_is_not_listed(self, phase):
        search = ToolSearchProcessor(catalog(), filter=lambda request: request.phase != phase)
        agent, offered = agent_of(search, SEARCH, LOAD, "done")
        result = await agent.run("weather?", deps=ADA)
        found = json.loads(results(result)["search_tools"].content)["results"]
        assert (found == []) is (phase == "search")
        assert offered[-1] == ([*META, "weather_forecast"] if phase == "search" else META)

    async def test_what_is_denied_since_it_was_listed_doesnt_run(self):
        denied = set()
        search = ToolSearchProcessor(catalog(), filter=lambda request: request.tool_name not in denied)
        script = iter([LOAD, CALL, "done"])

        def answer(messages, info):
            reply = next(script)
            if reply is CALL:
                denied.add("weather_forecast")
            if isinstance(reply, str):
                return ModelResponse([TextPart(reply)])
            return ModelResponse([ToolCallPart(*reply)])

        agent = Agent(FunctionModel(answer), capabilities=[ToolSearchCapability(search)])
        result = await agent.run("weather?", deps=ADA)
        assert results(result)["weather_forecast"].outcome == "failed"
        assert "sunny" not in results(result)["weather_forecast"].content

    @pytest.mark.parametrize(
        ("deps", "context"),
        [
            (ADA, None),
            (Deps("ada"), None),
            ("ada", lambda ctx: {"user": ctx.deps}),
            (None, ADA),
        ],
    )
    async def test_the_context_reaches_filter_and_tools(self, deps, context):
        search = ToolSearchProcessor(catalog(), filter=lambda request: request.context.get("user") == "ada")
        agent, _ = agent_of(search, LOAD, CALL, "done", context=context)
        result = await agent.run("weather?", deps=deps)
        assert results(result)["weather_forecast"].content == "sunny in Rome for ada"

    async def test_a_context_may_be_made_by_an_async_function(self):
        async def context(ctx):
            return {"user": ctx.deps}

        agent, _ = agent_of(ToolSearchProcessor(catalog()), LOAD, CALL, "done", context=context)
        result = await agent.run("weather?", deps="eve")
        assert results(result)["weather_forecast"].content == "sunny in Rome for eve"

    async def test_deps_without_names_are_refused_with_what_to_do(self):
        agent, _ = agent_of(ToolSearchProcessor(catalog()), "done")
        with pytest.raises(ConfigurationError, match="context="):
            await agent.run("weather?", deps="ada")

    async def test_the_context_is_that_of_the_moment(self):
        who = Deps("ada")

        def log_out() -> str:
            """End the session."""
            who.user = "nobody"
            return "bye"

        search = ToolSearchProcessor(catalog(), filter=lambda request: request.context["user"] == "ada")
        agent, offered = agent_of(search, LOAD, ("log_out", {}), CALL, "done", tools=[log_out])
        result = await agent.run("hi", deps=who)
        assert ["weather_forecast" in names for names in offered] == [False, True, False, False]
        assert "Unknown tool name" in str(results(result)["weather_forecast"].content)


@pytest.mark.parametrize("options", [{"search": [weather()]}, {"context": "ada"}])
def test_options_that_cant_work_are_refused_at_once(options):
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        ToolSearchCapability(**{"search": ToolSearchProcessor(catalog()), **options})


APPROVED = {"output_type": [str, DeferredToolRequests]}


async def approve(agent, result, answer):
    ids = [call.tool_call_id for call in result.output.approvals]
    return await agent.run(
        message_history=result.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals=dict.fromkeys(ids, answer)),
        deps=ADA,
    )


class TestApproval:
    @pytest.mark.parametrize("answer", [True, False])
    async def test_ours_waits_and_is_listed_again_by_the_run_that_resumes(self, answer):
        search = ToolSearchProcessor([weather(requires_approval=True)])
        agent, offered = agent_of(search, LOAD, CALL, "done", **APPROVED)
        first = await agent.run("weather?", deps=ADA)
        assert [call.tool_name for call in first.output.approvals] == ["weather_forecast"]
        result = await approve(agent, first, answer)
        assert result.output == "done"
        assert offered[-1] == [*META, "weather_forecast"]
        assert ("sunny" in results(result)["weather_forecast"].content) is answer

    async def test_a_target_of_the_call_tool_waits_too(self):
        search = ToolSearchProcessor([weather(requires_approval=True)], mode="call")
        call = ("call_tool", {"name": "weather_forecast", "arguments": {"city": "Rome"}})
        agent, _ = agent_of(search, call, "done", **APPROVED)
        first = await agent.run("weather?", deps=ADA)
        (asked,) = first.output.approvals
        assert first.output.metadata[asked.tool_call_id] == {
            "tool_name": "weather_forecast",
            "arguments": {"city": "Rome"},
        }
        result = await approve(agent, first, answer=True)
        assert results(result)["call_tool"].content == "sunny in Rome for ada"

    async def test_nobody_is_asked_about_a_call_that_cant_run(self):
        search = ToolSearchProcessor([weather(requires_approval=True)])
        agent, _ = agent_of(search, LOAD, ("weather_forecast", {}), "done", **APPROVED)
        result = await agent.run("weather?", deps=ADA)
        assert result.output == "done"
        assert results(result)["weather_forecast"].outcome == "failed"

    async def test_policy_is_asked_again_after_the_approval(self):
        denied = set()
        search = ToolSearchProcessor(
            [weather(requires_approval=True)], filter=lambda request: request.tool_name not in denied
        )
        agent, _ = agent_of(search, LOAD, CALL, "done", **APPROVED)
        first = await agent.run("weather?", deps=ADA)
        denied.add("weather_forecast")
        result = await approve(agent, first, answer=True)
        assert "sunny" not in str(result.all_messages())


def whoami(ctx: RunContext[dict], question: str, day: date, n: int = 1) -> str:
    """Say who the user is."""
    return f"{ctx.deps['user']} {day.isoformat()} {n!r} {ctx.tool_name}"


def greet(name: str) -> str:
    """Greet a person."""
    return f"hello {name}"


WHO = ("whoami", {"question": "a", "day": "2026-11-28", "n": "3"})
LOAD_WHO = ("load_tool", {"tool_names": ["whoami"]})


class TestOwnTools:
    async def test_own_tools_stay_listed_behind_the_meta_tools(self):
        agent, offered = agent_of(ToolSearchProcessor(catalog()), WHO, LOAD, CALL, "done", tools=[whoami])
        result = await agent.run("who?", deps=ADA)
        assert offered[-1] == [*META, "whoami", "weather_forecast"]
        assert results(result)["whoami"].content == "ada 2026-11-28 3 whoami"

    async def test_hidden_ones_are_found_and_run_by_pydantic_ai_itself(self):
        search = ToolSearchProcessor(catalog())
        who = ("search_tools", {"query": "who is the user"})
        agent, offered = agent_of(search, who, LOAD_WHO, WHO, "done", tools=[whoami, greet], hide_own=True)
        result = await agent.run("who?", deps=ADA)
        assert offered == [META, META, [*META, "whoami"], [*META, "whoami"]]
        assert json.loads(results(result)["search_tools"].content)["results"][0]["name"] == "whoami"
        assert results(result)["whoami"].content == "ada 2026-11-28 3 whoami"

    async def test_a_hidden_one_is_gated_at_each_phase(self):
        for phase in ("search", "load", "active"):
            search = ToolSearchProcessor(filter=lambda request, phase=phase: request.phase != phase)
            who = ("search_tools", {"query": "who is the user"})
            agent, offered = agent_of(search, who, LOAD_WHO, "done", tools=[whoami], hide_own=True)
            result = await agent.run("who?", deps=ADA)
            found = json.loads(results(result)["search_tools"].content)["results"]
            assert (found == []) is (phase == "search")
            assert (offered[-1] == META) is (phase != "search")

    async def test_a_hidden_one_that_is_denied_since_doesnt_run(self):
        ran, denied = [], set()

        def wipe(path: str) -> str:
            """Wipe a path."""
            ran.append(path)
            return "wiped"

        def veto(ctx: RunContext[dict]) -> str:
            """Deny what comes after."""
            denied.add("wipe")
            return "denied"

        search = ToolSearchProcessor(filter=lambda request: request.tool_name not in denied)
        load = ("load_tool", {"tool_names": ["wipe", "veto"]})
        both = [("veto", {}), ("wipe", {"path": "/"})]
        options = {"tools": [TheirTool(veto, sequential=True), wipe], "hide_own": True}
        agent, _ = agent_of(search, load, both, "done", **options)
        result = await agent.run("wipe", deps=ADA)
        assert ran == []
        assert results(result)["wipe"].outcome == "failed"

    async def test_retries_and_approvals_of_hidden_tools_stay_theirs(self):
        tries = []

        def fussy(word: str) -> str:
            """Be fussy about words."""
            tries.append(word)
            if len(tries) == 1:
                raise ModelRetry("say it otherwise")
            return "fine"

        def pay(ctx: RunContext[dict], amount: int) -> str:
            """Pay money."""
            if not ctx.tool_call_approved:
                raise ApprovalRequired
            return f"paid {amount}"

        load = ("load_tool", {"tool_names": ["fussy", "pay", "greet"]})
        script = (load, ("fussy", {"word": "a"}), ("fussy", {"word": "b"}), ("pay", {"amount": 3}), "done")
        tools = [fussy, pay, TheirTool(greet, requires_approval=True)]
        agent, _ = agent_of(ToolSearchProcessor(), *script, tools=tools, hide_own=True, **APPROVED)
        first = await agent.run("pay", deps=ADA)
        assert [call.tool_name for call in first.output.approvals] == ["pay"]
        assert tries == ["a", "b"]
        result = await approve(agent, first, answer=True)
        assert results(result)["pay"].content == "paid 3"

    async def test_a_hidden_tool_with_their_requires_approval_waits(self):
        load = ("load_tool", {"tool_names": ["greet"]})
        tools = [TheirTool(greet, requires_approval=True)]
        script = (load, ("greet", {"name": "Bo"}), "done")
        agent, _ = agent_of(ToolSearchProcessor(), *script, tools=tools, hide_own=True, **APPROVED)
        first = await agent.run("greet", deps=ADA)
        result = await approve(agent, first, answer=True)
        assert results(result)["greet"].content == "hello Bo"

    async def test_mode_call_validates_as_they_do(self):
        call = ("call_tool", {"name": WHO[0], "arguments": {**WHO[1], "n": 3}})
        search = ToolSearchProcessor(mode="call")
        agent, offered = agent_of(search, call, "done", tools=[whoami], hide_own=True)
        result = await agent.run("who?", deps=ADA)
        assert offered == [["search_tools", "call_tool"]] * 2
        assert results(result)["call_tool"].content == "ada 2026-11-28 3 whoami"

    async def test_mode_call_asks_for_their_approvals(self):
        call = ("call_tool", {"name": "greet", "arguments": {"name": "Bo"}})
        tools = [TheirTool(greet, requires_approval=True)]
        search = ToolSearchProcessor(mode="call")
        agent, _ = agent_of(search, call, "done", tools=tools, hide_own=True, **APPROVED)
        first = await agent.run("greet", deps=ADA)
        assert len(first.output.approvals) == 1
        result = await approve(agent, first, answer=True)
        assert results(result)["call_tool"].content == "hello Bo"

    @pytest.mark.parametrize("mode", ["load", "call"])
    async def test_tools_that_run_outside_are_theirs(self, mode):
        outside = ExternalToolset([ToolDefinition(name="ask_user", description="Ask the user.")])
        script = [("load_tool", {"tool_names": ["ask_user"]}), ("ask_user", {})]
        search = ToolSearchProcessor(mode=mode)
        agent, _ = agent_of(search, *script[mode == "call" :], toolsets=[outside], hide_own=True, **APPROVED)
        result = await agent.run("ask", deps=ADA)
        assert [call.tool_name for call in result.output.calls] == ["ask_user"]

    async def test_a_tool_is_made_once_for_all_steps(self):
        search = ToolSearchProcessor()
        model, _ = scripted(("search_tools", {"query": "greet"}), "done", "done")
        capability = ToolSearchCapability(search, hide_own=True)
        agent = Agent(model, tools=[greet], capabilities=[capability])
        await agent.run("hi", deps=ADA)
        (kept,) = capability._own._tools._kept.values()
        await agent.run("hi", deps=ADA)
        assert list(capability._own._tools._kept.values()) == [kept]
        assert next(iter(capability._own._tools._kept.values())) is kept


class TestNames:
    @pytest.mark.parametrize("hide_own", [False, True])
    async def test_an_own_tool_with_a_meta_tools_name_is_refused(self, hide_own):
        def load_tool(x: int) -> str:
            """Do something else."""
            return "x"

        agent, _ = agent_of(ToolSearchProcessor(catalog()), "done", tools=[load_tool], hide_own=hide_own)
        with pytest.raises(ReservedToolNameError, match="load_tool"):
            await agent.run("hi", deps=ADA)

    async def test_a_hidden_tool_that_cant_be_found_is_not_listed(self, caplog):
        tools = [TheirTool(greet, name="greet.kindly")]
        call = ("greet.kindly", {"name": "Bo"})
        agent, offered = agent_of(ToolSearchProcessor(catalog()), call, "done", tools=tools, hide_own=True)
        await agent.run("hi", deps=ADA)
        assert offered == [META, META]
        assert "'greet.kindly'" in caplog.text

    @pytest.mark.parametrize("mode", ["load", "call"])
    @pytest.mark.parametrize("hide_own", [False, True])
    async def test_a_tool_of_another_framework_runs_outside_of_it(self, mode, hide_own):
        run = run_by_framework(lambda arguments: f"hello {arguments['city']}")
        tool = ForeignTool("greet_city", "Greets a city.", CITY, run, original=object())
        steps = [("load_tool", {"tool_names": ["greet_city"]}), ("greet_city", {"city": "Rome"})]
        if mode == "call":
            steps = [("call_tool", {"name": "greet_city", "arguments": {"city": "Rome"}})]
        agent, _ = agent_of(ToolSearchProcessor([tool], mode=mode), *steps, "done", hide_own=hide_own)
        result = await agent.run("hi", deps=ADA)
        assert results(result)[steps[-1][0]].content == "hello Rome"

    async def test_an_own_tool_hides_a_catalog_tool_of_its_name(self):
        def weather_forecast(city: str) -> str:
            """Tell the weather otherwise."""
            return f"rain in {city}"

        agent, offered = agent_of(ToolSearchProcessor(catalog()), CALL, "done", tools=[weather_forecast])
        result = await agent.run("hi", deps=ADA)
        assert offered[0] == [*META, "weather_forecast"]
        assert results(result)["weather_forecast"].content == "rain in Rome"

    async def test_their_own_search_beside_ours_says_what_to_do(self):
        tools = [TheirTool(greet, defer_loading=True)]
        agent, _ = agent_of(ToolSearchProcessor(catalog()), "done", tools=tools)
        with pytest.raises(ReservedToolNameError, match="search_tool_name='find_tools'"):
            await agent.run("hi", deps=ADA)

    async def test_both_searches_work_under_two_names(self):
        search = ToolSearchProcessor(catalog(), search_tool_name="find_tools")
        script = [
            ("find_tools", {"query": "weather of a city"}),
            LOAD,
            ("search_tools", {"queries": ["greet"]}),
            [CALL, ("greet", {"name": "Bo"})],
            "done",
        ]
        agent, _ = agent_of(search, *script, tools=[TheirTool(greet, defer_loading=True)])
        result = await agent.run("hi", deps=ADA)
        assert results(result)["weather_forecast"].content == "sunny in Rome for ada"
        assert results(result)["greet"].content == "hello Bo"

    async def test_hidden_deferred_tools_need_no_other_search(self):
        load = ("load_tool", {"tool_names": ["greet"]})
        tools = [TheirTool(greet, defer_loading=True)]
        search = ToolSearchProcessor(catalog())
        agent, offered = agent_of(search, load, ("greet", {"name": "Bo"}), "done", tools=tools, hide_own=True)
        result = await agent.run("hi", deps=ADA)
        assert offered[-1] == [*META, "greet"]
        assert results(result)["greet"].content == "hello Bo"

    async def test_tools_of_a_capability_that_is_loaded_whole_stay_with_it(self):
        skill = Capability(id="skill", description="Greets.", defer_loading=True, tools=[greet])
        model, offered = scripted(("load_capability", {"id": "skill"}), ("greet", {"name": "Bo"}), "done")
        search = ToolSearchProcessor([*catalog()], search_tool_name="find_tools")
        ours = ToolSearchCapability(search, hide_own=True)
        result = await Agent(model, capabilities=[ours, skill]).run("hi", deps=ADA)
        assert "greet" in offered[-1]
        assert results(result)["greet"].content == "hello Bo"

    async def test_two_searchers_on_one_agent(self):
        one = ToolSearchCapability(ToolSearchProcessor([weather()]), hide_own=True)
        names = {"search_tool_name": "find", "load_tool_name": "fetch"}
        other = ToolSearchCapability(ToolSearchProcessor([Tool("ping", execute=lambda: "pong")], **names))
        model, offered = scripted([("fetch", {"tool_names": ["ping"]}), LOAD], [("ping", {}), CALL], "done")
        result = await Agent(model, capabilities=[one, other]).run("hi", deps=ADA)
        assert set(offered[-1]) == {*META, "find", "fetch", "ping", "weather_forecast"}
        assert results(result)["ping"].content == "pong"
        assert results(result)["weather_forecast"].content == "sunny in Rome for ada"


def deferred(name, description):
    def run(text: str) -> str:
        return f"{name} {text}"

    return TheirTool(run, name=name, description=description, defer_loading=True)


def many():
    nouns = ("issue", "invoice", "calendar", "playlist")
    return [deferred(f"{verb}_{noun}", f"{verb} a {noun}") for verb in ("create", "list") for noun in nouns]


class TestSearchStrategy:
    def agent(self, *replies, **options):
        model, offered = scripted(*replies)
        return Agent(model, tools=many(), capabilities=[ToolSearch(**options)]), offered

    async def test_their_tools_are_found_by_our_ranking(self):
        ask = ("search_tools", {"queries": ["create invoices"]})
        agent, _ = self.agent(ask, ("create_invoice", {"text": "a"}), "done", strategy=search_strategy())
        result = await agent.run("hi", deps=ADA)
        found = [match["name"] for match in results(result)["search_tools"].content["discovered_tools"]]
        assert found[0] == "create_invoice"
        assert results(result)["create_invoice"].content == "create_invoice a"

    @pytest.mark.parametrize("phase", ["search", "load", "active"])
    async def test_what_any_phase_denies_is_not_found(self, phase):
        strategy = search_strategy(
            filter=lambda request: request.phase != phase or request.tool_name != "create_invoice"
        )
        agent, _ = self.agent(("search_tools", {"queries": ["invoice"]}), "done", strategy=strategy)
        result = await agent.run("hi", deps=ADA)
        found = [match["name"] for match in results(result)["search_tools"].content["discovered_tools"]]
        assert found == ["list_invoice"]

    async def test_the_filter_reads_the_deps(self):
        strategy = search_strategy(filter=lambda request: request.context["user"] == "bob")
        agent, _ = self.agent(("search_tools", {"queries": ["invoice"]}), "done", strategy=strategy)
        result = await agent.run("hi", deps=ADA)
        assert results(result)["search_tools"].content["discovered_tools"] == []

    async def test_several_queries_and_the_most_that_their_capability_takes(self):
        strategy = search_strategy("bm25", context={"user": "ada"})
        ask = ("search_tools", {"queries": ["invoice", "playlist", "issue"]})
        agent, _ = self.agent(ask, "done", strategy=strategy, max_results=5)
        result = await agent.run("hi", deps="nobody")
        found = [match["name"] for match in results(result)["search_tools"].content["discovered_tools"]]
        assert len(found) == 5

    async def test_another_ranking(self):
        agent, _ = self.agent(
            ("search_tools", {"queries": ["^list_"]}), "done", strategy=search_strategy("regex")
        )
        result = await agent.run("hi", deps=ADA)
        found = [match["name"] for match in results(result)["search_tools"].content["discovered_tools"]]
        assert len(found) == 4

    def test_an_unknown_ranking_is_refused_at_once(self):
        with pytest.raises(ConfigurationError, match="bm25"):
            search_strategy("best")
        with pytest.raises(ConfigurationError, match="context"):
            search_strategy(context="ada")


class TestMCPServers:
    async def test_the_tools_of_a_server_are_hidden_found_and_called(self):
        pytest.importorskip("mcp", reason='needs pip install "pydantic-ai-slim[mcp]"')
        from fastmcp.client.transports import StdioTransport
        from pydantic_ai.mcp import MCPToolset

        program = str(Path(__file__).parent / "greeting_server.py")
        server = MCPToolset(StdioTransport(sys.executable, [program]))
        load = ("load_tool", {"tool_names": ["greet"]})
        search = ToolSearchProcessor(catalog(), filter=lambda request: request.tool.name != "wipe")
        script = (
            ("search_tools", {"query": ["greet a person", "wipe"]}),
            load,
            ("greet", {"name": "Bo"}),
            "done",
        )
        agent, offered = agent_of(search, *script, toolsets=[server], hide_own=True)
        result = await agent.run("hi", deps=ADA)
        assert offered[-1] == [*META, "greet"]
        assert results(result)["greet"].content == "hello Bo"
        found = json.loads(results(result)["search_tools"].content)["results"]
        assert found[0]["name"] == "greet"
        assert "wipe" not in [tool["name"] for tool in found]


def test_messages_in_openai_shape():
    messages = [
        ModelRequest([SystemPromptPart("s"), UserPromptPart(["look", ImageUrl("https://x/y.png")])]),
        ModelResponse([TextPart("a"), ToolCallPart("f", '{"x": 1}', tool_call_id="1")]),
        ModelRequest([ToolReturnPart("f", {"y": 2}, tool_call_id="1")]),
    ]
    read = openai_messages(messages)
    assert [message["role"] for message in read] == ["system", "user", "assistant", "tool"]
    assert read[1]["content"] == "look"
    assert read[2]["tool_calls"] == [
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    ]
    assert json.loads(read[3]["content"]) == {"y": 2}


@pytest.mark.usefixtures("loop_of_their_own")
def test_what_the_page_on_migration_says_runs(capsys):
    run_section("pydantic-ai", capsys)

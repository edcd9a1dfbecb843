"""The adapter for the OpenAI Agents SDK, with the SDK itself and its scripted model."""

import asyncio
import dataclasses
import gc
import itertools
import json
import subprocess
import sys

import pytest

pytest.importorskip("agents", reason='needs pip install "tool-search-processor[openai-agents]"')

import httpx2
from agents import (
    Agent,
    FunctionTool,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    RunContextWrapper,
    RunHooks,
    Runner,
    RunState,
    SQLiteSession,
    ToolGuardrailFunctionOutput,
    WebSearchTool,
    function_tool,
    set_tracing_disabled,
    tool_input_guardrail,
)
from agents.exceptions import ModelBehaviorError
from agents.mcp import MCPServer
from agents.testing import ScriptedModel, assistant_message, function_call
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as MCPTool
from openai import AsyncOpenAI

from tests.support import kept_runs
from tool_search_processor import (
    ConfigurationError,
    MemoryStore,
    ReservedToolNameError,
    Tool,
    ToolContext,
    ToolSearchProcessor,
)
from tool_search_processor.adapters.openai_agents import ToolSearchAgent, native_model
from tool_search_processor.session.foreign_tools import ForeignTool, run_by_framework

set_tracing_disabled(True)

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
META = ["search_tools", "load_tool"]


def weather(city: str, context: ToolContext):
    return f"sunny in {city} for {context.context.get('user')} in {context.thread_id}"


def catalog(**pay):
    return [
        Tool.from_function(weather, name="weather_forecast", description="Tells the weather of a city."),
        Tool("pay_money", "Pays money to a city.", SCHEMA, lambda city: f"paid {city}", **pay),
        Tool("send_mail", "Sends a mail to a city.", SCHEMA, lambda city: f"mailed {city}"),
    ]


def searcher(tools=None, **options):
    return ToolSearchProcessor(catalog() if tools is None else tools, **options)


IDS = itertools.count()


def script(*steps):
    """A model that makes these calls, each `(name, arguments)` or a list of them, and then says done."""
    turns = [step if isinstance(step, list) else [step] for step in steps]
    made = [[function_call(name, given, call_id=f"c{next(IDS)}") for name, given in calls] for calls in turns]
    return ScriptedModel([*made, [assistant_message("done")]])


def load(*names):
    return ("load_tool", {"tool_names": list(names)})


def call(name, city="Rome"):
    return (name, {"city": city})


def agent_of(model, search=None, **options):
    return ToolSearchAgent(name="helper", model=model, search=search or searcher(), **options)


def listed(model):
    return [[tool.name for tool in one.tools] for one in model.calls]


def outputs(result):
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


class BeforeCall(RunHooks):
    """Does something when the model has called a tool that has not run yet."""

    def __init__(self, name, act):
        self._name, self._act = name, act

    async def on_llm_end(self, context, agent, response):
        if any(getattr(item, "name", None) == self._name for item in response.output):
            self._act()


@function_tool
def whoami(context: RunContextWrapper, question: str, times: int = 1) -> str:
    """Says who the user is.

    Args:
        question: What is asked.
        times: How often.
    """
    return f"{context.context['user']} {times!r}"


WHO = ("whoami", {"question": "q", "times": 2})


class EchoServer(MCPServer):
    def __init__(self, name="echo"):
        super().__init__()
        self._name, self.calls = name, []

    @property
    def name(self):
        return self._name

    async def connect(self): ...

    async def cleanup(self): ...

    async def list_tools(self, run_context=None, agent=None):
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        return [MCPTool(name=f"{self._name}_back", description="Echoes a string.", input_schema=schema)]

    async def call_tool(self, tool_name, arguments, meta=None):
        self.calls.append(arguments)
        return CallToolResult(content=[TextContent(type="text", text=f"echo {arguments['text']}")])

    async def list_prompts(self): ...

    async def get_prompt(self, name, arguments=None): ...


class TestSteps:
    async def test_search_load_call_answer(self):
        model = script(
            ("search_tools", {"query": "weather"}), load("weather_forecast"), call("weather_forecast")
        )
        agent = agent_of(model, instructions="Be brief.", thread_id=lambda context: context["thread"])

        result = await Runner.run(agent, "Weather?", context={"user": "ada", "thread": "t"})

        assert result.final_output == "done"
        assert json.loads(outputs(result)[0])["results"][0]["name"] == "weather_forecast"
        assert outputs(result)[2] == "sunny in Rome for ada in t"
        assert listed(model) == [META, META, [*META, "weather_forecast"], [*META, "weather_forecast"]]
        assert model.calls[0].system_instructions.startswith("Be brief.\n\n")
        assert "search_tools" in model.calls[0].system_instructions

    async def test_what_search_returns_is_listed_in_mode_auto_load(self):
        model = script(("search_tools", {"query": "weather"}), call("weather_forecast"))
        result = await Runner.run(agent_of(model, searcher(mode="auto_load")), "Weather?", context={})
        assert "weather_forecast" in listed(model)[1]
        assert outputs(result)[1].startswith("sunny")

    async def test_the_list_never_changes_in_mode_call(self):
        given = {"name": "weather_forecast", "arguments": {"city": "Rome"}}
        model = script(("search_tools", {"query": "weather"}), ("call_tool", given))
        result = await Runner.run(agent_of(model, searcher(mode="call")), "Weather?", context={})
        assert listed(model) == [["search_tools", "call_tool"]] * 3
        assert outputs(result)[1].startswith("sunny")

    async def test_schemas_go_to_the_model_as_they_are(self):
        model = script(load("pay_money"), call("pay_money"))
        await Runner.run(agent_of(model), "Pay", context={})
        tool = model.calls[1].tools[-1]
        assert (tool.params_json_schema, tool.strict_json_schema) == (SCHEMA, False)

    async def test_parallel_calls_of_one_answer(self):
        names = ["weather_forecast", "pay_money", "send_mail"]
        model = script([load(names[0]), load(*names[1:])], [call(name, "Bonn") for name in names])
        result = await Runner.run(agent_of(model), "All", context={"user": "ada"})
        assert listed(model)[1] == META + names
        assert outputs(result)[2:] == ["sunny in Bonn for ada in None", "paid Bonn", "mailed Bonn"]

    async def test_streamed(self):
        model = script(load("weather_forecast"), call("weather_forecast"))
        result = Runner.run_streamed(agent_of(model), "Weather?", context={"user": "ada"})
        events = [
            event.name async for event in result.stream_events() if event.type == "run_item_stream_event"
        ]
        assert events == ["tool_called", "tool_output"] * 2 + ["message_output_created"]
        assert outputs(result)[1] == "sunny in Rome for ada in None"

    def test_run_without_a_loop(self):
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)  # the SDK leaves one that it has made open
        agent = agent_of(script(load("pay_money"), call("pay_money")))
        try:
            assert outputs(Runner.run_sync(agent, "Pay", context={}))[1] == "paid Rome"
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    async def test_a_tool_that_fails_is_told_to_the_model(self):
        def broken(city):
            raise ValueError("no such city")

        tool = Tool("broken_tool", "Breaks.", SCHEMA, broken)
        model = script(load("broken_tool"), call("broken_tool"))
        result = await Runner.run(agent_of(model, searcher([tool])), "x", context={})
        assert "no such city" in outputs(result)[1]

    async def test_concurrent_runs_of_one_agent_share_nothing(self):
        names = ["weather_forecast", "pay_money", "send_mail"]
        agent = agent_of(None)
        models = [script(load(name), call(name)) for name in names]
        results = await asyncio.gather(
            *(
                Runner.run(agent, "x", context={"user": name}, run_config=RunConfig(model=model))
                for name, model in zip(names, models, strict=True)
            )
        )
        assert [listed(model)[1] for model in models] == [[*META, name] for name in names]
        assert outputs(results[0])[1] == "sunny in Rome for weather_forecast in None"

    async def test_a_cancelled_run_leaves_the_agent_usable(self):
        entered = asyncio.Event()

        async def slow(city):
            entered.set()
            await asyncio.Event().wait()

        search = searcher([Tool("slow_tool", "Is slow.", SCHEMA, slow), *catalog()])
        running = asyncio.ensure_future(
            Runner.run(agent_of(script(load("slow_tool"), call("slow_tool")), search), "x", context={})
        )
        await entered.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        model = script(load("pay_money"), call("pay_money"))
        assert outputs(await Runner.run(agent_of(model, search), "x", context={}))[1] == "paid Rome"


class TestContext:
    @dataclasses.dataclass
    class Who:
        user: str = "ada"
        plan: str = "free"

    async def test_an_object_is_read_by_its_attributes(self):
        model = script(load("weather_forecast"), call("weather_forecast"))
        result = await Runner.run(agent_of(model), "x", context=self.Who())
        assert outputs(result)[1] == "sunny in Rome for ada in None"

    async def test_a_function_makes_it(self):
        agent = agent_of(
            script(load("weather_forecast"), call("weather_forecast")),
            context=lambda who: {"user": who.upper()},
        )
        assert outputs(await Runner.run(agent, "x", context="ada"))[1] == "sunny in Rome for ADA in None"

    async def test_one_without_names_is_refused(self):
        with pytest.raises(ConfigurationError, match="context="):
            await Runner.run(agent_of(script()), "x", context="ada")

    async def test_it_may_change_during_the_run(self):
        who = self.Who()
        upgrade = Tool("buy_plan", "Buys the plan.", execute=lambda: setattr(who, "plan", "pro"), pinned=True)
        search = searcher(
            [upgrade, *catalog()],
            filter=lambda request: request.tool_name == "buy_plan" or request.context["plan"] == "pro",
        )
        model = script(load("pay_money"), ("buy_plan", {}), load("pay_money"), call("pay_money"))
        result = await Runner.run(agent_of(model, search), "x", context=who)
        assert json.loads(outputs(result)[0])["loaded"] == []
        assert outputs(result)[3] == "paid Rome"


class TestPolicy:
    async def test_a_denied_tool_is_not_found_loaded_or_run(self):
        given = {"name": "pay_money", "arguments": {"city": "Rome"}}
        search = searcher(filter=lambda request: request.tool_name != "pay_money")
        model = script(("search_tools", {"query": "pay money"}), load("pay_money"), call("pay_money"))
        agent = agent_of(model, search)
        result = await Runner.run(agent, "Pay", context={}, run_config=agent.run_config())
        found, loaded, called = outputs(result)
        assert "pay_money" not in [one["name"] for one in json.loads(found)["results"]]
        assert json.loads(loaded)["loaded"] == []
        assert "There is no tool 'pay_money'" in called
        assert not any("pay_money" in names for names in listed(model))

        model = script(("call_tool", given))
        search = searcher(mode="call", filter=lambda request: request.tool_name != "pay_money")
        assert "There is no tool" in outputs(await Runner.run(agent_of(model, search), "Pay", context={}))[0]

    async def test_policy_is_asked_at_the_moment_of_the_call(self):
        allowed = {"pay_money", "send_mail"}
        search = searcher(filter=lambda request: request.tool_name in allowed)
        model = script(load("pay_money", "send_mail"), call("pay_money"))
        result = await Runner.run(
            agent_of(model, search), "x", context={}, hooks=BeforeCall("pay_money", allowed.clear)
        )
        assert "There is no tool 'pay_money'" in outputs(result)[1]

    async def test_what_was_loaded_earlier_is_admitted_again(self):
        session = SQLiteSession("s")
        await Runner.run(agent_of(script(load("pay_money"))), "x", context={}, session=session)
        model = script()
        search = searcher(filter=lambda request: request.tool_name != "pay_money")
        await Runner.run(agent_of(model, search), "y", context={}, session=session)
        assert listed(model) == [META]


class TestUnlistedCalls:
    async def test_without_our_run_config_the_run_ends_as_the_sdk_says(self):
        with pytest.raises(ModelBehaviorError, match="pay_money not found"):
            await Runner.run(agent_of(script(call("pay_money"))), "Pay", context={})

    @pytest.mark.parametrize("streamed", [False, True])
    async def test_the_tool_is_loaded_and_shown(self, streamed):
        model = script(call("pay_money"), call("pay_money"))
        agent = agent_of(model)
        if streamed:
            result = Runner.run_streamed(agent, "Pay", context={}, run_config=agent.run_config())
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, "Pay", context={}, run_config=agent.run_config())
        answer = json.loads(outputs(result)[0])
        assert answer["parameters"] == SCHEMA
        assert outputs(result)[1] == "paid Rome"
        assert listed(model)[1] == [*META, "pay_money"]

    async def test_an_unknown_name_is_answered_in_our_words(self):
        model = script(call("pay_mony"))
        agent = agent_of(model)
        result = await Runner.run(agent, "Pay", context={}, run_config=agent.run_config())
        assert "There is no tool 'pay_mony' to call. Did you mean pay_money?" in outputs(result)[0]

    async def test_another_formatter_is_asked_first(self):
        config = RunConfig(tool_error_formatter=lambda error: f"theirs {error.kind}")
        agent = agent_of(script(call("pay_money")))
        result = await Runner.run(agent, "Pay", context={}, run_config=agent.run_config(config))
        assert outputs(result) == ["theirs tool_not_found"]
        assert config.tool_not_found_behavior == "raise_error"

    async def test_after_a_handoff_to_another_kind_of_agent_the_sdk_answers(self):
        other = Agent(name="other", model=script(call("pay_money")))
        agent = agent_of(script(("transfer_to_other", {})), handoffs=[other])
        result = await Runner.run(agent, "Pay", context={}, run_config=agent.run_config())
        assert outputs(result) == ["Tool 'pay_money' not found."]


class TestOwnTools:
    async def test_they_are_listed_as_they_are(self):
        model = script(WHO)
        agent = agent_of(model, tools=[whoami, WebSearchTool()], mcp_servers=[EchoServer()])
        result = await Runner.run(agent, "x", context={"user": "ada"})
        assert outputs(result) == ["ada 2"]
        assert listed(model)[0] == [*META, "echo_back", "whoami", "web_search"]
        assert model.calls[0].tools[3] is whoami

    async def test_hidden_they_are_found_loaded_and_run_by_the_sdk(self):
        server = EchoServer()
        model = script(
            ("search_tools", {"query": "echo a string"}),
            load("echo_back", "whoami"),
            [("echo_back", {"text": "hi"}), WHO],
        )
        agent = agent_of(model, tools=[whoami, WebSearchTool()], mcp_servers=[server], hide_own=True)
        result = await Runner.run(agent, "x", context={"user": "ada"})
        assert listed(model)[0] == [*META, "web_search"]
        assert listed(model)[2] == [*META, "web_search", "echo_back", "whoami"]
        assert json.loads(outputs(result)[0])["results"][0]["name"] == "echo_back"
        assert outputs(result)[3] == "ada 2"
        assert "echo hi" in str(outputs(result)[2])
        assert server.calls == [{"text": "hi"}]

    async def test_hidden_tools_of_servers_are_made_once(self):
        agent = agent_of(None, mcp_servers=[EchoServer()], hide_own=True)
        first, second = [agent._own.of(await agent.get_mcp_tools(RunContextWrapper(None))) for _ in range(2)]
        assert first[0] is second[0]

    @pytest.mark.parametrize("hide_own", [False, True])
    async def test_those_of_another_framework_run_outside_of_it(self, hide_own):
        run = run_by_framework(lambda arguments: f"hello {arguments['city']}")
        greet = ForeignTool("greet_city", "Greets a city.", SCHEMA, run, original=object())
        model = script(load("greet_city"), call("greet_city"))
        agent = agent_of(model, searcher([greet]), tools=[whoami], hide_own=hide_own)
        result = await Runner.run(agent, "x", context={"user": "ada"})
        assert outputs(result)[-1] == "hello Rome"

    async def test_hidden_and_denied_they_dont_exist(self):
        search = searcher(filter=lambda request: request.tool_name != "whoami")
        agent = agent_of(script(load("whoami"), WHO), search, tools=[whoami], hide_own=True)
        result = await Runner.run(agent, "x", context={"user": "ada"}, run_config=agent.run_config())
        assert json.loads(outputs(result)[0])["loaded"] == []
        assert "There is no tool 'whoami'" in outputs(result)[1]

    async def test_hidden_and_denied_between_listing_and_call_they_dont_run(self):
        allowed, ran = {"whoami", "secret"}, []

        @function_tool
        def secret() -> str:
            """Tells the secret."""
            ran.append(1)
            return "secret"

        search = searcher(filter=lambda request: request.tool_name in allowed)
        model = script(load("secret"), ("secret", {}))
        agent = agent_of(model, search, tools=[secret], hide_own=True)
        result = await Runner.run(agent, "x", context={}, hooks=BeforeCall("secret", allowed.clear))
        assert "There is no tool 'secret'" in outputs(result)[1]
        assert ran == []

    async def test_hidden_they_keep_their_own_guardrails_after_ours(self):
        seen = []

        @tool_input_guardrail
        def no_questions(data):
            seen.append(data.context.tool_arguments)
            return ToolGuardrailFunctionOutput.reject_content("not asked")

        guarded = dataclasses.replace(whoami, tool_input_guardrails=[no_questions])
        agent = agent_of(script(load("whoami"), WHO), tools=[guarded], hide_own=True)
        result = await Runner.run(agent, "x", context={"user": "ada"})
        assert outputs(result)[1] == "not asked"
        assert len(seen) == 1
        assert guarded.tool_input_guardrails == [no_questions]

    async def test_hidden_and_disabled_between_listing_and_call_they_dont_run(self):
        enabled = ["yes"]
        tool = dataclasses.replace(whoami, is_enabled=lambda context, agent: bool(enabled))
        agent = agent_of(script(load("whoami"), WHO), tools=[tool], hide_own=True)
        hooks = BeforeCall("whoami", enabled.clear)
        result = await Runner.run(agent, "x", context={"user": "ada"}, hooks=hooks)
        assert outputs(result)[1] == "Error: whoami is disabled at the moment."

    async def test_what_they_raise_passes(self):
        async def broken(context, arguments):
            raise RuntimeError("theirs")

        tool = FunctionTool("broken_tool", "Breaks.", SCHEMA, broken, strict_json_schema=False)
        agent = agent_of(script(load("broken_tool"), call("broken_tool")), tools=[tool], hide_own=True)
        with pytest.raises(Exception, match="theirs"):
            await Runner.run(agent, "x", context={})

    @pytest.mark.parametrize("hide_own", [False, True])
    async def test_one_with_a_meta_tools_name_is_refused(self, hide_own):
        tool = dataclasses.replace(whoami, name="search_tools")
        with pytest.raises(ReservedToolNameError):
            await Runner.run(agent_of(script(), tools=[tool], hide_own=hide_own), "x", context={})

    async def test_one_with_a_catalog_tools_name_stands_before_it(self):
        model = script(("weather_forecast", {"question": "q"}))
        agent = agent_of(model, tools=[dataclasses.replace(whoami, name="weather_forecast")])
        result = await Runner.run(agent, "x", context={"user": "ada"})
        assert outputs(result) == ["ada 1"]
        assert listed(model)[0] == [*META, "weather_forecast"]


class TestApproval:
    async def stopped(self, search=None, model=None, **options):
        model = model or script(load("pay_money", "send_mail"), call("pay_money"))
        agent = agent_of(model, search or searcher(catalog(requires_approval=True)), **options)
        result = await Runner.run(agent, "Pay", context={"user": "ada"}, run_config=agent.run_config())
        return agent, result

    @pytest.mark.parametrize(("approved", "text"), [(True, "paid Rome"), (False, "not approved")])
    async def test_the_run_stops_and_goes_on(self, approved, text):
        model = script(load("pay_money"), call("pay_money"))
        agent, result = await self.stopped(model=model)
        (item,) = result.interruptions
        assert item.tool_name == "pay_money"
        state = result.to_state()
        state.approve(item) if approved else state.reject(item)
        result = await Runner.run(agent, state)
        assert text in outputs(result)[-1]
        assert listed(model)[2] == [*META, "pay_money"]

    @pytest.mark.parametrize("restores", [False, True])
    async def test_through_json_with_another_agent_object(self, restores):
        _, stopped = await self.stopped()
        state_json = json.loads(json.dumps(stopped.to_state().to_json()))
        model = script(call("send_mail"))
        agent = agent_of(model, searcher(catalog(requires_approval=True)))

        state = await (agent.restore(state_json) if restores else RunState.from_json(agent, state_json))
        for item in state.get_interruptions():
            state.approve(item)
        result = await Runner.run(agent, state, run_config=agent.run_config())

        assert outputs(result)[1] == "paid Rome"
        assert "pay_money" in listed(model)[0]
        assert ("send_mail" in listed(model)[0]) is restores
        assert outputs(result)[2] == "mailed Rome" if restores else "parameters" in outputs(result)[2]

    async def test_a_session_knows_what_a_run_that_stopped_had_loaded(self):
        session, search = SQLiteSession("s"), searcher(catalog(requires_approval=True))
        agent = agent_of(script(load("pay_money", "send_mail"), call("pay_money")), search)
        stopped = await Runner.run(agent, "Pay", context={}, session=session)
        other = agent_of(script(), search)
        state = await RunState.from_json(other, stopped.to_state().to_json())
        state.approve(state.get_interruptions()[0])
        resumed = Runner.run_streamed(other, state, session=session)
        async for _ in resumed.stream_events():
            pass
        assert outputs(resumed)[-1] == "paid Rome"
        model = script(call("send_mail"))
        result = await Runner.run(agent_of(model, search), "Mail", context={}, session=session)
        assert listed(model)[0] == [*META, "pay_money", "send_mail"]
        assert outputs(result) == ["mailed Rome"]

    async def test_two_resumptions_of_one_stop_are_two_runs(self):
        agent, stopped = await self.stopped()
        states = [stopped.to_state() for _ in range(2)]
        for state in states:
            state.approve(stopped.interruptions[0])
        models = [script(call("send_mail", "Bonn")), script(load("weather_forecast"))]
        results = await asyncio.gather(
            *(
                Runner.run(agent, state, run_config=RunConfig(model=model))
                for state, model in zip(states, models, strict=True)
            )
        )
        assert [outputs(result)[1] for result in results] == ["paid Rome"] * 2
        assert outputs(results[0])[2] == "mailed Bonn"

    async def test_a_store_of_threads_needs_no_restoring(self):
        store = MemoryStore()
        search = searcher(catalog(requires_approval=True), store=store)
        _, stopped = await self.stopped(search, thread_id=lambda context: context["user"])
        model = script(call("send_mail"))
        agent = agent_of(model, search, thread_id=lambda context: context["user"])
        state = await RunState.from_json(agent, stopped.to_state().to_json())
        state.approve(state.get_interruptions()[0])
        assert outputs(await Runner.run(agent, state))[1:] == ["paid Rome", "mailed Rome"]

    async def test_an_approved_tool_that_is_denied_by_then_does_not_run(self):
        allowed = {"pay_money", "send_mail"}
        search = searcher(
            catalog(requires_approval=True), filter=lambda request: request.tool_name in allowed
        )
        agent, stopped = await self.stopped(search)
        state = stopped.to_state()
        state.approve(stopped.interruptions[0])
        allowed.clear()
        result = await Runner.run(agent, state, run_config=agent.run_config())
        assert "There is no tool 'pay_money'" in outputs(result)[-1]

    async def test_nobody_is_asked_about_a_call_that_cant_run(self):
        model = script(load("pay_money"), ("pay_money", {"town": "Rome"}))
        _, result = await self.stopped(model=model)
        assert result.interruptions == []
        assert "city" in outputs(result)[1]

    async def test_through_the_proxy(self):
        search = searcher(catalog(requires_approval=True), mode="call")
        given = {"name": "pay_money", "arguments": {"city": "Rome"}}
        harmless = {"name": "send_mail", "arguments": {"city": "Rome"}}
        agent, result = await self.stopped(search, script(("call_tool", harmless), ("call_tool", given)))
        assert outputs(result) == ["mailed Rome"]
        state = result.to_state()
        state.approve(result.interruptions[0])
        assert outputs(await Runner.run(agent, state))[1] == "paid Rome"

    async def test_without_tools_that_need_it_the_proxy_asks_nobody(self):
        model = ScriptedModel(
            [[function_call("call_tool", "{broken", call_id="a")], [assistant_message("done")]]
        )
        _, result = await self.stopped(searcher(mode="call"), model)
        assert result.interruptions == []

    @pytest.mark.parametrize("server", [False, True])
    async def test_of_a_hidden_own_tool_through_json(self, server):
        echo = EchoServer()
        own = dataclasses.replace(whoami, needs_approval=True)
        name, given = ("echo_back", {"text": "hi"}) if server else WHO
        echo_server = EchoServer()
        echo_server._needs_approval_policy = True
        options = {"mcp_servers": [echo_server]} if server else {"tools": [own]}
        agent = agent_of(script(load(name), (name, given)), hide_own=True, **options)
        stopped = await Runner.run(agent, "x", context={"user": "ada"})
        assert [item.tool_name for item in stopped.interruptions] == [name]
        state_json = json.loads(json.dumps(stopped.to_state().to_json()))
        other = agent_of(script(), hide_own=True, **options)
        state = await RunState.from_json(other, state_json)
        state.approve(state.get_interruptions()[0])
        result = await Runner.run(other, state)
        assert ("echo hi" if server else "ada 2") in str(outputs(result)[-1])
        assert echo.calls == []


class TestConversations:
    async def test_a_session_lists_what_an_earlier_run_loaded(self):
        session = SQLiteSession("s")
        agent = agent_of(script(load("weather_forecast")))
        await Runner.run(agent, "x", context={}, session=session)
        model = script(call("weather_forecast"))
        result = await Runner.run(agent_of(model), "y", context={"user": "bob"}, session=session)
        assert listed(model)[0] == [*META, "weather_forecast"]
        assert outputs(result) == ["sunny in Rome for bob in None"]

    async def test_so_does_the_list_of_items(self):
        first = await Runner.run(agent_of(script(load("pay_money"))), "x", context={})
        model = script()
        await Runner.run(
            agent_of(model), [*first.to_input_list(), {"role": "user", "content": "y"}], context={}
        )
        assert listed(model)[0] == [*META, "pay_money"]

    def test_a_session_file_in_a_new_process(self, tmp_path):
        path = tmp_path / "sessions.db"
        session = SQLiteSession("s", path)
        agent = agent_of(script(load("pay_money")))
        asyncio.run(Runner.run(agent, "x", context={}, session=session))
        session.close()
        program = tmp_path / "second.py"
        program.write_text(SECOND_PROCESS)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(program), str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout) == [*META, "pay_money"]

    async def test_an_unloaded_tool_stays_unloaded(self):
        session = SQLiteSession("s")
        search = searcher(allow_unload=True)
        model = script(load("pay_money", "send_mail"), ("unload_tool", {"tool_names": ["pay_money"]}))
        await Runner.run(agent_of(model, search), "x", context={}, session=session)
        model = script()
        await Runner.run(agent_of(model, search), "y", context={}, session=session)
        assert "send_mail" in listed(model)[0]
        assert "pay_money" not in listed(model)[0]


SECOND_PROCESS = """
import asyncio, json, sys
from agents import Runner, SQLiteSession, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message
from tool_search_processor import Tool, ToolSearchProcessor
from tool_search_processor.adapters.openai_agents import ToolSearchAgent

set_tracing_disabled(True)

def pay_money(city: str) -> str:
    return "paid"

model = ScriptedModel([[assistant_message("done")]])
search = ToolSearchProcessor([Tool.from_function(pay_money, description="Pays money to a city.")])
agent = ToolSearchAgent(name="helper", model=model, search=search)
asyncio.run(Runner.run(agent, "y", context={}, session=SQLiteSession("s", sys.argv[1])))
print(json.dumps([tool.name for tool in model.calls[0].tools]))
"""


class TestOtherAgents:
    async def test_a_handoff_to_it(self):
        model = script(load("weather_forecast"), call("weather_forecast"))
        main = Agent(name="main", model=script(("transfer_to_helper", {})), handoffs=[agent_of(model)])
        result = await Runner.run(main, "x", context={"user": "ada"})
        assert outputs(result)[-1] == "sunny in Rome for ada in None"
        assert result.last_agent.name == "helper"

    async def test_a_handoff_from_it_to_a_clone_keeps_what_is_loaded(self):
        second = script(call("pay_money"))
        agent = agent_of(None)
        clone = agent.clone(name="clone", model=second)
        first = script(load("pay_money"), ("transfer_to_clone", {}))
        agent = agent.clone(model=first, handoffs=[clone])
        result = await Runner.run(agent, "x", context={})
        assert type(clone) is ToolSearchAgent
        assert clone.search is agent.search
        assert outputs(result)[-1] == "paid Rome"
        assert listed(second)[0] == [*META, "pay_money"]

    async def test_a_handoff_to_one_with_another_policy_loads_nothing_of_it(self):
        second = script()
        other = ToolSearchAgent(
            name="other",
            model=second,
            search=searcher(filter=lambda request: request.tool_name != "pay_money"),
        )
        agent = agent_of(script(load("pay_money"), ("transfer_to_other", {})), handoffs=[other])
        await Runner.run(agent, "x", context={})
        assert listed(second)[0] == META

    async def test_as_a_tool_its_loads_are_its_own(self):
        inner = script(load("weather_forecast"), call("weather_forecast"))
        outer = script(("ask_helper", {"input": "Weather?"}))
        agent = agent_of(outer, tools=[agent_of(inner).as_tool("ask_helper", "Asks the helper.")])
        await Runner.run(agent, "x", context={"user": "ada"})
        assert "weather_forecast" in listed(inner)[1]
        assert listed(outer) == [[*META, "ask_helper"]] * 2

    async def test_hidden_as_a_tool(self):
        inner = script(load("weather_forecast"), call("weather_forecast"))
        helper = agent_of(inner).as_tool("ask_helper", "Asks the helper about the weather.")
        outer = script(load("ask_helper"), ("ask_helper", {"input": "Weather?"}))
        result = await Runner.run(
            agent_of(outer, tools=[helper], hide_own=True), "x", context={"user": "ada"}
        )
        assert outputs(result)[1] == "done"

    async def test_hooks_see_our_tools(self):
        seen = []

        class Hooks(RunHooks):
            async def on_tool_start(self, context, agent, tool):
                seen.append(tool.name)

        model = script(load("pay_money"), call("pay_money"))
        await Runner.run(agent_of(model), "x", context={}, hooks=Hooks())
        assert seen == ["load_tool", "pay_money"]

    async def test_a_forced_tool_choice_is_theirs(self):
        model = script(load("pay_money"))
        agent = agent_of(model, model_settings=ModelSettings(tool_choice="search_tools"))
        await Runner.run(agent, "x", context={})
        assert model.calls[0].model_settings.tool_choice == "search_tools"


def declared(call):
    """The names that the items of a model call declare, with the place of each item."""
    return {
        place: [tool["name"] for tool in item["tools"]]
        for place, item in enumerate(call.input)
        if item.get("type") == "additional_tools"
    }


def responses_model(replies):
    """OpenAI's own model over a wire that answers these lists of items, and the bodies that it sent."""
    bodies, waiting = [], iter(replies)

    def answer(request):
        bodies.append(json.loads(request.content))
        details = {
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        return httpx2.Response(
            200,
            json={
                "id": "r",
                "created_at": 0,
                "model": "gpt-5.5",
                "object": "response",
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "status": "completed",
                "output": next(waiting),
                "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details},
            },
        )

    http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    return OpenAIResponsesModel("gpt-5.5", AsyncOpenAI(api_key="x", http_client=http)), bodies


def replied(name, arguments):
    call_id = f"c{next(IDS)}"
    call = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "status": "completed"}
    return [{**call, "name": name, "arguments": json.dumps(arguments)}]


def said():
    content = [{"type": "output_text", "text": "done", "annotations": []}]
    return [
        {
            "type": "message",
            "id": f"m{next(IDS)}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    ]


class TestNativeModel:
    @pytest.mark.parametrize("streamed", [False, True])
    async def test_loaded_tools_stand_behind_the_result_that_loaded_them(self, streamed):
        model = script(load("weather_forecast", "pay_money"), call("pay_money"), load("send_mail"))
        agent = agent_of(native_model(model))
        if streamed:
            result = Runner.run_streamed(agent, "x", context={})
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, "x", context={})
        first, second = ["weather_forecast", "pay_money"], ["send_mail"]
        assert listed(model) == [META] * 4
        assert [declared(one) for one in model.calls] == [{}, {3: first}, {3: first}, {3: first, 8: second}]
        assert outputs(result)[1] == "paid Rome"
        assert not any("additional_tools" in str(item) for item in result.to_input_list())

    async def test_every_request_begins_with_the_one_before(self):
        model, bodies = responses_model(
            [replied(*load("pay_money")), replied(*call("pay_money")), said(), said()]
        )
        session = SQLiteSession("s")
        for question in "xy":
            agent = agent_of(native_model(model), tools=[whoami])
            await Runner.run(agent, question, context={}, session=session)
        assert len({json.dumps(body["tools"]) for body in bodies}) == 1
        inputs = [json.dumps(body["input"]) for body in bodies]
        assert all(later.startswith(earlier[:-1]) for earlier, later in itertools.pairwise(inputs))
        (item,) = [item for item in bodies[-1]["input"] if item.get("type") == "additional_tools"]
        definition = {"type": "function", "name": "pay_money", "description": "Pays money to a city."}
        assert item == {
            "type": "additional_tools",
            "role": "developer",
            "tools": [{**definition, "parameters": SCHEMA, "strict": False}],
        }

    async def test_an_own_tool_is_declared_as_the_sdk_would_list_it(self):
        model = script(load("whoami"), WHO)
        agent = agent_of(native_model(model), tools=[whoami], hide_own=True)
        assert outputs(await Runner.run(agent, "x", context={"user": "ada"}))[1] == "ada 2"
        (item,) = [item for item in model.calls[1].input if item.get("type") == "additional_tools"]
        assert item["tools"][0]["strict"] is True
        assert item["tools"][0]["parameters"] == whoami.params_json_schema

    async def test_an_unloaded_tool_stays_where_it_was_declared(self):
        model = script(load("pay_money"), ("unload_tool", {"tool_names": ["pay_money"]}))
        agent = agent_of(native_model(model), searcher(allow_unload=True))
        await Runner.run(agent, "x", context={})
        assert declared(model.calls[2]) == {3: ["pay_money"]}

    async def test_a_tool_that_is_denied_by_now_is_not_declared(self):
        allowed = {"pay_money"}
        session = SQLiteSession("s")
        search = searcher(filter=lambda request: request.tool_name in allowed)
        await Runner.run(
            agent_of(native_model(script(load("pay_money"))), search), "x", context={}, session=session
        )
        allowed.clear()
        model = script()
        await Runner.run(agent_of(native_model(model), search), "y", context={}, session=session)
        assert (listed(model), declared(model.calls[0])) == ([META], {})

    async def test_a_store_of_threads_leaves_receipts_too(self):
        model = script(load("pay_money"))
        agent = agent_of(native_model(model), searcher(store=MemoryStore()), thread_id=lambda context: "t")
        await Runner.run(agent, "x", context={})
        assert declared(model.calls[1]) == {3: ["pay_money"]}

    async def test_a_named_tool_choice_is_listed(self):
        model = script(load("pay_money"))
        settings = ModelSettings(tool_choice="pay_money")
        agent = agent_of(native_model(model), model_settings=settings, reset_tool_choice=False)
        await Runner.run(agent, "x", context={})
        assert listed(model)[1] == [*META, "pay_money"]

    async def test_where_openai_keeps_the_items_tools_are_listed(self):
        model = script(load("pay_money"))
        await Runner.run(agent_of(native_model(model)), "x", context={}, conversation_id="conv")
        assert [declared(one) for one in model.calls] == [{}, {}]
        assert listed(model)[1] == [*META, "pay_money"]

    async def test_another_agents_requests_are_left_alone(self):
        model = script(WHO)
        agent = Agent(name="other", model=native_model(model), tools=[whoami])
        await Runner.run(agent, "x", context={"user": "ada"})
        assert listed(model) == [["whoami"]] * 2
        assert declared(model.calls[1]) == {}

    @pytest.mark.parametrize("model", ["gpt-5.5", None])
    def test_what_is_no_model_of_the_api_is_refused(self, model):
        with pytest.raises(ConfigurationError, match="OpenAIResponsesModel"):
            native_model(model)

    def test_a_chat_model_is_refused(self):
        model = OpenAIChatCompletionsModel("gpt-5.5", AsyncOpenAI(api_key="x"))
        with pytest.raises(ConfigurationError, match="Responses API"):
            native_model(model)


class TestOptions:
    @pytest.mark.parametrize(
        "options", [{"search": [weather]}, {"context": {"user": "ada"}}, {"thread_id": "t"}]
    )
    def test_bad_ones_are_refused(self, options):
        with pytest.raises(ConfigurationError, match=next(iter(options))):
            ToolSearchAgent(**{"name": "helper", "search": searcher(), **options})

    def test_own_tools_cant_be_hidden_behind_the_proxy(self):
        with pytest.raises(ConfigurationError, match="mode='load'"):
            agent_of(None, searcher(mode="call"), hide_own=True)

    def test_stopping_at_names_behind_the_proxy_is_warned_of(self, caplog):
        agent_of(None, searcher(mode="call"), tool_use_behavior={"stop_at_tool_names": ["pay_money"]})
        assert "StopAtTools sees only the name of the call tool" in caplog.text

    async def test_stopping_at_a_found_tool(self):
        model = script(load("pay_money"), call("pay_money"))
        agent = agent_of(model, tool_use_behavior={"stop_at_tool_names": ["pay_money"]})
        assert (await Runner.run(agent, "x", context={})).final_output == "paid Rome"


async def test_the_end_of_a_run_drops_what_was_kept_for_it():
    agent = agent_of(script(load("pay_money")))
    result = await Runner.run(agent, "x", context={})
    assert await kept_runs(agent._search) == 1
    del result
    gc.collect()
    async with asyncio.timeout(10):
        while await kept_runs(agent._search):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)

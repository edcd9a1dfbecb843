"""ToolSearchMiddleware in LangChain's own agents, with a scripted model and everything else real."""

import asyncio
import json
import logging
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import pytest

pytest.importorskip("langchain", reason='needs pip install "tool-search-processor[langchain]"')

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
)
from langchain.tools import InjectedState, ToolRuntime
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from tests.test_migrations import run_section
from tool_search_processor import (
    ConfigurationError,
    InvalidToolError,
    MemoryStore,
    ReservedToolNameError,
    Tool,
    ToolContext,
    ToolSearchProcessor,
)
from tool_search_processor.adapters.langchain import ToolSearchMiddleware, from_langchain
from tool_search_processor.session.foreign_tools import ForeignTool, run_by_framework
from tool_search_processor.transforms import Namespace

# LangGraph: what pydantic says of ToolRuntime, whose context it knows no type of
pytestmark = pytest.mark.filterwarnings("ignore:(?s)Pydantic serializer warnings.*field_name='context'")

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
META = ["search_tools", "load_tool"]
LISTED = [*META, "weather_forecast"]


@dataclass
class Who:
    user: str = "ada"
    plan: str = "pro"


class Recorder:
    """What a scripted model was given."""

    def __init__(self):
        self.tools = []
        self.messages = []

    def names(self):
        return [[name_of(tool) for tool in tools] for tools in self.tools]


class Scripted(GenericFakeChatModel):
    recorder: object

    def bind_tools(self, tools, **options):
        self.recorder.tools.append(tools)
        return self

    def _generate(self, messages, *args, **kwargs):
        self.recorder.messages.append(messages)
        return super()._generate(messages, *args, **kwargs)


class Streamed(FakeMessagesListChatModel):
    def bind_tools(self, tools, **options):
        return self


def name_of(tool):
    return tool.get("function", tool)["name"] if isinstance(tool, dict) else tool.name


def replies(*steps):
    """Return messages: a string is an answer, a dict of name and arguments is one call, a list is several."""
    made = []
    for number, step in enumerate(steps):
        if isinstance(step, str):
            made.append(AIMessage(step))
            continue
        calls = [
            {"name": name, "args": arguments, "id": f"c{number}_{place}"}
            for place, (name, arguments) in enumerate(step if isinstance(step, list) else [step])
        ]
        made.append(AIMessage("", tool_calls=calls))
    return made


def scripted(*steps):
    return Scripted(messages=iter(replies(*steps)), recorder=Recorder())


def search(query):
    return "search_tools", {"query": query}


def load(*names):
    return "load_tool", {"tool_names": list(names)}


def forecast(city, run: ToolContext):
    return f"sunny in {city} for {run.context.get('user')} of {run.thread_id}"


def weather(**changes):
    return Tool("weather_forecast", "Tells the weather of a city.", CITY, forecast).replace(**changes)


def others(count=20):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return [
        Tool(f"issue_action_{n}", f"Changes issue number {n}.", schema, lambda text="": "done")
        for n in range(count)
    ]


@tool
def whoami(question: str, runtime: ToolRuntime) -> str:
    """Tells who the user is, in the words of the framework."""
    thread = runtime.execution_info.thread_id
    return f"{runtime.context.user} {thread} {len(runtime.state['messages'])} {runtime.tool_call_id}"


@tool
def count_messages(unit: str, state: Annotated[dict, InjectedState]) -> str:
    """Counts the messages of the conversation."""
    return f"{len(state['messages'])} {unit}"


@tool
def secret(word: str) -> str:
    """Tells a secret about a word."""
    return f"SECRET {word}"


def of_another_framework():
    run = run_by_framework(lambda arguments: f"hello {arguments['city']}")
    return ForeignTool("greet_city", "Greets a city.", CITY, run, original=object())


@pytest.fixture(params=["sync", "async"])
def invoke(request):
    """Invoke an agent in either of LangChain's ways."""

    async def run(agent, given="hi", *, thread=None, context=None, **options):
        messages = given if isinstance(given, Command) else {"messages": [("user", given)]}
        config = {"configurable": {"thread_id": thread}} if thread else None
        context = Who() if context is None else context
        if request.param == "async":
            return await agent.ainvoke(messages, config, context=context, **options)
        return await asyncio.to_thread(agent.invoke, messages, config, context=context, **options)

    return run


def agent_of(model, middleware, **options):
    options = {"context_schema": Who, **options}
    middleware = middleware if isinstance(middleware, list) else [middleware]
    return create_agent(model, middleware=middleware, **options)


def answers(result):
    return [message.text for message in result["messages"] if isinstance(message, ToolMessage)]


def statuses(result):
    return [message.status for message in result["messages"] if isinstance(message, ToolMessage)]


class TestSteps:
    async def test_search_load_call_answer(self, invoke):
        model = scripted(
            search("weather of a city"),
            load("weather_forecast"),
            ("weather_forecast", {"city": "Rome"}),
            "Sunny.",
        )
        agent = agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([weather(), *others()])))

        result = await invoke(agent, thread="t")

        assert model.recorder.names() == [
            META,
            META,
            [*META, "weather_forecast"],
            [*META, "weather_forecast"],
        ]
        assert json.loads(answers(result)[0])["results"][0]["name"] == "weather_forecast"
        assert answers(result)[2] == "sunny in Rome for ada of t"
        assert result["messages"][-1].text == "Sunny."
        assert statuses(result) == ["success"] * 3
        assert sorted(result) == ["messages"]

    async def test_the_instructions_follow_the_agents_own(self, invoke):
        model = scripted("ok")
        agent = agent_of(
            model, ToolSearchMiddleware(ToolSearchProcessor([weather()])), system_prompt="Be kind."
        )
        await invoke(agent)
        system = model.recorder.messages[0][0]
        assert system.text.startswith("Be kind.\n\n")
        assert "search_tools" in system.text

    async def test_blocks_of_the_system_prompt_stay_blocks(self, invoke):
        block = {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}
        model = scripted("ok")
        agent = agent_of(
            model,
            ToolSearchMiddleware(ToolSearchProcessor([weather()])),
            system_prompt=SystemMessage([block]),
        )
        await invoke(agent)
        first, second = model.recorder.messages[0][0].content
        assert first == block
        assert "search_tools" in second["text"]

    async def test_calls_without_ids_load_too(self, invoke):
        model = scripted("?", "done")
        call = {"name": "load_tool", "args": {"tool_names": ["weather_forecast"]}, "id": None}
        model.messages = iter([AIMessage("", tool_calls=[call]), AIMessage("done")])
        await invoke(agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([weather()]))))
        assert model.recorder.names() == [META, LISTED]

    async def test_an_unlisted_call_runs_and_is_listed_from_then_on(self, invoke):
        model = scripted(("weather_forecast", {"city": "Rome"}), "done", "again")
        agent = agent_of(
            model, ToolSearchMiddleware(ToolSearchProcessor([weather()])), checkpointer=InMemorySaver()
        )
        await invoke(agent, thread="t")
        result = await invoke(agent, thread="t")
        assert answers(result) == ["sunny in Rome for ada of t"]
        assert model.recorder.names() == [META, [*META, "weather_forecast"], [*META, "weather_forecast"]]

    async def test_calls_of_one_reply_run_each_for_itself(self, invoke):
        model = scripted(
            [
                load("weather_forecast"),
                load("issue_action_1"),
                ("weather_forecast", {"city": "Rome"}),
                ("nope", {}),
            ],
            "done",
        )
        agent = agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([weather(), *others()])))
        result = await invoke(agent)
        assert answers(result)[2] == "sunny in Rome for ada of None"
        assert statuses(result) == ["success", "success", "success", "error"]
        assert model.recorder.names()[1] == [*META, "weather_forecast", "issue_action_1"]

    async def test_mistakes_of_the_model_are_answered_in_words(self, invoke):
        model = scripted(
            [("nope", {}), ("weather_forecast", {"town": 1}), ("Weather-Forecast", {"city": "Rome"})], "done"
        )
        agent = agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([weather()])))
        result = await invoke(agent)
        unknown, invalid, near = answers(result)
        assert "There is no tool 'nope'" in unknown
        assert "city" in invalid
        assert "weather_forecast" in near
        assert "sunny" not in near

    async def test_a_tool_of_ours_that_raises_is_an_error_result(self, invoke):
        def broken(city):
            raise ValueError("no clouds today")

        model = scripted(("weather_forecast", {"city": "Rome"}), "done")
        agent = agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([weather(execute=broken)])))
        result = await invoke(agent)
        assert statuses(result) == ["error"]
        assert "no clouds today" in answers(result)[0]

    @pytest.mark.parametrize("name", ["self", "run_manager", "config", "arguments", "answer"])
    async def test_an_argument_may_have_any_name(self, invoke, name):
        seen = []

        def execute(given):
            seen.append(dict(given))
            return "ok"

        schema = {"type": "object", "properties": {name: {"type": "string"}}}
        odd = Tool("odd", "Takes an odd argument.", schema, execute)
        model = scripted(("odd", {name: "x"}), "done")
        result = await invoke(agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([odd]))))
        assert (seen, answers(result)) == ([{name: "x"}], ["ok"])

    async def test_streaming_shows_our_calls_as_any_other(self):
        model = Streamed(
            responses=replies(load("weather_forecast"), ("weather_forecast", {"city": "Rome"}), "the end")
        )
        agent = agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([weather()])))
        updates, texts = [], []
        given = {"messages": [("user", "hi")]}
        async for kind, part in agent.astream(given, context=Who(), stream_mode=["updates", "messages"]):
            if kind == "updates":
                updates.extend(part)
            else:
                texts.append(part[0].text)
        model.i = 0
        events = [event async for event in agent.astream_events(given, context=Who(), version="v2")]
        started = [event["name"] for event in events if event["event"] == "on_tool_start"]
        assert updates == ["model", "tools", "model", "tools", "model"]
        assert "sunny in Rome for ada of None" in texts
        assert texts[-1] == "the end"
        assert started == ["load_tool", "weather_forecast"]


class TestModes:
    async def test_auto_load(self, invoke):
        model = scripted(search("weather of a city"), ("weather_forecast", {"city": "Rome"}), "done")
        processor = ToolSearchProcessor([weather(), *others()], mode="auto_load", top_k=1)
        result = await invoke(agent_of(model, ToolSearchMiddleware(processor)))
        assert model.recorder.names()[1] == ["search_tools", "weather_forecast"]
        assert answers(result)[1] == "sunny in Rome for ada of None"

    async def test_call(self, invoke):
        model = scripted(
            search("weather of a city"),
            [
                ("call_tool", {"name": "weather_forecast", "arguments": {"city": "Rome"}}),
                ("call_tool", {"name": "whoami", "arguments": {"question": "?"}}),
            ],
            "done",
        )
        processor = ToolSearchProcessor([weather(), from_langchain(whoami)], mode="call")
        result = await invoke(agent_of(model, ToolSearchMiddleware(processor)), thread="t")
        assert model.recorder.names() == [["search_tools", "call_tool"]] * 3
        assert answers(result)[1:] == ["sunny in Rome for ada of t", "ada t 4 c1_1"]
        # some providers match results by name
        assert [message.name for message in result["messages"] if isinstance(message, ToolMessage)] == [
            "search_tools",
            "call_tool",
            "call_tool",
        ]


class TestPersistence:
    async def test_the_second_turn_lists_what_the_first_loaded(self, invoke):
        model = scripted(load("weather_forecast"), "loaded", "second turn")
        middleware = ToolSearchMiddleware(ToolSearchProcessor([weather()]))
        agent = agent_of(model, middleware, checkpointer=InMemorySaver())
        await invoke(agent, thread="t")
        await invoke(agent, thread="t")
        assert model.recorder.names()[2] == [*META, "weather_forecast"]

    def test_a_new_process_lists_what_the_first_loaded(self, tmp_path):
        pytest.importorskip("langgraph.checkpoint.sqlite")
        database = str(tmp_path / "threads.sqlite")
        printed = [
            subprocess.run(
                [sys.executable, "-c", IN_A_PROCESS, database, turn],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for turn in ("first", "second")
        ]
        assert json.loads(printed[0]) == [META, LISTED, [*LISTED, "whoami"]]
        assert json.loads(printed[1]) == [[*LISTED, "whoami"]]

    async def test_anonymous_runs_on_one_object_share_nothing(self, invoke):
        middleware = ToolSearchMiddleware(ToolSearchProcessor([weather(), *others()]))
        models = [
            scripted(load(name), "done") for name in ("weather_forecast", "issue_action_1", "issue_action_2")
        ]
        await asyncio.gather(*(invoke(agent_of(model, middleware)) for model in models))
        assert [model.recorder.names()[1][2:] for model in models] == [
            ["weather_forecast"],
            ["issue_action_1"],
            ["issue_action_2"],
        ]

    @pytest.mark.parametrize("thread", ["t", None])
    async def test_a_store_keeps_a_thread_and_anonymous_runs_read_their_messages(self, invoke, thread):
        processor = ToolSearchProcessor([weather(), *others()], store=MemoryStore())
        await processor.load("issue_action_1", thread_id="t")
        model = scripted(load("weather_forecast"), "done")
        await invoke(agent_of(model, ToolSearchMiddleware(processor)), thread=thread)
        before = ["issue_action_1"] if thread else []
        assert model.recorder.names() == [[*META, *before], [*META, *before, "weather_forecast"]]

    async def test_a_cancelled_run_leaves_nothing_behind(self):
        began, forever = asyncio.Event(), asyncio.Event()

        async def wait(city):
            began.set()
            await forever.wait()

        middleware = ToolSearchMiddleware(ToolSearchProcessor([weather(execute=wait)]))
        agent = agent_of(
            scripted(("weather_forecast", {"city": "Rome"}), "done"), middleware, checkpointer=InMemorySaver()
        )
        task = asyncio.create_task(
            agent.ainvoke({"messages": [("user", "x")]}, {"configurable": {"thread_id": "t"}}, context=Who())
        )
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        model = scripted("done")
        await agent_of(model, middleware).ainvoke({"messages": [("user", "x")]}, context=Who())
        assert model.recorder.names() == [META]


IN_A_PROCESS = """
import json, sys
sys.path[:0] = {path!r}
import test_langchain as own
from langgraph.checkpoint.sqlite import SqliteSaver
from tool_search_processor import ToolSearchProcessor
from tool_search_processor.adapters.langchain import ToolSearchMiddleware, from_langchain

script = {{
    "first": [own.load("weather_forecast"), ("whoami", {{"question": "?"}}), "done"],
    "second": ["done"],
}}[sys.argv[2]]
model = own.scripted(*script)
search = ToolSearchProcessor([own.weather(), from_langchain(own.whoami)])
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    agent = own.agent_of(model, ToolSearchMiddleware(search), checkpointer=saver)
    config = {{"configurable": {{"thread_id": "t"}}}}
    agent.invoke({{"messages": [("user", "hi")]}}, config, context=own.Who())
print(json.dumps(model.recorder.names()))
""".format(path=[__file__.rpartition("/")[0]])


class TestPolicy:
    @pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
    async def test_a_denied_tool_is_found_loaded_and_run_by_no_door(self, invoke, mode):
        tools = [weather(), from_langchain(secret)]
        processor = ToolSearchProcessor(
            tools, mode=mode, filter=lambda request: request.tool_name != "secret"
        )
        steps = [search("secret about a word"), ("secret", {"word": "x"}), ("Secret", {"word": "x"})]
        steps += [load("secret")] if mode == "load" else []
        steps += [("call_tool", {"name": "secret", "arguments": {"word": "x"}})] if mode == "call" else []
        model = scripted(steps, "done")
        result = await invoke(agent_of(model, ToolSearchMiddleware(processor, hide_own=True), tools=[secret]))
        assert json.loads(answers(result)[0])["results"] == []
        assert not any("SECRET x" in answer or "Tells a secret" in answer for answer in answers(result))
        assert "secret" not in model.recorder.names()[1]

    @pytest.mark.parametrize("phase", ["search", "load", "active"])
    async def test_each_phase_is_asked(self, invoke, phase):
        asked = []

        def policy(request):
            asked.append((request.phase, request.context["user"], request.thread_id))
            return request.phase != phase

        model = scripted(
            search("weather"), load("weather_forecast"), ("weather_forecast", {"city": "Rome"}), "done"
        )
        agent = agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([weather()], filter=policy)))
        result = await invoke(agent, thread="t", context=Who("eve"))
        assert (phase, "eve", "t") in asked
        found, loaded, ran = answers(result)
        assert bool(json.loads(found)["results"]) == (phase != "search")
        assert bool(json.loads(loaded)["loaded"]) == (phase in ("search", "active"))
        assert ran.startswith("sunny") == (phase == "search")

    async def test_policy_of_the_moment_holds_after_a_load(self, invoke):
        allowed = [True]
        processor = ToolSearchProcessor([from_langchain(secret)], filter=lambda request: allowed[0])

        @tool
        def revoke(reason: str) -> str:
            """Revokes everything."""
            allowed[0] = False
            return "revoked"

        model = scripted(load("secret"), ("revoke", {"reason": "x"}), ("secret", {"word": "x"}), "done")
        result = await invoke(agent_of(model, ToolSearchMiddleware(processor), tools=[revoke]))
        assert statuses(result) == ["success", "success", "error"]
        assert model.recorder.names()[2] == [*META, "revoke"]

    async def test_context_is_made_by_a_function_of_the_runtime(self, invoke):
        seen = []
        middleware = ToolSearchMiddleware(
            ToolSearchProcessor(
                [weather()], filter=lambda request: seen.append(dict(request.context)) or True
            ),
            context=lambda runtime: {"user": runtime.context.user.upper()},
        )
        result = await invoke(agent_of(scripted(("weather_forecast", {"city": "Rome"}), "done"), middleware))
        assert answers(result) == ["sunny in Rome for ADA of None"]
        assert seen[0] == {"user": "ADA"}

    async def test_a_context_without_names_is_refused(self, invoke):
        agent = create_agent(
            scripted("x"), middleware=[ToolSearchMiddleware(ToolSearchProcessor([weather()]))]
        )
        with pytest.raises(ConfigurationError, match="context="):
            await invoke(agent, context="ada")


class TestLangChainTools:
    async def test_a_catalog_tool_gets_runtime_and_state(self, invoke):
        model = scripted(
            load("whoami", "count_messages"),
            [("whoami", {"question": "?"}), ("count_messages", {"unit": "messages"})],
            "done",
        )
        processor = ToolSearchProcessor([from_langchain(whoami), from_langchain(count_messages)])
        result = await invoke(agent_of(model, ToolSearchMiddleware(processor)), thread="t")
        assert answers(result)[1:] == ["ada t 4 c1_0", "4 messages"]
        assert model.recorder.tools[1][2:] == [whoami, count_messages]

    async def test_a_renamed_tool_is_listed_and_called_by_its_new_name(self, invoke):
        model = scripted(load("hr_whoami"), ("hr_whoami", {"question": "?"}), "done")
        processor = ToolSearchProcessor([from_langchain(whoami)], transforms=[Namespace("hr")])
        result = await invoke(agent_of(model, ToolSearchMiddleware(processor)), thread="t")
        assert model.recorder.names()[1] == [*META, "hr_whoami"]
        assert answers(result)[1] == "ada t 4 c1_0"
        assert result["messages"][-2].name == "hr_whoami"

    @pytest.mark.parametrize("loaded", [True, False])
    async def test_a_command_passes(self, invoke, loaded):
        class State(AgentState):
            mood: str

        @tool
        def set_mood(mood: str, runtime: ToolRuntime) -> Command:
            """Sets the mood of the agent."""
            return Command(
                update={"mood": mood, "messages": [ToolMessage("set", tool_call_id=runtime.tool_call_id)]}
            )

        model = scripted(*([load("set_mood")] if loaded else []), ("set_mood", {"mood": "good"}), "done")
        middleware = ToolSearchMiddleware(ToolSearchProcessor([from_langchain(set_mood)]))
        result = await invoke(agent_of(model, middleware, state_schema=State))
        assert result["mood"] == "good"
        assert answers(result)[-1] == "set"
        assert model.recorder.names()[-1] == [*META, "set_mood"]

    async def test_what_a_tool_raises_passes(self, invoke):
        @tool
        def fail(word: str) -> str:
            """Fails about a word."""
            raise ZeroDivisionError(word)

        middleware = ToolSearchMiddleware(ToolSearchProcessor([from_langchain(fail)]))
        with pytest.raises(ZeroDivisionError, match="boom"):
            await invoke(agent_of(scripted(("fail", {"word": "boom"}), "done"), middleware))

    async def test_arguments_that_dont_fit_are_answered_with_the_parameters(self, invoke):
        middleware = ToolSearchMiddleware(ToolSearchProcessor([from_langchain(secret)]))
        result = await invoke(agent_of(scripted(("secret", {"werd": "x"}), "done"), middleware))
        assert "word" in answers(result)[0]
        assert "SECRET" not in answers(result)[0]

    @pytest.mark.parametrize("mode", ["load", "call"])
    async def test_a_tool_of_another_framework_runs_outside_of_it(self, invoke, mode):
        steps = [load("greet_city"), ("greet_city", {"city": "Rome"})]
        if mode == "call":
            steps = [("call_tool", {"name": "greet_city", "arguments": {"city": "Rome"}})]
        ours = ToolSearchMiddleware(ToolSearchProcessor([of_another_framework()], mode=mode))
        result = await invoke(agent_of(scripted(*steps, "done"), ours))
        assert answers(result)[-1] == "hello Rome"

    async def test_outside_of_langchain_it_is_invoked(self):
        assert await from_langchain(secret).call({"word": "x"}) == "SECRET x"

    async def test_a_tool_that_calls_another_one(self, invoke):
        inner = from_langchain(secret)

        @tool
        async def outer(word: str) -> str:
            """Asks another tool."""
            return await inner.call({"word": word})

        outer_sync = StructuredTool.from_function(
            lambda word: asyncio.run(inner.call({"word": word})),
            coroutine=outer.coroutine,
            name="outer",
            description="Asks another tool.",
            args_schema=outer.args_schema,
        )
        middleware = ToolSearchMiddleware(ToolSearchProcessor([from_langchain(outer_sync)]))
        result = await invoke(agent_of(scripted(("outer", {"word": "x"}), "done"), middleware))
        assert answers(result) == ["SECRET x"]

    @pytest.mark.parametrize("wrong", [len, "whoami", {"name": "whoami"}])
    def test_anything_else_is_refused(self, wrong):
        with pytest.raises(InvalidToolError, match="takes a tool of LangChain"):
            from_langchain(wrong)

    def test_tags_and_metadata_are_kept(self):
        tagged = StructuredTool.from_function(
            lambda city: city, name="t", description="d", tags=["a"], metadata={"server": "x"}
        )
        converted = from_langchain(tagged)
        assert converted.tags == {"a"}
        assert dict(converted.metadata) == {"server": "x"}
        assert converted.replace(requires_approval=True).original is tagged

    @pytest.mark.parametrize("name", ["arguments", "context", "input"])
    async def test_a_parameter_may_have_any_name(self, name):
        schema = {"type": "object", "properties": {name: {"type": "string"}}}
        odd = StructuredTool.from_function(
            lambda **given: json.dumps(given), name="odd", description="d", args_schema=schema
        )
        assert await from_langchain(odd).call({name: "x"}) == json.dumps({name: "x"})

    def test_a_name_that_no_provider_accepts_is_refused(self):
        with pytest.raises(InvalidToolError):
            from_langchain(StructuredTool.from_function(lambda x: x, name="a b", description="d"))


class TestOwnTools:
    async def test_they_are_listed_and_run_as_without_us(self, invoke):
        provided = {"type": "web_search_20250305", "name": "web_search"}
        nameless = {"type": "code_interpreter"}
        model = scripted(("whoami", {"question": "?"}), "done")
        agent = agent_of(
            model,
            ToolSearchMiddleware(ToolSearchProcessor([weather()], filter=lambda request: False)),
            tools=[whoami, provided, nameless],
        )
        result = await invoke(agent, thread="t")
        assert model.recorder.tools[0][2:] == [nameless, whoami, provided]
        assert answers(result) == ["ada t 2 c0_0"]

    async def test_they_hide_catalog_tools_of_their_name(self, invoke):
        model = scripted(load("whoami"), ("whoami", {"question": "?"}), "done")
        clash = Tool("whoami", "Another one.", CITY, lambda city: "CATALOG")
        agent = agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([clash])), tools=[whoami])
        result = await invoke(agent, thread="t")
        assert model.recorder.names() == [[*META, "whoami"]] * 3
        assert answers(result)[1] == "ada t 4 c1_0"

    @pytest.mark.parametrize("hide_own", [True, False])
    async def test_a_meta_tools_name_is_refused(self, invoke, hide_own):
        @tool
        def load_tool(x: str) -> str:
            """Mine."""
            return x

        middleware = ToolSearchMiddleware(ToolSearchProcessor([weather()]), hide_own=hide_own)
        with pytest.raises(ReservedToolNameError, match="load_tool"):
            await invoke(agent_of(scripted("x"), middleware, tools=[load_tool]))

    async def test_hidden_they_are_found_loaded_and_run_by_langchain(self, invoke):
        model = scripted(
            search("who the user is"),
            load("whoami"),
            ("whoami", {"question": "?"}),
            ("secret", {"word": "x"}),
            "done",
        )
        middleware = ToolSearchMiddleware(ToolSearchProcessor(others()), hide_own=True)
        agent = agent_of(model, middleware, tools=[whoami, secret, {"type": "web_search"}])
        result = await invoke(agent, thread="t")
        assert json.loads(answers(result)[0])["results"][0]["name"] == "whoami"
        assert answers(result)[2:] == ["ada t 6 c2_0", "SECRET x"]
        first, *_, last = model.recorder.tools
        assert first[2:] == [{"type": "web_search"}]
        assert last[3:] == [whoami, secret]

    async def test_pinned_ones_are_always_listed(self, invoke):
        model = scripted("done")
        middleware = ToolSearchMiddleware(ToolSearchProcessor(others(), pinned=["whoami"]), hide_own=True)
        await invoke(agent_of(model, middleware, tools=[whoami, secret]))
        assert model.recorder.names() == [[*META, "whoami"]]

    async def test_a_hidden_tool_that_policy_denies_is_never_run(self, invoke):
        model = scripted([("secret", {"word": "x"}), ("SECRET", {"word": "x"}), load("secret")], "done")
        processor = ToolSearchProcessor(others(), filter=lambda request: request.tool_name != "secret")
        result = await invoke(
            agent_of(model, ToolSearchMiddleware(processor, hide_own=True), tools=[whoami, secret])
        )
        assert not any("SECRET x" in text or "whoami" in text for text in answers(result))
        assert json.loads(answers(result)[2])["loaded"] == []


def paying():
    return Tool(
        "pay_money", "Pays money to a city.", CITY, lambda city: f"paid {city}", requires_approval=True
    )


class TestApproval:
    @pytest.mark.parametrize("answer", [True, {"type": "approve"}])
    async def test_an_approved_call_runs_after_the_interrupt(self, invoke, answer):
        ran = []
        counted = Tool(
            "count_up", "Counts.", {"type": "object", "properties": {}}, lambda: ran.append(1) or "1"
        )
        model = scripted([("pay_money", {"city": "Rome"}), ("count_up", {})], "done")
        middleware = ToolSearchMiddleware(ToolSearchProcessor([paying(), counted]))
        agent = agent_of(model, middleware, checkpointer=InMemorySaver())

        stopped = await invoke(agent, thread="t")
        (question,) = stopped["__interrupt__"]
        assert question.value == {
            "type": "tool_approval",
            "tool_call_id": "c0_0",
            "name": "pay_money",
            "args": {"city": "Rome"},
            "description": "Pays money to a city.",
        }
        result = await invoke(agent, Command(resume=answer), thread="t")
        assert answers(result) == ["paid Rome", "1"]
        assert ran == [1]

    @pytest.mark.parametrize(
        "answer", [False, "too much", {"type": "reject", "message": "too much"}, {"a": 1}, "True"]
    )
    async def test_a_refused_call_is_not_run(self, invoke, answer):
        model = scripted(("pay_money", {"city": "Rome"}), "done")
        agent = agent_of(
            model, ToolSearchMiddleware(ToolSearchProcessor([paying()])), checkpointer=InMemorySaver()
        )
        await invoke(agent, thread="t")
        result = await invoke(agent, Command(resume=answer), thread="t")
        assert statuses(result) == ["error"]
        assert "not run" in answers(result)[0]
        assert ("too much" in answers(result)[0]) == ("too much" in str(answer))

    async def test_each_call_of_a_reply_is_asked_about_for_itself(self, invoke):
        model = scripted([("pay_money", {"city": "Rome"}), ("pay_money", {"city": "Oslo"})], "done")
        agent = agent_of(
            model, ToolSearchMiddleware(ToolSearchProcessor([paying()])), checkpointer=InMemorySaver()
        )
        stopped = await invoke(agent, thread="t")
        verdicts = {each.id: each.value["args"]["city"] == "Rome" for each in stopped["__interrupt__"]}
        assert len(verdicts) == 2
        result = await invoke(agent, Command(resume=verdicts), thread="t")
        assert answers(result)[0] == "paid Rome"
        assert statuses(result) == ["success", "error"]

    async def test_policy_is_asked_again_at_the_resume(self, invoke):
        allowed = [True]
        processor = ToolSearchProcessor([paying()], filter=lambda request: allowed[0])
        agent = agent_of(
            scripted(("pay_money", {"city": "Rome"}), "done"),
            ToolSearchMiddleware(processor),
            checkpointer=InMemorySaver(),
        )
        await invoke(agent, thread="t")
        allowed[0] = False
        result = await invoke(agent, Command(resume=True), thread="t")
        assert statuses(result) == ["error"]
        assert "paid" not in answers(result)[0]

    @pytest.mark.parametrize("mode", ["load", "call"])
    async def test_langchains_tools_may_need_it_too(self, invoke, mode):
        call = ("secret", {"word": "x"})
        if mode == "call":
            call = ("call_tool", {"name": "secret", "arguments": {"word": "x"}})
        guarded = from_langchain(secret).replace(requires_approval=True)
        agent = agent_of(
            scripted(call, "done"),
            ToolSearchMiddleware(ToolSearchProcessor([guarded], mode=mode)),
            checkpointer=InMemorySaver(),
        )
        stopped = await invoke(agent, thread="t")
        assert stopped["__interrupt__"][0].value["name"] == "secret"
        assert answers(await invoke(agent, Command(resume=True), thread="t")) == ["SECRET x"]

    async def test_an_interrupt_inside_a_tool_of_langchain_passes(self, invoke):
        runs = []

        @tool
        def ask(path: str, runtime: ToolRuntime) -> str:
            """Deletes a path after asking."""
            runs.append(path)
            return f"deleted {path}: {interrupt({'ask': path})}"

        agent = agent_of(
            scripted(("ask", {"path": "/x"}), "done"),
            ToolSearchMiddleware(ToolSearchProcessor([from_langchain(ask)])),
            checkpointer=InMemorySaver(),
        )
        stopped = await invoke(agent, thread="t")
        assert stopped["__interrupt__"][0].value == {"ask": "/x"}
        assert answers(await invoke(agent, Command(resume="yes"), thread="t")) == ["deleted /x: yes"]
        assert runs == ["/x", "/x"]


GATED = ["pay_gently", "secret"]


class Changing(AgentMiddleware):
    """Changes the arguments of each call."""

    def __init__(self, arguments):
        self.arguments = arguments

    def wrap_tool_call(self, request, handler):
        return handler(request.override(tool_call={**request.tool_call, "args": self.arguments}))

    async def awrap_tool_call(self, request, handler):
        return await self.wrap_tool_call(request, handler)


class TestReviewers:
    def agent(self, model, mode, *, inside, catalog_mode="load", names=GATED):
        gate = HumanInTheLoopMiddleware(interrupt_on=dict.fromkeys(names, True), interrupt_mode=mode)
        tools = [Tool("pay_gently", "Pays.", CITY, lambda city: f"paid {city}"), from_langchain(secret)]
        ours = ToolSearchMiddleware(ToolSearchProcessor(tools, mode=catalog_mode))
        return agent_of(model, [ours, gate] if inside else [gate, ours], checkpointer=InMemorySaver())

    @staticmethod
    def decision(mode, decision):
        return Command(resume={"decisions": [decision]} if mode == "batched" else decision)

    @pytest.mark.parametrize("inside", [True, False])
    @pytest.mark.parametrize("mode", ["batched", "per_call"])
    @pytest.mark.parametrize(
        ("call", "expected"),
        [(("pay_gently", {"city": "Rome"}), "paid Rome"), (("secret", {"word": "x"}), "SECRET x")],
    )
    async def test_approve_and_reject(self, invoke, mode, inside, call, expected):
        agent = self.agent(scripted(call, "done", call, "done"), mode, inside=inside)
        stopped = await invoke(agent, thread="t")
        assert stopped["__interrupt__"]
        assert answers(stopped) == []
        result = await invoke(agent, self.decision(mode, {"type": "approve"}), thread="t")
        assert answers(result) == [expected]
        await invoke(agent, thread="u")
        refused = await invoke(agent, self.decision(mode, {"type": "reject"}), thread="u")
        assert statuses(refused) == ["error"]
        assert expected not in answers(refused)

    @pytest.mark.parametrize("inside", [True, False])
    @pytest.mark.parametrize("mode", ["batched", "per_call"])
    @pytest.mark.parametrize(
        ("name", "argument", "expected"),
        [("pay_gently", "city", "paid Oslo"), ("secret", "word", "SECRET Oslo")],
    )
    async def test_an_edited_call_runs_as_it_was_edited(self, invoke, mode, inside, name, argument, expected):
        agent = self.agent(scripted((name, {argument: "Rome"}), "done"), mode, inside=inside)
        await invoke(agent, thread="t")
        edited = {"type": "edit", "edited_action": {"name": name, "args": {argument: "Oslo"}}}
        result = await invoke(agent, self.decision(mode, edited), thread="t")
        assert answers(result)[0].endswith(expected)

    @pytest.mark.parametrize("mode", ["batched", "per_call"])
    @pytest.mark.parametrize("near", ["Pay-Gently", "paygently", "SECRET"])
    async def test_no_near_name_passes_a_gate(self, invoke, mode, near):
        call = (near, {"word": "x"} if near == "SECRET" else {"city": "Rome"})
        result = await invoke(self.agent(scripted(call, "done"), mode, inside=False), thread="t")
        assert "__interrupt__" not in result
        assert statuses(result) == ["error"]

    @pytest.mark.parametrize(
        ("mode", "call", "changed"),
        [
            ("load", ("Pay-Gently", {"city": "Rome"}), {"city": "Oslo"}),
            ("call", ("call_tool", {}), {"name": "pay_gently", "arguments": {"city": "Oslo"}}),
        ],
    )
    async def test_changed_arguments_lead_to_no_tool_that_nobody_approved(self, invoke, mode, call, changed):
        paid = []
        pay = Tool("pay_gently", "Pays.", CITY, paid.append, requires_approval=True)
        ours = ToolSearchMiddleware(ToolSearchProcessor([pay], mode=mode))
        result = await invoke(
            agent_of(scripted(call, "done"), [ours, Changing(changed)], checkpointer=InMemorySaver()),
            thread="t",
        )
        assert "__interrupt__" not in result
        assert statuses(result) == ["error"]
        assert paid == []

    async def test_mode_call_is_warned_of_once(self, invoke, caplog):
        model = scripted("done", "done")
        agent = self.agent(model, "batched", inside=False, catalog_mode="call")
        await invoke(agent, thread="t")
        await invoke(agent, thread="t")
        assert caplog.text.count("HumanInTheLoopMiddleware sees only") == 1

    async def test_no_warning_without_a_gate_or_in_other_modes(self, invoke, caplog):
        ours = ToolSearchMiddleware(ToolSearchProcessor([weather()], mode="call"))
        await invoke(agent_of(scripted("done"), ours))
        await invoke(self.agent(scripted("done"), "batched", inside=False), thread="t")
        assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []

    async def test_mode_call_is_gated_by_target_inside_and_per_call(self, invoke):
        call = ("call_tool", {"name": "pay_gently", "arguments": {"city": "Rome"}})
        agent = self.agent(scripted(call, "done"), "per_call", inside=True, catalog_mode="call")
        stopped = await invoke(agent, thread="t")
        assert stopped["__interrupt__"][0].value["name"] == "pay_gently"
        result = await invoke(agent, Command(resume={"type": "approve"}), thread="t")
        assert answers(result) == ["paid Rome"]


class TestOtherMiddlewares:
    async def test_those_after_ours_see_each_call_with_its_tool(self, invoke):
        seen = []

        class Log(AgentMiddleware):
            def wrap_tool_call(self, request, handler):
                seen.append((request.tool.name, request.tool_call["args"]))
                return handler(request)

            async def awrap_tool_call(self, request, handler):
                seen.append((request.tool.name, request.tool_call["args"]))
                return await handler(request)

        ours = ToolSearchMiddleware(ToolSearchProcessor([weather(), from_langchain(secret)]))
        model = scripted([("weather_forecast", {"city": "Rome"}), ("secret", {"word": "x"})], "done")
        await invoke(agent_of(model, [ours, Log()]))
        assert sorted(seen) == [("secret", {"word": "x"}), ("weather_forecast", {"city": "Rome"})]

    async def test_one_after_ours_may_bring_tools_of_its_own(self, invoke):
        class Brings(AgentMiddleware):
            def request(self, request):
                return request.override(tool=secret) if request.tool_call["name"] == "secret" else request

            def wrap_tool_call(self, request, handler):
                return handler(self.request(request))

            async def awrap_tool_call(self, request, handler):
                return await handler(self.request(request))

        ours = ToolSearchMiddleware(ToolSearchProcessor([weather()]))
        result = await invoke(agent_of(scripted(("secret", {"word": "x"}), "done"), [ours, Brings()]))
        assert answers(result) == ["SECRET x"]

    async def test_two_searchers(self, invoke):
        class Other(ToolSearchMiddleware):
            pass

        names = {"search_tool_name": "find_more", "load_tool_name": "load_more", "id": "other"}
        first = ToolSearchMiddleware(ToolSearchProcessor([weather()]))
        second = Other(ToolSearchProcessor(others(), **names))
        model = scripted(
            [load("weather_forecast"), ("load_more", {"tool_names": ["issue_action_1"]}), ("nope", {})],
            [("weather_forecast", {"city": "Rome"}), ("issue_action_1", {"text": "x"})],
            "done",
        )
        result = await invoke(agent_of(model, [first, second]))
        assert sorted(model.recorder.names()[1]) == sorted(
            [*META, "weather_forecast", "find_more", "load_more", "issue_action_1"]
        )
        assert answers(result)[3:] == ["sunny in Rome for ada of None", "done"]
        assert statuses(result) == ["success", "success", "error", "success", "success"]

    async def test_results_that_are_cleared_from_requests_keep_what_they_loaded(self, invoke):
        edit = ClearToolUsesEdit(trigger=1, keep=0)
        ours = ToolSearchMiddleware(ToolSearchProcessor([weather()]))
        model = scripted(load("weather_forecast"), ("weather_forecast", {"city": "Rome"}), "done")
        await invoke(agent_of(model, [ContextEditingMiddleware(edits=[edit]), ours]))
        assert model.recorder.names() == [META, LISTED, LISTED]
        assert "receipt" not in model.recorder.messages[-1][3].text

    async def test_a_tool_that_is_forced_is_listed(self, invoke):
        class Forces(AgentMiddleware):
            def wrap_model_call(self, request, handler):
                return handler(request.override(tool_choice="weather_forecast"))

            async def awrap_model_call(self, request, handler):
                return await handler(request.override(tool_choice="weather_forecast"))

        ours = ToolSearchMiddleware(ToolSearchProcessor([weather(), *others()]))
        model = scripted("done")
        await invoke(agent_of(model, [Forces(), ours]))
        assert model.recorder.names() == [LISTED]


class TestGraphs:
    async def test_an_agent_that_is_a_node_of_a_graph(self, invoke):
        model = scripted(load("weather_forecast"), "done", "second turn")
        processor = ToolSearchProcessor([weather()], store=MemoryStore())
        builder = StateGraph(AgentState, context_schema=Who)
        builder.add_node("agent", agent_of(model, ToolSearchMiddleware(processor)))
        builder.add_edge(START, "agent")
        graph = builder.compile(checkpointer=InMemorySaver())
        for _ in range(2):
            await invoke(graph, thread="t")
        assert model.recorder.names() == [META, LISTED, LISTED]

    async def test_a_sync_call_inside_a_running_loop(self):
        model = scripted(("weather_forecast", {"city": "Rome"}), "done")
        agent = agent_of(model, ToolSearchMiddleware(ToolSearchProcessor([weather()])))
        result = agent.invoke({"messages": [("user", "hi")]}, context=Who())
        assert answers(result) == ["sunny in Rome for ada of None"]

    async def test_an_agent_as_a_tool_of_an_agent(self, invoke):
        middleware = ToolSearchMiddleware(ToolSearchProcessor([weather()]))
        inner = agent_of(scripted(("weather_forecast", {"city": "Rome"}), "inner done"), middleware)

        @tool
        def ask_inner(question: str, runtime: ToolRuntime) -> str:
            """Asks another agent."""
            given = {"messages": [("user", question)]}
            return answers(inner.invoke(given, context=runtime.context))[0]

        outer = ToolSearchMiddleware(ToolSearchProcessor([from_langchain(ask_inner)]))
        result = await invoke(agent_of(scripted(("ask_inner", {"question": "?"}), "done"), outer))
        assert answers(result) == ["sunny in Rome for ada of None"]


class TestSubagents:
    async def test_a_deepagents_subagent_searches_for_itself(self, invoke):
        deepagents = pytest.importorskip("deepagents")
        middleware = ToolSearchMiddleware(ToolSearchProcessor([weather(), *others()], store=MemoryStore()))
        model = scripted(
            load("issue_action_1"),
            ("task", {"description": "the weather", "subagent_type": "worker"}),
            load("weather_forecast"),
            ("weather_forecast", {"city": "Rome"}),
            "sub done",
            "main done",
        )
        agent = deepagents.create_deep_agent(
            model,
            middleware=[middleware],
            subagents=[
                {
                    "name": "worker",
                    "description": "does things",
                    "system_prompt": "work",
                    "middleware": [middleware],
                    "tools": [],
                }
            ],
            context_schema=Who,
            checkpointer=InMemorySaver(),
        )
        result = await invoke(agent, thread="t")
        assert answers(result)[-1] == "sub done"
        ours = [[name for name in names if name in CATALOG] for names in model.recorder.names()]
        assert ours == [
            [],
            ["issue_action_1"],
            [],
            ["weather_forecast"],
            ["weather_forecast"],
            ["issue_action_1"],
        ]


CATALOG = {"weather_forecast", *(each.name for each in others())}


def wire_of(provider, steps, **client):
    """Return a real client of a provider that records what it would send, and the list of that."""
    if provider == "openai":
        from langchain_openai import ChatOpenAI as Client
    else:
        from langchain_anthropic import ChatAnthropic as Client
    sent, answered = [], iter(replies(*steps))

    class Recorded(Client):
        def _generate(self, messages, stop=None, run_manager=None, **options):
            sent.append(json.loads(json.dumps(self._get_request_payload(messages, stop=stop, **options))))
            return ChatResult(generations=[ChatGeneration(message=next(answered))])

        async def _agenerate(self, messages, stop=None, run_manager=None, **options):
            return self._generate(messages, stop, None, **options)

    model = {"openai": "gpt-5.5", "anthropic": "claude-opus-5-5"}[provider]
    return Recorded(**{"model": model, "api_key": "none", **client}), sent


class TestPayloads:
    @pytest.mark.parametrize("provider", ["openai", "anthropic"])
    async def test_what_a_provider_is_sent(self, invoke, provider):
        pytest.importorskip(f"langchain_{provider}")
        steps = [load("weather_forecast", "whoami"), "done", ("secret", {"word": "x"}), "done", "third turn"]
        model, sent = wire_of(provider, steps)
        catalog = [weather(), from_langchain(whoami), from_langchain(secret)]
        agent = agent_of(
            model,
            ToolSearchMiddleware(ToolSearchProcessor(catalog), native="off"),
            system_prompt="Be kind.",
            checkpointer=InMemorySaver(),
        )
        for _ in range(3):
            await invoke(agent, thread="t")

        functions = [[tool.get("function", tool) for tool in payload["tools"]] for payload in sent]
        names = [[each["name"] for each in listed] for listed in functions]
        loaded = [*META, "weather_forecast", "whoami"]
        assert names == [META, loaded, loaded, [*loaded, "secret"], [*loaded, "secret"]]
        schema = functions[1][2].get("parameters") or functions[1][2]["input_schema"]
        assert schema == CITY
        own = functions[1][3].get("parameters") or functions[1][3]["input_schema"]
        assert list(own["properties"]) == ["question"]
        system = sent[0].get("system") or sent[0]["messages"][0]["content"]
        assert system.startswith("Be kind.\n\n")
        assert "search_tools" in system
        # each request begins with the one before, and no receipt of an unlisted call is sent
        assert [payload["messages"][: len(before["messages"])] for before, payload in pairwise(sent)] == [
            before["messages"] for before in sent[:-1]
        ]
        assert "tool_search_receipt" not in json.dumps(sent)
        assert [each[: len(before)] for before, each in pairwise(functions)] == functions[:-1]


class TestNative:
    """The list of tools is the same at every request, and each request begins with the one before."""

    def sent_by(self, payload):
        return payload.get("input") or payload["messages"]

    async def payloads(self, invoke, provider, *, processor=None, native="auto", turns=3, **options):
        pytest.importorskip(f"langchain_{provider}")
        steps = [
            search("weather of a city"),
            load("weather_forecast"),
            ("weather_forecast", {"city": "Rome"}),
            "done",
            [("secret", {"word": "x"}), load("whoami")],
            "done",
            "third turn",
        ]
        more = {"use_responses_api": True} if provider == "openai" else {}
        model, sent = wire_of(provider, steps, **more, **options.pop("client", {}))
        tools = [weather(), from_langchain(whoami), from_langchain(secret), *others()]
        middleware = ToolSearchMiddleware(processor or ToolSearchProcessor(tools), native=native)
        agent = agent_of(model, middleware, system_prompt="Be kind.", checkpointer=InMemorySaver(), **options)
        for _ in range(turns):
            result = await invoke(agent, thread="t")
        assert "tool_addition" not in str(result["messages"])
        assert "tool_search_" not in json.dumps(sent)
        return sent

    @pytest.mark.parametrize("store", [None, MemoryStore])
    @pytest.mark.parametrize("provider", ["openai", "anthropic"])
    async def test_loaded_tools_stand_in_the_conversation(self, invoke, provider, store):
        tools = [weather(), from_langchain(whoami), from_langchain(secret), *others()]
        processor = ToolSearchProcessor(tools, store=store() if store else None)
        sent = await self.payloads(invoke, provider, processor=processor)
        assert len(sent) == 7
        assert len({json.dumps(payload["tools"]) for payload in sent}) == 1
        assert [name_of(each) for each in sent[0]["tools"]] == META
        for before, payload in pairwise(map(self.sent_by, sent)):
            assert payload[: len(before)] == before
        text = json.dumps(self.sent_by(sent[-1]))
        kind = {"openai": '"additional_tools"', "anthropic": '"tool_addition"'}[provider]
        assert text.count(kind) == {"openai": 2, "anthropic": 3}[provider]
        for name in ("weather_forecast", "secret", "whoami"):
            assert text.count(f'"name": "{name}", "description"') == 1

    @pytest.mark.parametrize("provider", ["openai", "anthropic"])
    async def test_the_agents_own_tools_stay_in_the_list(self, invoke, provider):
        @tool
        def always(text: str) -> str:
            """Is always there."""
            return text

        sent = await self.payloads(invoke, provider, tools=[always])
        assert {tuple(map(name_of, payload["tools"])) for payload in sent} == {(*META, "always")}

    @pytest.mark.parametrize("provider", ["openai", "anthropic"])
    @pytest.mark.parametrize("client", ["another address", "another model", "off"])
    async def test_other_routes_list_what_is_loaded(self, invoke, provider, client):
        options = {
            "another address": {"base_url": "https://gateway.example/v1"},
            "another model": {"model": {"openai": "gpt-4o", "anthropic": "claude-sonnet-4-5"}[provider]},
            "off": {},
        }[client]
        native = "off" if client == "off" else "auto"
        sent = await self.payloads(invoke, provider, native=native, client=options)
        assert [name_of(each) for each in sent[-1]["tools"]] == [*LISTED, "secret", "whoami"]
        assert "additional_tools" not in json.dumps(sent)
        assert "tool_addition" not in json.dumps(sent)

    async def test_a_thread_may_change_its_model(self, invoke):
        pytest.importorskip("langchain_openai")
        pytest.importorskip("langchain_anthropic")
        native, declared = wire_of("anthropic", [load("weather_forecast"), "done", "back again"])
        plain, listed = wire_of("openai", ["second turn"], model="gpt-4o")
        saver, middleware = InMemorySaver(), ToolSearchMiddleware(ToolSearchProcessor([weather()]))
        for model in (native, plain, native):
            await invoke(agent_of(model, middleware, checkpointer=saver), thread="t")
        assert [name_of(each) for each in listed[0]["tools"]] == LISTED
        assert len({json.dumps(payload["tools"]) for payload in declared}) == 1
        assert declared[2]["messages"][: len(declared[1]["messages"])] == declared[1]["messages"]

    async def test_a_denied_tool_is_never_declared(self, invoke):
        allowed = {"weather_forecast", "secret"}
        tools = [weather(), from_langchain(whoami), from_langchain(secret)]
        processor = ToolSearchProcessor(tools, filter=lambda request: request.tool_name in allowed)
        sent = await self.payloads(invoke, "anthropic", processor=processor)
        definitions = json.dumps(sent)
        assert '"name": "whoami"' not in definitions

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            (([],), "needs a ToolSearchProcessor"),
            ((ToolSearchProcessor([weather()]), {"context": {"user": "ada"}}), "pass a function"),
            ((ToolSearchProcessor([weather()]), {"native": "on"}), "'auto' or 'off'"),
        ],
    )
    def test_arguments_that_cant_work_are_refused(self, arguments, match):
        first, options = (*arguments, {})[:2]
        with pytest.raises(ConfigurationError, match=match):
            ToolSearchMiddleware(first, **options)


def test_what_the_page_on_migration_says_runs(capsys):
    run_section("LangChain", capsys)

"""`ToolSearchToolset` in real agents of ADK, whose model alone is a double."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("google.adk", reason='needs pip install "tool-search-processor[adk]"')

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext as TheirContext
from google.genai import types
from pydantic import BaseModel, Field

from tool_search_processor import (
    ConfigurationError,
    MemoryStore,
    ReservedToolNameError,
    Tool,
    ToolContext,
    ToolSearchProcessor,
)
from tool_search_processor.adapters.google_adk import ToolSearchToolset, from_adk
from tool_search_processor.adapters.google_adk_events import to_openai
from tool_search_processor.session.foreign_tools import ForeignTool, run_by_framework
from tool_search_processor.transforms import Namespace

pytestmark = [
    # of ADK itself: experimental parts, and its own use of what it has deprecated
    pytest.mark.filterwarnings("ignore::UserWarning:google"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:google"),
]

META = ["search_tools", "load_tool"]
LOAD = ("load_tool", {"tool_names": ["weather_forecast"]})
CALL = ("weather_forecast", {"city": "Rome"})
CONFIRM = "adk_request_confirmation"


class Scripted(BaseLlm):
    """Says what it was given, a step each: a text, a call, or several calls."""

    steps: list = Field(default_factory=list)
    listed: list = Field(default_factory=list)
    prompts: list = Field(default_factory=list)
    declared: dict = Field(default_factory=dict)

    async def generate_content_async(self, llm_request, stream=False):
        declarations = [
            d for tool in llm_request.config.tools or [] for d in tool.function_declarations or []
        ]
        self.listed.append([declaration.name for declaration in declarations])
        self.declared.update({declaration.name: declaration for declaration in declarations})
        self.prompts.append(str(llm_request.config.system_instruction))
        await asyncio.sleep(0)
        step = self.steps.pop(0)
        if isinstance(step, str):
            parts = [types.Part(text=step)]
            if stream:
                yield LlmResponse(content=types.Content(role="model", parts=parts), partial=True)
        else:
            calls = step if isinstance(step, list) else [step]
            parts = [
                types.Part(function_call=types.FunctionCall(name=name, args=arguments))
                for name, arguments in calls
            ]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def scripted(*steps):
    return Scripted(model="scripted", steps=list(steps))


def forecast(city: str, context: ToolContext) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city} for {context.context['user_id']} on {context.context.get('plan')}"


def catalog(*more):
    others = [
        Tool(f"{name}_create_issue", f"Create an issue in {name}.", {}, lambda name=name: name)
        for name in ("jira", "asana")
    ]
    return [Tool.from_function(forecast, name="weather_forecast"), *others, *more]


def whoami(question: str, tool_context: TheirContext) -> dict:
    """Say who the user is."""
    tool_context.state["asked"] = question
    return {"user": tool_context.user_id, "call": bool(tool_context.function_call_id)}


class Chat:
    """One session of one agent."""

    def __init__(self, runner, session_id, user):
        self.runner, self.session_id, self.user = runner, session_id, user
        self.events = []

    @classmethod
    async def begin(
        cls, model, search, *, inner=(), tools=(), user="ada", state=None, agent_options=(), **options
    ):
        toolset = ToolSearchToolset(search, inner, **options)
        agent = LlmAgent(name="helper", model=model, tools=[*tools, toolset], **dict(agent_options))
        return await cls.of(InMemoryRunner(agent, app_name="app"), user=user, state=state)

    @classmethod
    async def of(cls, runner, *, user="ada", state=None):
        session = await runner.session_service.create_session(app_name="app", user_id=user, state=state or {})
        return cls(runner, session.id, user)

    async def say(self, said, **options):
        message = (
            said
            if isinstance(said, types.Content)
            else types.Content(role="user", parts=[types.Part(text=said)])
        )
        events = [
            event
            async for event in self.runner.run_async(
                user_id=self.user, session_id=self.session_id, new_message=message, **options
            )
        ]
        self.events += events
        return events

    async def confirm(self, answer):
        request = next(
            call
            for event in reversed(self.events)
            for call in event.get_function_calls()
            if call.name == CONFIRM
        )
        response = types.FunctionResponse(id=request.id, name=CONFIRM, response={"confirmed": answer})
        return await self.say(types.Content(role="user", parts=[types.Part(function_response=response)]))

    def results(self, name):
        found = [response for event in self.events for response in event.get_function_responses()]
        return [response.response for response in found if response.name == name]


async def test_search_load_call_answer_in_one_invocation():
    model = scripted(("search_tools", {"query": "weather"}), LOAD, CALL, "Sunny.")
    chat = await Chat.begin(model, ToolSearchProcessor(catalog()), state={"plan": "pro"})

    events = await chat.say("weather?")

    assert events[-1].content.parts[0].text == "Sunny."
    assert model.listed == [META, META, [*META, "weather_forecast"], [*META, "weather_forecast"]]
    assert chat.results("weather_forecast") == [{"result": "sunny in Rome for ada on pro"}]
    assert chat.results("search_tools")[0]["results"][0]["name"] == "weather_forecast"
    assert "search with search_tools" in model.prompts[0]


async def test_the_parameters_are_declared():
    model = scripted(LOAD, "done")
    chat = await Chat.begin(model, ToolSearchProcessor(catalog()))
    await chat.say("go")
    declared = model.declared["weather_forecast"]
    assert declared.description == "Tell the weather of a city."
    assert declared.parameters_json_schema["required"] == ["city"]


async def test_a_later_turn_still_has_what_was_loaded():
    model = scripted(LOAD, "loaded", CALL, "done")
    chat = await Chat.begin(model, ToolSearchProcessor(catalog()))
    await chat.say("load")
    await chat.say("weather?")
    assert model.listed[2] == [*META, "weather_forecast"]
    assert len(chat.results("weather_forecast")) == 1


SECOND_TURN = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_google_adk import *

async def main():
    model = scripted(CALL, "done")
    agent = LlmAgent(name="helper", model=model, tools=[ToolSearchToolset(ToolSearchProcessor(catalog()))])
    runner = Runner(agent=agent, app_name="app", session_service=SqliteSessionService(sys.argv[2]))
    chat = Chat(runner, sys.argv[3], "ada")
    await chat.say("weather?")
    print(json.dumps([model.listed[0], chat.results("weather_forecast")]))

asyncio.run(main())
"""


async def test_a_new_process_has_what_was_loaded_by_the_session_service(tmp_path):
    path = str(tmp_path / "sessions.db")
    agent = LlmAgent(
        name="helper",
        model=scripted(LOAD, "loaded"),
        tools=[ToolSearchToolset(ToolSearchProcessor(catalog()))],
    )
    runner = Runner(agent=agent, app_name="app", session_service=SqliteSessionService(path))
    chat = await Chat.of(runner)
    await chat.say("load")

    arguments = ["-W", "ignore", "-c", SECOND_TURN, str(Path(__file__).parent), path, chat.session_id]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()

    listed, results = json.loads(said.decode().splitlines()[-1])
    assert listed == [*META, "weather_forecast"]
    assert results == [{"result": "sunny in Rome for ada on None"}]


async def test_a_rewind_unloads():
    model = scripted(LOAD, "loaded", "again")
    chat = await Chat.begin(model, ToolSearchProcessor(catalog()))
    events = await chat.say("load")
    await chat.runner.rewind_async(
        user_id="ada", session_id=chat.session_id, rewind_before_invocation_id=events[0].invocation_id
    )
    await chat.say("hello")
    assert model.listed[-1] == META


class TestFilter:
    @staticmethod
    def denying(*phases):
        return lambda request: request.tool_name != "weather_forecast" or request.phase not in phases

    async def test_phase_search(self):
        model = scripted(("search_tools", {"query": "weather"}), "done")
        chat = await Chat.begin(model, ToolSearchProcessor(catalog(), filter=self.denying("search")))
        await chat.say("go")
        assert chat.results("search_tools")[0]["results"] == []

    async def test_phase_load(self):
        model = scripted(LOAD, CALL, "done")
        chat = await Chat.begin(model, ToolSearchProcessor(catalog(), filter=self.denying("load")))
        await chat.say("go")
        assert chat.results("load_tool")[0]["not_found"] == [{"name": "weather_forecast", "suggestions": []}]
        assert model.listed[1] == META
        assert "no tool with that name" in chat.results("weather_forecast")[0]["error"]

    async def test_phase_active_hides_without_unloading(self):
        allowed = True
        model = scripted(LOAD, CALL, "done", "again")
        search = ToolSearchProcessor(
            catalog(),
            filter=lambda request: (
                request.phase != "active" or allowed or request.tool_name != "weather_forecast"
            ),
        )
        chat = await Chat.begin(model, search)
        await chat.say("go")
        allowed = False
        await chat.say("again")
        assert [*META, "weather_forecast"] in model.listed
        assert model.listed[-1] == META

    async def test_a_call_is_denied_at_its_moment(self):
        asked = []

        def policy(request):
            asked.append(request.phase)
            return request.phase != "active" or asked.count("active") < 2

        model = scripted(LOAD, CALL, "done")
        chat = await Chat.begin(
            model, ToolSearchProcessor([Tool.from_function(forecast, name="weather_forecast")], filter=policy)
        )
        await chat.say("go")
        assert "sunny" not in str(chat.results("weather_forecast"))
        assert chat.results("weather_forecast")[0].keys() == {"error"}

    async def test_inner_tools_are_under_it_too(self):
        model = scripted(("load_tool", {"tool_names": ["whoami"]}), ("whoami", {"question": "q"}), "done")
        search = ToolSearchProcessor(catalog(), filter=lambda request: request.tool_name != "whoami")
        chat = await Chat.begin(model, search, inner=[whoami])
        await chat.say("go")
        assert model.listed[-1] == META
        assert "no tool with that name" in chat.results("whoami")[0]["error"]

    async def test_sees_the_sessions_state_as_it_is_now(self):
        def upgrade(tool_context: TheirContext) -> str:
            """Upgrade the plan."""
            tool_context.state["plan"] = "pro"
            return "upgraded"

        model = scripted(LOAD, ("upgrade", {}), LOAD, "done")
        search = ToolSearchProcessor(catalog(), filter=lambda request: request.context.get("plan") == "pro")
        chat = await Chat.begin(model, search, tools=[upgrade])
        await chat.say("go")
        assert [answer["loaded"] for answer in chat.results("load_tool")] == [[], ["weather_forecast"]]

    async def test_a_context_of_the_users_own(self):
        seen = []

        def policy(request):
            seen.append((dict(request.context), request.thread_id))
            return True

        model = scripted(("search_tools", {"query": "weather"}), "done")
        chat = await Chat.begin(
            model,
            ToolSearchProcessor(catalog(), filter=policy),
            context=lambda ctx: {"who": ctx.user_id},
            thread_id=lambda ctx: f"{ctx.user_id}/1",
        )
        await chat.say("go")
        assert seen
        assert all(found == ({"who": "ada"}, "ada/1") for found in seen)


class Item(BaseModel):
    sku: str
    n: int = 1


def order(items: list[Item], note: str | None = None) -> str:
    """Order things."""
    return f"{items!r} {note}"


class Shop(BaseToolset):
    def __init__(self, **options):
        super().__init__(**options)
        self.closed = False

    async def get_tools(self, readonly_context=None):
        return [FunctionTool(order), FunctionTool(whoami)]

    async def close(self):
        self.closed = True


class Old(BaseTool):
    """Declares its parameters in Gemini's own schema, and adds to each request."""

    def _get_declaration(self):
        schema = types.Schema(
            type="OBJECT",
            properties={"n": types.Schema(type="INTEGER", description="How many.")},
            required=["n"],
        )
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters=schema)

    async def process_llm_request(self, *, tool_context, llm_request):
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.append_instructions(["Count well."])

    async def run_async(self, *, args, tool_context):
        return {"counted": args["n"]}


class Builtin(BaseTool):
    """Is run by the provider."""

    async def process_llm_request(self, *, tool_context, llm_request):
        llm_request.append_instructions(["The web can be searched."])


MCP_SERVER = """
from mcp.server import MCPServer

server = MCPServer("numbers")

@server.tool()
def add_numbers(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

server.run()
"""


class TestInnerTools:
    async def test_are_withheld_until_loaded_and_run_by_adk(self):
        model = scripted(
            ("search_tools", {"query": "who is the user"}),
            ("load_tool", {"tool_names": ["whoami"]}),
            ("whoami", {"question": "q"}),
            "done",
        )
        chat = await Chat.begin(model, ToolSearchProcessor(catalog()), inner=[FunctionTool(whoami)])
        await chat.say("go")
        assert model.listed[0] == META
        assert model.listed[2] == [*META, "whoami"]
        assert chat.results("whoami") == [{"user": "ada", "call": True}]
        session = await chat.runner.session_service.get_session(
            app_name="app", user_id="ada", session_id=chat.session_id
        )
        assert session.state["asked"] == "q"

    async def test_of_a_toolset_with_typed_arguments(self):
        model = scripted(
            ("load_tool", {"tool_names": ["order"]}), ("order", {"items": [{"sku": "a"}]}), "done"
        )
        chat = await Chat.begin(model, ToolSearchProcessor(), inner=[Shop()])
        await chat.say("go")
        assert chat.results("order") == [{"result": "[Item(sku='a', n=1)] None"}]
        assert "$defs" in model.declared["order"].parameters_json_schema

    async def test_of_a_toolset_with_a_prefix(self):
        model = scripted(
            ("load_tool", {"tool_names": ["shop_whoami"]}), ("shop_whoami", {"question": "q"}), "done"
        )
        chat = await Chat.begin(model, ToolSearchProcessor(), inner=[Shop(tool_name_prefix="shop")])
        await chat.say("go")
        assert model.listed[1] == [*META, "shop_whoami"]
        assert chat.results("shop_whoami") == [{"user": "ada", "call": True}]

    async def test_with_a_schema_of_gemini_and_a_request_processor_of_its_own(self):
        model = scripted(
            ("load_tool", {"tool_names": ["count"]}), ("count", {"n": "x"}), ("count", {"n": 3}), "done"
        )
        chat = await Chat.begin(
            model, ToolSearchProcessor(), inner=[Old(name="count", description="Counts.")]
        )
        await chat.say("go")
        assert "Count well." not in model.prompts[0]
        assert "Count well." in model.prompts[1]
        refused, counted = chat.results("count")
        assert "`n`" in refused["error"]
        assert counted == {"counted": 3}

    async def test_of_an_mcp_server(self, tmp_path):
        pytest.importorskip("mcp", reason='needs pip install "tool-search-processor[mcp]"')
        from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
        from mcp import StdioServerParameters

        program = tmp_path / "server.py"
        program.write_text(MCP_SERVER)
        parameters = StdioServerParameters(command=sys.executable, args=[str(program)])
        toolset = McpToolset(connection_params=StdioConnectionParams(server_params=parameters))
        model = scripted(
            ("search_tools", {"query": "add numbers"}),
            ("load_tool", {"tool_names": ["add_numbers"]}),
            ("add_numbers", {"a": 2, "b": 3}),
            "done",
        )
        chat = await Chat.begin(model, ToolSearchProcessor(catalog()), inner=[toolset])
        await chat.say("go")
        await chat.runner.close()
        assert model.listed[:3] == [META, META, [*META, "add_numbers"]]
        assert chat.results("add_numbers")[0]["structuredContent"] == {"result": 5}

    async def test_behind_the_proxy(self):
        model = scripted(("call_tool", {"name": "whoami", "arguments": {"question": "q"}}), "done")
        chat = await Chat.begin(model, ToolSearchProcessor(catalog(), mode="call"), inner=[whoami])
        await chat.say("go")
        assert model.listed[0] == ["search_tools", "call_tool"]
        assert chat.results("call_tool") == [{"user": "ada", "call": True}]

    async def test_that_the_provider_runs_are_always_there(self):
        model = scripted("done")
        chat = await Chat.begin(
            model, ToolSearchProcessor(), inner=[Builtin(name="web", description="Searches.")]
        )
        await chat.say("go")
        assert "The web can be searched." in model.prompts[0]

    async def test_can_be_listed_as_they_are(self):
        model = scripted(("whoami", {"question": "q"}), "done")
        chat = await Chat.begin(model, ToolSearchProcessor(catalog()), inner=[whoami], hide_own=False)
        await chat.say("go")
        assert model.listed[0] == [*META, "whoami"]
        assert chat.results("whoami") == [{"user": "ada", "call": True}]

    async def test_can_be_in_the_catalog(self):
        model = scripted(("load_tool", {"tool_names": ["whoami"]}), ("whoami", {"question": "q"}), "done")
        chat = await Chat.begin(model, ToolSearchProcessor([from_adk(FunctionTool(whoami))]))
        await chat.say("go")
        assert chat.results("whoami") == [{"user": "ada", "call": True}]

    async def test_renamed_ones_are_listed_and_called_by_their_new_names(self):
        model = scripted(
            ("load_tool", {"tool_names": ["ns_whoami"]}), ("ns_whoami", {"question": "?"}), "done"
        )
        search = ToolSearchProcessor([from_adk(FunctionTool(whoami))], transforms=[Namespace("ns")])
        chat = await Chat.begin(model, search)
        await chat.say("go")
        assert model.listed[1] == [*META, "ns_whoami"]
        assert chat.results("ns_whoami") == [{"user": "ada", "call": True}]

    @pytest.mark.parametrize("mode", ["load", "call"])
    async def test_of_another_framework_run_outside_of_it(self, mode):
        run = run_by_framework(lambda arguments: f"hello {arguments['city']}")
        greet = ForeignTool("greet_city", "Greets a city.", {"type": "object"}, run, original=object())
        steps = [("load_tool", {"tool_names": ["greet_city"]}), ("greet_city", {"city": "Rome"})]
        if mode == "call":
            steps = [("call_tool", {"name": "greet_city", "arguments": {"city": "Rome"}})]
        chat = await Chat.begin(scripted(*steps, "done"), ToolSearchProcessor([greet], mode=mode))
        await chat.say("go")
        assert chat.results(steps[-1][0]) == [{"result": "hello Rome"}]

    async def test_raise_as_without_us(self):
        def fail() -> str:
            """Fail."""
            raise LookupError("out of paper")

        model = scripted(("load_tool", {"tool_names": ["fail"]}), ("fail", {}), "done")
        chat = await Chat.begin(model, ToolSearchProcessor(), inner=[fail])
        with pytest.raises(LookupError, match="out of paper"):
            await chat.say("go")

    async def test_are_closed_with_the_toolset(self):
        shop = Shop()
        await ToolSearchToolset(ToolSearchProcessor(), [shop]).close()
        assert shop.closed


class TestConfirmation:
    @staticmethod
    def paying():
        paid = []

        def run(amount: int) -> str:
            paid.append(amount)
            return f"paid {amount}"

        schema = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
        return Tool("pay", "Pay money.", schema, run, requires_approval=True), paid

    @pytest.mark.parametrize(("answer", "result"), [(True, {"result": "paid 3"}), (False, None)])
    async def test_of_a_tool_of_ours(self, answer, result):
        tool, paid = self.paying()
        model = scripted(("load_tool", {"tool_names": ["pay"]}), ("pay", {"amount": 3}), "done")
        chat = await Chat.begin(model, ToolSearchProcessor([tool, *catalog()]))
        await chat.say("pay")
        assert paid == []
        await chat.confirm(answer)
        assert paid == ([3] if answer else [])
        last = chat.results("pay")[-1]
        assert last == result if answer else "rejected" in str(last)

    async def test_is_of_the_target_behind_the_proxy(self):
        tool, paid = self.paying()
        model = scripted(("call_tool", {"name": "pay", "arguments": {"amount": 3}}), "done")
        chat = await Chat.begin(model, ToolSearchProcessor([tool], mode="call"))
        await chat.say("pay")
        assert paid == []
        await chat.confirm(True)
        assert paid == [3]

    async def test_of_an_inner_tool(self):
        paid = []

        def pay(amount: int) -> str:
            """Pay money."""
            paid.append(amount)
            return "paid"

        model = scripted(("load_tool", {"tool_names": ["pay"]}), ("pay", {"amount": 30}), "done")
        tool = FunctionTool(pay, require_confirmation=lambda amount: amount > 10)
        chat = await Chat.begin(model, ToolSearchProcessor(), inner=[tool])
        await chat.say("pay")
        assert paid == []
        await chat.confirm(True)
        assert paid == [30]

    async def test_is_not_asked_for_what_cant_run(self):
        tool, _ = self.paying()
        model = scripted(("load_tool", {"tool_names": ["pay"]}), ("pay", {"amount": "much"}), "done")
        chat = await Chat.begin(model, ToolSearchProcessor([tool]))
        events = await chat.say("pay")
        assert not any(call.name == CONFIRM for event in events for call in event.get_function_calls())
        assert "`amount`" in chat.results("pay")[0]["error"]

    async def test_is_void_where_policy_denies_meanwhile(self):
        tool, paid = self.paying()
        allowed = True
        model = scripted(("load_tool", {"tool_names": ["pay"]}), ("pay", {"amount": 3}), "done", "done")
        search = ToolSearchProcessor([tool], filter=lambda request: request.phase != "active" or allowed)
        chat = await Chat.begin(model, search)
        await chat.say("pay")
        allowed = False
        with pytest.raises(ValueError, match="not registered"):  # by ADK, of a tool that is no longer listed
            await chat.confirm(True)
        assert paid == []


class TestUnlistedCalls:
    async def test_are_answered_by_adk(self):
        model = scripted(CALL, "done")
        chat = await Chat.begin(model, ToolSearchProcessor(catalog()))
        await chat.say("go")
        assert "no tool with that name" in chat.results("weather_forecast")[0]["error"]

    async def test_load_the_tool_where_the_callback_is_set(self):
        search = ToolSearchProcessor(catalog())
        toolset = ToolSearchToolset(search)
        model = scripted(CALL, CALL, ("nonsense", {}), "done")
        agent = LlmAgent(
            name="helper", model=model, tools=[toolset], on_tool_error_callback=toolset.answer_unlisted
        )
        chat = await Chat.of(InMemoryRunner(agent, app_name="app"))
        await chat.say("go")
        assert model.listed[1] == [*META, "weather_forecast"]
        told, ran = chat.results("weather_forecast")
        assert told["parameters"]["required"] == ["city"]
        assert ran == {"result": "sunny in Rome for ada on None"}
        assert "There is no tool 'nonsense'" in chat.results("nonsense")[0]["error"]


async def test_parallel_calls():
    model = scripted(
        [LOAD, ("load_tool", {"tool_names": ["jira_create_issue"]})],
        [CALL, ("jira_create_issue", {}), ("weather_forecast", {"city": "Bonn"})],
        "done",
    )
    chat = await Chat.begin(model, ToolSearchProcessor(catalog()))
    await chat.say("go")
    assert model.listed[1] == [*META, "weather_forecast", "jira_create_issue"]
    assert [result["result"] for result in chat.results("weather_forecast")] == [
        "sunny in Rome for ada on None",
        "sunny in Bonn for ada on None",
    ]


async def test_streaming():
    model = scripted(LOAD, CALL, "Sunny.")
    chat = await Chat.begin(model, ToolSearchProcessor(catalog()))
    events = await chat.say("go", run_config=RunConfig(streaming_mode=StreamingMode.SSE))
    assert [event.partial for event in events if event.content.parts[0].text == "Sunny."] == [True, None]


@pytest.mark.parametrize("mode", ["auto_load", "call"])
async def test_other_modes(mode):
    run = CALL if mode == "auto_load" else ("call_tool", {"name": CALL[0], "arguments": CALL[1]})
    model = scripted(("search_tools", {"query": "weather"}), run, "done")
    chat = await Chat.begin(model, ToolSearchProcessor(catalog(), mode=mode))
    await chat.say("go")
    assert chat.results(run[0]) == [{"result": "sunny in Rome for ada on None"}]
    assert model.listed[1] == (
        ["search_tools", "weather_forecast"] if mode == "auto_load" else ["search_tools", "call_tool"]
    )


async def test_a_store_of_its_own():
    store = MemoryStore()
    model = scripted(LOAD, CALL, "done")
    chat = await Chat.begin(model, ToolSearchProcessor(catalog(), store=store))
    await chat.say("go")
    assert await ToolSearchProcessor(catalog(), store=store).loaded(chat.session_id) == ["weather_forecast"]


async def test_own_tools_of_the_agent_stay_listed_and_come_first():
    model = scripted(("whoami", {"question": "q"}), "done")
    chat = await Chat.begin(model, ToolSearchProcessor(catalog()), tools=[whoami])
    await chat.say("go")
    assert model.listed[0] == ["whoami", *META]


async def test_an_own_tool_hides_a_catalog_tool_of_its_name():
    def weather_forecast(city: str) -> str:
        """Mine."""
        return "mine"

    model = scripted(LOAD, CALL, "done")
    chat = await Chat.begin(model, ToolSearchProcessor(catalog()), tools=[weather_forecast])
    await chat.say("go")
    assert model.listed[1] == ["weather_forecast", *META]
    assert chat.results("weather_forecast") == [{"result": "mine"}]


async def test_sessions_and_agents_on_one_toolset_dont_mix():
    search = ToolSearchProcessor(catalog())
    toolset = ToolSearchToolset(search)
    models = [scripted(LOAD, CALL, "done"), scripted("nothing", "nothing")]
    agents = [LlmAgent(name=f"agent_{n}", model=model, tools=[toolset]) for n, model in enumerate(models)]
    chats = [
        await Chat.of(InMemoryRunner(agent, app_name="app"), user=user)
        for agent, user in zip(agents, ("ada", "bob"), strict=True)
    ]
    await asyncio.gather(*(chat.say("go") for chat in chats))
    await chats[1].say("again")
    assert models[0].listed[-1] == [*META, "weather_forecast"]
    assert models[1].listed == [META, META]


async def test_a_client_gets_nothing_by_the_invocation_id_of_another_user():
    model = scripted(LOAD, "done", "done")
    ada = await Chat.begin(model, ToolSearchProcessor(catalog(), store=MemoryStore()))
    events = await ada.say("load")
    eve = await Chat.of(ada.runner, user="eve")
    await eve.say("hi", invocation_id=events[0].invocation_id)
    assert model.listed == [META, [*META, "weather_forecast"], META]


async def test_agents_of_one_session_load_each_for_itself():
    search = ToolSearchProcessor(catalog())
    child_model = scripted("done")
    child = LlmAgent(name="child", description="Helps.", model=child_model, tools=[ToolSearchToolset(search)])
    model = scripted(LOAD, ("transfer_to_agent", {"agent_name": "child"}))
    agent = LlmAgent(name="helper", model=model, tools=[ToolSearchToolset(search)], sub_agents=[child])
    chat = await Chat.of(InMemoryRunner(agent, app_name="app"))
    await chat.say("go")
    assert "weather_forecast" in model.listed[1]
    assert "weather_forecast" not in child_model.listed[0]


def test_a_users_answer_to_a_call_loads_nothing():
    call = types.Part(function_call=types.FunctionCall(id="x", name="load_tool", args={}))
    answer = types.Part(
        function_response=types.FunctionResponse(id="x", name="load_tool", response={"receipt": 1})
    )
    events = [
        Event(author="helper", content=types.Content(role="model", parts=[call])),
        Event(author="user", content=types.Content(role="user", parts=[answer])),
        Event(author="other", content=types.Content(role="model", parts=[types.Part(text="hi")])),
    ]
    assert [message["role"] for message in to_openai(events, agent="helper")] == ["assistant"]


async def test_without_a_context_the_meta_tools_are_listed():
    tools = await ToolSearchToolset(ToolSearchProcessor(catalog())).get_tools()
    assert [tool.name for tool in tools] == META


def test_the_list_can_change_within_an_invocation():
    # ADK has no public way to ask for it: this fails where the flag has another name
    assert Shop()._use_invocation_cache is True
    assert ToolSearchToolset(ToolSearchProcessor())._use_invocation_cache is False


class TestMistakes:
    def test_an_inner_tool_of_a_meta_tools_name(self):
        with pytest.raises(ReservedToolNameError, match="'load_tool'"):
            ToolSearchToolset(ToolSearchProcessor(), [Old(name="load_tool", description="x")])

    async def test_an_own_tool_of_a_meta_tools_name(self):
        def load_tool() -> str:
            """Mine."""
            return "mine"

        chat = await Chat.begin(scripted("done"), ToolSearchProcessor(), tools=[load_tool])
        with pytest.raises(ReservedToolNameError, match="'load_tool'"):
            await chat.say("go")

    @pytest.mark.parametrize("options", [{"inner": ["whoami"]}, {"context": {}}, {"thread_id": "t"}])
    def test_arguments_that_cant_work(self, options):
        with pytest.raises(ConfigurationError):
            ToolSearchToolset(ToolSearchProcessor(), **options)


def test_a_list_in_place_of_a_searcher_is_refused():
    with pytest.raises(ConfigurationError, match="ToolSearchToolset needs a ToolSearchProcessor, found"):
        ToolSearchToolset([])

"""The plugin in real Strands agents, whose model alone is a double."""

import asyncio
import json
import subprocess
import sys

import pytest

pytest.importorskip("strands", reason='needs pip install "tool-search-processor[strands]"')

from strands import Agent, tool
from strands.hooks import BeforeToolCallEvent
from strands.models.model import Model
from strands.session.file_session_manager import FileSessionManager
from strands.types.tools import ToolContext as TheirContext

from tool_search_processor import ReservedToolNameError, Tool, ToolContext, ToolSearchProcessor
from tool_search_processor.adapters.strands import ToolSearchPlugin, from_strands
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.session.foreign_tools import ForeignTool, run_by_framework
from tool_search_processor.transforms import Namespace

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:opentelemetry",  # of Strands' tracing
)

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
META = ["search_tools", "load_tool"]


class Scripted(Model):
    """Says what it was given, a step each: a text, a call, or several calls."""

    def __init__(self, *steps):
        self.steps = list(steps)
        self.listed = []
        self.prompts = []

    def update_config(self, **config): ...

    def get_config(self):
        return {}

    async def structured_output(self, *args, **kwargs):
        yield {}

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        self.listed.append([spec["name"] for spec in tool_specs or []])
        self.prompts.append(system_prompt)
        await asyncio.sleep(0)
        step = self.steps.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(step, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": step}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        for place, (name, arguments) in enumerate(step if isinstance(step, list) else [step]):
            use = {"name": name, "toolUseId": f"{name}_{len(self.listed)}_{place}"}
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


def forecast(city: str, context: ToolContext) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city} for {context.context.get('user')}"


def catalog(*more):
    others = [
        Tool(f"{service}_create_issue", f"Create an issue in {service}.") for service in ("jira", "linear")
    ]
    return [Tool.from_function(forecast, name="weather_forecast"), *others, *more]


def pay(**options):
    ran = []

    def run(city: str) -> str:
        ran.append(city)
        return f"paid {city}"

    return Tool("pay_money", "Pay money.", SCHEMA, run, requires_approval=True, **options), ran


@tool(context=True)
def whoami(question: str, tool_context: TheirContext) -> str:
    """Say who the user is."""
    return f"{tool_context.invocation_state['user']} {tool_context.tool_use['toolUseId']} {question}"


def agent_of(model, search, *, tools=(), **options):
    own = {name: options.pop(name) for name in ("hide_own", "context", "thread_id") if name in options}
    plugin = ToolSearchPlugin(search, **own)
    return Agent(model=model, tools=list(tools), plugins=[plugin], callback_handler=None, **options)


def results(agent):
    blocks = [block for message in agent.messages for block in message["content"]]
    return [block["toolResult"]["content"][0]["text"] for block in blocks if "toolResult" in block]


LOAD = ("load_tool", {"tool_names": ["weather_forecast"]})
CALL = ("weather_forecast", {"city": "Rome"})


async def test_search_load_call_answer():
    model = Scripted(("search_tools", {"query": "weather"}), LOAD, CALL, "Sunny.")
    agent = agent_of(model, ToolSearchProcessor(catalog()), system_prompt="Be kind.")

    result = await agent.invoke_async("weather?", invocation_state={"user": "ada"})

    assert str(result).strip() == "Sunny."
    assert model.listed == [META, META, [*META, "weather_forecast"], [*META, "weather_forecast"]]
    assert results(agent)[-1] == "sunny in Rome for ada"
    assert model.prompts[0].startswith("Be kind.\n")
    assert "search_tools" in model.prompts[0]


def test_sync_agents_run_too():
    model = Scripted(LOAD, CALL, "Sunny.")
    agent = agent_of(model, ToolSearchProcessor(catalog()))
    agent("weather?", invocation_state={"user": "ada"})
    assert results(agent)[-1] == "sunny in Rome for ada"


async def test_streaming_shows_the_results():
    agent = agent_of(Scripted(LOAD, CALL, "Sunny."), ToolSearchProcessor(catalog()))
    events = [event async for event in agent.stream_async("w", invocation_state={"user": "ada"})]
    assert any("sunny in Rome" in str(event.get("message", "")) for event in events)


LATER = """
import sys
from strands import Agent
from strands.session.file_session_manager import FileSessionManager
from tests.adapters.frameworks.test_strands import Scripted, agent_of, catalog
from tool_search_processor import ToolSearchProcessor
model = Scripted("again")
session = FileSessionManager(session_id="s1", storage_dir=sys.argv[1])
agent_of(model, ToolSearchProcessor(catalog()), session_manager=session)("again")
print(model.listed)
"""


@pytest.mark.parametrize("calls", [[LOAD], [CALL]], ids=["loaded", "called unlisted"])
def test_the_next_turn_in_a_new_process_lists_what_was_loaded(tmp_path, calls):
    session = FileSessionManager(session_id="s1", storage_dir=str(tmp_path))
    agent = agent_of(Scripted(*calls, "done"), ToolSearchProcessor(catalog()), session_manager=session)
    agent("w", invocation_state={"user": "ada"})

    later = subprocess.run(
        [sys.executable, "-c", LATER, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )

    assert later.stdout.strip() == str([[*META, "weather_forecast"]])


async def test_a_denied_tool_is_not_found_not_loaded_and_not_run():
    def policy(request):
        return request.context["user"] == "ada" or request.tool_name != "weather_forecast"

    steps = [("search_tools", {"query": "weather forecast"}), LOAD, CALL, "done"]
    agent = agent_of(Scripted(*steps), ToolSearchProcessor(catalog(), filter=policy))

    await agent.invoke_async("w", invocation_state={"user": "bob"})

    found, loaded, called = results(agent)
    assert json.loads(found)["results"] == []
    assert json.loads(loaded)["loaded"] == []
    assert "There is no tool 'weather_forecast'" in called


async def test_policy_is_asked_again_at_the_call():
    plans = ["pro"]

    def policy(request):
        return plans[0] == "pro"

    agent = agent_of(Scripted(LOAD, CALL, "done"), ToolSearchProcessor(catalog(), filter=policy))
    agent.add_hook(
        lambda event: event.tool_use["name"] == "load_tool" or plans.insert(0, "free"), BeforeToolCallEvent
    )
    await agent.invoke_async("w", invocation_state={})
    assert results(agent)[-1].startswith("Error:")


async def test_several_calls_of_one_answer():
    names = [CALL, ("whoami", {"question": "q"}), ("jira_create_issue", {}), ("nothing", {})]
    agent = agent_of(Scripted(names, "done"), ToolSearchProcessor(catalog()), tools=[whoami])
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    sunny, who, jira, nothing = results(agent)
    assert (sunny, who) == ("sunny in Rome for ada", "ada whoami_1_1 q")
    assert "jira_create_issue" in jira
    assert nothing.startswith("Error: There is no tool 'nothing'")


@pytest.mark.parametrize(
    ("answer", "told", "expected"),
    [(True, "paid Rome", ["Rome"]), (False, "a person refused", []), ("too much", "Reason: too much", [])],
)
@pytest.mark.parametrize("mode", ["load", "call"])
async def test_approval_interrupts_and_resumes(answer, told, expected, mode):
    target, ran = pay()
    call = ("pay_money", {"city": "Rome"})
    if mode == "call":
        call = ("call_tool", {"name": "pay_money", "arguments": call[1]})
    agent = agent_of(
        Scripted([call, CALL] if mode == "load" else call, "done"),
        ToolSearchProcessor(catalog(target), mode=mode),
    )

    result = await agent.invoke_async("pay", invocation_state={"user": "ada"})
    assert (result.stop_reason, ran) == ("interrupt", [])
    (interrupt,) = result.interrupts
    assert (interrupt.reason["name"], interrupt.reason["arguments"]) == ("pay_money", {"city": "Rome"})

    response = {"interruptResponse": {"interruptId": interrupt.id, "response": answer}}
    result = await agent.invoke_async([response], invocation_state={"user": "ada"})

    assert result.stop_reason == "end_turn"
    assert [told in text for text in results(agent)].count(True) == 1
    assert len(results(agent)) == (2 if mode == "load" else 1), "what ran before the interrupt runs once"
    assert ran == expected


async def test_an_approved_call_that_policy_denies_meanwhile_does_not_run():
    target, ran = pay()
    search = ToolSearchProcessor(catalog(target), filter=lambda request: request.context["plan"] == "pro")
    agent = agent_of(Scripted(("pay_money", {"city": "Rome"}), "done"), search)
    result = await agent.invoke_async("pay", invocation_state={"plan": "pro"})
    response = {"interruptResponse": {"interruptId": result.interrupts[0].id, "response": True}}
    await agent.invoke_async([response], invocation_state={"plan": "free"})
    assert ran == []
    assert "There is no tool" in results(agent)[-1]


async def test_interrupts_of_their_own_tools_pass_through_the_gate():
    @tool(context=True)
    def delete(name: str, tool_context: TheirContext) -> str:
        """Delete a thing."""
        return f"deleted {name}: {tool_context.interrupt('sure', reason=name)}"

    agent = agent_of(
        Scripted(("delete", {"name": "a"}), "done"), ToolSearchProcessor([]), tools=[delete], hide_own=True
    )
    result = await agent.invoke_async("w")
    (interrupt,) = result.interrupts
    response = {"interruptResponse": {"interruptId": interrupt.id, "response": "yes"}}
    await agent.invoke_async([response])
    assert results(agent) == ["deleted a: yes"]


async def test_own_tools_are_listed_unless_they_are_hidden():
    shown = Scripted("done")
    await agent_of(shown, ToolSearchProcessor(catalog()), tools=[whoami]).invoke_async("w")
    assert shown.listed == [[*META, "whoami"]]

    steps = [("search_tools", {"query": "who is the user"}), ("load_tool", {"tool_names": ["whoami"]})]
    hidden = Scripted(*steps, ("whoami", {"question": "q"}), "done")
    agent = agent_of(hidden, ToolSearchProcessor(catalog()), tools=[whoami], hide_own=True)
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    assert hidden.listed == [META, META, [*META, "whoami"], [*META, "whoami"]]
    assert results(agent)[-1] == "ada whoami_3_0 q"


@pytest.mark.parametrize("door", ["by name", "by proxy", "direct"])
async def test_a_hidden_tool_that_is_denied_runs_by_no_door(door):
    mode = "call" if door == "by proxy" else "load"
    steps = {
        "by name": ("whoami", {"question": "q"}),
        "by proxy": ("call_tool", {"name": "whoami", "arguments": {"question": "q"}}),
    }
    search = ToolSearchProcessor(catalog(), mode=mode, filter=lambda request: request.tool_name != "whoami")
    agent = agent_of(Scripted(steps.get(door, "done"), "done"), search, tools=[whoami], hide_own=True)
    if door == "direct":
        answer = await asyncio.to_thread(agent.tool.whoami, question="q")
        assert "There is no tool 'whoami'" in str(answer)
        return
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    assert "There is no tool 'whoami'" in results(agent)[0]


@pytest.mark.parametrize("near", ["Whoami", "who-am-i"])
@pytest.mark.parametrize("hidden", [True, False])
async def test_no_near_name_passes_a_hook_that_goes_by_names(near, hidden):
    def gate(event):
        if event.tool_use["name"] == "who_am_i":
            event.cancel_tool = "not today"

    mine = tool(name="who_am_i", context=True)(whoami.__wrapped__)
    search = ToolSearchProcessor(catalog() if hidden else catalog(from_strands(mine)))
    model = Scripted((near, {"question": "q"}), "done")
    agent = agent_of(model, search, tools=[mine] if hidden else [], hide_own=hidden)
    agent.add_hook(gate, BeforeToolCallEvent)
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    assert "call 'who_am_i' by its name" in results(agent)[0]


async def test_their_tools_can_stand_in_the_catalog():
    search = ToolSearchProcessor(catalog(from_strands(whoami)))
    agent = agent_of(Scripted(("whoami", {"question": "q"}), ("whoami", {}), "done"), search)
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    first, second = results(agent)
    assert first == "ada whoami_1_0 q"
    assert "`question` is required" in second


def of_another_framework():
    run = run_by_framework(lambda arguments: f"hello {arguments['city']}")
    return ForeignTool("greet_city", "Greets a city.", SCHEMA, run, original=object())


@pytest.mark.parametrize("mode", ["load", "call"])
async def test_a_tool_of_another_framework_runs_outside_of_it(mode):
    steps = [("load_tool", {"tool_names": ["greet_city"]}), ("greet_city", {"city": "Rome"})]
    if mode == "call":
        steps = [("call_tool", {"name": "greet_city", "arguments": {"city": "Rome"}})]
    agent = agent_of(Scripted(*steps, "done"), ToolSearchProcessor([of_another_framework()], mode=mode))
    await agent.invoke_async("w", invocation_state={})
    assert results(agent)[-1] == "hello Rome"


async def test_a_renamed_tool_of_theirs_is_listed_and_called_by_its_new_name():
    model = Scripted(("load_tool", {"tool_names": ["ns_whoami"]}), ("ns_whoami", {"question": "q"}), "done")
    search = ToolSearchProcessor([from_strands(whoami)], transforms=[Namespace("ns")])
    agent = agent_of(model, search)
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    assert model.listed[1] == [*META, "ns_whoami"]
    assert results(agent)[-1] == "ada ns_whoami_2_0 q"


async def test_auto_load_and_call_modes():
    auto = Scripted(("search_tools", {"query": "weather"}), CALL, "done")
    agent = agent_of(auto, ToolSearchProcessor(catalog(), mode="auto_load", top_k=1))
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    assert auto.listed[1] == ["search_tools", "weather_forecast"]

    proxied = Scripted(("call_tool", {"name": CALL[0], "arguments": CALL[1]}), "done")
    agent = agent_of(proxied, ToolSearchProcessor(catalog(), mode="call"))
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    assert proxied.listed == [["search_tools", "call_tool"]] * 2
    assert results(agent) == ["sunny in Rome for ada"]


async def test_an_own_tool_with_a_meta_tools_name_is_refused():
    @tool
    def search_tools(query: str) -> str:
        """Search."""
        return query

    agent = agent_of(Scripted("done"), ToolSearchProcessor(catalog()), tools=[search_tools])
    with pytest.raises(ReservedToolNameError, match="search_tools"):
        await agent.invoke_async("w")


async def test_two_agents_at_once_share_a_plugin_and_a_state_and_nothing_else():
    plugin = ToolSearchPlugin(ToolSearchProcessor(catalog()))
    one, other = Scripted(CALL, "one"), Scripted(("search_tools", {"query": "issue"}), "other")
    agents = [Agent(model=model, plugins=[plugin], callback_handler=None) for model in (one, other)]
    state = {"user": "ada"}
    await asyncio.gather(*(agent.invoke_async("w", invocation_state=state) for agent in agents))
    assert one.listed == [META, [*META, "weather_forecast"]]
    assert other.listed == [META, META]
    assert [name for name in state if name.startswith("tool_search:")] == []


async def test_the_context_is_what_the_callable_makes_of_the_state():
    asked = []

    def policy(request):
        return asked.append(dict(request.context)) is None

    search = ToolSearchProcessor(catalog(), filter=policy)
    agent = agent_of(Scripted(CALL, "done"), search, context=lambda state: {"who": state["user"]})
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    assert asked[0] == {"who": "ada"}


async def test_the_context_is_that_of_the_moment():
    @tool(context=True)
    def log_out(tool_context: TheirContext) -> str:
        """End the session."""
        tool_context.invocation_state["user"] = "nobody"
        return "bye"

    search = ToolSearchProcessor(catalog(), filter=lambda request: request.context["user"] == "ada")
    model = Scripted(LOAD, ("log_out", {}), CALL, "done")
    agent = agent_of(model, search, tools=[log_out])
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    assert ["weather_forecast" in names for names in model.listed] == [False, True, False, False]
    assert "There is no tool 'weather_forecast'" in results(agent)[-1]


async def test_the_default_context_holds_what_the_caller_gave_alone():
    seen = []
    search = ToolSearchProcessor(catalog(), filter=lambda request: seen.append(dict(request.context)) is None)
    await agent_of(Scripted(CALL, "done"), search).invoke_async("w", invocation_state={"user": "ada"})
    assert all(context == {"user": "ada"} for context in seen)


async def test_no_call_is_logged_as_missing(caplog):
    agent = agent_of(Scripted(LOAD, CALL, "done"), ToolSearchProcessor(catalog()))
    await agent.invoke_async("w", invocation_state={"user": "ada"})
    assert "not found in registry" not in caplog.text


async def test_structured_output_is_never_hidden():
    from pydantic import BaseModel

    class Answer(BaseModel):
        text: str

    model = Scripted(("Answer", {"text": "sunny"}))
    agent = agent_of(model, ToolSearchProcessor(catalog()), hide_own=True)
    result = await agent.invoke_async("w", structured_output_model=Answer)
    assert result.structured_output == Answer(text="sunny")
    assert model.listed[0] == ["Answer", *META]


def test_a_list_in_place_of_a_searcher_is_refused():
    for option in ("context", "thread_id"):
        with pytest.raises(ConfigurationError, match=f"{option} must be a function"):
            ToolSearchPlugin(ToolSearchProcessor(), **{option: {"user": "ada"}})
    with pytest.raises(ConfigurationError, match="ToolSearchPlugin needs a ToolSearchProcessor, found"):
        ToolSearchPlugin([])

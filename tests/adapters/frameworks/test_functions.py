"""The two functions as tools of frameworks that have no adapter: made by each, read, called, and refused."""

import asyncio
import contextvars
import json
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tool_search_processor import Tool, ToolContext, ToolSearchProcessor

EXAMPLES = Path(__file__).parents[3] / "examples" / "frameworks"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
plan = contextvars.ContextVar("plan", default="pro")


def forecast(arguments, context: ToolContext):
    return f"sunny in {arguments['city']} for {context.context['plan']}"


def functions(**options):
    weather = Tool("weather_forecast", "Tells the weather of a city.", CITY, forecast)
    search = ToolSearchProcessor([weather], filter=lambda request: request.context["plan"] == "pro")
    return search.functions(context=lambda: {"plan": plan.get()}, **options)


class InAG2:
    package = "ag2"

    def __init__(self):
        from ag2 import tool

        self.tools = {function.__name__: tool(function) for function in functions()}

    def schema(self, name):
        return self.tools[name].schema.function.parameters

    def call(self, name, arguments):
        return asyncio.run(self._call(name, arguments))

    async def _call(self, name, arguments):
        from ag2 import Agent
        from ag2.events import ToolCallEvent, ToolResultEvent
        from ag2.testing import TestConfig

        model = TestConfig(ToolCallEvent(name, arguments=json.dumps(arguments)), "done")
        reply = await Agent("a", config=model, tools=self.tools.values()).ask("hi")
        events = await reply.history.get_events()
        (result,) = [event.result for event in events if isinstance(event, ToolResultEvent)]
        return result.parts[0].content


class InAgno:
    package = "agno"

    def __init__(self):
        from agno.tools.function import Function

        self.tools = {function.__name__: Function.from_callable(function) for function in functions()}

    def schema(self, name):
        return self.tools[name].parameters

    def call(self, name, arguments):
        from agno.tools.function import FunctionCall

        return asyncio.run(FunctionCall(function=self.tools[name], arguments=arguments).aexecute()).result


class InHaystack:
    package = "haystack"

    def __init__(self):
        from haystack.tools import create_tool_from_function

        made = map(create_tool_from_function, functions(sync=True))
        self.tools = {tool.name: tool for tool in made}

    def schema(self, name):
        return self.tools[name].parameters

    def call(self, name, arguments):
        return self.tools[name].invoke(**arguments)


class InLlamaIndex:
    package = "llama_index.core"

    def __init__(self):
        from llama_index.core.tools import FunctionTool

        made = [FunctionTool.from_defaults(async_fn=function) for function in functions()]
        self.tools = {tool.metadata.name: tool for tool in made}

    def schema(self, name):
        return self.tools[name].metadata.get_parameters_dict()

    def call(self, name, arguments):
        return str(asyncio.run(self.tools[name].acall(**arguments)))


class InSmolagents:
    package = "smolagents"

    def __init__(self):
        from smolagents import tool

        self.tools = {function.__name__: tool(function) for function in functions(sync=True)}

    def schema(self, name):
        from smolagents.models import get_tool_json_schema

        return get_tool_json_schema(self.tools[name])["function"]["parameters"]

    def call(self, name, arguments):
        return self.tools[name](**arguments)


FRAMEWORKS = [
    one
    for one in (InAG2, InAgno, InHaystack, InLlamaIndex, InSmolagents)
    if find_spec(one.package.split(".")[0])
]
"""Those that are installed: .ci/adapters installs the light ones, the others are run by hand."""

if not FRAMEWORKS:
    pytest.skip("needs pip install ag2 agno smolagents", allow_module_level=True)


@pytest.fixture(params=FRAMEWORKS)
def framework(request):
    return request.param()


def test_the_schema_has_the_two_parameters_of_each(framework):
    search, call = framework.schema("search_tools"), framework.schema("call_tool")
    assert (list(search["properties"]), search["required"]) == (["query", "limit"], ["query"])
    assert (list(call["properties"]), call["required"]) == (["name", "arguments"], ["name"])
    arguments = call["properties"]["arguments"]
    given = next((kind for kind in arguments.get("anyOf", [arguments]) if kind["type"] == "object"), None)
    assert given is not None
    assert given.get("additionalProperties", True) is True


def test_a_tool_is_found_and_called(framework):
    answer = json.loads(framework.call("search_tools", {"query": "weather of a city"}))
    assert [result["name"] for result in answer["results"]] == ["weather_forecast"]
    call = {"name": "weather_forecast", "arguments": {"city": "Rome"}}
    assert framework.call("call_tool", call) == "sunny in Rome for pro"


def test_the_policy_of_the_moment_and_mistakes_are_answers(framework):
    call = {"name": "weather_forecast", "arguments": {"city": "Rome"}}
    assert "`city` is required" in framework.call("call_tool", {"name": "weather_forecast"})
    before = plan.set("free")
    try:
        assert json.loads(framework.call("search_tools", {"query": "weather"}))["results"] == []
        assert "no tool" in framework.call("call_tool", call)
    finally:
        plan.reset(before)


# LlamaIndex's agents read attributes of pydantic models that are deprecated
@pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecationWarning")
@pytest.mark.parametrize("package", [one.package for one in FRAMEWORKS])
def test_the_example_runs(package, capsys, monkeypatch):
    example = package.removesuffix(".core")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, "argv", ["example"])
    runpy.run_path(str(EXAMPLES / f"functions_{example}.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert "billing_create_invoice: three chairs" in said
    assert said.endswith("Done.\n")

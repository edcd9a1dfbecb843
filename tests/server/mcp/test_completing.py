"""Half-typed arguments of prompts and templates, of providers in this process and of servers upstream."""

from itertools import count

import mcp_types as types
import pytest
from mcp import MCPError
from mcp.server.mcpserver import MCPServer

from tests.server.mcp.support import WAYS, connected
from tool_search_processor import Tool
from tool_search_processor.components import Prompt, ResourceTemplate
from tool_search_processor.providers import StaticProvider
from tool_search_processor.providers.mcp import MCPProvider
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.transforms import Namespace

pytestmark = pytest.mark.usefixtures("mcp_closed")

CITIES = ["Rome", "Ravenna", "Oslo"]
ASK = types.PromptReference(name="ask")
PAGES = types.ResourceTemplateReference(uri="page://{city}")


def cities(name, value, known):
    return [
        city for city in CITIES if name == "city" and city.startswith(value) and city not in known.values()
    ]


async def later(name, value, known):
    return types.Completion(values=cities(name, value, known), total=7, has_more=True)


def fails(*_):
    raise OSError("the atlas is lost")


class Atlas(StaticProvider):
    """Prompts and templates, some of which help to fill themselves in."""

    async def list_prompts(self, context):
        return [
            Prompt(name="ask", complete=cities, tags={"atlas"}),
            Prompt(name="later", complete=later),
            Prompt(name="many", complete=lambda *_: map(str, range(1000))),
            Prompt(name="endless", complete=lambda *_: map(str, count())),
            Prompt(name="one", complete=lambda *_: "Rome"),
            Prompt(name="nothing", complete=lambda *_: None),
            Prompt(name="broken", complete=fails),
            Prompt(name="bare"),
        ]

    async def list_resource_templates(self, context):
        return [ResourceTemplate(uri_template="page://{city}", complete=cities)]


def atlas(*tools):
    return Atlas(tools, name="atlas")


async def completion(client, reference, value="R", **known):
    argument = {"name": "city", "value": value}
    return (await client.complete(reference, argument, known or None)).completion


def prompt(name):
    return types.PromptReference(name=name)


@pytest.mark.parametrize("way", WAYS)
async def test_arguments_are_completed_by_whoever_offers_it(way):
    async with connected(ToolServer([atlas()]), way) as client:
        assert client.server_capabilities.completions is not None
        assert (await completion(client, ASK)).values == ["Rome", "Ravenna"]
        assert (await completion(client, ASK, "R", other="Rome")).values == ["Ravenna"]
        assert (await completion(client, PAGES, "O")).values == ["Oslo"]
        assert (await completion(client, prompt("bare"))).values == []
        told = await completion(client, prompt("later"))
        assert (told.values, told.total, told.has_more) == (["Rome", "Ravenna"], 7, True)


@pytest.mark.parametrize(("name", "total"), [("many", 1000), ("endless", None)])
async def test_there_are_never_more_than_the_protocol_allows_nor_are_more_read(name, total):
    async with connected(ToolServer([atlas()])) as client:
        told = await completion(client, prompt(name))
    assert (told.values, told.total, told.has_more) == ([str(n) for n in range(100)], total, True)


@pytest.mark.parametrize(("name", "values"), [("one", ["Rome"]), ("nothing", [])])
async def test_one_text_is_one_value_and_none_is_none(name, values):
    async with connected(ToolServer([atlas()])) as client:
        assert (await completion(client, prompt(name))).values == values


@pytest.mark.parametrize(
    ("reference", "code", "problem"),
    [
        (prompt("nobody"), -32602, "Unknown prompt: 'nobody'"),
        (types.ResourceTemplateReference(uri="x://{a}"), -32602, "Unknown resource template: 'x://{a}'"),
        (prompt("broken"), -32603, "Error: OSError: the atlas is lost"),
    ],
)
async def test_what_cannot_be_completed_says_why(reference, code, problem):
    async with connected(ToolServer([atlas()])) as client:
        with pytest.raises(MCPError) as refused:
            await completion(client, reference)
    assert (refused.value.code, refused.value.message) == (code, problem)


async def test_a_sessions_rules_hold_for_completions_too():
    def close(arguments, context):
        context.context["session_rules"].disable(tags=["atlas"])
        context.context["session_rules"].disable(names=["page://*"])

    async with connected(ToolServer([atlas(Tool("close", execute=close))])) as client:
        await client.call_tool("close", {})
        for reference, problem in ((ASK, "Unknown prompt"), (PAGES, "Unknown resource template")):
            with pytest.raises(MCPError, match=problem):
                await completion(client, reference)
        assert (await completion(client, prompt("later"))).values == ["Rome", "Ravenna"]


def upstream(*, completes):
    server = MCPServer("far")

    @server.prompt()
    def ask(city: str, country: str) -> str:
        return f"How is {city}?"

    @server.resource("page://{city}")
    def page(city: str) -> str:
        return city

    if completes:

        @server.completion()
        async def complete(ref, argument, context):
            about = ref.name if isinstance(ref, types.PromptReference) else ref.uri
            known = dict(context.arguments or {}) if context else {}
            return types.Completion(values=[f"{about} {argument.value} {known}"], has_more=True)

    return server


@pytest.mark.parametrize("way", WAYS)
async def test_a_server_upstream_is_asked_by_its_own_names(way):
    provider = MCPProvider.in_memory(upstream(completes=True), name="far").with_transforms(Namespace("f"))
    async with ToolServer([provider]) as server, connected(server, way) as client:
        told = await completion(client, prompt("f_ask"), "R", country="Italy")
        assert (told.values, told.has_more) == (["ask R {'country': 'Italy'}"], True)
        template = types.ResourceTemplateReference(uri="page://f/{city}")
        assert (await completion(client, template)).values == ["page://{city} R {}"]


async def test_one_that_completes_nothing_is_not_asked():
    provider = MCPProvider.in_memory(upstream(completes=False), name="far")
    async with ToolServer([provider]) as server, connected(server) as client:
        assert (await completion(client, ASK)).values == []
        assert (await completion(client, PAGES)).values == []

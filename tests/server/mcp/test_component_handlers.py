"""Resources and prompts, of providers in this process and of servers upstream."""

import mcp_types as types
import pytest
from mcp import MCPError
from mcp.server.mcpserver import Context as UpstreamContext
from mcp.server.mcpserver import Image, MCPServer
from pydantic import AnyUrl

from tests.server.mcp.support import WAYS, connected, found, names, proxied, text
from tool_search_processor import Tool, ToolContext
from tool_search_processor.catalog import Catalog
from tool_search_processor.components import Prompt, PromptArgument, Resource, ResourceTemplate
from tool_search_processor.errors import ToolCallError
from tool_search_processor.providers import TransformedProvider
from tool_search_processor.providers.mcp import MCPProvider
from tool_search_processor.server.mcp import TARGET_META, ToolServer, forward_progress
from tool_search_processor.transforms import Namespace, Transform, Visibility

pytestmark = pytest.mark.usefixtures("mcp_closed")


def fails(*_):
    raise OSError("disk is gone")


async def later(value):
    return value


TEXT = types.TextResourceContents(uri="inner://a", text="inner")
BLOB = types.BlobResourceContents(uri="inner://b", blob="aGk=")
USER = types.PromptMessage(role="user", content=types.TextContent(text="hi"))

CONTENTS = {
    "text": "some text",
    "bytes": b"hi",
    "data": {"a": 1},
    "later": None,
    "empty": [],
    "one": TEXT,
    "several": [TEXT, BLOB],
    "wire": [{"uri": "inner://a", "text": "inner"}],
    "result": types.ReadResourceResult(contents=[BLOB]),
}


class Library:
    """A provider of resources and prompts, and of a tool that switches them."""

    name = "library"

    async def list_tools(self, context):
        def hide(arguments, context):
            context.context["session_rules"].disable(names=["doc://text", "pages", "greet"])

        return [Tool(name="hide", execute=hide)]

    async def list_resources(self, context):
        made = [
            Resource(uri=f"doc://{name}", mime_type="text/plain", read=lambda value=value: value)
            for name, value in CONTENTS.items()
            if name != "later"
        ]
        odd = {"priority": "high", "audience": ["nobody"]}
        return [
            *made,
            Resource(
                uri="doc://later", title="Later", read=lambda: later("at last"), annotations={"priority": 0.5}
            ),
            Resource(uri="doc://broken", read=fails, annotations=odd, metadata={"_meta": {"a": 1}}),
            Resource(uri="doc://bare", description="A definition only.", metadata={"_meta": "odd"}),
        ]

    async def list_resource_templates(self, context):
        return [
            ResourceTemplate(uri_template="page://{number}", name="pages", read=lambda uri: f"read {uri}")
        ]

    async def list_prompts(self, context):
        return [
            Prompt(
                name="greet",
                description="Greets.",
                arguments=[PromptArgument(name="who", description="Whom.", required=True)],
                render=lambda arguments: f"Hello {arguments['who']}",
            ),
            Prompt(name="talk", render=lambda _: later([{"role": "assistant", "content": "yes"}, USER])),
            Prompt(name="whole", render=lambda _: types.GetPromptResult(messages=[USER])),
            Prompt(name="broken", render=fails),
            Prompt(name="bare"),
        ]


@pytest.mark.parametrize("way", ["memory", "memory without handshake"])
async def test_resources_are_listed_and_read(way):
    async with connected(ToolServer([Library()]), way) as client:
        listed = {each.uri: each for each in (await client.list_resources()).resources}
        assert list(listed)[:3] == ["doc://text", "doc://bytes", "doc://data"]
        assert listed["doc://later"].title == "Later"
        assert listed["doc://later"].annotations.priority == 0.5
        assert listed["doc://broken"].annotations is None
        assert listed["doc://bare"].description == "A definition only."

        async def read(uri):
            return [
                (each.uri, getattr(each, "text", None) or each.blob)
                for each in (await client.read_resource(uri)).contents
            ]

        assert await read("doc://text") == [("doc://text", "some text")]
        assert await read("doc://bytes") == [("doc://bytes", "aGk=")]
        assert await read("doc://data") == [("doc://data", '{"a":1}')]
        assert await read("doc://later") == [("doc://later", "at last")]
        assert await read("doc://empty") == [("doc://empty", "[]")]
        assert await read("doc://one") == [("doc://one", "inner")]
        assert await read("doc://several") == [("inner://a", "inner"), ("inner://b", "aGk=")]
        assert await read("doc://wire") == [("doc://wire", "inner")]
        assert await read("doc://result") == [("doc://result", "aGk=")]
        templates = (await client.list_resource_templates()).resource_templates
        assert [(each.uri_template, each.name) for each in templates] == [("page://{number}", "pages")]
        assert await read("page://7") == [("page://7", "read page://7")]


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("doc://nothing", "Resource not found"),
        ("doc://broken", "Error: OSError: disk is gone"),
        ("doc://bare", "Error: doc://bare can't be read: it is a definition only"),
    ],
)
async def test_a_resource_that_cannot_be_read_says_why(uri, problem):
    async with connected(ToolServer([Library()])) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        assert refused.value.message == problem


async def test_prompts_are_listed_and_filled_in():
    async with connected(ToolServer([Library()])) as client:
        listed = (await client.list_prompts()).prompts
        assert [each.name for each in listed] == ["greet", "talk", "whole", "broken", "bare"]
        assert listed[0].arguments == [types.PromptArgument(name="who", description="Whom.", required=True)]
        greeting = await client.get_prompt("greet", {"who": "Ada"})
        assert (greeting.description, greeting.messages[0].role) == ("Greets.", "user")
        assert greeting.messages[0].content.text == "Hello Ada"
        talk = await client.get_prompt("talk")
        assert [(each.role, each.content.text) for each in talk.messages] == [
            ("assistant", "yes"),
            ("user", "hi"),
        ]
        assert (await client.get_prompt("whole")).messages == [USER]
        for name, problem in (
            ("nothing", "Unknown prompt: 'nothing'"),
            ("broken", "Error: OSError: disk is gone"),
            ("bare", "Error: bare can't be filled in: it is a definition only"),
            ("greet", "Error: KeyError: 'who'"),
        ):
            with pytest.raises(MCPError) as refused:
                await client.get_prompt(name)
            assert refused.value.message == problem


async def test_session_rules_hold_for_resources_and_prompts():
    async with connected(ToolServer([Library()])) as client:
        await client.call_tool("hide", {})
        assert "doc://text" not in [each.uri for each in (await client.list_resources()).resources]
        assert (await client.list_resource_templates()).resource_templates == []
        assert "greet" not in [each.name for each in (await client.list_prompts()).prompts]
        for ask in (
            client.read_resource("doc://text"),
            client.read_resource("page://7"),
            client.get_prompt("greet", {"who": "x"}),
        ):
            with pytest.raises(MCPError, match=r"not found|Unknown prompt"):
                await ask


@pytest.mark.parametrize("hidden", [False, True])
async def test_providers_of_a_request_bring_resources_and_prompts_too(hidden, caplog):
    class Dead(Library):
        name = "dead"
        list_tools = list_resources = list_resource_templates = list_prompts = fails

    def providers_for(context):
        return [] if hidden else [Dead(), Library()]

    async with connected(ToolServer(providers_for=providers_for)) as client:
        assert len((await client.list_resources()).resources) == (0 if hidden else len(CONTENTS) + 2)
        assert len((await client.list_resource_templates()).resource_templates) == (0 if hidden else 1)
        assert len((await client.list_prompts()).prompts) == (0 if hidden else 5)
        if not hidden:
            assert (await client.read_resource("page://7")).contents[0].text == "read page://7"


# -- a server upstream


def upstream():
    server = MCPServer("weather")

    @server.tool()
    async def forecast(city: str, ctx: UpstreamContext) -> dict[str, str]:
        """Tell the weather of tomorrow."""
        await ctx.report_progress(1, 2, "half")
        return {"city": city, "sky": "blue"}

    @server.tool(annotations=types.ToolAnnotations(read_only_hint=True))
    def picture() -> Image:
        """Draw the sky."""
        return Image(data=b"hi", format="png")

    @server.tool()
    def storm() -> str:
        """Break."""
        raise ValueError("too windy")

    @server.resource("sky://now")
    def now() -> str:
        return "blue"

    @server.resource("sky://{city}/tomorrow")
    def tomorrow(city: str) -> str:
        return f"grey in {city}"

    @server.prompt()
    def ask(city: str) -> str:
        return f"How is {city}?"

    return server


@pytest.mark.parametrize("way", ["memory", "http without handshake"])
async def test_a_server_upstream_is_passed_on_whole(way):
    provider = MCPProvider.in_memory(upstream(), name="weather", on_progress=forward_progress)
    server = ToolServer([provider.with_transforms(Namespace("w"))], mode="discovery")
    reports = []

    async def note(progress, total, message):
        reports.append((progress, total, message))

    async with server, connected(server, way) as client:
        assert await names(client) == ["search_tools", "call_tool"]
        assert (await found(client, query="weather of tomorrow"))[0] == "w_forecast"
        arguments = {"name": "w_forecast", "arguments": {"city": "Rome"}}
        result = await client.call_tool("call_tool", arguments, progress_callback=note)
        assert result.structured_content == {"city": "Rome", "sky": "blue"}
        assert reports == [(1, 2, "half")]
        drawn = await proxied(client, "w_picture")
        assert drawn.content == [types.ImageContent(data="aGk=", mime_type="image/png")]
        assert drawn.meta[TARGET_META]["annotations"] == {"readOnlyHint": True}
        broken = await proxied(client, "w_storm")
        assert broken.is_error
        assert text(broken) == "Error executing tool storm"  # in its words
        [resource] = (await client.list_resources()).resources
        [template] = (await client.list_resource_templates()).resource_templates
        [prompt] = (await client.list_prompts()).prompts
        assert (resource.uri, prompt.name) == ("sky://w/now", "w_ask")
        content = (await client.read_resource(resource.uri)).contents[0]
        assert (content.uri, content.text) == ("sky://w/now", "blue")
        uri = template.uri_template.replace("{city}", "Rome")
        assert (await client.read_resource(uri)).contents[0].text == "grey in Rome"
        filled = await client.get_prompt("w_ask", {"city": "Rome"})
        assert filled.messages[0].content.text == "How is Rome?"


class Linking:
    """A provider whose answers name its resources."""

    name = "linking"
    links = (
        types.ResourceLink(uri="doc://text", name="text"),
        types.EmbeddedResource(resource=types.TextResourceContents(uri="doc://text", text="some text")),
        types.ResourceLink(uri="https://a.example/page", name="page"),
        types.TextContent(text="doc://text"),
    )

    async def list_tools(self, context):
        return [Tool(name="point", execute=lambda: list(self.links))]

    async def list_resources(self, context):
        several = [TEXT, BLOB.model_copy(update={"uri": "inner://b"})]
        return [
            Resource(uri="doc://text", read=lambda: "some text"),
            Resource(uri="doc://several", read=lambda: several),
        ]

    async def list_prompts(self, context):
        def messages(_):
            return [types.PromptMessage(role="user", content=link) for link in self.links]

        return [
            Prompt(name="talk", render=messages),
            Prompt(name="whole", render=lambda _: types.GetPromptResult(messages=messages(_))),
        ]


def uris(blocks):
    """Return the URIs in blocks of content, or their texts."""
    return [
        getattr(block, "uri", None) or (block.resource.uri if block.type == "resource" else block.text)
        for block in blocks
    ]


@pytest.mark.parametrize(
    ("prefixes", "place"), [((), "doc://"), (("s",), "doc://s/"), (("in", "out"), "doc://out/in/")]
)
@pytest.mark.parametrize("is_remote", [False, True])
async def test_uris_in_answers_can_be_read_where_they_were_told(prefixes, place, is_remote):
    provider = Linking()
    if is_remote:
        provider = MCPProvider.in_memory(ToolServer([Linking()]).lowlevel, name="linking")
    for prefix in prefixes:
        provider = TransformedProvider(provider, [Namespace(prefix)])
    before = "".join(f"{prefix}_" for prefix in reversed(prefixes))
    told = [f"{place}text", f"{place}text", "https://a.example/page", "doc://text"]
    async with ToolServer([provider]) as server, connected(server) as client:
        answer = await client.call_tool(f"{before}point", {})
        assert uris(answer.content) == told
        for name in ("talk", "whole"):
            filled = await client.get_prompt(f"{before}{name}")
            assert uris(message.content for message in filled.messages) == told
        for uri in dict.fromkeys(uris(answer.content[:2])):
            assert (await client.read_resource(uri)).contents[0].text == "some text"
        several = (await client.read_resource(f"{place}several")).contents
        inner = place.replace("doc", "inner")
        assert [each.uri for each in several] == [f"{inner}a", f"{inner}b"]


class Shop(MCPServer):
    """A server that doesn't list every resource, as the protocol lets it, and reads URIs as most do."""

    async def read_resource(self, uri, *given, **options):
        return await super().read_resource(str(AnyUrl(str(uri))), *given, **options)

    async def list_resources(self):
        return [each for each in await super().list_resources() if each.name != "unlisted"]


def shop():
    """Return a server that links to a resource which it doesn't list."""
    server = Shop("shop")

    @server.tool()
    def receipt() -> types.ResourceLink:
        """Return where the receipt is."""
        return types.ResourceLink(uri="receipt://2026/7", name="receipt")

    @server.resource("receipt://all", name="everything")
    def receipts() -> str:
        return "all of them"

    @server.resource("receipt://pages/{number}")
    def page(number: str) -> str:
        return number

    @server.resource("receipt://2026/7", name="unlisted")
    def seventh() -> str:
        return "7 euros"

    return server


@pytest.mark.parametrize("way", WAYS)
async def test_what_an_answer_links_to_can_be_read_without_being_listed(way):
    provider = MCPProvider.in_memory(shop(), name="shop").with_transforms(Namespace("s"), Namespace("t"))
    async with ToolServer([provider]) as server, connected(server, way) as client:
        [link] = (await client.call_tool("t_s_receipt", {})).content
        assert link.uri == "receipt://t/s/2026/7"
        assert link.uri not in [each.uri for each in (await client.list_resources()).resources]
        (content,) = (await client.read_resource(link.uri)).contents
        assert (content.uri, content.text) == (link.uri, "7 euros")
        for uri in ("receipt://t/s/2026/8", "receipt://2026/7", "receipt://t/2026/7", "other://t/s/7"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert (refused.value.code, refused.value.message) == (-32002, "Resource not found")


class Hide(Transform):
    """Hides what is named like this, by its list method alone."""

    async def list_resources(self, resources):
        return [each for each in resources if "2026" not in each.uri]


@pytest.mark.parametrize(
    "transform",
    [
        Visibility(False, names={"receipt://*2026*", "everything"}),
        Visibility(False, components={"resource"}),
        Hide(),
    ],
)
@pytest.mark.parametrize("place", ["provider", "catalog", "inner catalog", "request"])
async def test_what_transforms_hide_cannot_be_read_as_if_it_were_unlisted(transform, place):
    provider = MCPProvider.in_memory(shop(), name="shop")
    hidden = provider.with_transforms(transform)
    served = {
        "provider": [hidden],
        "catalog": Catalog([provider], transforms=[transform]),
        "inner catalog": [Catalog([Catalog([provider], transforms=[transform])])],
        "request": [],
    }[place]
    options = {"providers_for": lambda context: [hidden]} if place == "request" else {}
    async with provider, ToolServer(served, **options) as server, connected(server) as client:
        await client.list_tools()
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource("receipt://2026/7")
        if isinstance(transform, Visibility):
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource("receipt://all")


@pytest.mark.parametrize(("code", "is_read"), [(types.METHOD_NOT_FOUND, True), (types.INTERNAL_ERROR, False)])
async def test_nothing_unlisted_is_read_while_it_may_be_of_a_hidden_template(code, is_read):
    class Poor(Shop):
        async def list_resource_templates(self):
            raise MCPError(code, "no templates")

    server = Poor("shop")
    server.resource("receipt://pages/1", name="unlisted")(lambda: "one")
    provider = MCPProvider.in_memory(server, name="shop")
    async with ToolServer([provider]) as front, connected(front) as client:
        if is_read:
            assert (await client.read_resource("receipt://pages/1")).contents[0].text == "one"
        else:
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource("receipt://pages/1")


async def test_what_a_session_switches_off_is_not_made_by_a_template():
    def close(run: ToolContext) -> str:
        """Close one page."""
        return run.context["session_rules"].disable(names=["page://1"])

    class Pages(Library):
        async def list_resources(self, context):
            return [Resource(uri="page://1", read=lambda: "one")]

        async def list_resource_templates(self, context):
            return [ResourceTemplate(uri_template="page://{n}", read=lambda uri: uri)]

    async with ToolServer([Pages(), close]) as server, connected(server) as client:
        await client.call_tool("close", {})
        assert (await client.read_resource("page://2")).contents[0].text == "page://2"
        for uri in ("page://1", "page://%31", "page://1#"):
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource(uri)


async def test_a_get_method_as_other_servers_have_it_is_asked_for_what_is_not_listed():
    class Other(Transform):
        async def get_resource(self, uri, call_next):
            return await call_next(uri.removesuffix("/copy"), version=None)

    class Plain(Transform):
        def get_resource(self, uri, call_next):
            return call_next(uri) if "2026" in uri else None

    provider = MCPProvider.in_memory(shop(), name="shop").with_transforms(Other(), Plain())
    async with ToolServer([provider]) as server, connected(server) as client:
        assert (await client.read_resource("receipt://2026/7/copy")).contents[0].text == "7 euros"
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource("receipt://2025/7")


ODD = (
    "RECEIPT://{}",
    "receipt:///{}",
    "receipt://x/../{}",
    "receipt://{}#",
    "receipt://{}\n",
    "\treceipt://{}",
)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("path", ["all", "2026/7", "2026/\t7", "pages/1"])
async def test_what_is_hidden_is_hidden_under_every_spelling(odd, path):
    hide = Visibility(False, names={"everything", "receipt://2026/*", "receipt://pages/*", "page"})
    provider = MCPProvider.in_memory(shop(), name="shop").with_transforms(hide, Namespace("s"))
    async with ToolServer([provider]) as server, connected(server) as client:
        await client.list_resources()
        for uri in (odd.format(f"s/{path}"), odd.format(path).replace("receipt://", "receipt://s/")):
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource(uri)


@pytest.mark.parametrize(
    "uri", ["web://s/page", "web://s/PAGE", "web://s/page/#top", "WEB://s/page%2F", "web:s/page"]
)
async def test_what_is_listed_in_an_odd_spelling_is_hidden_under_the_plain_one(uri):
    server = MCPServer("web")
    server.resource("web://page/", name="page")(lambda: "secret")

    @server.resource("web://other")
    def other() -> str:
        return "open"

    provider = MCPProvider.in_memory(server, name="web").with_transforms(
        Visibility(False, names={"page"}), Namespace("s")
    )
    async with ToolServer([provider]) as front, connected(front) as client:
        assert len((await client.list_resources()).resources) == 1
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource(uri)


@pytest.mark.parametrize("path", ["2026%2F7", "2026//7", "%32026/7", "2026/\t7", "2026\\7"])
async def test_a_sessions_rules_hold_for_every_spelling(path):
    def close(run: ToolContext) -> str:
        """Close the receipts of a year."""
        return run.context["session_rules"].disable(names=["receipt://2026/*"])

    read = []

    class Open(Library):
        async def get_unlisted_resource(self, uri, context):
            return Resource(uri=uri, read=lambda: read.append(uri))

    async with ToolServer([Open(), close]) as server, connected(server) as client:
        await client.read_resource(f"receipt://{path}")
        await client.call_tool("close", {})
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource(f"receipt://{path}")
    assert read == [f"receipt://{path}"]


async def test_a_sessions_rules_hold_for_what_is_not_listed():
    def switch(run: ToolContext, **rule: str) -> str:
        run.context["session_rules"].disable(**{key: [value] for key, value in rule.items()})
        return "done"

    def close_url(run: ToolContext) -> str:
        """Close the URL."""
        return switch(run, names="receipt://s/2026/*")

    def close_shop(run: ToolContext) -> str:
        """Close the shop."""
        return switch(run, namespaces="s")

    for close in (close_url, close_shop):
        provider = MCPProvider.in_memory(shop(), name="shop").with_transforms(Namespace("s"))
        async with ToolServer([provider, close]) as server, connected(server) as client:
            assert (await client.read_resource("receipt://s/2026/7")).contents[0].text == "7 euros"
            await client.call_tool(close.__name__, {})
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource("receipt://s/2026/7")


async def test_a_provider_of_a_request_reads_what_it_does_not_list():
    async with MCPProvider.in_memory(shop(), name="shop") as provider:
        server = ToolServer([Library()], providers_for=lambda context: [Library(), provider])
        async with server, connected(server) as client:
            assert (await client.read_resource("receipt://2026/7")).contents[0].text == "7 euros"


async def test_what_is_not_listed_may_be_away():
    class Away(Library):
        async def get_unlisted_resource(self, uri, context):
            return Resource(uri=uri, read=away)

    def away():
        raise ToolCallError("the server 'shop' cannot be reached")

    async with ToolServer([Away()]) as server, connected(server) as client:
        with pytest.raises(MCPError, match="Error: the server 'shop' cannot be reached"):
            await client.read_resource("receipt://2026/7")


async def test_a_lookup_that_fails_gives_nothing(caplog):
    class Broken(Library):
        async def get_unlisted_resource(self, uri, context):
            raise OSError("secret")

    said = "the provider 'library' failed to look up 'receipt://2026/7', which it doesn't list"
    async with ToolServer([Broken()]) as server, connected(server) as client:
        with pytest.raises(MCPError, match="Resource not found"):
            await client.read_resource("receipt://2026/7")
    assert caplog.messages.count(said) == 1
    both = Broken(), MCPProvider.in_memory(shop(), name="shop")
    for front in (ToolServer(providers_for=lambda _: both), ToolServer(both)):
        async with front, connected(front) as client:
            assert (await client.read_resource("receipt://2026/7")).contents[0].text == "7 euros"


async def test_a_transform_that_fails_to_look_up_gives_nothing(caplog):
    class Failing(Transform):
        async def get_resource(self, uri, call_next):
            raise OSError("secret")

    catalog = Catalog([MCPProvider.in_memory(shop(), name="shop")], transforms=[Failing()])
    assert await catalog.get_unlisted_resource("receipt://2026/7") is None
    await catalog.aclose()
    assert "the resource 'receipt://2026/7' is not given: a lookup failed" in caplog.messages


async def test_a_front_is_a_server_upstream_of_another():
    inner = ToolServer([Library()])
    inner.register_on_demand_tool(Tool(name="deep", execute=lambda: "from below"))
    outer = ToolServer([MCPProvider.in_memory(inner.lowlevel, name="inner").with_transforms(Namespace("in"))])
    async with outer, connected(outer) as client:
        assert await names(client) == ["in_hide", "in_search_tools", "in_call_tool"]
        assert text(await client.call_tool("in_call_tool", {"name": "deep"})) == "from below"

"""`ToolSearchTransform` in real FastMCP servers, asked by FastMCP's own client."""

import asyncio
import json
import logging

import pytest

pytest.importorskip("fastmcp", reason='needs pip install "tool-search-processor[fastmcp]"')

from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.auth import require_scopes
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from fastmcp.server.dependencies import get_access_token
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers.addressing import hash_tool, hashed_backend_name
from fastmcp.server.transforms import Namespace, VersionFilter
from fastmcp.tools.base import Tool as ServerTool
from fastmcp.utilities.tests import asgi_server
from fastmcp.utilities.versions import VersionSpec
from mcp_types import ToolAnnotations

from tests.test_migrations import run_section
from tool_search_processor import ConfigurationError
from tool_search_processor.adapters.fastmcp import ToolSearchTransform
from tool_search_processor.adapters.fastmcp_catalog import ServerCatalog
from tool_search_processor.errors import ReservedToolNameError
from tool_search_processor.meta_tools import TARGET_META
from tool_search_processor.search.bm25 import BM25Index

META_TOOLS = ["search_tools", "call_tool"]


def weather_forecast(city: str, days: int = 1) -> str:
    """Tells the weather of a city."""
    return f"sunny in {city} for {days}"


def send_mail(text: str) -> str:
    """Sends a mail."""
    return f"sent {text}"


def delete_account(user: str) -> str:
    """Deletes the account of a user."""
    return f"deleted {user}"


def server(*functions, name="server", **options):
    mcp = FastMCP(name, **options)
    for function in functions or (weather_forecast, send_mail, delete_account):
        mcp.tool(function)
    return mcp


def searched(mcp=None, **options):
    """Return a server with the transform."""
    mcp = mcp or server()
    mcp.add_transform(ToolSearchTransform(**options))
    return mcp


async def listed(client):
    return [tool.name for tool in await client.list_tools()]


async def find(client, query, **arguments):
    result = await client.call_tool("search_tools", {"query": query, **arguments})
    return result.structured_content


async def found(client, query, **arguments):
    return [result["name"] for result in (await find(client, query, **arguments))["results"]]


async def told(client, name, arguments=None):
    """Return whether a call failed, and its text."""
    result = await client.call_tool(name, arguments or {}, raise_on_error=False)
    return result.is_error, result.content[0].text


async def through(client, name, arguments=None):
    return await told(client, "call_tool", {"name": name, "arguments": arguments or {}})


class TestAServer:
    async def test_lists_the_meta_tools_alone(self):
        async with Client(searched()) as client:
            tools = await client.list_tools()
        assert [tool.name for tool in tools] == META_TOOLS
        assert [tool.annotations.read_only_hint for tool in tools] == [True, False]
        assert [tool.title for tool in tools] == ["Search tools", "Call a tool"]

    async def test_search_and_call(self):
        async with Client(searched()) as client:
            answer = await find(client, "weather")
            assert await through(client, "weather_forecast", {"city": "Rome"}) == (
                False,
                "sunny in Rome for 1",
            )
        assert [result["name"] for result in answer["results"]] == ["weather_forecast"]
        assert answer["results"][0]["parameters"]["required"] == ["city"]
        assert answer["total"] == 1
        assert answer["message"] == "Found 1 tool. Run one with call_tool."

    async def test_text_and_structured_content_say_the_same(self):
        async with Client(searched()) as client:
            result = await client.call_tool("search_tools", {"query": "weather"})
        assert json.loads(result.content[0].text) == result.structured_content

    async def test_nothing_found_and_an_empty_query_are_told(self):
        async with Client(searched()) as client:
            assert "No tool matches" in (await find(client, "zebra"))["message"]
            assert "The query is empty" in (await find(client, " "))["message"]

    async def test_several_queries_a_limit_and_a_tag(self):
        mcp = server()
        mcp.tool(
            lambda: 1, name="rain_radar", description="Weather radar: weather of the hour.", tags={"maps"}
        )
        async with Client(searched(mcp, top_k=1)) as client:
            assert await found(client, ["weather", "mail"]) == ["weather_forecast", "send_mail"]
            assert await found(client, '["weather", "mail"]', limit=3) == [
                "weather_forecast",
                "send_mail",
                "rain_radar",
            ]
            assert await found(client, "weather", tags=["maps"]) == ["rain_radar"]

    async def test_an_unlisted_tool_can_be_called_by_its_name(self):
        async with Client(searched()) as client:
            assert await told(client, "weather_forecast", {"city": "Rome"}) == (False, "sunny in Rome for 1")

    async def test_a_result_through_the_proxy_says_which_tool_ran(self):
        mcp = server()
        mcp.tool(lambda: {"n": 1}, name="read", annotations=ToolAnnotations(read_only_hint=True))
        async with Client(searched(mcp)) as client:
            result = await client.call_tool("call_tool", {"name": "read"})
        assert result.structured_content == {"n": 1}
        assert result.meta[TARGET_META] == {"name": "read", "annotations": {"readOnlyHint": True}}

    @pytest.mark.parametrize(
        "arguments",
        [
            {"name": "weather_forecast", "arguments": '{"city": "Rome", "days": 2}'},
            {"name": "weather_forecast", "city": "Rome", "days": 2},
            {"name": "Weather-Forecast", "arguments": {"city": "Rome", "days": "2"}},
            {"tool": "weather_forecast", "args": {"city": "Rome", "days": 2}},
        ],
    )
    async def test_arguments_as_models_write_them(self, arguments):
        async with Client(searched()) as client:
            assert await told(client, "call_tool", arguments) == (False, "sunny in Rome for 2")

    @pytest.mark.parametrize("arguments", [{}, {"city": ["Rome"]}, "{broken", [3]])
    async def test_wrong_arguments_are_answered_with_the_parameters(self, arguments):
        async with Client(searched(result_detail="brief")) as client:
            is_error, text = await told(
                client, "call_tool", {"name": "weather_forecast", "arguments": arguments}
            )
        assert is_error
        assert json.loads(text)["parameters"]["required"] == ["city"]
        assert "weather_forecast was not run" in text
        assert "pydantic" not in text

    async def test_meta_tools_are_not_run_through_the_proxy(self):
        async with Client(searched()) as client:
            assert await through(client, "search_tools") == (
                True,
                "Error: search_tools can't be run through call_tool: call it directly.",
            )

    async def test_what_a_tool_raises_is_told_as_the_server_tells_it(self):
        mcp = server()

        @mcp.tool
        def fail() -> str:
            raise ToolError("out of paper")

        async with Client(searched(mcp)) as client:
            assert await through(client, "fail") == await told(client, "fail") == (True, "out of paper")

    async def test_names_can_be_chosen(self):
        transform = ToolSearchTransform(search_tool_name="tool_search", call_tool_name="execute_tool")
        mcp = FastMCP("server", transforms=[transform])
        mcp.tool(weather_forecast)
        async with Client(mcp) as client:
            assert await listed(client) == ["tool_search", "execute_tool"]
            answer = (await client.call_tool("tool_search", {"query": "weather"})).structured_content
            assert "execute_tool" in answer["message"]
            result = await client.call_tool(
                "execute_tool", {"name": "weather_forecast", "arguments": {"city": "Rome"}}
            )
            assert result.data == "sunny in Rome for 1"

    async def test_a_name_that_no_model_provider_accepts_is_found_and_called(self):
        mcp = server()
        mcp.tool(lambda: "read", name="files.read", description="Opens a document.")
        mcp.tool(lambda: "other", name="files_read", description="Opens a document.")
        async with Client(searched(mcp)) as client:
            assert sorted(await found(client, "open document")) == ["files.read", "files_read"]
            assert await through(client, "files.read") == (False, "read")
            assert await through(client, "files_read") == (False, "other")

    async def test_concurrent_calls_are_answered_each(self):
        async with Client(searched()) as client:
            answers = await asyncio.gather(
                *(through(client, "weather_forecast", {"city": f"c{n}"}) for n in range(20)),
                *(found(client, "mail") for _ in range(20)),
            )
        assert answers[:20] == [(False, f"sunny in c{n} for 1") for n in range(20)]
        assert answers[20:] == [["send_mail"]] * 20


class TestSearch:
    async def test_patterns(self):
        async with Client(searched(search="regex")) as client:
            assert await found(client, "mail|account") == ["send_mail", "delete_account"]
            assert "is not valid" in (await find(client, "mail("))["message"]

    @pytest.mark.parametrize("search", [BM25Index(), BM25Index])
    async def test_an_index_or_a_factory(self, search):
        async with Client(searched(search=search)) as client:
            assert await found(client, "mail") == ["send_mail"]

    async def test_keywords_of_a_tools_meta(self):
        mcp = server()
        mcp.tool(lambda: 1, name="open_ticket", meta={"keywords": ["bug", 3]})
        mcp.tool(lambda: 1, name="odd", meta={"keywords": "bug"})
        async with Client(searched(mcp)) as client:
            assert await found(client, "bug") == ["open_ticket"]

    async def test_example_requests_of_a_tools_meta_which_the_filter_sees_too(self):
        mcp = server()
        meta = {"example_requests": ["the printer is on fire"], "level": 3}
        mcp.tool(lambda: 1, name="open_ticket", meta=meta)
        seen = {}

        def policy(request):
            seen[request.tool_name] = request.tool.metadata.get("_meta")
            return True

        async with Client(searched(mcp, filter=policy)) as client:
            assert await found(client, "printer on fire") == ["open_ticket"]
        assert seen["open_ticket"]["level"] == 3

    async def test_a_least_score(self):
        async with Client(searched(min_score=1.0)) as client:
            assert await found(client, "weather") == []
            assert await found(client, "send_mail") == ["send_mail"]

    @pytest.mark.parametrize(
        ("detail", "key"), [("brief", None), ("signature", "signature"), ("schema", "parameters")]
    )
    async def test_the_detail_of_results(self, detail, key):
        async with Client(searched(result_detail=detail)) as client:
            (result,) = (await find(client, "mail"))["results"]
        assert result.keys() - {"name", "description", "score", "loaded"} == ({key} if key else set())


class TestAlwaysVisible:
    async def test_stays_listed_and_out_of_results(self):
        async with Client(searched(always_visible=["send_mail"])) as client:
            assert await listed(client) == ["send_mail", *META_TOOLS]
            assert await found(client, "mail") == []
            assert "call send_mail" in (await find(client, "mail"))["message"]
            assert await told(client, "send_mail", {"text": "hi"}) == (False, "sent hi")

    async def test_is_listed_only_where_phase_active_admits_it(self):
        mcp = searched(always_visible=["send_mail"], filter=lambda request: request.phase != "active")
        async with Client(mcp) as client:
            assert await listed(client) == META_TOOLS
            assert "listed" not in (await find(client, "mail"))["message"]
            assert await told(client, "send_mail", {"text": "hi"}) == (True, "Unknown tool: 'send_mail'")

    async def test_needs_no_load(self):
        mcp = searched(always_visible=["send_mail"], filter=lambda request: request.phase != "load")
        async with Client(mcp) as client:
            assert await told(client, "send_mail", {"text": "hi"}) == (False, "sent hi")


def denying(name, *phases):
    return lambda request: not (request.tool_name == name and request.phase in phases)


class TestFilter:
    async def test_a_denied_tool_is_answered_as_an_unknown_one_by_every_door(self):
        denied = denying("delete_account", "search", "load", "active")
        async with Client(searched(filter=denied)) as client, Client(searched(server(send_mail))) as other:
            assert await listed(client) == await listed(other)
            assert await found(client, "delete account") == []
            for door in (told, through):
                assert await door(client, "delete_account", {"user": "u"}) == await door(
                    other, "delete_account", {"user": "u"}
                )
                assert (await door(client, "delete_account", {"user": "u"}))[0]

    async def test_phase_search_hides_from_results_alone(self):
        async with Client(searched(filter=denying("delete_account", "search"))) as client:
            assert await found(client, "delete account") == []
            assert await through(client, "delete_account", {"user": "u"}) == (False, "deleted u")

    @pytest.mark.parametrize("phase", ["load", "active"])
    async def test_phases_load_and_active_refuse_a_call(self, phase):
        async with Client(searched(filter=denying("delete_account", phase))) as client:
            assert await found(client, "delete account") == ["delete_account"]
            assert await told(client, "delete_account", {"user": "u"}) == (
                True,
                "Unknown tool: 'delete_account'",
            )
            is_error, text = await through(client, "delete_account", {"user": "u"})
            assert is_error
            assert text.startswith("Error: There is no tool 'delete_account' to call.")

    async def test_a_tool_that_is_denied_at_the_last_moment_is_refused(self):
        asked = []

        def once(request):
            asked.append(request.phase)
            return asked.count("active") < 2

        async with Client(searched(filter=once)) as client:
            is_error, text = await through(client, "send_mail", {"text": "hi"})
        assert (is_error, text) == (True, "Error: Unknown tool: 'send_mail'")

    async def test_nothing_tells_how_much_is_hidden(self):
        async with Client(searched(filter=lambda request: True)) as client:
            assert (await find(client, "mail"))["total"] is None

    async def test_an_async_filter_that_fails_or_hangs_denies(self, caplog):
        async def policy(request):
            if request.tool_name == "send_mail":
                raise RuntimeError("policy is down")
            await asyncio.Event().wait()

        async with Client(searched(filter=policy, filter_timeout_seconds=0.01)) as client:
            assert await found(client, ["mail", "weather"]) == []
        assert "policy is down" in caplog.text

    @pytest.mark.parametrize("allowed", [True, False])
    async def test_a_call_from_an_app_is_gated_too(self, allowed):
        mcp = server()
        meta = {"ui": {"visibility": ["app"]}, "fastmcp": {"tool_hash": hash_tool("app", "refresh")}}
        mcp.tool(lambda: "fresh", name="refresh", meta=meta)
        async with Client(searched(mcp, filter=lambda request: allowed)) as client:
            is_error, text = await told(client, hashed_backend_name("app", "refresh"))
        assert (is_error, text == "fresh") == (not allowed, allowed)

    async def test_outside_of_a_request_the_filter_is_asked_without_context(self):
        mcp = searched(filter=lambda request: bool(request.context) or request.tool_name == "send_mail")
        assert await mcp.get_tool("delete_account") is None
        assert (await mcp.get_tool("send_mail")).name == "send_mail"

    async def test_a_programs_call_is_gated_too(self):
        mcp = searched(filter=denying("delete_account", "active"))
        with pytest.raises(Exception, match="Unknown tool"):
            await mcp.call_tool("delete_account", {"user": "u"})
        assert (await mcp.call_tool("send_mail", {"text": "hi"})).content[0].text == "sent hi"


class TestContext:
    async def test_is_made_of_the_frameworks(self):
        seen = []

        async def context(ctx):
            return {"server": ctx.fastmcp.name}

        def policy(request):
            seen.append((request.context["server"], bool(request.thread_id)))
            return True

        async with Client(searched(filter=policy, context=context)) as client:
            await found(client, "mail")
        assert set(seen) == {("server", True)}

    @pytest.mark.parametrize("context", [lambda ctx: {}["missing"], lambda ctx: "ada"])
    async def test_a_request_whose_context_fails_gets_no_tool(self, context, caplog):
        mcp = searched(filter=lambda request: True, context=context, always_visible=["send_mail"])
        async with Client(mcp) as client:
            assert await listed(client) == META_TOOLS
            assert await found(client, "mail") == []
            assert await told(client, "send_mail", {"text": "hi"}) == (True, "Unknown tool: 'send_mail'")
        assert "context= failed" in caplog.text

    async def test_two_callers_over_http_have_the_rights_of_their_headers(self):
        mcp = searched(
            filter=lambda request: (
                request.tool_name != "delete_account" or request.context["headers"].get("X-Role") == "admin"
            )
        )

        async def asked(app, role):
            async with app.client(headers={"X-Role": role}) as client:
                return [
                    (
                        await found(client, "delete account"),
                        await through(client, "delete_account", {"user": "u"}),
                    )
                    for _ in range(5)
                ]

        async with asgi_server(mcp) as app:
            admin, guest = await asyncio.gather(asked(app, "admin"), asked(app, "guest"))
        assert admin == [(["delete_account"], (False, "deleted u"))] * 5
        assert [(names, answer[0]) for names, answer in guest] == [([], True)] * 5

    async def test_two_callers_over_http_have_the_rights_of_their_tokens(self):
        tokens = {
            name: {"client_id": name, "scopes": ["read"], "claims": {"role": name}}
            for name in ("admin", "guest")
        }
        mcp = searched(
            server(auth=StaticTokenVerifier(tokens=tokens)),
            filter=lambda request: (
                request.tool_name != "delete_account" or request.context["role"] == "admin"
            ),
            context=lambda ctx: {"role": get_access_token().client_id},
        )
        async with asgi_server(mcp) as app:
            answers = {}
            for name in tokens:
                async with app.client(auth=name) as client:
                    answers[name] = await found(client, "delete account")
        assert answers == {"admin": ["delete_account"], "guest": []}


class TestWhatTheServerHides:
    async def test_authorization_of_a_tool(self):
        mcp = server(
            send_mail,
            auth=StaticTokenVerifier(
                tokens={
                    "boss": {"client_id": "boss", "scopes": ["admin"]},
                    "guest": {"client_id": "guest", "scopes": []},
                }
            ),
        )
        mcp.tool(delete_account, auth=require_scopes("admin"))
        async with asgi_server(searched(mcp)) as app:
            async with app.client(auth="boss") as client:
                assert await found(client, "delete account") == ["delete_account"]
                assert await through(client, "delete_account", {"user": "u"}) == (False, "deleted u")
            async with app.client(auth="guest") as client:
                assert await found(client, "delete account") == []
                assert (await find(client, "mail"))["total"] == 1
                assert (await through(client, "delete_account", {"user": "u"}))[0]

    async def test_a_session_that_switches_tools(self):
        mcp = server()

        @mcp.tool
        async def focus(ctx: Context) -> str:
            """Switches mail off for this session."""
            await ctx.disable_components(names={"send_mail"}, components={"tool"})
            return "focused"

        mcp = searched(mcp)
        async with Client(mcp, mode="legacy") as client, Client(mcp, mode="legacy") as other:
            assert await through(client, "focus") == (False, "focused")
            assert "send_mail" not in await found(client, "mail")
            assert (await through(client, "send_mail", {"text": "hi"}))[0]
            assert "send_mail" in await found(other, "mail")
            assert await through(other, "send_mail", {"text": "hi"}) == (False, "sent hi")

    async def test_a_middleware_that_hides_from_lists(self):
        class Hides(Middleware):
            async def on_list_tools(self, context, call_next):
                return [tool for tool in await call_next(context) if tool.name != "send_mail"]

        async with Client(searched(server(middleware=[Hides()]))) as client:
            assert await found(client, "mail") == []
            assert (await through(client, "send_mail", {"text": "hi"}))[0]

    async def test_a_tool_that_is_switched_off(self):
        mcp = searched()
        mcp.disable(names={"send_mail"})
        async with Client(mcp) as client:
            assert await found(client, "mail") == []
            mcp.enable(names={"send_mail"})
            assert await found(client, "mail") == ["send_mail"]

    async def test_a_tool_that_is_for_apps_alone(self):
        mcp = server()
        mcp.tool(lambda: 1, name="refresh_mail", meta={"ui": {"visibility": ["app"]}})
        async with Client(searched(mcp)) as client:
            assert await found(client, "mail") == ["send_mail"]
            assert (await through(client, "refresh_mail"))[0]


class TestExecutionIsTheServers:
    async def test_middleware_sees_the_target(self):
        seen = []

        class Watches(Middleware):
            async def on_call_tool(self, context, call_next):
                seen.append((context.message.name, dict(context.message.arguments)))
                return await call_next(context)

        async with Client(searched(server(middleware=[Watches()]))) as client:
            await through(client, "send_mail", {"text": "hi"})
        assert seen[1:] == [("send_mail", {"text": "hi"})]

    async def test_progress_and_elicitation(self):
        mcp = server()
        progress, asked = [], []

        @mcp.tool
        async def order(ctx: Context) -> str:
            """Orders what the user wants."""
            await ctx.report_progress(1, 2, "asking")
            answer = await ctx.elicit("What?", response_type=str)
            return f"ordered {answer.data}"

        async def on_progress(done, total, message):
            progress.append((done, total, message))

        async def elicit(message, response_type, params, context):
            asked.append(message)
            return response_type(value="tea")

        async with Client(searched(mcp), mode="legacy", elicitation_handler=elicit) as client:
            result = await client.call_tool("call_tool", {"name": "order"}, progress_handler=on_progress)
        assert result.data == "ordered tea"
        assert asked == ["What?"]
        assert progress == [(1, 2, "asking")]

    async def test_a_failing_call_inside_of_a_tool_is_not_taken_for_wrong_arguments(self):
        mcp = server()

        @mcp.tool
        async def outer(ctx: Context) -> str:
            return str(await ctx.fastmcp.call_tool("send_mail", {"wrong": 1}))

        async with Client(searched(mcp)) as client:
            is_error, text = await through(client, "outer")
        assert is_error
        assert "was not run" not in text


class TestAChangingServer:
    async def test_a_tool_that_is_added_replaced_and_removed(self):
        mcp = searched(always_visible=["weather_forecast"])
        async with Client(mcp) as client:
            assert await found(client, "invoice") == []

            mcp.tool(lambda number: number, name="pay_invoice", description="Pays an invoice.")
            assert await found(client, "invoice") == ["pay_invoice"]

            mcp.local_provider.remove_tool("pay_invoice")
            mcp.add_tool(
                ServerTool.from_function(
                    lambda amount: f"paid {amount}", name="pay_invoice", description="Pays a bill."
                )
            )
            (result,) = (await find(client, "bill"))["results"]
            assert result["parameters"]["required"] == ["amount"]
            assert await through(client, "pay_invoice", {"amount": "3"}) == (False, "paid 3")

            mcp.local_provider.remove_tool("pay_invoice")
            assert await found(client, "bill") == []
            assert (await through(client, "pay_invoice", {"amount": "3"}))[0]

    async def test_a_clash_at_the_beginning_is_refused(self):
        mcp = server()
        mcp.tool(lambda: 1, name="call_tool")
        mcp = searched(mcp)
        with pytest.raises(ReservedToolNameError, match="call_tool_name"):
            await mcp.list_tools()

    async def test_a_clash_later_is_left_out_with_a_warning(self, caplog):
        mcp = searched()
        async with Client(mcp) as client:
            assert await listed(client) == META_TOOLS
            mcp.tool(lambda: "mine", name="search_tools", description="Finds mail.")
            assert await listed(client) == await listed(client) == META_TOOLS
            assert await found(client, "mail") == ["send_mail"]
        assert [record.message for record in caplog.records if "not served" in record.message] == [
            "the tool 'search_tools' is not served: a meta-tool of the tool search has its name"
        ]

    async def test_another_transform_behind_is_refused(self):
        mcp = searched(filter=lambda request: request.tool_name != "x_delete_account")
        mcp.add_transform(Namespace("x"))
        with pytest.raises(ConfigurationError, match="last transform, found Namespace"):
            await mcp.list_tools()
        with pytest.raises(ConfigurationError, match="last transform"):
            await mcp.call_tool("x_delete_account", {"user": "u"})


class TestVersions:
    @staticmethod
    def versioned():
        mcp = FastMCP("server")
        for version, convert in {"1": lambda: "version 1", "2": lambda: "version 2"}.items():
            mcp.tool(
                convert,
                name="convert",
                version=version,
                description=f"Converts a file, {version}.",
            )
        return mcp

    async def test_the_highest_is_found_and_run(self):
        async with Client(searched(self.versioned())) as client:
            (result,) = (await find(client, "convert"))["results"]
            assert result["description"] == "Converts a file, 2."
            assert await through(client, "convert") == (False, "version 2")

    async def test_a_direct_call_may_ask_for_another(self):
        async with Client(searched(self.versioned(), filter=lambda request: True)) as client:
            result = await client.call_tool("convert", version="1")
        assert result.content[0].text == "version 1"

    async def test_what_is_shown_is_what_runs(self):
        mcp = self.versioned()
        mcp.disable(names={"convert"}, version=VersionSpec(eq="2"))
        async with Client(searched(mcp)) as client:
            (result,) = (await find(client, "convert"))["results"]
            assert result["description"] == "Converts a file, 1."
            assert await through(client, "convert") == (False, "version 1")

    async def test_a_transform_before_chooses_the_version(self):
        mcp = self.versioned()
        mcp.add_transform(VersionFilter(version_lt="2"))
        async with Client(searched(mcp)) as client:
            assert await through(client, "convert") == (False, "version 1")

    async def test_policy_is_asked_of_the_version_that_would_run(self):
        def policy(request):
            return "2" not in request.tool.description

        async with Client(searched(self.versioned(), filter=policy)) as client:
            assert await found(client, "convert") == []
            assert (await told(client, "convert"))[0]
            assert (await client.call_tool("convert", version="1")).content[0].text == "version 1"


class TestMountedServers:
    async def test_are_searched_under_their_namespaces(self):
        mcp = FastMCP("main")
        mcp.mount(server(send_mail, name="child"), namespace="post")
        seen = []

        def policy(request):
            seen.append(request.tool_name)
            return True

        async with Client(searched(mcp, filter=policy)) as client:
            assert await found(client, "mail") == ["post_send_mail"]
            assert await through(client, "post_send_mail", {"text": "hi"}) == (False, "sent hi")
            assert (await told(client, "send_mail", {"text": "hi"}))[0]
        assert set(seen) == {"post_send_mail"}

    async def test_a_child_can_have_a_search_of_its_own(self):
        main = server(weather_forecast, name="main")
        main.mount(searched(filter=denying("delete_account", "load")), namespace="child")
        async with Client(main) as client:
            assert await listed(client) == ["weather_forecast", "child_search_tools", "child_call_tool"]
            result = await client.call_tool("child_search_tools", {"query": "mail"})
            assert [found["name"] for found in result.structured_content["results"]] == ["send_mail"]
            assert await told(
                client, "child_call_tool", {"name": "send_mail", "arguments": {"text": "hi"}}
            ) == (
                False,
                "sent hi",
            )
            assert await told(client, "child_delete_account", {"user": "u"}) == (
                True,
                "Unknown tool: 'child_delete_account'",
            )

    async def test_their_tools_are_made_once(self):
        mcp = FastMCP("main")
        mcp.mount(server(name="child"), namespace="x")
        catalog = ServerCatalog("bm25")
        first, second = catalog.offer(await mcp.list_tools()), catalog.offer(await mcp.list_tools())
        assert len(first.view) == 3
        assert all(a is b for a, b in zip(first.view, second.view, strict=True))
        assert first.view.shared is second.view.shared


class CountingIndex(BM25Index):
    """Writes down how often it was filled."""

    updates = 0

    def update(self, documents):
        self.updates += 1
        super().update(documents)


class TestOneIndex:
    @staticmethod
    def tools(*names):
        return [ServerTool.from_function(lambda: 1, name=name, description=f"Does {name}.") for name in names]

    async def test_serves_callers_who_see_different_tools(self):
        index = CountingIndex()
        catalog = ServerCatalog(index)
        everything = self.tools("read_mail", "send_mail", "drop_mail")
        for _ in range(3):
            for some in (everything, everything[:1], everything[1:]):
                view = catalog.offer(some).view
                assert {hit.name for hit in await view.search("mail")} == {tool.name for tool in some}
                assert await view.count("mail") == len(some)
        assert index.updates == 1

    async def test_learns_what_another_caller_sees(self):
        index = CountingIndex()
        catalog = ServerCatalog(index)
        one, two = self.tools("read_mail"), self.tools("send_mail")
        assert [hit.name for hit in await catalog.offer(one).view.search("mail")] == ["read_mail"]
        assert [hit.name for hit in await catalog.offer(two).view.search("mail")] == ["send_mail"]
        assert [hit.name for hit in await catalog.offer(one).view.search("mail")] == ["read_mail"]
        assert index.updates == 2

    def test_a_valid_name_goes_to_its_own_tool_whatever_came_first(self):
        catalog = ServerCatalog("bm25")
        odd, valid = self.tools("a.b", "a_b")
        assert catalog.tool(odd).name == "a_b"
        offered = catalog.offer([odd, valid])
        assert offered.originals["a_b"] is valid
        assert len(offered.originals) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 0},
        {"min_score": 2},
        {"result_detail": "all"},
        {"search": "best"},
        {"filter": "no"},
        {"filter": lambda: True},
        {"context": {"plan": "pro"}},
        {"search_tool_name": "call_tool"},
        {"search_tool_name": "search tools"},
        {"always_visible": 3},
    ],
)
def test_options_that_cant_work_are_refused(options):
    with pytest.raises(ConfigurationError):
        ToolSearchTransform(**options)


@pytest.fixture(autouse=True)
def _logs_of_fastmcp(caplog):
    # its loggers don't pass anything on, and write to the terminal
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    caplog.set_level(logging.WARNING)


def test_what_the_page_on_migration_says_runs(capsys):
    run_section("FastMCP search", capsys)

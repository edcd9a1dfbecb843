"""Who may find, see and call what: the filter, session rules and providers of one request."""

import asyncio
from collections import Counter

import pytest

from tests.server.mcp.support import (
    META,
    SECRET,
    WAYS,
    client_of,
    connected,
    create_issue,
    found,
    front,
    list_issues,
    names,
    proxied,
    refusal,
    search,
    send_email,
    serving,
    text,
)
from tests.support import Policy, make
from tool_search_processor import tool
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.policy.admission import BATCH
from tool_search_processor.providers import StaticProvider
from tool_search_processor.server.mcp import ToolServer, on_demand
from tool_search_processor.server.mcp.rules import SessionRules, UserRules
from tool_search_processor.testing import ManualClock
from tool_search_processor.tools import ToolContext

# -- the filter


@pytest.mark.parametrize(
    ("name", "phase", "listed", "findable", "callable_"),
    [
        ("create_issue", "active", False, None, False),
        ("create_issue", "load", True, None, False),
        ("create_issue", "search", True, None, True),
        ("send_email", "search", False, False, True),
        ("send_email", "load", False, True, False),
        ("send_email", "active", False, True, False),
    ],
)
async def test_each_phase_holds_where_it_belongs(name, phase, listed, findable, callable_):
    async with connected(front(filter=Policy((phase, name)))) as client:
        assert (name in await names(client)) == listed
        if findable is not None:
            assert (name in await found(client, limit=100)) == findable
            assert (name in await found(client, query=name)) == findable
        arguments = {"repo": "a"} if name == "create_issue" else {"to": "a"}
        result = await proxied(client, name, arguments)
        assert result.is_error == (not callable_)
        if callable_:
            assert text(await client.call_tool(name, arguments)) == text(result)
        else:
            await refusal(client, name)


async def test_a_denied_tool_answers_exactly_as_a_missing_one():
    policy = Policy()
    policy.deny("send_email")
    server = front(filter=policy)
    without = front(filter=Policy())
    without.unregister_tools("send_email")
    async with connected(server) as denied, connected(without) as missing:
        for name in ("send_email", "send-email", "send_emai"):
            assert text(await proxied(denied, name)) == text(await proxied(missing, name))
        assert await refusal(denied, "send_email") == await refusal(missing, "send_email")
        answers = [await search(client, query="send an e-mail") for client in (denied, missing)]
    assert answers[0]["total"] is None
    assert [each["name"] for each in answers[0]["results"]] == ["broken_printer"]
    assert answers[0]["message"] == answers[1]["message"]


async def test_a_policy_that_raises_denies(caplog):
    def fails(request):
        raise RuntimeError("no database")

    async with connected(front(filter=fails)) as client:
        assert await names(client) == []
        assert await found(client) == []
        assert await refusal(client, "create_issue") == "There is no tool 'create_issue' to call."
    assert "no database" in caplog.text


async def test_a_policy_may_wait_but_not_for_ever():
    async def slow(request):
        await asyncio.Event().wait()
        return True

    async with connected(front(filter=slow, filter_timeout_seconds=0.01)) as client:
        assert await names(client) == []


async def test_the_policy_and_providers_see_user_headers_session_and_mode():
    seen = []

    def policy(request):
        seen.append(request)
        return request.context["user"] == "ada" or request.tool_name != "send_email"

    def users(token):
        return {"t1": "ada", "t2": "bob"}.get(token)

    asked = []

    async def providers_for(context):
        asked.append(context)
        return [StaticProvider([make(f"of_{context['user']}")])]

    server = front(filter=policy, authenticate=users, providers_for=providers_for)
    async with serving(server) as url:
        for token, user, may in (("t1", "ada", True), ("t2", "bob", False)):
            headers = {"Authorization": f"Bearer {token}", "X-Team": "red"}
            for mode in ("legacy", "auto"):
                async with client_of(url, headers=headers, mode=mode) as client:
                    assert await names(client) == ["create_issue", f"of_{user}", *META]
                    assert ("send_email" in await found(client)) == may
                    assert text(await client.call_tool(f"of_{user}", {})) == f'{{"ran":"of_{user}"}}'
                    assert "of_cleo" in await refusal(client, "of_cleo")
                context = seen[-1].context
                assert context["headers"]["x-team"] == context["headers"]["X-TEAM"] == "red"
                assert (context["session_id"] is None) == (mode == "auto")
                assert seen[-1].thread_id == context["session_id"]
                assert asked[-1]["user"] == user


# -- providers of a request


class Gone(BaseException):
    """What no program waits for."""


@pytest.mark.parametrize("how", [OSError("gone"), Gone(), SystemExit(3), asyncio.CancelledError(), "hangs"])
async def test_one_failing_provider_of_a_request_does_not_take_the_others_down(how, caplog):
    class Dead:
        name = "dead"

        async def list_tools(self, context):
            if how == "hangs":
                await asyncio.Event().wait()
            raise how

    def providers_for(context):
        return [
            Dead(),
            StaticProvider([on_demand(make("hidden_one")), make("listed_one")]),
            [make("loose")][0],
        ]

    timeout = 0.02 if how == "hangs" else 30
    server = front(providers_for=providers_for, provider_timeout_seconds=timeout)
    async with connected(server) as client:
        assert await names(client) == ["create_issue", "listed_one", "loose", *META]
        assert "hidden_one" in await found(client, query="hidden one")
        assert text(await proxied(client, "hidden_one")) == '{"ran":"hidden_one"}'
    assert "the provider 'dead' failed to list for a request" in caplog.text


async def test_providers_of_a_request_that_cannot_be_named_leave_the_rest(caplog):
    def providers_for(context):
        raise OSError("no directory")

    async with connected(front(providers_for=providers_for)) as client:
        assert await names(client) == ["create_issue", *META]
    assert "no directory" in caplog.text


async def test_a_name_that_two_providers_have_stays_with_the_first():
    def providers_for(context):
        return [make("create_issue", "Another."), make("new")]

    async with connected(front(providers_for=providers_for)) as client:
        listed = (await client.list_tools()).tools
    assert [each.name for each in listed] == ["create_issue", "new", *META]
    assert listed[0].description == "Create an issue in a repository."


async def test_providers_are_asked_once_a_request():
    asked = []

    def providers_for(context):
        asked.append(context)
        return [make("own")]

    async with connected(front(providers_for=providers_for), "memory without handshake") as client:
        for ask in (names, found, lambda client: proxied(client, "own")):
            asked.clear()
            await ask(client)
            assert len(asked) == 1


# -- session rules


@tool
def switch(context: ToolContext, off: bool, what: str) -> str:
    """Switch tools of a kind off or on."""
    rules = context.context["session_rules"]
    kind, _, value = what.partition("=")
    change = rules.disable if off else rules.enable
    return change(**{kind: [value]})


def switching(**options):
    server = front(**options)
    server.register_on_demand_tool(switch)
    return server


@pytest.mark.parametrize("way", ["memory", "memory without handshake", "http"])
@pytest.mark.parametrize("what", ["names=send_email", "names=send_*", "tags=mail", "namespaces=mail"])
async def test_a_rule_holds_at_once_everywhere_and_is_taken_back(way, what):
    async with connected(switching(), way) as client:
        assert text(await client.call_tool("switch", {"off": True, "what": what})) == "session"
        assert "send_email" not in await found(client, limit=100)
        assert "send_email" not in await found(client, query="send e-mail")
        assert (await proxied(client, "send_email", {"to": "a"})).is_error
        assert "send_email" not in await refusal(client, "send_emai")
        await refusal(client, "send_email")
        assert text(await client.call_tool("switch", {"off": False, "what": what})) == "session"
        assert "send_email" in await found(client, query="send e-mail")
        assert text(await proxied(client, "send_email", {"to": "a"})) == "sent to a"


async def test_rules_hold_for_listed_tools_too():
    async with connected(switching()) as client:
        await client.call_tool("switch", {"off": True, "what": "namespaces=github"})
        assert await names(client) == META
        await client.call_tool("switch", {"off": True, "what": "names=*"})
        assert await names(client) == []
        assert await refusal(client, "switch") == "There is no tool 'switch' to call."


async def test_rules_are_no_other_sessions_business():
    async with (
        serving(switching()) as url,
        client_of(url, mode="legacy") as one,
        client_of(url, mode="legacy") as other,
        client_of(url) as without,
    ):
        await one.call_tool("switch", {"off": True, "what": "tags=github"})
        await other.call_tool("switch", {"off": True, "what": "tags=mail"})
        assert await names(one) == META
        assert await names(other) == ["create_issue", *META]
        assert await names(without) == ["create_issue", *META]
        assert await found(one) == ["send_email", "broken_printer", "switch"]
        assert await found(other) == ["list_issues", "switch"]
        assert await found(without) == ["list_issues", "send_email", "broken_printer", "switch"]


@pytest.mark.parametrize("options", [{}, {"keep_sessions": False}, {"session_secret": SECRET}])
@pytest.mark.parametrize("is_masked", [False, True])
async def test_without_a_session_and_a_user_switching_is_an_error_that_says_what_is_needed(
    options, is_masked
):
    mode = {} if not options else {"mode": "legacy"}
    server = switching(mask_error_details=is_masked, **options)
    async with serving(server) as url, client_of(url, **mode) as client:
        for call in (client.call_tool, lambda name, given: proxied(client, name, given)):
            result = await call("switch", {"off": True, "what": "tags=mail"})
            assert result.is_error
            assert "neither a session nor a user" in text(result)
            assert "authenticate=..." in text(result)
        assert "send_email" in await found(client, limit=100)


def users(token):
    return {"a": {"sub": "ada"}, "a2": {"sub": "ada"}, "b": "bob"}.get(token)


def bearing(token):
    return {"headers": {"Authorization": f"Bearer {token}"}}


@pytest.mark.parametrize("options", [{}, {"keep_sessions": False}, {"session_secret": SECRET}])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_without_a_session_a_rule_holds_for_the_users_next_requests(options, mode):
    clock = ManualClock()
    server = switching(authenticate=users, clock=clock, **options)
    async with serving(server) as url:
        has_session = mode == "legacy" and not options
        async with client_of(url, mode=mode, **bearing("a")) as client:
            said = text(await client.call_tool("switch", {"off": True, "what": "tags=mail"}))
            assert said == ("session" if has_session else "user")
            assert await found(client, limit=100) == ["list_issues", "switch"]
        async with (
            client_of(url, mode=mode, **bearing("a2")) as same,
            client_of(url, **bearing("b")) as other,
        ):
            assert await names(other) == ["create_issue", *META]
            assert "send_email" in await found(other, limit=100)
            if has_session:
                return
            clock.advance(890)
            assert await found(same, limit=100) == ["list_issues", "switch"]
            await refusal(same, "send_email")
            clock.advance(890)
            assert await found(same, limit=100) == ["list_issues", "switch"]
            said = text(await same.call_tool("switch", {"off": False, "what": "names=send_email"}))
            assert said == "user"
            assert await found(same, limit=100) == ["list_issues", "send_email", "switch"]


async def test_a_users_rules_end_when_the_user_has_been_idle_as_long_as_a_session_may():
    clock = ManualClock()
    server = switching(authenticate=users, clock=clock, session_ttl_seconds=60)
    async with serving(server) as url, client_of(url, **bearing("b")) as client:
        await client.call_tool("switch", {"off": True, "what": "tags=mail"})
        clock.advance(59)
        assert "send_email" not in await found(client, limit=100)
        clock.advance(60)
        assert "send_email" in await found(client, limit=100)


async def test_all_who_have_the_one_token_are_one_user():
    async with serving(switching(authenticate="secret")) as url:
        async with client_of(url, **bearing("secret")) as client:
            await client.call_tool("switch", {"off": True, "what": "names=create_issue"})
            assert await names(client) == META
        async with client_of(url, **bearing("secret")) as client:
            assert await names(client) == META
        async with client_of(url, mode="legacy", **bearing("secret")) as client:  # has a session of its own
            assert await names(client) == ["create_issue", *META]


def test_users_are_told_apart_by_what_they_are_equal_to():
    rules = UserRules(60, changed=lambda: None, clock=ManualClock())
    ada = rules.of({"sub": "ada"})
    ada.disable(names=["send_email"])
    assert rules.of({"sub": "ada"}) is ada
    assert rules.of("{'sub': 'ada'}") is not ada
    assert rules.of(["ada"]) is rules.of(["ada"])
    assert rules.of(None) is rules.of(None)


async def test_a_rule_that_a_long_call_sets_holds_however_long_its_user_was_idle():
    clock = ManualClock()
    rules = UserRules(60, changed=lambda: None, clock=clock)
    ada = rules.of("ada")
    clock.advance(100)
    ada.disable(names=["send_email"])
    assert rules.of("ada") is ada


async def test_a_rule_of_a_request_holds_in_what_is_left_of_it():
    class OnSearch:
        def __call__(self, request):
            if request.tool_name == "list_issues":
                request.context["session_rules"].disable(names=["send_email", "create_issue"])
            return True

    server = front(filter=OnSearch(), mode="discovery", authenticate=users)
    async with connected(server, "http without handshake", **bearing("a")) as client:
        assert await found(client, limit=100) == ["create_issue", "list_issues", "broken_printer"]
    server = ToolServer([create_issue, list_issues, send_email], filter=OnSearch(), authenticate=users)
    async with connected(server, "http without handshake", **bearing("a")) as client:
        assert await names(client) == ["list_issues"]


async def test_rules_stand_above_the_filter():
    async with connected(switching(filter=lambda request: True)) as client:
        await client.call_tool("switch", {"off": True, "what": "names=send_email"})
        assert "send_email" not in await found(client, limit=100)


def test_the_last_rule_that_matches_wins_and_a_repeated_one_is_kept_once():
    changes = []
    rules = SessionRules(holds_for="session", changed=lambda: changes.append(1))
    for _ in range(5):
        rules.disable(tags=["mail"])
        rules.enable(names=["send_*"])
    assert len(rules) == 2
    assert rules.admits(send_email)
    rules.disable(tags=["mail"])
    assert not rules.admits(send_email)
    rules.enable(namespaces=["mail"], only=True)
    assert rules.admits(send_email)
    assert not rules.admits(create_issue)
    assert rules.reset() == "session"
    assert rules.admits(create_issue)
    assert len(rules) == 0
    assert len(changes) == 13


@pytest.mark.parametrize(
    "criteria", [{}, {"names": "send_email"}, {"tags": ["mail"], "components": ["thing"]}]
)
def test_a_rule_without_sense_is_refused(criteria):
    rules = SessionRules(holds_for="session")
    for change in (rules.disable, rules.enable):
        with pytest.raises(ConfigurationError):
            change(**criteria)


@pytest.mark.parametrize("way", WAYS)
async def test_hiding_is_no_access_control(way):
    async with connected(front(mode="discovery"), way) as client:
        assert "create_issue" not in await names(client)
        assert not (await client.call_tool("create_issue", {"repo": "a"})).is_error


@pytest.mark.parametrize("mode", ["normal", "discovery"])
async def test_a_hung_policy_costs_one_time_limit_a_request(mode):
    asked = []

    async def hung(request):
        asked.append(request.context)  # which is one object for each request
        await asyncio.Event().wait()

    many = [make(f"tool_{number}") for number in range(300)]
    server = ToolServer(many, mode=mode, filter=hung, filter_timeout_seconds=0.01)
    async with connected(server) as client:
        await client.list_tools()
        await search(client, query="tool")
        await search(client, limit=100)
        await proxied(client, "tool_3", {})
    assert max(Counter(map(id, asked)).values()) <= BATCH


def test_a_time_limit_of_the_filter_that_cannot_work_is_refused():
    with pytest.raises(
        ConfigurationError, match="filter_timeout_seconds must be a number above 0 or None, found -1"
    ):
        ToolServer(filter=Policy(), filter_timeout_seconds=-1)


async def test_a_mappings_key_is_an_alias_that_policy_does_not_know():
    tools = {"weatherOutlook": make("premium_forecast"), "post": make("send_mail")}
    denies = lambda request: not request.tool_name.startswith("premium_")  # noqa: E731
    async with connected(ToolServer(tools, mode="discovery", filter=denies)) as client:
        assert (await proxied(client, "weatherOutlook", {})).is_error
        assert not (await proxied(client, "post", {})).is_error
        assert "ran" in text(await client.call_tool("post", {}))
        assert "premium_forecast" not in await found(client, query="weatherOutlook")

"""Names that models write a little wrong, through every door: the tool runs where it is certain which."""

import json

import pytest

from tests.server.mcp.support import connected
from tests.tools.written_names import WRITTEN
from tool_search_processor import Agent, StaticProvider, Tool, ToolSearchProcessor, ToolSession
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.testing import ScriptedModel, call

ISSUE = Tool("create_issue", "Create an issue.", execute=lambda **_: "created")
OTHER = Tool("list_files", "List files.", execute=lambda **_: "listed")
USER = [{"role": "user", "content": "please help"}]


async def said(processor, *calls, tools=(), thread_id=None, messages=USER):
    """Return what a session answers to calls of one step."""
    async with ToolSession(*processor, tools=tools, thread_id=thread_id) as session:
        await session.tools(messages)
        asked = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for n, (name, given) in enumerate(calls)
        ]
        return [answer["content"] for answer in await session.execute(asked)]


@pytest.mark.parametrize("written", WRITTEN)
class TestEveryDoor:
    async def test_a_listed_tool(self, written):
        assert await said([], (written, {}), tools=[OTHER, ISSUE]) == ["created"]

    async def test_a_tool_of_the_catalog(self, written):
        search = ToolSearchProcessor([OTHER, StaticProvider([ISSUE])])
        assert await said([search], (written, {}), thread_id="t") == ["created"]
        assert await search.loaded("t") == ["create_issue"]

    async def test_load_tool(self, written):
        if "," in written or "\n" in written:
            return
        search = ToolSearchProcessor([OTHER, ISSUE])
        (answer,) = await said([search], ("load_tool", {"tool_names": [written]}))
        assert json.loads(answer)["loaded"] == ["create_issue"]

    async def test_load_tool_of_what_is_listed(self, written):
        search = ToolSearchProcessor([OTHER])
        (answer,) = await said([search], ("load_tool", {"tool_names": [written]}), tools=[ISSUE])
        assert json.loads(answer)["already_loaded"] == ["create_issue"]

    async def test_unload_tool(self, written):
        search = ToolSearchProcessor([OTHER, ISSUE], allow_unload=True)
        await search.load("create_issue", thread_id="t")
        (answer,) = await said([search], ("unload_tool", {"tool_names": [written]}), thread_id="t")
        assert json.loads(answer)["unloaded"] == ["create_issue"]

    @pytest.mark.parametrize("own", [False, True])
    async def test_call_tool(self, written, own):
        search = ToolSearchProcessor([OTHER] if own else [OTHER, ISSUE], mode="call")
        asked = ("call_tool", {"name": written, "arguments": {}})
        assert await said([search], asked, tools=[ISSUE] if own else []) == ["created"]

    async def test_an_agent(self, written):
        model = ScriptedModel([call(written, {}), "done"])
        search = ToolSearchProcessor([OTHER])
        agent = Agent("a", "m", completion=model, tools=[ISSUE], input_processors=[search])
        assert (await agent.run("x")).messages[2]["content"] == "created"

    @pytest.mark.parametrize("through", [False, True])
    async def test_a_front(self, written, through):
        name, given = ("call_tool", {"name": written}) if through else (written, {})
        async with connected(ToolServer([OTHER, ISSUE])) as client:
            result = await client.call_tool(name, given)
        assert (result.is_error, result.content[0].text) == (False, "created")


@pytest.mark.parametrize("written", ["functions.search_tools", "Search_Tools", "search_tools<|channel|>json"])
async def test_meta_tools_are_meant_too_and_never_run_through_the_proxy(written):
    search = ToolSearchProcessor([OTHER, ISSUE], mode="call")
    (found,) = await said([search], (written, {"query": "issue"}))
    assert json.loads(found)["results"][0]["name"] == "create_issue"
    (refused,) = await said([search], ("call_tool", {"name": written, "arguments": {"query": "issue"}}))
    assert "can't be run through call_tool" in refused


@pytest.mark.parametrize("written", ["create_issues", "creat_issue", "issue_create_issue"])
@pytest.mark.parametrize("own", [False, True])
async def test_what_is_not_certain_is_suggested_and_not_run(written, own):
    search = ToolSearchProcessor([OTHER] if own else [OTHER, ISSUE])
    (answer,) = await said([search], (written, {}), tools=[ISSUE] if own else [])
    assert answer.startswith("Error: ")
    assert "create_issue" in answer.replace(written, "")


async def test_an_exact_name_comes_before_a_near_one_wherever_either_stands():
    near = Tool("createIssue", execute=lambda **_: "near")
    assert await said([ToolSearchProcessor([near])], ("createIssue", {}), tools=[ISSUE]) == ["near"]
    assert await said([ToolSearchProcessor([near])], ("create_issue", {}), tools=[ISSUE]) == ["created"]


async def test_a_name_that_may_mean_a_listed_tool_or_another_runs_neither():
    near = Tool("createIssue", execute=lambda **_: "near")
    for mode, asked in [("load", ("CREATE_ISSUE", {})), ("call", ("call_tool", {"name": "CREATE_ISSUE"}))]:
        search = ToolSearchProcessor([near], mode=mode)
        (answer,) = await said([search], asked, tools=[ISSUE])
        assert answer.startswith("Error: There is no tool 'CREATE_ISSUE'")


async def test_a_denied_tool_is_not_meant():
    def policy(request):
        return request.tool_name != "create_issue"

    search = ToolSearchProcessor([OTHER, ISSUE], filter=policy)
    wrong, right = await said([search], ("functions.create_issue", {}), ("create_issue", {}))
    assert "There is no tool 'functions.create_issue'" in wrong
    assert "There is no tool 'create_issue'" in right


async def test_a_denied_tool_makes_no_other_name_uncertain():
    near, secret = Tool("createIssue", execute=lambda **_: "near"), Tool("Search_Tools")

    def policy(request):
        return request.phase != "active" or request.tool_name not in ("createIssue", "Search_Tools")

    search = ToolSearchProcessor([near, secret, OTHER], filter=policy, mode="call")
    asked = [("CREATE_ISSUE", {}), ("call_tool", {"name": "CREATE_ISSUE"})]
    assert await said([search], *asked, tools=[ISSUE]) == ["created", "created"]
    (refused,) = await said([search], ("call_tool", {"name": "Search_Tools"}))
    assert "can't be run through call_tool" in refused

"""A denied tool and one that doesn't exist: every answer, list and prompt of a run is the same."""

import json
import re

import pytest

from tests.support import make, needs
from tool_search_processor import Agent, ToolSearchProcessor
from tool_search_processor.stores import HistoryStore
from tool_search_processor.testing import ScriptedModel, call

PUBLIC = [
    needs("create_issue", "title", tags={"office"}, namespace="github"),
    needs("list_issues", "label", namespace="github"),
    needs("close_issue", "number", requires_approval=True),
    make("today", pinned=True),
    needs("send_mail", "to", namespace="mail"),
]
SECRET = [
    needs("secret_issue", "title", tags={"hidden"}, namespace="vault"),
    needs("create_issues", "title", namespace="github"),
    make("createIssue"),
    make("secret_pin", pinned=True),
    make("secret_wish", requires_approval=True),
    make("send_mails", namespace="mail"),
]
MIXED = [*PUBLIC[:2], *SECRET, *PUBLIC[2:]]
HIDDEN = {tool.name for tool in SECRET}
ASKED = [
    *sorted(HIDDEN),
    "CREATE-ISSUE",
    "create issues",
    "Secret_Issue",
    "vault_secret_issue",
    "crete_issues",
]
QUERIES = [
    "issue",
    "secret issue",
    "create_issues",
    "createIssue",
    ["issue", "secret"],
    "mail",
    "vault",
    "",
    "(",
]

CALLS = [
    *(call("search_tools", {"query": query, "limit": limit}) for query in QUERIES for limit in (1, 5)),
    *(call("search_tools", {"query": "issue", "tags": [tag]}) for tag in ("hidden", "office", "vault")),
    *(call("search_tools", {"query": "issue"}) for _ in range(8)),
    *(call(name, arguments) for name in ASKED for arguments in ({}, {"title": "x"})),
    *(call("call_tool", {"name": name, "arguments": {"title": "x"}}) for name in ASKED),
    *(call("call_tool", {"name": name}) for name in ASKED),
    *(call("load_tool", {"tool_names": [name, "list_issues"]}) for name in ASKED),
    *(call("unload_tool", {"tool_names": [name]}) for name in ASKED),
    *(call("load_tool", {"tool_names": ASKED}), call("secret_issue", {"title": "x"}), call("secret_wish")),
    *(call("close_issue", {"number": "1"}), call("secret_wish")),
]
# Many at a time: a conversation that is copied at each of a hundred steps takes its time.
SCRIPT = [*(CALLS[at : at + 8] for at in range(0, len(CALLS), 8)), "done"]


def policy(request):
    return request.tool_name not in HIDDEN or request.context.get("plan") == "pro"


async def everything_sent(tools, *, loaded_before=False, in_history=False, **options):
    """Return all that a model is sent in a run, but for scores, which follow the whole catalog."""
    brought = [tool for tool in tools if not tool.pinned] if options.get("include_step_tools") else ()
    kept = [tool for tool in tools if tool not in brought]
    store = HistoryStore() if in_history else None
    processor = ToolSearchProcessor(kept, filter=policy, allow_unload=True, store=store, **options)
    if loaded_before:
        names = [tool.name for tool in tools if not tool.pinned]
        await processor.load(names, thread_id="t", context={"plan": "pro"})
    model = ScriptedModel(SCRIPT)
    agent = Agent("a", "m", completion=model, tools=brought, input_processors=[processor], max_steps=500)
    result = await agent.run("do the secret issue thing", thread_id="t")
    while result.pending:
        result = await agent.resume(result, {pending.call_id: True for pending in result.pending})
    assert result.output == "done"
    sent = [result.messages, *([request.tools, request.system] for request in model.requests)]
    return re.sub(r'score\\": ?[0-9.e-]+', "score", json.dumps(sent, sort_keys=True))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"catalog_in_prompt": True},
        {"preload": 3},
        {"passthrough_tokens": 100_000},
        {"result_detail": "signature"},
        {"search": "regex"},
        {"search": "fuzzy"},
        {"pinned": ["secret_issue", "create_issue"]},
    ],
    ids=lambda options: ",".join(options) or "plain",
)
@pytest.mark.parametrize("loaded_before", [False, True], ids=["new", "loaded-before"])
async def test_nothing_that_is_sent_tells_a_denied_tool_from_a_missing_one(mode, options, loaded_before):
    with_denied = await everything_sent(MIXED, mode=mode, loaded_before=loaded_before, **options)
    without = await everything_sent(PUBLIC, mode=mode, loaded_before=loaded_before, **options)
    assert with_denied == without


@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
@pytest.mark.parametrize(
    "options",
    [{"in_history": True}, {"include_step_tools": True}, {"in_history": True, "max_loaded": 2}],
    ids=",".join,
)
async def test_nor_in_a_conversation_that_is_read_or_of_tools_that_a_step_brings(mode, options):
    with_denied = await everything_sent(MIXED, mode=mode, **options)
    assert with_denied == await everything_sent(PUBLIC, mode=mode, **options)


async def test_what_made_room_is_told_only_where_it_may_be_used():
    processor = ToolSearchProcessor(MIXED, filter=policy, max_loaded=2)
    await processor.load(["secret_issue", "create_issue"], thread_id="t", context={"plan": "pro"})
    answer = await processor.load(["send_mail", "list_issues"], thread_id="t")
    assert answer["loaded"] == ["send_mail", "list_issues"]
    assert "secret_issue" not in json.dumps(answer)
    assert "to make room: create_issue." in answer["message"]


async def test_a_denied_tool_stays_loaded_for_those_who_may_use_it():
    processor = ToolSearchProcessor(MIXED, filter=policy, allow_unload=True)
    await processor.load(["secret_issue", "create_issue"], thread_id="t", context={"plan": "pro"})
    async with processor.session(thread_id="t") as session:
        tools = {tool.name: tool for tool in await session.tools([])}
        answer = await tools["unload_tool"].call({"tool_names": ["secret_issue", "create_issue", "nothing"]})
    assert answer["unloaded"] == ["create_issue"]
    assert answer["not_loaded"] == ["secret_issue", "nothing"]
    assert await processor.loaded("t") == ["secret_issue"]

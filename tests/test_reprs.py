"""What people see at a prompt: short, true, and without anything secret."""

import pytest

from tool_search_processor import (
    Agent,
    CallableProvider,
    Catalog,
    HistoryStore,
    MemoryStore,
    RedisStore,
    StaticProvider,
    TokenLimiter,
    Tool,
    ToolSearchProcessor,
    ToolSession,
)
from tool_search_processor.server.mcp import ToolServer

TOOLS = [Tool("a"), Tool("b")]


def test_processor_says_its_tools_policy_store_and_catalog():
    search = ToolSearchProcessor(TOOLS, mode="call", filter=lambda request: True)
    assert repr(search) == (
        "<ToolSearchProcessor 'tool-search': search_tools, call_tool; a filter; <MemoryStore: 0 threads>; "
        "<Catalog 'catalog': 2 tools, of tools>>"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Catalog([]), "<Catalog 'catalog': 0 tools, of no provider>"),
        (Catalog(TOOLS[:1], name="mine"), "<Catalog 'mine': 1 tool, of tools>"),
        (StaticProvider(TOOLS), "<StaticProvider 'static'>"),
        (CallableProvider(lambda context: TOOLS, name="mine"), "<CallableProvider 'mine'>"),
        (StaticProvider(TOOLS, name="a").with_transforms(), "<TransformedProvider 'a'>"),
        (
            ToolServer(TOOLS, mode="discovery"),
            "<ToolServer: mode discovery; <Catalog 'tool-search': 2 tools, of tools, registered>>",
        ),
        (MemoryStore(), "<MemoryStore: 0 threads>"),
        (HistoryStore(), "<HistoryStore: reads the conversation>"),
        (TokenLimiter(127_000), "<TokenLimiter 'token-limiter': 127,000 tokens, truncate>"),
        (
            Agent(
                "helper", "m", tools=TOOLS, input_processors=[TokenLimiter(9)], completion=lambda **_: None
            ),
            "<Agent 'helper': model 'm', 2 tools, processors 'token-limiter'>",
        ),
        (ToolSession(), "<ToolSession of an anonymous run: step 0, nothing listed yet>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_others(value, shown):
    assert repr(value) == shown


def test_a_password_is_never_shown():
    assert "secret" not in repr(RedisStore("redis://user:secret@localhost:6379/0"))


async def test_a_session_says_where_it_is():
    async with ToolSession(tools=TOOLS, thread_id="t") as session:
        await session.tools([])
        assert repr(session) == "<ToolSession of thread 't': step 1, 2 tools listed>"
    assert repr(session).endswith("listed, ended>")


async def test_the_status_prints_as_a_table():
    async def broken(context):
        raise OSError("no route")

    catalog = Catalog([*TOOLS, CallableProvider(broken)], clock=lambda: 5.0)
    await catalog.refresh()
    assert str(catalog.status()) == (
        "provider  state  tools  read\n"
        "tools     up     2      0 s ago\n"
        "broken    down   0      never    OSError: no route"
    )

"""What is left of providers that nobody closes, and of programs that end with them open."""

import asyncio
import gc
import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

from tests.providers.mcp.asking import SMALL, ended, process_of, tools_of, until
from tool_search_processor.providers import MCPProvider
from tool_search_processor.providers.mcp.background import close_background

pytestmark = pytest.mark.slow


async def test_a_provider_that_nobody_holds_ends_its_server():
    provider = MCPProvider.stdio(sys.executable, [SMALL])
    process = await process_of(provider)
    del provider
    gc.collect()
    await until(lambda: ended(process))


async def test_its_tools_hold_it():
    tools = await tools_of(MCPProvider.stdio(sys.executable, [SMALL]))
    gc.collect()
    assert await tools["echo"].call({"text": "still here"}) == "still here"


async def test_the_background_loop_ends_its_servers_and_starts_anew():
    provider = MCPProvider.stdio(sys.executable, [SMALL])
    process = await process_of(provider)
    await asyncio.to_thread(close_background)
    assert ended(process)
    other = MCPProvider.stdio(sys.executable, [SMALL])
    assert await process_of(other) != process
    await other.aclose()


def run(script, *arguments):
    """Run a script in a process of its own, and return what it prints; warnings are errors there."""
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    errors = [line for line in done.stderr.splitlines() if "Error" in line or "Warning" in line]
    assert (done.returncode, errors) == (0, [])
    return done.stdout


@pytest.mark.parametrize("options", [(), ("--stay",)], ids=["ends with its input", "must be ended"])
def test_an_open_provider_does_not_keep_the_interpreter_nor_leave_its_server(options):
    script = """
        import asyncio, sys
        from tool_search_processor.providers import MCPProvider

        provider = MCPProvider.stdio(sys.executable, sys.argv[1:])
        tools = {tool.name: tool for tool in asyncio.run(provider.list_tools({}))}
        print(asyncio.run(tools["process_id"].call({})))
    """
    assert ended(int(run(script, SMALL, *options)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_connects_for_itself():
    script = """
        import asyncio, os, sys, warnings
        from tool_search_processor.providers import MCPProvider

        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside a thread, which is the point
        provider = MCPProvider.stdio(sys.executable, [sys.argv[1]])

        def process():
            tools = {tool.name: tool for tool in asyncio.run(provider.list_tools({}))}
            return asyncio.run(tools["process_id"].call({}))

        first = process()
        child = os.fork()
        print(process() == first, flush=True)
        if child:
            os.waitpid(child, 0)
    """
    assert sorted(run(script, SMALL).split()) == ["False", "True"]


def test_the_sdk_is_imported_at_the_first_connection():
    script = """
        import sys
        from tool_search_processor.providers import MCPProvider
        MCPProvider.stdio("server")
        MCPProvider.http("https://example.com/mcp")
        MCPProvider.from_config({"mcpServers": {"a": {"command": "x"}}})
        print([name for name in ("mcp", "httpx2", "anyio", "starlette") if name in sys.modules])
    """
    assert run(script) == "[]\n"


def test_without_the_sdk_an_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "tool-search-processor\[mcp\]"'):
        MCPProvider.stdio("server")


_WARM = """
import asyncio, sys
from tool_search_processor import MCPProvider

async def main():
    provider = MCPProvider.stdio(sys.executable, sys.argv[1:], name="small")
    await provider.warm_up()
    known = set(sys.modules)
    await provider.list_tools({})
    await provider.aclose()
    print([name for name in set(sys.modules) - known if name.startswith(("mcp", "httpx", "pydantic"))])

asyncio.run(main())
"""


def test_nothing_of_the_sdk_is_imported_once_the_time_of_a_server_runs():
    ended = subprocess.run([sys.executable, "-c", _WARM, SMALL], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"

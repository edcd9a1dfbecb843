"""Many MCP servers on one machine: how soon is the first search, and what does a step cost afterwards?

    python tests/benchmarks/bench_mcp.py
    python tests/benchmarks/bench_mcp.py --servers 40 --tools 25 --rounds 3

Each server is a process made with the SDK, over stdio. The first search waits until all of them have started
and were listed; what it is compared with is the same servers, started side by side by SDK clients alone and
listed, until the slowest has answered. That is wall time, since processes are waited for; the two take turns,
so that other work on the machine meets both. The step afterwards is CPU time of this process.

Ends with 1 where the first search takes over 1.2 times as long, or a step over 2 ms.
"""

import argparse
import asyncio
import statistics
import sys
import time

from mcp import Client, StdioServerParameters

from tool_search_processor import Catalog, InputStep, ToolSearchProcessor
from tool_search_processor.providers import MCPProvider

TARGET_RATIO = 1.2
TARGET_STEP_MS = 2.0
STEPS = 200
LOADED = 5
SERVER = """
import sys
from mcp.server.mcpserver import MCPServer
number, tools = map(int, sys.argv[1:])
server = MCPServer(f"server {number}", log_level="ERROR")
for tool in range(tools):
    def run(text: str, count: int = 1) -> str:
        return text * count
    server.add_tool(run, name=f"tool_{number}_{tool}", description=f"Does thing {tool} of service {number}.")
server.run("stdio")
"""


def arguments_of(number, tools):
    """Return the command line of one server, without the program."""
    return ["-c", SERVER, str(number), str(tools)]


async def slowest_client(servers, tools):
    """Return the seconds until the slowest server has answered a client of the SDK."""

    async def one(number):
        parameters = StdioServerParameters(command=sys.executable, args=arguments_of(number, tools))
        async with Client(parameters) as client:
            assert len((await client.list_tools()).tools) == tools
            answered.append(time.perf_counter())
            if len(answered) == servers:
                everyone.set()
            await everyone.wait()

    answered, everyone = [], asyncio.Event()
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(servers):
            group.create_task(one(number))
    return max(answered) - began


async def first_search(servers, tools):
    """Return the seconds until a search has found a tool of the last server, and a step's milliseconds."""
    providers = [
        MCPProvider.stdio(
            sys.executable, arguments_of(number, tools), name=f"s{number}", connect_timeout_seconds=300
        )
        for number in range(servers)
    ]
    # a machine of two cores takes more than the usual half a minute for 40 servers
    processor = ToolSearchProcessor(Catalog(providers, provider_timeout_seconds=300))
    began = time.perf_counter()
    await processor.catalog.refresh()
    hits = await processor.search(f"thing {tools - 1} of service {servers - 1}")
    seconds = time.perf_counter() - began
    assert hits[0].name == f"tool_{servers - 1}_{tools - 1}", hits
    assert len(await processor.catalog.list_tools()) == servers * tools
    milliseconds = await step_cost(processor)
    await processor.catalog.aclose()
    return seconds, milliseconds


async def step_cost(processor):
    """Return the median CPU milliseconds of a step that lists a few loaded tools."""
    await processor.load([f"tool_{number}_0" for number in range(LOADED)], thread_id="t")
    step = InputStep(messages=[{"role": "user", "content": "hello"}], thread_id="t")
    costs = []
    for _ in range(STEPS):
        began = time.process_time()
        await processor.process_input_step(step)
        costs.append(1000 * (time.process_time() - began))
    return statistics.median(costs)


def main():
    """Measure both in turn, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--servers", type=int, default=40)
    parser.add_argument("--tools", type=int, default=25)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    clients, searches, steps = [], [], []
    for _ in range(options.rounds):
        clients.append(asyncio.run(slowest_client(options.servers, options.tools)))
        seconds, milliseconds = asyncio.run(first_search(options.servers, options.tools))
        searches.append(seconds)
        steps.append(milliseconds)
        print(
            f"slowest client {clients[-1]:6.2f} s, first search {seconds:6.2f} s, step {milliseconds:.3f} ms"
        )
    ratio = statistics.median(searches) / statistics.median(clients)
    step = statistics.median(steps)
    print(f"{options.servers} servers of {options.tools} tools, medians of {options.rounds} rounds")
    print(f"first search / slowest client: {ratio:.2f} (target {TARGET_RATIO})")
    print(f"step afterwards: {step:.3f} ms CPU (target {TARGET_STEP_MS:g})")
    sys.exit(ratio > TARGET_RATIO or step > TARGET_STEP_MS)


if __name__ == "__main__":
    main()

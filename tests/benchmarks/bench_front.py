"""Many clients search a front over HTTP on loopback, beside FastMCP's BM25 transform where it is installed.

    python tests/benchmarks/bench_front.py [--tools 5000] [--clients 50] [--searches 10000]
        [--peer-python PYTHON [--peer-searches 200]]

Each server runs in a process of its own and tells its CPU time, which is divided by the searches; times are
those a client waits, all clients asking at once. PYTHON is that of an environment with fastmcp.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx
from bench_search import documents, queries

HERE = Path(__file__).resolve().parent
HEADERS = {"accept": "application/json, text/event-stream"}
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured of one server."""

    name: str
    searches: int
    errors: int
    p50_ms: float
    p95_ms: float
    cpu_ms: float


class Session:
    """One client: a session of the protocol over a connection of its own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.AsyncClient(headers=HEADERS, timeout=300)

    async def begin(self) -> None:
        """Begin the session."""
        response = await self._post({"id": 0, "method": "initialize", "params": INITIALIZE})
        self.http.headers["mcp-session-id"] = response.headers["mcp-session-id"]
        self.http.headers["mcp-protocol-version"] = INITIALIZE["protocolVersion"]
        await self._post({"method": "notifications/initialized"})

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return its result."""
        params = {"name": name, "arguments": arguments}
        response = await self._post({"id": 1, "method": "tools/call", "params": params})
        line = next(line for line in response.text.splitlines() if line.startswith("data: {"))
        return json.loads(line.removeprefix("data: "))["result"]

    async def _post(self, message: dict[str, Any]) -> httpx.Response:
        response = await self.http.post(self.url, json={"jsonrpc": "2.0", **message})
        return response.raise_for_status()


def made_up_tools(count: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Return tools, and what one might ask for some of them."""
    made = list(documents(count))
    tools = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": {
                "type": "object",
                "properties": {
                    name: {"type": "string", "description": text}
                    for name, text in zip(tool.parameter_names, tool.parameter_texts, strict=True)
                },
            },
        }
        for tool in made
    ]
    return tools, queries(made, 1000)


@contextmanager
def running(python: str, script: str, tools: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Run a server and give its URL."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(tools, file)
        file.flush()
        command = [python, str(HERE / "fronts" / script), file.name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip()
            finally:
                process.terminate()


async def measure(url: str, *, name: str, asked: Sequence[str], clients: int) -> Row:
    """Let all clients ask at once until every query was asked."""
    sessions = [Session(url) for _ in range(clients)]
    for attempt in range(100):  # a URL may be told before it is served
        try:
            await sessions[0].begin()
            break
        except httpx.ConnectError:
            await asyncio.sleep(0.1 * attempt)
    await asyncio.gather(*(session.begin() for session in sessions[1:]))
    await sessions[0].call("search_tools", {"query": asked[0]})
    remaining, seconds, errors = iter(asked), [], 0

    async def work(session: Session) -> None:
        nonlocal errors
        for query in remaining:
            began = time.perf_counter()
            result = await session.call("search_tools", {"query": query})
            seconds.append(time.perf_counter() - began)
            errors += bool(result.get("isError"))

    before = await _cpu(sessions[0])
    await asyncio.gather(*map(work, sessions))
    spent = await _cpu(sessions[0]) - before
    await asyncio.gather(*(session.http.aclose() for session in sessions))
    cuts = statistics.quantiles(seconds, n=20)
    return Row(
        name=name,
        searches=len(seconds),
        errors=errors,
        p50_ms=cuts[9] * 1000,
        p95_ms=cuts[18] * 1000,
        cpu_ms=spent / len(seconds) * 1000,
    )


async def _cpu(session: Session) -> float:
    return float((await session.call("cpu_seconds", {}))["content"][0]["text"])


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=int, default=5000)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--searches", type=int, default=10_000)
    parser.add_argument("--peer-python")
    parser.add_argument("--peer-searches", type=int, default=200)
    options = parser.parse_args()
    tools, asked = made_up_tools(options.tools)
    servers = [("tool-search-processor", sys.executable, "our_front.py", options.searches)]
    if options.peer_python:
        servers.append(("fastmcp", options.peer_python, "fastmcp_front.py", options.peer_searches))
    print(f"{options.tools:,} tools, {options.clients} clients")
    for name, python, script, count in servers:
        with running(python, script, tools) as url:
            given = list(islice(cycle(asked), count))
            row = asyncio.run(measure(url, name=name, asked=given, clients=options.clients))
        print(
            f"{row.name:22} {row.searches:>7,} searches {row.errors:>3} errors   p50 {row.p50_ms:8.1f} ms   "
            f"p95 {row.p95_ms:8.1f} ms   CPU {row.cpu_ms:8.2f} ms a search"
        )


if __name__ == "__main__":
    main()

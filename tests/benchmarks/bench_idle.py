"""Connections that say nothing, before a gateway: how many are held, and are others served meanwhile?

    python tests/benchmarks/bench_idle.py
    python tests/benchmarks/bench_idle.py --connections 10000 --max-connections 12000

Opens them all, keeps them open, and has a client search with the protocol. With the usual limit most are
refused at once; with a greater one all are held, until the gateway closes them after half a minute. Memory
and open files are those of the gateway's process (Linux).

Ends with 1 where the client isn't answered, or something is left over after the connections were closed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from mcp import Client

TESTS = Path(__file__).resolve().parents[1]
SMALL = TESTS / "providers" / "mcp" / "small_server.py"
FILES = 500  # that are no connections
SPARE = 50
SETTLED_SECONDS = 1.0
TIMEOUT_SECONDS = 60


def open_files(process: int) -> int:
    """Return how many files a process has open."""
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def megabytes(process: int) -> float:
    """Return how much memory a process has."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def is_open(connection: socket.socket) -> bool:
    """Tell whether the other side has not hung up."""
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


async def search(url: str) -> float:
    """Search as a client does, and return the seconds it took."""
    began = time.perf_counter()
    async with asyncio.timeout(TIMEOUT_SECONDS), Client(url) as client:
        answer = await client.call_tool("search_tools", {"query": "say it again"})
        if answer.structured_content["results"][0]["name"] != "small_echo":
            raise SystemExit(f"the search found {answer.structured_content}")
    return time.perf_counter() - began


def report(label: str, url: str, process: int) -> int:
    """Search, print how the gateway is doing, and return how many files it has open."""
    seconds = asyncio.run(search(url))
    time.sleep(SETTLED_SECONDS)
    files = open_files(process)
    print(f"{label:7} {files:>6,} files, {megabytes(process):6.1f} MB, a search took {seconds:.2f} s")
    return files


def measure(url: str, process: int, *, connections: int) -> bool:
    """Open connections, search, and close them; tell whether nothing is left over."""
    before = report("before:", url, process)
    place = urlsplit(url)
    address = (place.hostname, place.port)
    with ExitStack() as stack:
        began = time.perf_counter()
        opened = [
            stack.enter_context(socket.create_connection(address, TIMEOUT_SECONDS))
            for _ in range(connections)
        ]
        took = time.perf_counter() - began
        time.sleep(SETTLED_SECONDS)
        held = sum(map(is_open, opened))
        print(f"{connections:,} opened in {took:.1f} s: {held:,} held, {connections - held:,} refused")
        for connection in opened[:SPARE]:  # so that there is room for a client
            connection.close()
        report("during:", url, process)
    return report("after:", url, process) <= before


def main() -> None:
    """Start a gateway, measure, and stop it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--max-connections", type=int, default=900)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, options.connections + FILES), hard))
    servers = {"small": {"command": sys.executable, "args": [str(SMALL)]}}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        json.dump({"mcpServers": servers}, config)
        config.flush()
        command = [
            sys.executable,
            "-m",
            "tool_search_processor",
            "serve",
            "--config",
            config.name,
            "--http",
            "0",
        ]
        command += ["--max-connections", str(options.max_connections)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as gateway:
            try:
                url = gateway.stdout.readline().split()[2]
                is_clean = measure(url, gateway.pid, connections=options.connections)
            finally:
                gateway.send_signal(signal.SIGTERM)
    sys.exit(not is_clean or gateway.returncode != 0)


if __name__ == "__main__":
    main()

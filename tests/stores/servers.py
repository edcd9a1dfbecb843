"""Redis servers for tests: real ones on loopback, each with a directory of its own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from tool_search_processor.testing import ManualClock

PROGRAM = shutil.which("redis-server")
MISSING = "redis-server is not installed: apt-get install redis-server"
NEEDED = [pytest.mark.services, pytest.mark.skipif(PROGRAM is None, reason=MISSING)]
"""Marks of a test, or of a parameter, that starts a server."""
_READY = "Ready to accept connections"
_SLOTS = 16_384


class RedisServer:
    """One redis-server on a free port of loopback; what it holds survives a kill when `durable`."""

    def __init__(self, directory: Path, *options: str, durable: bool = False):
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self._directory = directory
        self._options = [*options, "--appendonly", "yes" if durable else "no"]
        if durable:
            self._options += ["--appendfsync", "always"]
        self.start()

    def start(self):
        """Start it, and wait until it says that it is ready."""
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._directory)]
        self._process = subprocess.Popen(
            [PROGRAM, *arguments, "--save", "", *self._options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = []
        for line in self._process.stdout:
            said.append(line)
            if _READY in line:
                return
        raise RuntimeError(f"redis-server ended: {''.join(said)}")

    def kill(self):
        """End it as a power failure would."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def client(self, **options):
        """Return a synchronous client."""
        return redis.Redis(port=self.port, **options)


class ServerClock(ManualClock):
    """A clock that takes the server's times to live along: what it passes over is gone from them too."""

    def __init__(self, server: RedisServer):
        super().__init__()
        self._server = server

    def advance(self, seconds):
        super().advance(seconds)
        with self._server.client() as client:
            for key in client.scan_iter(count=1000):
                left = client.pttl(key)  # a time that is over by now makes the server expire the key
                if left >= 0:
                    client.pexpire(key, left - round(seconds * 1000))


@contextmanager
def running(directory, *options, **settings):
    """Run a server for the length of a block."""
    server = RedisServer(directory, *options, **settings)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def cluster(directory, nodes=3):
    """Run a cluster of masters for the length of a block; gives the port of one."""
    servers = []
    buses = [str(free_port()) for _ in range(nodes)]
    try:
        for number, bus in enumerate(buses):
            home = directory / str(number)
            home.mkdir()
            servers.append(RedisServer(home, "--cluster-enabled", "yes", "--cluster-port", bus))
            first, end = (_SLOTS * place // nodes for place in (number, number + 1))
            with servers[-1].client() as client:
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
                client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
                if number:
                    client.execute_command("CLUSTER", "MEET", "127.0.0.1", servers[0].port, buses[0])
        for server in servers:
            with server.client(decode_responses=True) as client:
                until(lambda client=client: _knows(client.execute_command("CLUSTER INFO"), nodes))
        yield servers[0].port
    finally:
        for server in servers:
            server.kill()


def _knows(info, nodes):
    info = info if isinstance(info, dict) else dict(line.split(":", 1) for line in info.split())
    return info["cluster_state"] == "ok" and int(info["cluster_known_nodes"]) == nodes


def until(condition, seconds=20.0):
    """Wait for something that happens outside of this process."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"nothing came of it in {seconds} s")
        time.sleep(0.01)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]

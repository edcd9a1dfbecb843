"""The ways to reach a server: a process of its own, a URL, or an object in this process."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.mcp.lines import ENCODING, MAX_MESSAGE_BYTES, register_encoding
from tool_search_processor.providers.mcp.stderr import StderrReader
from tool_search_processor.providers.web import check_headers, check_url

if TYPE_CHECKING:
    from httpx2 import Auth

_READ_SECONDS = 300.0
"""How long an HTTP answer may be silent at least; a stream of changes is opened again after it."""
_HTTP_SECONDS = 30.0


async def _silence() -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An open transport."""

    target: Any
    """What the SDK's `Client` takes."""
    last_words: Callable[[], Awaitable[str]] = _silence
    """What the server said when it failed, for the program's operator; empty if it said nothing."""
    started: Callable[[], object] = lambda: None
    """Called once the server has answered."""
    advice: str = ""
    """What to do if it did not answer."""
    advice_at_end: str = ""
    """What else may help if it ended before it answered."""


class Transport(Protocol):
    """A way to a server, which can be opened again and again."""

    def open(self) -> AbstractAsyncContextManager[Opened]:
        """Return a context manager that keeps it open for one connection."""


@dataclass(frozen=True, kw_only=True)
class StdioTransport:
    """A server that runs as a process of its own and is spoken to through its standard input and output."""

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | Path | None = None
    inherit_env: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse what can't be started.

        Raises:
            ConfigurationError: Says which argument, and what was found.
        """
        _require_text("command", self.command)
        _require_strings("args", self.args, Sequence)
        _require_strings("inherit_env", self.inherit_env, Sequence)
        _require_strings("env", self.env, Mapping)
        if self.cwd is not None and not isinstance(self.cwd, str | Path):
            raise ConfigurationError(f"cwd is a path or None, found a {type(self.cwd).__name__}")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Opened]:
        """Start the process; it is ended, and waited for, with the connection."""
        from mcp.client.stdio import StdioServerParameters, stdio_client

        register_encoding()
        parameters = StdioServerParameters(
            command=self.command,
            args=list(self.args),
            env=self._environment(),
            cwd=self.cwd,
            encoding=ENCODING,
            encoding_error_handler="replace",
        )
        stderr = StderrReader(self.command)
        try:
            yield Opened(
                target=stdio_client(parameters, errlog=stderr.writing_end),  # type: ignore[arg-type]  # IO[str]
                last_words=stderr.last_words,
                started=stderr.started,
                advice=self._advice(),
                advice_at_end=self._environment_advice(),
            )
        finally:
            stderr.close()

    def _advice(self) -> str:
        if len(self.command.split()) > 1 and shutil.which(self.command) is None:
            return ": give its arguments apart from the command, args=[…]"
        return ": run its command by hand to see why"

    def _environment_advice(self) -> str:
        """Return what to do if the program may lack a variable that this process has."""
        from mcp.client.stdio import get_default_environment

        if get_default_environment().keys() | self._environment().keys() >= os.environ.keys():
            return ""
        return ", or name the variables that it needs and doesn't get: inherit_env=[…] or env={…}"

    def _environment(self) -> dict[str, str]:
        """Return what the process gets in addition to the SDK's few (PATH, HOME and the like)."""
        inherited = {name: os.environ[name] for name in self.inherit_env if name in os.environ}
        return inherited | dict(self.env)


@dataclass(frozen=True, kw_only=True)
class HttpTransport:
    """A server that is spoken to over streamable HTTP."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    auth: Auth | None = field(default=None, repr=False)
    call_timeout_seconds: float | None = None
    """If it is more than five minutes, a silence this long is not a failure."""

    def __post_init__(self) -> None:
        """Refuse what can't be reached.

        Raises:
            ConfigurationError: Says which argument, and what was found.
        """
        _require_text("url", self.url)
        check_url(self.url, option="url")
        object.__setattr__(self, "headers", check_headers(self.headers))
        if self.auth is not None and not hasattr(self.auth, "async_auth_flow"):
            raise ConfigurationError(f"auth is an httpx2.Auth or None, found a {type(self.auth).__name__}")

    @property
    def host(self) -> str:
        """The server's host, without the rest of the URL."""
        return urlsplit(self.url).hostname or "http"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Opened]:
        """Make the HTTP client; its sockets are closed with the connection."""
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        from tool_search_processor.providers.mcp.http_client import ContainingClient

        longest = self.call_timeout_seconds
        silence = None if longest is None else max(_READ_SECONDS, longest)
        timeout = httpx2.Timeout(_HTTP_SECONDS, read=silence)
        headers = {name.encode(): value.encode() for name, value in self.headers.items()}
        async with ContainingClient(
            read_seconds=silence, headers=headers, auth=self.auth, timeout=timeout
        ) as client:

            async def last_words() -> str:
                return client.last_failure

            target = streamable_http_client(
                self.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
            )
            advice = ": check its URL, its credentials, and that it runs"
            yield Opened(target=target, last_words=last_words, advice=advice)


@dataclass(frozen=True, kw_only=True)
class InMemoryTransport:
    """A server that is an object in this process."""

    server: Any = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse what isn't a server.

        Raises:
            ConfigurationError: Says what was found.
        """
        sdk = sys.modules.get("mcp.server")  # a server can only exist if this is imported
        kinds = tuple(getattr(sdk, kind) for kind in ("MCPServer", "Server")) if sdk else ()
        if not isinstance(_sdk_server(self.server), kinds):
            raise ConfigurationError(
                "server is an MCPServer or a Server of the mcp SDK 2, or a FastMCP of fastmcp 4, found "
                f"{self.server!r:.80}"
            )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Opened]:
        """Yield the server itself; it runs in the background loop."""
        # FastMCP's, as its own transport does
        async with getattr(self.server, "_lifespan_manager", nullcontext)():
            yield Opened(target=_sdk_server(self.server))


def _sdk_server(server: Any) -> Any:
    """Return the SDK's server inside a FastMCP server, and any other object unchanged."""
    return server if isinstance(server, type) else getattr(server, "_mcp_server", server)


def _require_text(option: str, value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        found = f"{value!r:.80}" if isinstance(value, str) else f"a {type(value).__name__}"
        raise ConfigurationError(f"{option} is a string that isn't blank, found {found}")


def _require_strings(option: str, value: Any, kind: type) -> None:
    """Refuse what isn't a list, or a mapping, of strings; they may be secrets, so errors don't show them."""
    is_mapping = kind is Mapping
    fits = isinstance(value, kind) and not isinstance(value, str)
    if not fits:
        what = "mapping" if is_mapping else "list"
        raise ConfigurationError(f"{option} is a {what} of strings, found a {type(value).__name__}")
    for key, item in value.items() if is_mapping else enumerate(value):
        if not isinstance(item, str) or (is_mapping and not isinstance(key, str)):
            raise ConfigurationError(f"{option}[{key!r}] is a string, found a {type(item).__name__}")

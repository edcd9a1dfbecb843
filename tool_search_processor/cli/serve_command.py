"""`tool-search serve`: many MCP servers and APIs as one MCP server, whose tools are found by search."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tool_search_processor.cli.choices import index_maker
from tool_search_processor.cli.python_names import python_catalog
from tool_search_processor.cli.serve_options import DESCRIPTION, EXAMPLES, HOST, TOKEN_VARIABLE, add_options
from tool_search_processor.cli.terminal import printable, staged_progress, warn
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.wire.checks import check_positive
from tool_search_processor.wire.files import read_text
from tool_search_processor.wire.plain import counted

if TYPE_CHECKING:
    from tool_search_processor.server.gateway import Gateway

_MAX_PORT = 65535
_LIMITS = ("max_body_bytes", "max_concurrent", "max_connections", "requests_per_second", "grace_seconds")
_HOW = f"setting {TOKEN_VARIABLE}, or by --token-env or --token-file"
_OTHER_FILES = 1024
"""Open files besides clients' connections: mostly pipes and sockets to upstreams."""


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "serve",
        help="serve many MCP servers and APIs as one",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves, or until the command is stopped."""
    address = None if options.http is None else parse_address(options.http)
    if address is not None:
        from tool_search_processor.server.hosts import names_for

        names_for(address[0], read_token(options), how=_HOW)  # raises an error in this command's words
    gateway = make_gateway(options)
    if address is None and sys.stdin.isatty():
        warn("an MCP client is expected on the standard input; --http 8000 serves over HTTP (Ctrl+C ends)")
    if sys.stderr.isatty():
        warn(f"asking {counted(len(gateway.upstreams()), 'upstream')} for tools …")
    asyncio.run(_serve(gateway, options, address))
    return 0


async def _serve(gateway: Gateway, options: argparse.Namespace, address: tuple[str, int] | None) -> None:
    """Serve; with `--warm-up`, only after everything is ready."""
    if options.warm_up:
        with staged_progress() as tell:
            await gateway.warm_up(on_progress=lambda now: tell(now.stage, now.done, now.total))
    started = partial(_tell_upstreams, gateway)
    if address is None:
        await serve_stdio(gateway, started)
        return
    limits: dict[str, Any] = {name: getattr(options, name) for name in _LIMITS}
    if options.allow_host:
        limits["allowed_hosts"] = options.allow_host
    _allow_open_files(options.max_connections + _OTHER_FILES)
    await gateway.run_http(*address, started=started, allowed_origins=options.allow_origin, **limits)


def make_gateway(options: argparse.Namespace) -> Gateway:
    """Return the gateway that was asked for.

    Raises:
        ConfigurationError: Without anything to serve, or for something that can't be used.
        ImportError: When an extra is not installed.
    """
    from tool_search_processor.server.gateway import Gateway
    from tool_search_processor.server.upstreams import check_distinct, read_upstreams

    for name in ("upstream_timeout", "call_timeout", "max_sessions", *_LIMITS):
        check_positive(f"--{name.replace('_', '-')}", getattr(options, name))
    upstreams = read_upstreams(openapi=options.openapi, call_timeout_seconds=options.call_timeout)
    for config in options.config:
        upstreams += read_upstreams(config, call_timeout_seconds=options.call_timeout)
    check_distinct(upstreams)
    own = [python_catalog(name) for name in options.tools]
    if not upstreams and not own:
        raise ConfigurationError(
            "there is nothing to serve: give --config FILE or --openapi FILE, or --tools NAME"
        )
    failures = [upstream.failure() for upstream in upstreams]
    if all(failures) and not own:
        raise ConfigurationError(f"there is nothing to serve: {'; '.join(map(str, failures))}")
    return Gateway(
        [*upstreams, *own],
        mode=options.mode,
        always_visible=options.always_visible,
        search=_strategy(options),
        index_cache=None if options.embedder or options.vectors else options.index_cache,
        token=read_token(options),
        on_change=options.on_change,
        upstream_timeout_seconds=options.upstream_timeout,
        top_k=options.top_k,
        result_format=options.result_format,
        search_tool_name=options.search_tool_name,
        call_tool_name=options.call_tool_name,
        mask_error_details=options.mask_error_details,
        max_sessions=options.max_sessions,
    )


def _strategy(options: argparse.Namespace) -> Any:
    """Return the strategy's name if that is enough, else an index."""
    name = options.search or "bm25"
    is_made = ":" in name or options.embedder or options.vectors
    return index_maker(name, options)() if is_made else name


def read_token(options: argparse.Namespace) -> str | None:
    """Return the token that HTTP clients need; None if there is none.

    Raises:
        ConfigurationError: When the variable isn't set, or the file can't be read or is empty.
    """
    if options.token_file is not None:
        token = read_text(options.token_file).strip()
        if not token:
            raise ConfigurationError(f"--token-file {options.token_file} holds no token")
        return token
    token = os.environ.get(options.token_env or TOKEN_VARIABLE, "").strip()
    if options.token_env and not token:
        raise ConfigurationError(f"--token-env {options.token_env}: this variable isn't set")
    return token or None


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of `[HOST:]PORT`; the host is by default that of this machine only.

    Raises:
        ConfigurationError: When it has no valid port.
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal()) or int(port) > _MAX_PORT:
        raise ConfigurationError(f"--http is [HOST:]PORT, such as 127.0.0.1:8000, found {text!r}")
    return host.strip("[]") or HOST, int(port)


async def serve_stdio(gateway: Gateway, started: Callable[[], object]) -> None:
    """Serve the client that started this process until it leaves; a signal ends the process."""
    stop = asyncio.Event()
    with contextlib.suppress(NotImplementedError):  # Windows, where a signal ends the process by itself
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    serving = asyncio.create_task(gateway.run_stdio(started=started))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if stop.is_set():
        await gateway.aclose()
        # Standard input is read in a thread that only the end of input would wake.
        sys.stderr.flush()
        os._exit(0)
    stopping.cancel()
    await serving


def _allow_open_files(number: int) -> None:
    """Let this process open that many files, where the system lets it."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number if hard == resource.RLIM_INFINITY else min(number, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _tell_upstreams(gateway: Gateway) -> None:
    upstreams = gateway.upstreams()
    tools = sum(upstream.tools for upstream in upstreams)
    down = [upstream.name for upstream in upstreams if upstream.up is False]
    up = sum(bool(upstream.up) for upstream in upstreams)
    missing = f"; down: {', '.join(down)}" if down else ""
    warn(f"{counted(tools, 'tool')} of {counted(up, 'upstream')}{printable(missing)}")
    sys.stderr.flush()

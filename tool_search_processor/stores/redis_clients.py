"""Clients of redis-py, one an event loop: a connection can't leave the loop that opened it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tool_search_processor.concurrency.per_loop import PerLoop
from tool_search_processor.errors import ConfigurationError

if TYPE_CHECKING:
    from redis.asyncio import Redis, RedisCluster

_SCHEMES = ("redis://", "rediss://", "unix://")
_MAX_CONNECTIONS = 32
_GLOB = str.maketrans({char: f"\\{char}" for char in "*?[]\\"})
_NEEDED = ("register_script", "scan_iter", "hgetall", "set", "unlink")


class RedisClients:
    """Gives the client of the running event loop: a client of its own for a URL, or else the user's."""

    def __init__(self, redis: str | Redis | RedisCluster, *, timeout_seconds: float) -> None:
        """Check what was given; nothing is connected yet.

        Raises:
            ConfigurationError: It is neither a URL nor a client of `redis.asyncio`.
            ImportError: redis-py is not installed.
        """
        if isinstance(redis, str):
            if not redis.startswith(_SCHEMES):
                found = redis.partition("://")[0]  # what follows may hold a password
                raise ConfigurationError(
                    f"a Redis URL begins with {', '.join(_SCHEMES)}, found {found!r:.20}"
                )
        elif not all(hasattr(redis, method) for method in _NEEDED) or not _is_async(redis):
            raise ConfigurationError(f"redis is a URL or a client of redis.asyncio, found {redis!r:.80}")
        _check_installed()
        self._url = redis if isinstance(redis, str) else None
        self._own = None if isinstance(redis, str) else redis
        self._timeout_seconds = timeout_seconds
        self._clients: PerLoop[Any] = PerLoop(self._open, closer=lambda client: client.aclose())

    async def get(self) -> Any:
        """Return the client to use in the running loop."""
        return await self._clients.get() if self._own is None else self._own

    async def ask(self, question: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return the server's answer to what the function asks of a client.

        Raises:
            TimeoutError: It took longer than the time limit.
            Exception: What the client raises.
        """
        async with asyncio.timeout(self._timeout_seconds):
            return await question(await self.get())

    async def aclose(self) -> None:
        """Close the clients that were opened here, those of other running loops too."""
        await self._clients.aclose()

    def _open(self) -> Redis:
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        pool = BlockingConnectionPool.from_url(
            str(self._url),
            max_connections=_MAX_CONNECTIONS,
            timeout=self._timeout_seconds,
            socket_timeout=self._timeout_seconds,
            socket_connect_timeout=self._timeout_seconds,
            retry=Retry(NoBackoff(), 1),  # for a connection that a restart of the server has left dead
        )
        return Redis.from_pool(pool)


def pattern_of(text: str) -> str:
    """Return a pattern of Redis that fits this string alone."""
    return text.translate(_GLOB)


async def next_keys(keys: Any, count: int) -> list[Any]:
    """Return the next keys of a scan; empty at its end."""
    found = []
    async for key in keys:
        found.append(key)
        if len(found) >= count:
            break
    return found


def _is_async(client: object) -> bool:
    return any(base.__module__.startswith("redis.asyncio") for base in type(client).__mro__)


def _check_installed() -> None:
    try:
        import redis.asyncio  # noqa: F401
    except ImportError as exc:
        raise ImportError('RedisStore needs redis-py: pip install "tool-search-processor[redis]"') from exc

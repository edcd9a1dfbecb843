"""Experience in Redis, which any number of workers share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tool_search_processor.concurrency.closing import AsyncClosing
from tool_search_processor.stores.redis_clients import RedisClients, next_keys, pattern_of
from tool_search_processor.stores.redis_scripts import decode, encode, run_script
from tool_search_processor.wire.checks import check_positive, check_string

if TYPE_CHECKING:
    from redis.asyncio import Redis, RedisCluster

_SCAN_COUNT = 1000
_VERSION = "@version"
"""The field of a scope's change count: no tool has an @ in its name."""

_SWAP = """
local old = redis.call('HGET', KEYS[1], ARGV[2])
if (ARGV[3] == '1' and old ~= ARGV[4]) or (ARGV[3] == '0' and old) then return 0 end
if ARGV[5] == '1' then redis.call('HSET', KEYS[1], ARGV[2], ARGV[6])
else redis.call('HDEL', KEYS[1], ARGV[2]) end
redis.call('HINCRBY', KEYS[1], '@version', 1)
live()
return 1
"""


class RedisExperienceStore(AsyncClosing):
    """Keeps experience in Redis: one hash for each scope, each change one atomic step.

    ```python
    store = RedisExperienceStore("redis://localhost:6379/0")
    search = ToolSearchProcessor([create_issue], experience=Experience(store))
    ```
    """

    def __init__(
        self,
        redis: str | Redis | RedisCluster,
        *,
        prefix: str = "tool-search",
        idle_seconds: float | None = 365 * 24 * 3600.0,
        timeout_seconds: float = 0.5,
    ) -> None:
        """Make a store; nothing is connected yet.

        Args:
            redis: A URL, or a client of `redis.asyncio`; see `RedisStore`.
            prefix: What the store's keys begin with.
            idle_seconds: How long a scope is kept in which no tool is called; None keeps it forever.
            timeout_seconds: The longest that one operation may take.

        Raises:
            ConfigurationError: If an option can't work.
            ImportError: If redis-py is not installed.
        """
        check_positive("timeout_seconds", timeout_seconds, finite=True)
        check_string("prefix", prefix)
        check_positive("idle_seconds", idle_seconds, optional=True, finite=True)
        self._clients = RedisClients(redis, timeout_seconds=timeout_seconds)
        self._prefix = f"{prefix}:1:experience:"
        self._life = 0 if idle_seconds is None else math.ceil(1000 * idle_seconds)

    async def read(self, scope: str) -> Mapping[str, str]:
        """Return the text of each tool of a scope."""
        found = await self._clients.ask(lambda client: client.hgetall(self._prefix + scope))
        texts = {decode(tool): decode(text) for tool, text in found.items()}
        texts.pop(_VERSION, None)
        return texts

    async def version(self, scope: str) -> object:
        """Return the number of changes of the scope."""
        return await self._clients.ask(lambda client: client.hget(self._prefix + scope, _VERSION))

    async def swap(self, scope: str, tool: str, old: str | None, new: str | None) -> bool:
        """Replace the text of a tool if it is still `old`; see `ExperienceStore.swap`."""
        arguments = (
            self._life,
            encode(tool),
            *(("0", "") if old is None else ("1", encode(old))),
            *(("0", "") if new is None else ("1", encode(new))),
        )
        key = self._prefix + scope
        return bool(await self._clients.ask(lambda client: run_script(client, _SWAP, key, arguments)))

    async def scopes(self) -> Sequence[str]:
        """Return all scopes, by a scan of the whole key space; each answer has its own timeout."""
        client = await self._clients.get()
        keys = client.scan_iter(match=f"{pattern_of(self._prefix)}*", count=_SCAN_COUNT)
        found: list[str] = []
        while batch := await self._clients.ask(lambda _: next_keys(keys, _SCAN_COUNT)):
            found += [decode(key).removeprefix(self._prefix) for key in batch]
        return found

    async def aclose(self) -> None:
        """Close the connections that the store made; it may be used again."""
        await self._clients.aclose()

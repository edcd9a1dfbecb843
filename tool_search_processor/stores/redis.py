"""Loaded tools in a Redis server or cluster, shared by any number of workers."""

from __future__ import annotations

import hashlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from tool_search_processor.errors import ConfigurationError, StoreError
from tool_search_processor.stores.protocol import AddResult, LoadScope
from tool_search_processor.stores.redis_clients import RedisClients, next_keys, pattern_of
from tool_search_processor.stores.redis_scripts import (
    ADD,
    CLAIM,
    REMOVE,
    RENEW,
    STATS,
    TOUCH,
    UNCLAIM,
    decode,
    encode,
    names_of,
    run_script,
)
from tool_search_processor.stores.store import Store
from tool_search_processor.wire.checks import check_choice, check_positive, check_string

if TYPE_CHECKING:
    from redis.asyncio import Redis, RedisCluster

logger = logging.getLogger(__name__)

_FORMAT = "1"
_NO_EXPIRY = 0
_SCAN_COUNT = 1000
_CLAIM_SECONDS = 7 * 24 * 3600.0


class RedisStore(Store):
    """Keeps loaded names in Redis: many workers share them, and they outlive every process.

    ```python
    store = RedisStore("redis://localhost:6379/0", ttl_seconds=86_400)
    search = ToolSearchProcessor([create_issue], store=store)
    ```

    Each operation is one atomic step on one key of the thread, so it works on Redis Cluster too. Made
    from a URL it is safe to use from any number of threads and event loops.
    """

    def __init__(
        self,
        redis: str | Redis | RedisCluster,
        *,
        prefix: str = "tool-search",
        ttl_seconds: float | None = 3600.0,
        on_error: Literal["empty", "raise"] = "empty",
        timeout_seconds: float = 1.0,
        claim_seconds: float = _CLAIM_SECONDS,
    ) -> None:
        """Make a store; nothing is connected yet.

        Args:
            redis: A URL (`redis://`, `rediss://`, `unix://`), or a client of `redis.asyncio`, also a
                `RedisCluster`. A client of your own stays yours: use it from its own event loop, and
                close it yourself.
            prefix: What the store's keys begin with.
            ttl_seconds: Idle seconds after which the server forgets a thread; every step and load begins
                it again. None keeps threads forever.
            on_error: What a step gets when the server is down or slow. "empty": nothing is loaded, and a
                warning is logged once until it answers again. "raise": StoreError.
            timeout_seconds: The longest that one operation may take.
            claim_seconds: How long the answer to an approval is remembered, so that it counts once.

        Raises:
            ConfigurationError: When an option can't work.
            ImportError: When redis-py is not installed.
        """
        check_positive("timeout_seconds", timeout_seconds, finite=True)
        check_positive("claim_seconds", claim_seconds, finite=True)
        check_positive("ttl_seconds", ttl_seconds, optional=True, finite=True)
        check_choice("on_error", on_error, ("empty", "raise"))
        check_string("prefix", prefix)
        self._clients = RedisClients(redis, timeout_seconds=timeout_seconds)
        self._prefix = f"{prefix}:{_FORMAT}"
        self._ttl = _NO_EXPIRY if ttl_seconds is None else _milliseconds(ttl_seconds)
        self._claim_ttl = _milliseconds(claim_seconds)
        self._raises = on_error == "raise"
        self._timeout_seconds = timeout_seconds
        self._down = False

    def __repr__(self) -> str:
        # never the URL, which may hold a password
        return f"<RedisStore: keys {self._prefix!r}{', down' if self._down else ''}>"

    async def loaded(self, scope: LoadScope) -> Sequence[str]:
        """Return the names in load order."""
        key = self._key(scope)
        found = await self._try(lambda client: client.hgetall(key), otherwise={})
        return names_of(found)

    async def renew(self, scope: LoadScope) -> Sequence[str]:
        """Return the names in load order, and renew the thread's life, in one round trip."""
        return names_of(await self._run(RENEW, scope, (self._ttl,), otherwise=()))

    async def add(
        self,
        scope: LoadScope,
        names: Sequence[str],
        *,
        max_loaded: int | None = None,
        keep: Collection[str] = frozenset(),
    ) -> AddResult:
        """Add names at the end, in one atomic step; see `LoadedToolStore.add`."""
        if not names:
            return AddResult()
        most = -1 if max_loaded is None else max_loaded
        arguments = (self._ttl, most, len(keep), *map(encode, keep), *map(encode, names))
        answer = await self._run(ADD, scope, arguments, otherwise=None)
        if answer is None:
            return AddResult(unavailable=True)
        added, evicted = answer
        return AddResult(added=tuple(map(decode, added)), evicted=tuple(map(decode, evicted)))

    async def touch(self, scope: LoadScope, names: Collection[str] = ()) -> None:
        """Renew the thread's life, and mark `names` as called just now."""
        await self._run(TOUCH, scope, (self._ttl, *map(encode, names)), otherwise=None)

    async def remove(self, scope: LoadScope, names: Collection[str]) -> Sequence[str]:
        """Take names out, and return those that were there."""
        removed = await self._run(REMOVE, scope, (self._ttl, *map(encode, names)), otherwise=())
        return tuple(map(decode, removed))

    async def clear(self, scope: LoadScope) -> None:
        """Forget a thread, or all threads of the processor where `thread_id` is None.

        All threads are found by a scan of the whole key space, so don't do that at every request.

        Raises:
            StoreError: When the server can't be reached, whatever `on_error` says: nobody must
                believe that something was forgotten that is still there.
        """
        if scope.thread_id is not None:
            key = self._key(scope)
            await self._ask(lambda client: client.unlink(key))
            return
        pattern = f"{pattern_of(self._prefix)}:threads:{_digest(scope.processor_id)}:*"
        await self._each_key(pattern, lambda key, client: client.unlink(key))

    async def stats(self) -> Mapping[str, Any]:
        """Return `threads`, `loaded` and `oldest_access`, by a scan of the whole key space.

        When a thread was last renewed follows from the life that it has left: with `ttl_seconds=None`, or
        where every thread was made so, `oldest_access` is None.

        Raises:
            StoreError: When the server can't be reached.
        """
        pattern = f"{pattern_of(self._prefix)}:threads:*"
        found = await self._each_key(pattern, lambda key, client: run_script(client, STATS, key, ()))
        # One field of each thread is the counter; a thread that expired meanwhile has none.
        alive = [(size - 1, left) for size, left in found if size]
        lives = [left for _, left in alive if left >= 0] if self._ttl != _NO_EXPIRY else []
        oldest = time.time() - (self._ttl - min(lives)) / 1000 if lives else None
        return {"threads": len(alive), "loaded": sum(size for size, _ in alive), "oldest_access": oldest}

    async def claim(self, scope: LoadScope, call_id: str) -> bool:
        """Return True to the first caller that asks for a call of the scope's thread and run, else False.

        Raises:
            StoreError: When the server can't be reached, whatever `on_error` says: a call must not
                run unless it is certain that it did not run before.
        """
        key, arguments = self._claim_key(scope, call_id), (self._claim_ttl, uuid.uuid4().hex)
        try:
            return bool(await self._ask(lambda client: run_script(client, CLAIM, key, arguments)))
        except BaseException:  # the claim may have arrived, and then nobody could ever run the call
            with suppress(StoreError):
                await self._ask(lambda client: run_script(client, UNCLAIM, key, arguments))
            raise

    async def release(self, scope: LoadScope, call_id: str) -> None:
        """Give back a claim if its call was not run.

        Raises:
            StoreError: When the server can't be reached.
        """
        key = self._claim_key(scope, call_id)
        await self._ask(lambda client: client.unlink(key))

    async def aclose(self) -> None:
        """Close the connections that the store made; it may be used again."""
        await self._clients.aclose()

    # -- asking the server

    async def _run(self, script: str, scope: LoadScope, arguments: Sequence[Any], *, otherwise: Any) -> Any:
        key = self._key(scope)
        return await self._try(lambda client: run_script(client, script, key, arguments), otherwise=otherwise)

    async def _try(self, ask: Callable[[Any], Awaitable[Any]], *, otherwise: Any) -> Any:
        """Return the server's answer; if there is none, return `otherwise` or raise, as `on_error` says."""
        try:
            return await self._ask(ask)
        except StoreError as exc:
            if self._raises:
                raise
            level = logging.DEBUG if self._down else logging.WARNING
            self._down = True
            logger.log(level, "nothing is loaded until Redis answers again: %s: %s", exc, exc.__cause__)
            return otherwise

    async def _ask(self, ask: Callable[[Any], Awaitable[Any]]) -> Any:
        from redis.exceptions import RedisClusterException, RedisError

        try:
            answer = await self._clients.ask(ask)
        except TimeoutError as exc:
            raise StoreError(f"Redis did not answer within {self._timeout_seconds:g} seconds") from exc
        except (RedisError, RedisClusterException, OSError) as exc:
            # A model may read this: where the server is, is for the log alone.
            raise StoreError(f"Redis failed: {type(exc).__name__}") from exc
        if self._down:
            self._down = False
            logger.info("Redis answers again")
        return answer

    async def _each_key(self, pattern: str, ask: Callable[[Any, Any], Awaitable[Any]]) -> list[Any]:
        """Ask something of every key that fits a pattern, on every node; each answer has its own timeout."""
        client = await self._clients.get()
        answers: list[Any] = []
        keys = client.scan_iter(match=pattern, count=_SCAN_COUNT)
        while batch := await self._ask(lambda _: next_keys(keys, _SCAN_COUNT)):
            answers += [await self._ask(partial(ask, key)) for key in batch]
        return answers

    # -- keys

    def _key(self, scope: LoadScope) -> str:
        if scope.thread_id is None:
            raise ConfigurationError("this scope names no thread; only clear() takes one without")
        slot = _digest(scope.processor_id, scope.thread_id)
        return f"{self._prefix}:threads:{_digest(scope.processor_id)}:{{{slot}}}"

    def _claim_key(self, scope: LoadScope, call_id: str) -> str:
        whose = _digest(scope.processor_id, scope.thread_id or "", scope.run_id, call_id)
        return f"{self._prefix}:claims:{{{whose}}}"


def _digest(*parts: str) -> str:
    """Return 32 hexadecimal digits that are unique to these parts: ids may hold any character."""
    whole = hashlib.sha256()
    for part in parts:
        data = encode(part)
        whole.update(b"%d:" % len(data) + data)
    return whole.hexdigest()[:32]


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))

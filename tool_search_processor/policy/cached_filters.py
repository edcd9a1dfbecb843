"""A cache around a costly filter."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Hashable
from functools import partial
from typing import Any

from cachetools import TTLCache

from tool_search_processor.concurrency.foreign_calls import takes_one
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.policy.filters import Filter, FilterRequest, as_verdict, let_go
from tool_search_processor.wire.checks import check_count, check_positive


def cached_filter(
    filter: Filter,  # noqa: A002 - the option's public name
    *,
    key: Callable[[FilterRequest], Hashable],
    ttl_seconds: float = 60.0,
    maxsize: int = 10_000,
    timer: Callable[[], float] = time.monotonic,
) -> Filter:
    """Wrap a costly policy in a cache.

    ```python
    async def is_permitted(request: FilterRequest) -> bool:
        return request.context["user"] == "ada"  # or what a server says

    policy = cached_filter(is_permitted, key=lambda request: request.context["user"], ttl_seconds=60)
    search = ToolSearchProcessor([create_issue], filter=policy)
    ```

    Args:
        filter: The policy, sync or async.
        key: Returns what the policy reads from the request, as a hashable value: the user and the plan,
            say. The tool's name, its fingerprint and the phase are always part of the cache's key.
        ttl_seconds: How long a verdict holds.
        maxsize: Verdicts kept at most; the least recently used goes first.
        timer: The clock that `ttl_seconds` is measured on.

    Returns:
        A filter. An exception of the policy is passed on and never cached.

    Raises:
        ConfigurationError: If `filter` or `key` can't be called, or a number is not positive.
    """
    for what, hook in (("a filter", filter), ("key", key)):
        if not callable(hook) or not takes_one(hook):
            raise ConfigurationError(f"cached_filter needs {what} that takes a request, found {hook!r:.80}")
    check_positive("ttl_seconds", ttl_seconds)
    check_count("maxsize", maxsize)
    cache: TTLCache[Hashable, bool] = TTLCache(maxsize, ttl_seconds, timer=timer)
    lock = threading.Lock()

    def keep(cache_key: Hashable, verdict: bool) -> bool:  # noqa: FBT001 - the value to keep
        with lock:
            cache[cache_key] = verdict
        return verdict

    def ask(request: FilterRequest) -> bool | Awaitable[bool]:
        cache_key = (request.tool_name, request.tool.fingerprint, request.phase, key(request))
        with lock:
            known = cache.get(cache_key)
        if known is not None:
            return known
        answer = filter(request)
        if inspect.isawaitable(answer):
            return _Later(answer, partial(keep, cache_key))
        return keep(cache_key, as_verdict(answer))

    return ask


class _Later:
    """An async policy's answer, cached once it is known; nothing runs before it is awaited."""

    def __init__(self, answer: Awaitable[bool], keep: Callable[[bool], bool]) -> None:
        self._answer = answer
        self._keep = keep

    def __await__(self) -> Generator[Any, None, bool]:
        return self._keep(as_verdict((yield from _awaited(self._answer).__await__())))

    def close(self) -> None:
        """Discard an answer that nobody will await."""
        let_go(self._answer)


async def _awaited(answer: Awaitable[bool]) -> bool:
    return await answer

"""What a call tells its client before its result, from whatever thread its tool runs in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, get_args

import mcp_types as types
from mcp.server.connection import allowed_log_levels

from tool_search_processor.wire.checks import check_choice
from tool_search_processor.wire.plain import sendable

LOG_LEVELS: tuple[str, ...] = get_args(types.LoggingLevel)
"""From the least to the most severe."""

_Send = Callable[[], Coroutine[Any, Any, None]]


class CallReports:
    """Sends progress and log lines of one call to its client, without waiting."""

    def __init__(self, ctx: Any, *, log_level: str | None) -> None:
        """Begin; must be made in the loop that serves the call.

        Args:
            ctx: The SDK's context of the call.
            log_level: The least severe level that the client of a session wants; None wants all.
        """
        self._ctx = ctx
        least = LOG_LEVELS.index(log_level) if log_level else 0
        # Clients without a handshake say with each call which levels they want.
        self._levels = allowed_log_levels(ctx.protocol_version, ctx.meta).intersection(LOG_LEVELS[least:])
        self._loop = asyncio.get_running_loop()
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_over = False

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress, from any thread; nothing is sent where the client didn't ask, or of no number.

        Args:
            progress: Grows from one report to the next.
            total: What it ends at; None where that isn't known.
            message: What is being done.
        """
        at, end, doing = sendable((progress, total, message))
        if at is not None:
            self._post(lambda: self._ctx.session.report_progress(at, end, doing))

    def log(self, level: str, data: Any, *, logger: str | None = None) -> None:
        """Send a line for the client's log, from any thread, if the client wants this level.

        Args:
            level: One of `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert`, `emergency`.
            data: A string, or any JSON data.
            logger: Who says so.

        Raises:
            ConfigurationError: For another level.
        """
        check_choice("level", level, LOG_LEVELS)
        if level in self._levels:
            params = {"level": level, "data": sendable(data), "logger": sendable(logger)}
            line = types.LoggingMessageNotification.model_validate({"params": params})
            self._post(lambda: self._ctx.session.send_notification(line, self._ctx.request_id))

    async def finish(self) -> None:
        """Wait until all reports are sent, since none may come after the call's result."""
        # One turn of the loop, for reports of a thread that has just ended.
        await asyncio.sleep(0)
        self._is_over = True
        if self._under_way:
            await asyncio.gather(*self._under_way, return_exceptions=True)

    def _post(self, send: _Send) -> None:
        self._loop.call_soon_threadsafe(self._start, send)

    def _start(self, send: _Send) -> None:
        if self._is_over:
            return
        task = self._loop.create_task(send())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

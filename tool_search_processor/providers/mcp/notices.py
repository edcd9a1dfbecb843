"""What a server sends without being asked: changed lists, and lines for the log.

A server's log goes to `logging` under this module's name, and not to the clients of a gateway: they share one
connection to the server, and a line doesn't say whose call it is about.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Literal

from tool_search_processor.providers.mcp.backoff import Backoff

if TYPE_CHECKING:
    from mcp import Client

logger = logging.getLogger(__name__)

LOG_LEVEL: Literal["info"] = "info"
"""The least level of log lines asked of servers of 2026-07-28 and later; older ones send all."""

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO, "warning": logging.WARNING}
_LONGEST_LINE = 1_000


class Marks:
    """Counts the moments at which a provider's lists may have changed."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.count = 0
        self._has_failed = False

    def change(self) -> None:
        """Count a change."""
        self.count += 1

    def fail(self) -> None:
        """Note a listing that failed, or whose caller did not wait for its end."""
        self._has_failed = True

    def connected(self) -> None:
        """Count the moment at which a server answers after its list could not be read."""
        if self._has_failed:
            self._has_failed = False
            self.change()


class Notices:
    """Takes the notifications of one server."""

    def __init__(self, name: str, marks: Marks) -> None:
        """Begin to listen.

        Args:
            name: What the log calls the server.
            marks: Counts when the server says that one of its lists has changed.
        """
        self._name = name
        self._marks = marks

    async def handle(self, message: object) -> None:
        """Pass one notification on."""
        if str(getattr(message, "method", "")).endswith("/list_changed"):
            self._marks.change()
        elif isinstance(message, Exception):
            logger.debug("%s: what it sent can't be read: %r", self._name, message)

    async def log(self, params: Any) -> None:
        """Pass on a line of the server's log; `%r`, because a server's text could forge lines."""
        level = _LEVELS.get(params.level, logging.ERROR)
        logger.log(level, "%s: %.*s", self._name, _LONGEST_LINE, repr(params.data))


class Subscription:
    """Keeps open the stream on which servers of 2026-07-28 and later announce changes.

    Older servers announce changes without being asked.
    """

    def __init__(self, client: Client, marks: Marks) -> None:
        """Listen on a connection once `run` opens the stream.

        Args:
            client: A connected client.
            marks: Counts when changes may have been missed.
        """
        self._client = client
        self._marks = marks
        self._backoff = Backoff()
        self.settled = asyncio.Event()
        """Set when the first stream is open, or when it is certain that no stream will open."""

    @property
    def is_needed(self) -> bool:
        """Whether the server has lists that change, and announces that only on such a stream."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        capabilities = self._client.server_capabilities
        lists = (capabilities.tools, capabilities.resources, capabilities.prompts)
        changing = any(part is not None and part.list_changed for part in lists)
        return changing and self._client.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def run(self) -> None:
        """Open the stream, and reopen it whenever it ends, until cancelled or the server offers none."""
        try:
            while await self._listen():  # noqa: ASYNC110 - it waits between tries, not for an event
                await asyncio.sleep(self._backoff.fail())
        finally:
            self.settled.set()

    async def _listen(self) -> bool:
        """Read one stream to its end, and return True if another may be opened."""
        from mcp import MCPError
        from mcp.client.subscriptions import SubscriptionLost
        from mcp_types import METHOD_NOT_FOUND

        opened = False
        try:
            async with self._client.listen(
                tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ) as stream:
                opened = True
                self._backoff.succeed()
                if self.settled.is_set():  # not the first: changes in between were not announced
                    self._marks.change()
                self.settled.set()
                async for _ in stream:
                    pass  # `Notices` has it, too
        except MCPError as exc:
            if exc.code == METHOD_NOT_FOUND:
                return False
            logger.debug("no stream of changes: %s", exc)
        except SubscriptionLost as exc:
            logger.debug("the stream of changes broke off: %s", exc)
        except Exception:  # not a reason to give the connection up
            logger.warning("reading the stream of changes failed", exc_info=True)
        if opened:
            self._marks.change()
        return True

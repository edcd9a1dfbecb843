"""The one connection to a server: made when it is needed, held by one task, and made again after it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from tool_search_processor._version import __version__
from tool_search_processor.errors import ProviderError
from tool_search_processor.providers.mcp import failures
from tool_search_processor.providers.mcp.asked import CallsUnderWay, timed_hook
from tool_search_processor.providers.mcp.backoff import Backoff
from tool_search_processor.providers.mcp.notices import LOG_LEVEL, Marks, Notices, Subscription
from tool_search_processor.providers.mcp.screening import Screen
from tool_search_processor.providers.mcp.settings import Settings
from tool_search_processor.providers.mcp.traffic import Traffic
from tool_search_processor.providers.mcp.transports import Opened, Transport
from tool_search_processor.providers.mcp.watched_transport import WatchedTransport

if TYPE_CHECKING:
    from mcp import Client

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_CLOSE_SECONDS = 7.0
_HUNG_UP = "ended before it answered"
_SUBSCRIBE_SECONDS = 1.0


@dataclass(eq=False)
class _Connection:
    """One connection, from its first try to its end."""

    loop: asyncio.AbstractEventLoop
    ready: asyncio.Future[Client]
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it must end, or has ended."""
    owner: asyncio.Task[None] | None = None
    client: Client | None = None
    """Set once the server has answered."""
    requests: int = 0
    """How many requests are under way."""
    is_retired: bool = False
    """Whether it takes no more requests, and ends when those under way have ended."""

    @contextlib.contextmanager
    def request(self) -> Iterator[None]:
        """Count a request for as long as the block lasts."""
        self.requests += 1
        try:
            yield
        finally:
            self.requests -= 1
            if self.is_retired and self.requests == 0:
                self.over.set()

    @property
    def is_usable(self) -> bool:
        """Whether it is open or being opened in the running loop: a forked child has another loop."""
        is_open = self.client is not None and not self.over.is_set() and not self.is_retired
        return self.loop is asyncio.get_running_loop() and (is_open or not self.ready.done())


class Connector:
    """Gives the client of a server; everything here runs in the background loop."""

    def __init__(self, transport: Transport, settings: Settings, *, screen: Screen) -> None:
        """Set the transport; nothing is opened yet.

        Args:
            transport: The way to the server.
            settings: The provider's options.
            screen: Checks and mends the server's answers.
        """
        self._transport = transport
        self.settings = settings
        self.marks = Marks()
        self._backoff = Backoff()
        self._screen = screen
        self.calls = CallsUnderWay()
        self._connection: _Connection | None = None
        self._connections: dict[asyncio.Task[None], _Connection] = {}
        """Connections that have not ended yet, by the task that holds them."""
        self._closings: set[asyncio.Task[None]] = set()
        self._last_error = ""
        # Some old servers end when they are asked which protocol they speak: they are next met as old ones.
        self._mode = "auto"
        self._is_closed = False

    async def request(self, ask: Callable[[Client], Awaitable[_T]]) -> _T:
        """Ask the server something, and ask again if it had forgotten the session and so did nothing.

        All requests that were under way at that moment go on over one new connection.

        Args:
            ask: What is asked; it may be called twice.

        Raises:
            ProviderError: The server can't be reached.
            Exception: Whatever `ask` raises.
        """
        from mcp import MCPError

        try:
            return await self._request(ask)
        except MCPError as exc:
            if exc.code != failures.SESSION_GONE:
                raise
        return await self._request(ask)

    async def _request(self, ask: Callable[[Client], Awaitable[_T]]) -> _T:
        from mcp import MCPError

        connection = await self._connected()
        with connection.request():
            try:
                return await ask(await connection.ready)
            except MCPError as exc:
                if exc.code == failures.SESSION_GONE:
                    connection.is_retired = True
                raise

    async def _connected(self) -> _Connection:
        """Return the connection once it is open.

        Raises:
            ProviderError: The server can't be reached, or could not a moment ago.
        """
        if self._is_closed:
            raise ProviderError(f"the MCP provider {self.settings.name!r} was closed: make another")
        if self._connection is None or not self._connection.is_usable:
            self._connection = self._connect()
        connection = self._connection
        # shielded: others may wait for the same connection, and it is wanted in any case
        await asyncio.shield(connection.ready)
        return connection

    async def aclose(self) -> None:
        """End the connection for good, with its process or its sockets; what is under way fails."""
        self._is_closed = True
        running = asyncio.get_running_loop()
        owners = {owner for owner in self._connections if owner.get_loop() is running and not owner.done()}
        for owner in owners:
            self._connections[owner].over.set()
            if not self._connections[owner].ready.done():
                owner.cancel()
        if owners:
            _, late = await asyncio.wait(owners, timeout=_CLOSE_SECONDS)
            for owner in late:
                owner.cancel()

    def abandon(self) -> None:
        """Schedule the connection to be closed; can be called from any thread, once nobody can use it."""
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed, and the connection with it
                connection.loop.call_soon_threadsafe(self._close_soon)

    def _connect(self) -> _Connection:
        wait = self._backoff.remaining()
        if wait:
            raise ProviderError(self._last_error, retry_in_seconds=wait)
        loop = asyncio.get_running_loop()
        connection = _Connection(loop=loop, ready=loop.create_future())
        # a failure may have no waiter left: asyncio would complain of one that nobody retrieved
        connection.ready.add_done_callback(asyncio.Future.exception)
        connection.owner = loop.create_task(self._own(connection))
        self._connections[connection.owner] = connection
        connection.owner.add_done_callback(lambda owner: self._connections.pop(owner, None))
        return connection

    async def _own(self, connection: _Connection) -> None:
        """Open, hold and close one connection: its cancel scopes belong to one task."""
        try:
            async with self._transport.open() as opened:
                try:
                    ending = await self._hold(connection, opened)
                except Exception as exc:  # noqa: BLE001 - whatever the SDK raises
                    ending = self._reason(exc)
                    if ending == _HUNG_UP:
                        self._mode = "auto" if self._mode == "legacy" else "legacy"
                if not self._is_closed:
                    advice = opened.advice + (opened.advice_at_end if ending == _HUNG_UP else "")
                    self._settle(connection, ending, said=await opened.last_words(), advice=advice)
        except Exception as exc:  # noqa: BLE001 - the transport itself could not be opened, or closed
            self._settle(connection, self._reason(exc))
        finally:
            connection.over.set()
            if not connection.ready.done():
                connection.ready.set_exception(
                    ProviderError(f"the MCP provider {self.settings.name!r} was closed")
                )

    async def _hold(self, connection: _Connection, opened: Opened) -> str:
        """Keep a connection until its end; return why it ended, as what follows "the connection ended"."""
        from mcp.server import MCPServer, Server

        target = opened.target
        traffic = Traffic(self._screen, version=lambda: client.protocol_version)
        if not isinstance(target, MCPServer | Server):
            target = WatchedTransport(target, traffic, on_end=connection.over.set)
        client = self._new_client(target)
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self.settings.connect_timeout_seconds):
                await stack.enter_async_context(client)
            opened.started()
            client.session.validate_tool_result = _left_to_the_caller  # type: ignore[method-assign] # a public step
            async with self._subscribed(client):
                self._backoff.succeed()
                connection.client = client
                connection.ready.set_result(client)
                self.marks.connected()
                await connection.over.wait()
        return traffic.fault or ("it has forgotten the session" if connection.is_retired else "it hung up")

    def _new_client(self, target: object) -> Client:
        from mcp import Client
        from mcp_types import Implementation

        notices = Notices(self.settings.name, self.marks)
        return Client(
            target,  # type: ignore[arg-type]  # a transport by its two methods
            client_info=Implementation(name="tool-search-processor", version=__version__),
            message_handler=notices.handle,
            logging_callback=notices.log,
            log_level=LOG_LEVEL,
            sampling_callback=timed_hook("sampling", self.settings, self.calls),
            elicitation_callback=timed_hook("elicitation", self.settings, self.calls),
            list_roots_callback=timed_hook("list_roots", self.settings, self.calls),
            mode=self._mode,
            cache=None,  # a list is read only when it has changed, and then must come from the server
        )

    @contextlib.asynccontextmanager
    async def _subscribed(self, client: Client) -> AsyncIterator[None]:
        """Listen for changes while the block runs, from its start unless the server is slow."""
        subscription = Subscription(client, self.marks)
        if not subscription.is_needed:
            yield
            return
        task = asyncio.create_task(subscription.run())
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SUBSCRIBE_SECONDS):
                    await subscription.settled.wait()
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})

    def _close_soon(self) -> None:
        closing = asyncio.get_running_loop().create_task(self.aclose())
        self._closings.add(closing)  # a task that nobody holds may vanish
        closing.add_done_callback(self._closings.discard)

    def _settle(self, connection: _Connection, ending: str, *, said: str = "", advice: str = "") -> None:
        """Report an unexpected end to those who wait for the connection, or else to the log."""
        said = f"; it said: {said!r}" if said and said not in ending else ""
        name = self.settings.name
        if connection.client is not None:
            logger.warning("the connection to the MCP server %r ended: %s%s", name, ending, said)
            self.marks.change()
        elif not connection.ready.done():
            self._last_error = f"the MCP server {name!r} {ending}{said}{advice}"
            self._backoff.fail()
            connection.ready.set_exception(ProviderError(self._last_error))

    def _reason(self, error: Exception) -> str:
        """Return what happened, as what follows the server's name."""
        from mcp import MCPError

        cause = failures.root_cause(error)
        if isinstance(cause, TimeoutError):
            return f"did not answer within {self.settings.connect_timeout_seconds:g} s"
        if isinstance(cause, MCPError) and cause.code != failures.UNREACHED:
            return _HUNG_UP if failures.is_cut_off(cause) else f"refused: {failures.short(cause)}"
        if isinstance(cause, FileNotFoundError | PermissionError):
            # a whole command line may stand there, with a secret among its arguments
            program = str(cause.filename).split(maxsplit=1)[0]
            return f"could not be started: {cause.strerror}: {program!r}"
        kind = "" if isinstance(cause, MCPError) else f"{type(cause).__name__}: "
        return f"could not be reached: {kind}{failures.short(cause)}"


async def _left_to_the_caller(name: str, result: object) -> None:
    """Stand in for the SDK's check of a result: its schema's patterns and references could stall the loop."""

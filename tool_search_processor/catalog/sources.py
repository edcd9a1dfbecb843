"""One provider of a catalog: what it last gave, and how it is doing."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from tool_search_processor.errors import ConfigurationError, ToolSearchError
from tool_search_processor.providers.base import (
    Context,
    ToolProvider,
    check_provider,
    provider_name,
    provider_version,
    tools_of,
)
from tool_search_processor.providers.callable import CallableProvider
from tool_search_processor.providers.static import StaticProvider
from tool_search_processor.tools import Tool

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """How one provider is doing."""

    name: str
    up: bool
    """False when its last listing failed; then its last good list is served, if all requests share it."""
    tools: int
    """How many tools its last good list held."""
    last_read: float | None
    """When the list was last read, in seconds since the epoch; None before the first time."""
    error: str | None = None


class Source:
    """A provider with what it last gave."""

    def __init__(self, provider: ToolProvider) -> None:
        """Take a provider; nothing is read yet."""
        self.provider = provider
        self.name = provider_name(provider)
        self.static = bool(getattr(provider, "static", False))
        # The version and the list that it stands for: one value, so that threads never mix two readings.
        self._last: tuple[Hashable | None, tuple[Tool, ...]] = (None, ())
        self._is_stale = False
        self._count = 0
        self._last_read: float | None = None
        self._error: str | None = None

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The last good list of a provider with a version; empty for one that lists by request."""
        return self._last[1]

    @property
    def is_shared(self) -> bool:
        """Whether the list last read holds for every request."""
        return self._last[0] is not None

    def version(self) -> Hashable | None:
        """Return the provider's change mark of this moment; None where it has none, or can't tell."""
        try:
            return provider_version(self.provider)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException:  # noqa: BLE001 - foreign code; the next read reports it
            return None

    def is_current(self) -> bool:
        """Whether what was last read still holds, for any request."""
        version = self._last[0]
        return version is not None and not self._is_stale and version == self.version()

    def expire(self) -> None:
        """Have the list read again, whatever its version; it is served until that has worked."""
        self._is_stale = True

    async def read(self, context: Context, *, strict: bool = False) -> tuple[Tool, ...]:
        """Return the tools for a request; a provider that fails gives its last good shared list.

        Args:
            context: The request's own data.
            strict: Raise what shows a mistake of the program instead of reporting it.
        """
        version: Hashable | None = None
        try:
            version = provider_version(self.provider)
            if strict:
                await check_provider(self.provider, context)
            tools = _checked(await tools_of(self.provider, context), self.name)
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as exc:  # foreign code: one dead provider never takes the rest down
            if isinstance(exc, asyncio.CancelledError) and _is_cancelled():
                raise
            if strict and (self.static or isinstance(exc, ToolSearchError)):
                raise
            self._report(exc)
            return self.tools if version is not None else ()
        self._error = None
        self._last_read = time.time()
        self._count = len(tools)
        self._is_stale = False
        self._last = (version, tools if version is not None else ())
        return tools

    def status(self) -> ProviderStatus:
        """Tell how the provider is doing."""
        return ProviderStatus(
            name=self.name,
            up=self._error is None,
            tools=self._count,
            last_read=self._last_read,
            error=self._error,
        )

    def _report(self, exc: BaseException) -> None:
        error = f"{type(exc).__name__}: {_text(exc)}"
        if error != self._error:
            logger.warning("the provider %r failed to list its tools: %s", self.name, error, exc_info=exc)
        self._error = error


def as_providers(source: object) -> list[ToolProvider]:
    """Return the providers in what a user passed as the tools of a catalog.

    Args:
        source: A list of providers, tools and functions, mixed freely; a mapping of names to tools or
            functions; a single provider; or one function `(context) -> tools`.

    Raises:
        ConfigurationError: When something in it can't give tools.
    """
    if isinstance(source, Mapping):
        return [StaticProvider(source, name="tools")]
    if is_provider(source):
        return [source]  # type: ignore[list-item]  # is_provider has looked
    if callable(source) and not isinstance(source, Tool):
        return [CallableProvider(source)]
    if isinstance(source, str | bytes | Tool) or not hasattr(source, "__iter__"):
        raise ConfigurationError(
            f"tools must be a list of tools, functions and providers, found {source!r:.80}: put it in a list"
        )
    return _group(list(source))


def is_provider(value: object) -> bool:
    """Tell whether a value can list tools."""
    return not isinstance(value, type | Tool) and callable(getattr(value, "list_tools", None))


def _group(items: list[object]) -> list[ToolProvider]:
    """Gather neighbouring tools and functions into one provider each."""
    providers: list[ToolProvider] = []
    loose: list[object] = []

    def flush() -> None:
        if loose:
            providers.append(StaticProvider(tuple(loose), name="tools"))  # type: ignore[arg-type]
            loose.clear()

    for item in items:
        if is_provider(item):
            flush()
            providers.append(item)  # type: ignore[arg-type]  # is_provider has looked
        else:
            loose.append(item)
    flush()
    return providers


def _is_cancelled() -> bool:
    """Tell whether it is this task that is cancelled, rather than something inside a provider."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # at a construction there is no event loop
        return False
    return task is not None and task.cancelling() > 0


def _text(exc: BaseException) -> str:
    try:
        return str(exc)
    except Exception:  # noqa: BLE001 - foreign code
        return "(its text can't be had)"


def _checked(listed: object, name: str) -> tuple[Tool, ...]:
    if not isinstance(listed, list | tuple) or not all(isinstance(tool, Tool) for tool in listed):
        raise ConfigurationError(
            f"the provider {name!r} must list Tools, found {listed!r:.120}: return a list of Tool objects"
        )
    return tuple(listed)

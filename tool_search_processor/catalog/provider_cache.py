"""One provider of a catalog: its last lists and its status."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, TypeVar

from tool_search_processor.catalog.backoff import PATIENCE_SECONDS, HoldOff, ProviderLimits
from tool_search_processor.catalog.failure_log import FailureLog
from tool_search_processor.catalog.name_register import GIVEN_DIRECTLY, Offer
from tool_search_processor.catalog.status import ProviderStatus
from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.concurrency.foreign_calls import FailuresLogged, is_no_failure
from tool_search_processor.concurrency.shared_task import Flight, within
from tool_search_processor.errors import ConfigurationError, ProviderError, ToolSearchError
from tool_search_processor.providers.functions import FunctionTools
from tool_search_processor.providers.provider import Context, Provider, components_of
from tool_search_processor.tools import Tool
from tool_search_processor.tools.foreign import foreign_line
from tool_search_processor.tools.origins import Origin, mark_origin
from tool_search_processor.transforms.transform import ComponentT, kind_of
from tool_search_processor.wire.plain import are_same

logger = logging.getLogger(__name__)

_OtherT = TypeVar("_OtherT", Tool, Resource, ResourceTemplate, Prompt)
_LONGEST_ERROR = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading(Generic[ComponentT]):
    """A list and its change mark in one value, so that threads never mix two."""

    version: Hashable | None = None
    listed: tuple[ComponentT, ...] = ()
    serial: int = 0
    """Counts readings in the order in which they began, not in which they ended."""


class Source(Generic[ComponentT]):
    """A provider with its last list of one kind, such as its tools or its resources."""

    def __init__(
        self,
        provider: Provider,
        *,
        kind: type[ComponentT],
        limits: ProviderLimits | None = None,
        label: str | None = None,
        failures: FailureLog | None = None,
    ) -> None:
        """Cache a provider's lists; nothing is read yet.

        Args:
            provider: The provider.
            kind: What it lists.
            limits: How long to wait for it, and how long to serve its last list.
            label: What distinguishes it from the catalog's others, in every process; its name by default.
            failures: Logs what fails; sources of one provider share it.
        """
        self.provider = provider
        self.kind: type[ComponentT] = kind
        self.name = provider.label
        self._origin = Origin(self.name if label is None else label)
        self.static = provider.static
        self._make = FunctionTools()
        self._limits = limits or ProviderLimits()
        self._clock = self._limits.clock
        self._is_catalog = provider.limits_itself
        self._bounded = self.static or self._is_catalog
        self._timeout = None if self._bounded else self._limits.timeout_seconds
        self._last: _Reading[ComponentT] = _Reading()
        self._places: tuple[Sequence[Tool], Sequence[str]] = ((), ())
        self._serials = count(1)
        self._hold_off = HoldOff(self._clock)
        self._flight: Flight | None = None
        self._lock = threading.RLock()  # an eager task factory reads before it returns the task
        self._is_warm = False
        self._is_expired = False
        self._holds = False
        self._held_at: float | None = None
        self._count = 0
        self._last_read: float | None = None
        self._error: str | None = None
        self._what = f"{kind_of(kind).replace('_', ' ')}s"
        self._failures = failures or FailureLog(self.name)
        self._others: dict[type, Source[Any]] = {}

    def of_kind(self, kind: type[_OtherT]) -> Source[_OtherT]:
        """Return the source of what else the provider lists: the same at every call."""
        if kind not in self._others:
            self._others[kind] = Source(
                self.provider, kind=kind, limits=self._limits, failures=self._failures
            )
        return self._others[kind]

    @property
    def listed(self) -> tuple[ComponentT, ...]:
        """The last good list of a provider with a version; empty if it lists by request.

        Empty too once the list is older than `max_stale_seconds` and could not be read again.
        """
        return () if self._is_too_old() else self._last.listed

    @property
    def is_shared(self) -> bool:
        """Whether the list last read holds for every request."""
        return self._last.version is not None

    def offers(self, listed: Sequence[Tool]) -> Sequence[Offer]:
        """Return an offer for each tool in a list of this source."""
        places = self.places(listed)
        return [Offer(tool, place, self.name) for tool, place in zip(listed, places, strict=True)]

    def places(self, listed: Sequence[Tool]) -> Sequence[str]:
        """Return the place of each tool in a list of this source, and mark the tools with their origin.

        The place is this source and, where the source is a catalog, the inner source as well. Copies of a
        tool are recognized by its origin.
        """
        known = self._places
        if known[0] is not listed:
            known = (listed, self._mark(listed))
            if self.is_shared:  # otherwise no list comes twice
                self._places = known
        return known[1]

    def _mark(self, listed: Sequence[Tool]) -> Sequence[str]:
        own, label = self._origin, self._origin.label
        origins = [mark_origin(tool, own) for tool in listed]
        if not self._is_catalog:
            return [label] * len(listed)
        return [label if origin is own else f"{label}/{origin.label}" for origin in origins]

    def version(self) -> Hashable | None:
        """Return the provider's current change mark; None if it has none, or fails to say."""
        try:
            return self._version()
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException:  # noqa: BLE001 - foreign code; the next read reports it
            return None

    def mark(self) -> Hashable | None:
        """Return a mark of what is served and whether it should be read; None for lists by request."""
        if not self.is_shared and self.version() is None:
            return None
        if self.is_due():
            return object()  # equal to nothing: the caller has to look again
        return (self._last.version, self._last.serial, self._is_too_old())

    def is_current(self) -> bool:
        """Whether the last list still holds, for every request."""
        last = self._last.version
        holds = last is not None and not self._is_expired and last == self.version()
        if holds:
            self._held_at = self._clock()
            if self._error is not None:  # the mark could not be read for a while, or is the old one again
                self._error = None
                self._hold_off.end()
        self._holds = holds
        return holds

    def is_due(self) -> bool:
        """Whether a request should read it: the last list no longer holds, and it may be asked."""
        return not self.is_current() and not self._hold_off.is_on(self.version())

    def expire(self) -> None:
        """Have the list read again, whatever its version; the old list is served until then."""
        self._is_expired = True

    async def read(self, context: Context, *, strict: bool = False) -> tuple[ComponentT, ...]:
        """Return the list for a request; if the provider fails, its last good shared list.

        Of a provider with a version, one reading is under way at a time, for all requests. The first is
        waited for, as long as a provider may take; of a later one a request that can go on without awaits
        no more than a moment, and once.

        Args:
            context: The request's own data.
            strict: Raise what shows a mistake of the program instead of reporting it; waits for a reading
                of its own.
        """
        if not self._is_warm:
            await self._warm_up()
        if strict or self._bounded or self.version() is None:
            return await self._read(context, strict=strict)
        # Twice, since the read that was under way may have begun before the last change.
        for _ in range(2):
            landed = await self._join(context)
            if not landed or not self.is_due():
                break
        return self.listed

    def status(self) -> ProviderStatus:
        """Return how the provider is doing."""
        error = self._error or self._failure()
        return ProviderStatus(
            name=self.name,
            up=None if error is None and self._is_unknown() else error is None,
            tools=0 if self._is_too_old() else self._count,
            last_read=self._last_read,
            age_seconds=None if self._held_at is None else max(self._clock() - self._held_at, 0.0),
            error=error,
            retry_in_seconds=self._hold_off.left_seconds(),
        )

    def outages(self) -> Collection[Origin]:
        """Return the origins of the tools that can't be reached now: of this source, or of some inside."""
        return (self.provider.outages() or (self._origin,)) if self.status().up is False else ()

    def stop(self) -> None:
        """Cancel the reading that is under way."""
        if self._flight is not None:
            self._flight.cancel()

    async def _warm_up(self) -> None:
        """Let the provider do slow work such as imports, which doesn't count against its time limit."""
        # where it matters, the list fails as well and is reported
        with FailuresLogged(logger, "warming %r up failed", self.name, level=logging.DEBUG):
            await self.provider.warm_up()
        self._is_warm = True

    async def _join(self, context: Context) -> bool:
        """Wait for the reading that is under way, or for a new one; return True if it has ended."""
        with self._lock:
            flight = last = self._flight
            if flight is None or not flight.is_under_way:
                flight = self._flight = Flight(self._read(context), seconds=self._timeout)
            # A reading that ended with its loop (asyncio.run, say) would do so each time if nobody waited.
            must_wait = self._is_unknown() or (last is not None and last.was_cut_off)
        if must_wait:
            return await flight.wait(None)
        if flight is last and flight.outlasted_patience:
            return False
        landed = await flight.wait(PATIENCE_SECONDS)
        flight.outlasted_patience = not landed
        return landed

    async def _read(self, context: Context, *, strict: bool = False) -> tuple[ComponentT, ...]:
        serial = next(self._serials)
        began = self._clock()
        version: Hashable | None = None
        try:
            version = self._version()
            listed = await within(self._ask(context, strict=strict), self._timeout)
        except BaseException as exc:  # foreign code: one dead provider never takes the rest down
            if is_no_failure(exc):
                raise
            is_mistake = isinstance(exc, ToolSearchError) and not isinstance(exc, ProviderError)
            if strict and (self.static or is_mistake):
                raise
            self._report(exc, version, took_seconds=self._clock() - began)
            return self.listed if version is not None else ()
        self._keep(listed, version, serial)
        return listed

    async def _ask(self, context: Context, *, strict: bool) -> tuple[ComponentT, ...]:
        if strict and self.kind is Tool:
            await self.provider.check_tools(context)
        listed = await components_of(self.provider, context, kind=kind_of(self.kind), make=self._make)
        return _checked(listed, self.kind, self.name)

    def _keep(self, listed: tuple[ComponentT, ...], version: Hashable | None, serial: int) -> None:
        with self._lock:
            self._error = None
            self._failures.succeed(self._what)
            self._hold_off.end()
            self._last_read = self._held_at = self._clock()
            self._count = len(listed)
            last = self._last
            if serial < last.serial:
                return  # it began before what is known
            self._is_expired = False
            if version is not None and last.version is not None and are_same(listed, last.listed):
                listed, serial = last.listed, last.serial  # so that nothing is worked out again
            kept = () if version is None else listed
            self._last = _Reading(version=version, listed=kept, serial=serial)

    def _version(self) -> Hashable | None:
        if self._bounded and self.kind is not Tool:
            return None  # a catalog's mark covers its tools only, and it keeps its lists itself
        return self.provider.version()

    def _failure(self) -> str | None:
        try:
            failure = self.provider.failure()
        except Exception as exc:  # noqa: BLE001 - foreign code
            failure = f"{type(exc).__name__}: {_text(exc)}"
        return None if failure is None else foreign_line(str(failure), limit=_LONGEST_ERROR)

    def _is_unknown(self) -> bool:
        """Whether the provider has neither answered nor failed so far."""
        return self._last_read is None and self._error is None

    def _is_too_old(self) -> bool:
        limit = self._limits.max_stale_seconds
        if limit is None or self._holds or self._held_at is None or not self.is_shared:
            return False
        return self._clock() - self._held_at > limit

    def _report(self, exc: BaseException, version: Hashable | None, *, took_seconds: float) -> None:
        # A list by request may fail for that request alone, so the next request asks again, unless this
        # one had to wait.
        if version is not None or self.is_shared or isinstance(exc, TimeoutError):
            # The current mark: if the failure itself changed it, that is not a sign of life.
            self._hold_off.begin(took_seconds=took_seconds, mark=self.version())
        self._error = foreign_line(f"{type(exc).__name__}: {_text(exc)}", limit=_LONGEST_ERROR)
        self._failures.fail(self._what, self._error, exc)


def labels_of(providers: Sequence[Provider]) -> list[str]:
    """Return labels that distinguish a catalog's providers: their names, the second `static` as `static#2`.

    Providers that only hold tools given directly have an empty label.
    """
    counts: Counter[str] = Counter()
    labels = []
    for provider in providers:
        if provider.direct:
            labels.append(GIVEN_DIRECTLY)
            continue
        name = provider.label
        counts[name] += 1
        labels.append(name if counts[name] == 1 else f"{name}#{counts[name]}")
    return labels


def _text(exc: BaseException) -> str:
    # without the seconds until the next try, which a status has apart
    reason: str = getattr(exc, "reason", "") if isinstance(exc, ProviderError) else ""
    try:
        return reason or str(exc)
    except Exception:  # noqa: BLE001 - foreign code
        return "(its text can't be had)"


async def read_stale(
    sources: Iterable[Source[Tool]], context: Context, *, strict: bool
) -> dict[Source[Tool], tuple[Tool, ...]]:
    """Read the sources that are due or, if `strict`, not read since their mark changed; return the lists."""
    stale = [source for source in sources if source.is_due() or (strict and not source.is_current())]
    # Static lists are read one by one, without waiting, so that a construction needs no event loop.
    fresh = {source: await source.read(context, strict=strict) for source in stale if source.static}
    waiting = [source for source in stale if not source.static]
    if len(waiting) == 1:
        fresh[waiting[0]] = await waiting[0].read(context, strict=strict)
    elif waiting:
        reads = await asyncio.gather(*(source.read(context, strict=strict) for source in waiting))
        fresh.update(zip(waiting, reads, strict=True))
    return fresh


def _checked(listed: object, kind: type[ComponentT], name: str) -> tuple[ComponentT, ...]:
    if not isinstance(listed, list | tuple) or not all(isinstance(item, kind) for item in listed):
        raise ConfigurationError(
            f"the provider {name!r} must list {kind.__name__}s, found {listed!r:.120}: return a list of "
            f"{kind.__name__} objects"
        )
    return tuple(listed)

"""How long a provider may take, and when it is asked again after a failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from tool_search_processor.wire.checks import check_callable, check_positive

PATIENCE_SECONDS = 0.5
"""How long a request waits for a reading when it can go on without: with the last good list, or with what
the others list while a provider is down. The reading goes on meanwhile, and a later request gets it."""

_FIRST_HOLD_OFF_SECONDS = 1.0
_LONGEST_HOLD_OFF_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderLimits:
    """How long a catalog waits for its providers; see `Catalog` for each option."""

    timeout_seconds: float | None = 30.0
    max_stale_seconds: float | None = None
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        """Refuse what can't work.

        Raises:
            ConfigurationError: Says what was found.
        """
        check_positive("provider_timeout_seconds", self.timeout_seconds, optional=True)
        check_positive("max_stale_seconds", self.max_stale_seconds, optional=True)
        check_callable("clock", self.clock, "() -> seconds")


class HoldOff:
    """The time during which a failed provider is not asked again.

    One second after the first failure, twice as long after each further one, at most a minute; and never
    shorter than the failure itself took, so that a dead server costs at most half of the time. A provider
    whose change mark has moved since is alive again, and is asked at once.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start without a failure."""
        self._clock = clock
        self._failures = 0
        self._span = (0.0, 0.0)
        self._mark: Hashable | None = None

    def begin(self, *, took_seconds: float, mark: Hashable | None) -> None:
        """Count a failure.

        Args:
            took_seconds: How long it took to fail.
            mark: The provider's change mark then.
        """
        self._failures += 1
        # 2 ** 6 is beyond the longest, and a float overflows at 2 ** 1024
        backoff = _FIRST_HOLD_OFF_SECONDS * 2 ** min(self._failures - 1, 6)
        now = self._clock()
        self._span = (now, now + max(min(backoff, _LONGEST_HOLD_OFF_SECONDS), took_seconds))
        self._mark = mark

    def end(self) -> None:
        """Forget the failures: the provider has answered."""
        self._failures = 0
        self._span = (0.0, 0.0)

    def is_on(self, mark: Hashable | None) -> bool:
        """Return True if the provider, whose change mark is now `mark`, must not be asked yet."""
        begun, over = self._span
        # after a clock is set back, this would otherwise hold for just as long
        return bool(self._failures) and begun <= self._clock() < over and mark == self._mark

    def left_seconds(self) -> float | None:
        """Return for how many seconds it still holds; None if it doesn't."""
        left = self._span[1] - self._clock()
        return left if self._failures and left > 0 else None

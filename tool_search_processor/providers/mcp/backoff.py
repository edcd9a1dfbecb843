"""How long a server that could not be reached is left alone."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 30.0
_JITTER = 0.25
_MOST_DOUBLINGS = 16  # beyond the longest; a float overflows at 2 ** 1024


@dataclass(slots=True, kw_only=True)
class Backoff:
    """Half a second after the first failure, twice as long after each further one, at most 30 seconds.

    Each time is made up to a quarter shorter or longer by chance, so that many clients of one server don't
    come back at the same moment.
    """

    clock: Callable[[], float] = time.monotonic
    """Returns the time in seconds."""
    chance: Callable[[], float] = random.random
    """Returns a number from 0 (the shortest time) to 1 (the longest)."""
    _failures: int = field(default=0, init=False)
    _until: float = field(default=0.0, init=False)

    def fail(self) -> float:
        """Count a failure, and return the seconds until the next try."""
        doublings = min(self._failures, _MOST_DOUBLINGS)
        self._failures += 1
        seconds = min(math.ldexp(FIRST_SECONDS, doublings), LONGEST_SECONDS)
        seconds *= 1 - _JITTER + 2 * _JITTER * self.chance()
        self._until = self.clock() + seconds
        return seconds

    def succeed(self) -> None:
        """Forget the failures."""
        self._failures = 0
        self._until = 0.0

    def remaining(self) -> float:
        """Return the seconds until the next try; 0 if it may be made at once."""
        return max(0.0, self._until - self.clock()) if self._failures else 0.0

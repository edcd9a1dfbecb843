"""What is logged when a provider fails: one warning per outage, however often it is asked."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

from tool_search_processor.errors import ToolSearchError

logger = logging.getLogger(__name__)

_MOST_CAUSES = 8
_NUMBER = re.compile(r"\d+")


class FailureLog:
    """Logs the failures of one provider, whatever it fails to list.

    A server that is down fails to list its tools, its resources, their templates and its prompts, at each
    retry again. The first failure is a warning, and so is one for another cause; the rest is for debugging.
    """

    def __init__(self, name: str) -> None:
        """Begin without failures of the provider with this name."""
        self._name = name
        self._told: Mapping[str, tuple[str, ...]] = {}
        """The last causes since a success, by what could not be listed; replaced, as threads share it."""

    def fail(self, what: str, error: str, exc: BaseException) -> None:
        """Log that a list could not be read.

        Args:
            what: What the list holds, in the plural.
            error: The cause in words.
            exc: What was raised.
        """
        # process ids, ports and times differ from one try to the next
        cause = _NUMBER.sub("0", error)
        is_new = all(cause not in causes for causes in self._told.values())
        level = logging.WARNING if is_new else logging.DEBUG
        others = (one for one in self._told.get(what, ()) if one != cause)
        self._told = {**self._told, what: (*others, cause)[-_MOST_CAUSES:]}
        # A provider's own errors explain themselves; a traceback would only hide the text.
        is_told = isinstance(exc, ToolSearchError) and not logger.isEnabledFor(logging.DEBUG)
        logger.log(
            level,
            "the provider %r failed to list its %s: %s",
            self._name,
            what,
            error,
            exc_info=None if is_told else exc,
        )

    def succeed(self, what: str) -> None:
        """Note that a list was read: if it fails again, even for the same cause, that is logged as new."""
        told = self._told
        over = told.get(what, ())
        self._told = {key: tuple(one for one in causes if one not in over) for key, causes in told.items()}

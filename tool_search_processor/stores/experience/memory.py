"""Experience in this process."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from cachetools import LRUCache

from tool_search_processor.concurrency.closing import AsyncClosing
from tool_search_processor.wire.checks import check_count


class MemoryExperienceStore(AsyncClosing):
    """Keeps experience in this process, until it ends.

    ```python
    search = ToolSearchProcessor([create_issue], experience=Experience(MemoryExperienceStore()))
    ```
    """

    def __init__(self, *, max_scopes: int = 1000) -> None:
        """Make an empty store.

        Args:
            max_scopes: The most scopes to keep; the least recently used goes first.

        Raises:
            ConfigurationError: If `max_scopes` is not a whole number above 0.
        """
        check_count("max_scopes", max_scopes)
        self._scopes: LRUCache[str, tuple[int, dict[str, str]]] = LRUCache(max_scopes)
        self._changes = 0
        self._lock = threading.Lock()

    async def read(self, scope: str) -> Mapping[str, str]:
        """Return the text of each tool of a scope."""
        with self._lock:
            return dict(self._scopes.get(scope, (0, {}))[1])

    async def version(self, scope: str) -> object:
        """Return the number of the scope's last change."""
        with self._lock:
            return self._scopes.get(scope, (0, {}))[0]

    async def swap(self, scope: str, tool: str, old: str | None, new: str | None) -> bool:
        """Replace the text of a tool if it is still `old`; see `ExperienceStore.swap`."""
        with self._lock:
            texts = self._scopes.get(scope, (0, {}))[1]
            if texts.get(tool) != old:
                return False
            if new is None:
                texts.pop(tool, None)
            else:
                texts[tool] = new
            self._changes += 1
            self._scopes[scope] = self._changes, texts
            return True

    async def scopes(self) -> Sequence[str]:
        """Return all scopes."""
        with self._lock:
            return tuple(scope for scope, (_, texts) in self._scopes.items() if texts)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

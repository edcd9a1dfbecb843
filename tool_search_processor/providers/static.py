"""A list of tools that may change while the catalog runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from tool_search_processor.providers.functions import refuse_duplicates, to_tools
from tool_search_processor.providers.provider import Context, Provider
from tool_search_processor.tools import Tool


class StaticProvider(Provider):
    """Holds a list of tools; safe to change from any thread.

    ```python
    provider = StaticProvider([create_issue])
    search = ToolSearchProcessor([provider])
    provider.add(list_issues)  # found from the next search on
    provider.remove("create_issue")
    [hit.name for hit in await search.search("issue")]  # -> ['list_issues']
    ```
    """

    static = True

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]] | Mapping[str, Tool | Callable[..., Any]] = (),
        *,
        name: str = "static",
    ) -> None:
        """Provide these tools.

        Args:
            tools: Tools and plain functions, or a mapping: a key names a function, and is an alias of a
                tool.
            name: What status reports and errors call this provider.

        Raises:
            DuplicateToolError: When two of them have one name.
        """
        self.name = name
        self._tools = to_tools(tools, origin=name)
        self._version = 0
        self._lock = threading.Lock()
        refuse_duplicates(self._tools, origin=name)

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return the tools, the same for every request."""
        return self._tools

    def version(self) -> Hashable:
        """Return the number of changes so far."""
        return self._version

    def add(self, *tools: Tool | Callable[..., Any]) -> None:
        """Add tools at the end.

        Raises:
            DuplicateToolError: When a name is taken; then none is added.
        """
        more = to_tools(tools, origin=self.name)
        with self._lock:
            both = self._tools + more
            refuse_duplicates(both, origin=self.name)
            self._tools = both
            self._version += 1

    def remove(self, *names: str) -> None:
        """Remove tools; names that aren't there are ignored."""
        with self._lock:
            gone = set(names)
            self._tools = tuple(tool for tool in self._tools if gone.isdisjoint((tool.name, *tool.aliases)))
            self._version += 1

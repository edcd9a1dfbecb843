"""What is asked of an object that users supply as a provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from tool_search_processor.tools import Tool


@runtime_checkable
class ToolProvider(Protocol):
    """A source of tools.

    ```python
    class Plugins:
        def list_tools(self, context: Mapping[str, Any]) -> list[Tool]:
            return [tool(create_issue)]

    search = ToolSearchProcessor([Plugins()])
    ```

    This one method is enough, and it may be a plain `def`. Whatever else `Provider` has (a name, a change
    mark, resources, prompts, closing) may be there as well; what isn't has the default of `Provider`.
    """

    async def list_tools(self, context: Mapping[str, Any]) -> Sequence[Tool]:
        """Return the tools for a request, in a stable order."""
        ...

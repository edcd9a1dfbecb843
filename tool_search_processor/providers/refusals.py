"""Tools that are listed but not served, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedTool:
    """A tool that is not served: its name is taken or reserved, or its definition can't be used.

    ```python
    class Plugins:
        def list_tools(self, context: Mapping[str, Any]) -> list[Tool]:
            return []

        def refused_tools(self) -> list[RefusedTool]:
            return [RefusedTool(name="bad", provider="plugins", reason="its schema can't be read")]

    catalog = Catalog([Plugins()])
    [refused.name for refused in catalog.status().refused]  # -> ['bad']
    ```
    """

    name: str
    provider: str
    reason: str

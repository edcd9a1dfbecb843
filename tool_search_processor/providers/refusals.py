"""Tools that are offered in vain: what isn't served, and why."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from tool_search_processor.concurrency.foreign_calls import is_no_failure

logger = logging.getLogger(__name__)


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


def tools_refused_by(provider: object) -> Sequence[RefusedTool]:
    """Return the tools that a provider left out of the list it gave last; none where it does not tell."""
    refused = getattr(provider, "refused_tools", None)
    if not callable(refused):
        return ()
    try:
        return tuple(tool for tool in refused() if isinstance(tool, RefusedTool))
    except BaseException as exc:  # foreign code: a status never fails
        if is_no_failure(exc):
            raise
        logger.warning("%r can't tell which tools it left out", provider, exc_info=exc)
        return ()

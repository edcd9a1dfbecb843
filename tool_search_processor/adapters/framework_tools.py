"""Converts a framework's tools into tools of this package, each once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.session.foreign_tools import ForeignTool

logger = logging.getLogger(__name__)

_Original = TypeVar("_Original")

MAX_KEPT = 20_000
"""The most tools to keep; beyond it, those that the last call did not ask for are dropped."""


class FrameworkTools(Generic[_Original]):
    """Makes a `ForeignTool` for each of a framework's tools, and keeps it while it is still asked for.

    ```python
    own = FrameworkTools(from_their_tool)
    step_tools = own.of(their_tools)
    ```

    Tools are known by the identity of their object: a tool that is made again at each step would be indexed
    again at each step. A framework that changes a tool must bring another object for it. Safe to use from any
    number of threads.
    """

    def __init__(self, make: Callable[[_Original], ForeignTool]) -> None:
        """Set the function that converts a tool.

        Args:
            make: Returns the tool, with the object as its `original`. If it raises `InvalidToolError`, the
                object is left out, with a warning.
        """
        self._make = make
        # A kept tool holds its object, so no other object can get the same id meanwhile.
        self._kept: dict[int, tuple[_Original, ForeignTool | None]] = {}

    def of(self, originals: Iterable[_Original]) -> list[ForeignTool]:
        """Return the tools of these objects, in their order, without those that can't be tools."""
        objects = list(originals)
        found = [self._tool(original) for original in objects]
        if len(self._kept) > MAX_KEPT:
            self._kept = {
                id(original): (original, tool) for original, tool in zip(objects, found, strict=True)
            }
        return [tool for tool in found if tool is not None]

    def _tool(self, original: _Original) -> ForeignTool | None:
        kept = self._kept.get(id(original))
        if kept is None:
            kept = self._kept[id(original)] = (original, self._made(original))
        return kept[1]

    def _made(self, original: _Original) -> ForeignTool | None:
        try:
            return self._make(original)
        except InvalidToolError as exc:
            logger.warning("a tool of the framework can't be found by search, and is not listed: %s", exc)
            return None

"""Converts a framework's tools into tools of this package, each once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.session.foreign_tools import ForeignTool

logger = logging.getLogger(__name__)

_Original = TypeVar("_Original")
_Kept = tuple[object, ForeignTool | None]
"""What a tool was made from, and the tool. The object is held: no other can get its id meanwhile."""

MAX_KEPT = 20_000
"""The most tools to keep; beyond it, those that the last call did not ask for are dropped."""


class FrameworkTools(Generic[_Original]):
    """Makes a `ForeignTool` for each of a framework's tools, and keeps it while it is still asked for.

    ```python
    own = FrameworkTools(from_their_tool)
    step_tools = own.of(their_tools)
    ```

    Tools are known by the identity of their object, or by name and content where a framework makes its
    objects again at each step: a tool that is made again would be indexed again. A framework that changes a
    tool must bring another object for it. Safe to use from any number of threads.
    """

    def __init__(
        self,
        make: Callable[[_Original], ForeignTool],
        *,
        content: Callable[[_Original], tuple[str, object]] | None = None,
    ) -> None:
        """Set the function that converts a tool.

        Args:
            make: Returns the tool, with the object as its `original`. If it raises `InvalidToolError`, the
                object is left out, with a warning.
            content: Returns a tool's name and its content: the object that was seen first stands for all
                equal ones. None knows tools by identity.
        """
        self._make = make
        self._content = content or _identity
        self._kept: dict[Hashable, _Kept] = {}

    def of(self, originals: Iterable[_Original]) -> list[ForeignTool]:
        """Return the tools of these objects, in their order, without those that can't be tools."""
        found = dict(map(self._keep, originals))
        if len(self._kept) > MAX_KEPT:
            self._kept = found
        return [tool for _, tool in found.values() if tool is not None]

    def _keep(self, original: _Original) -> tuple[Hashable, _Kept]:
        key, content = self._content(original)
        kept = self._kept.get(key)
        if kept is None or (kept[0] is not content and kept[0] != content):
            kept = self._kept[key] = (content, self._made(original))
        return key, kept

    def _made(self, original: _Original) -> ForeignTool | None:
        try:
            return self._make(original)
        except InvalidToolError as exc:
            logger.warning("a tool of the framework can't be found by search, and is not listed: %s", exc)
            return None


def _identity(original: object) -> tuple[int, object]:
    return id(original), original

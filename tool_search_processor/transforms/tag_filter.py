"""Keeps the tools that have certain tags."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.transform import GetToolNext, Transform, agrees_with_list
from tool_search_processor.wire.checks import as_strings, check_choice


class TagFilter(Transform):
    """Keeps the tools with any (or all) of the tags, and none of the excluded ones; the rest is gone.

    ```python
    TagFilter({"read"})                            # with this tag
    TagFilter({"read", "public"}, mode="all")      # with both
    TagFilter(exclude={"admin"})                   # all but these
    ```

    Applies to tools only: resources and prompts of MCP servers have no tags.
    """

    def __init__(
        self,
        tags: Collection[str] | None = None,
        *,
        mode: Literal["any", "all"] = "any",
        exclude: Collection[str] = (),
    ) -> None:
        """Set which tags a tool must have, and must not have.

        Args:
            tags: What a tool needs; None asks for nothing. No tool meets an empty set, in either mode: a
                selection that came out empty must not open everything.
            mode: Whether one of the tags is enough, or all are needed.
            exclude: A tool with any of these is left out, whatever other tags it has.

        Raises:
            ConfigurationError: Neither tags nor exclude is given, or one is a single string.
        """
        check_choice("mode", mode, ("any", "all"))
        self.tags = None if tags is None else as_strings("tags", tags)
        self.exclude = as_strings("exclude", exclude)
        self.mode = mode
        if self.tags is None and not self.exclude:
            raise ConfigurationError("a TagFilter needs tags or exclude: otherwise it would filter nothing")

    def __repr__(self) -> str:
        """Return the call that makes it."""
        tags = None if self.tags is None else sorted(self.tags)
        return f"TagFilter({tags!r}, mode={self.mode!r}, exclude={sorted(self.exclude)!r})"

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Return the tools that pass, in the same order."""
        return [tool for tool in tools if self._passes(tool)]

    @agrees_with_list
    async def get_tool(self, name: str, call_next: GetToolNext) -> Tool | None:
        """Return the tool as it is below, if it passes."""
        tool = await call_next(name)
        return tool if tool is not None and self._passes(tool) else None

    def _passes(self, tool: Tool) -> bool:
        if tool.tags & self.exclude:
            return False
        if self.tags is None:
            return True
        if self.mode == "any":
            return bool(tool.tags & self.tags)
        return bool(self.tags) and self.tags <= tool.tags

"""What a client is listed: everything that isn't on demand, or the two meta-tools alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.functions import to_tool
from tool_search_processor.tools import Tool

Mode = Literal["normal", "discovery"]
"""`normal`: tools are listed, unless they are on demand; `discovery`: only the meta-tools are."""

MODES: tuple[Mode, ...] = ("normal", "discovery")
MODE_HEADER = "X-MCP-Tool-Mode"
MODE_PARAMETER = "tool_mode"

_ON_DEMAND = "on_demand"


class UnknownModeError(ValueError):
    """A request asks for a mode that there isn't."""


def mode_of(headers: Mapping[str, str], query: Mapping[str, str], *, default: Mode) -> Mode:
    """Return the mode a request asks for: its header, else its query parameter, else the default.

    It is a mode's name, in upper or lower case; a blank one asks for nothing.

    Raises:
        UnknownModeError: For another.
    """
    for place, asked in (
        (MODE_HEADER, headers.get(MODE_HEADER)),
        (MODE_PARAMETER, query.get(MODE_PARAMETER)),
    ):
        mode = (asked or "").strip().lower()
        if mode in MODES:
            return mode
        if mode:
            raise UnknownModeError(f"{place} is one of {', '.join(map(repr, MODES))}, found {asked!r:.60}")
    return default


def check_mode(mode: object) -> Mode:
    """Return a mode.

    Raises:
        ConfigurationError: For something else.
    """
    if mode not in MODES:
        raise ConfigurationError(f"mode is one of {', '.join(map(repr, MODES))}, found {mode!r}")
    return mode


def on_demand(tool: Any, *keywords: str) -> Tool:
    """Return a tool that `normal` mode does not list: it is found by search, and callable by name.

    ```python
    server = ToolServer([list_issues, on_demand(create_issue, "bug", "ticket")])
    ```

    Hiding is no access control: whoever knows the name can call it, unless the filter says no.

    Args:
        tool: A tool, or a function.
        keywords: More words to find it by, which no client is sent.
    """
    made = to_tool(tool, origin="on_demand")
    return made.replace(keywords=(*made.keywords, *keywords), metadata={**made.metadata, _ON_DEMAND: True})


def is_on_demand(tool: Tool) -> bool:
    """Tell whether `normal` mode leaves a tool out of its list."""
    return tool.metadata.get(_ON_DEMAND) is True

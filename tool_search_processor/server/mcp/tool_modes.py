"""Decides what a client is listed: everything that isn't on demand, or only the two meta-tools."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, cast

from tool_search_processor.concurrency.foreign_calls import FailuresLogged, awaited
from tool_search_processor.concurrency.once import Once
from tool_search_processor.providers.functions import to_tool
from tool_search_processor.providers.provider import Context
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import check_choice

logger = logging.getLogger(__name__)

Mode = Literal["normal", "discovery"]
"""`normal`: tools are listed, unless they are on demand; `discovery`: only the meta-tools are."""

ModeFor = Callable[[Context], Any | Awaitable[Any]]
"""`(context) -> mode` of one request, sync or async; None leaves what its client asked for."""

MODES: tuple[Mode, ...] = ("normal", "discovery")
MODE_HEADER = "X-MCP-Tool-Mode"
MODE_PARAMETER = "tool_mode"

_FORCE = "force"
_FORCED: Mapping[str, Mode] = {_FORCE: "discovery", **{f"{_FORCE}-{mode}": mode for mode in MODES}}
_LONGEST = 60
_ON_DEMAND = "on_demand"


def mode_of(headers: Mapping[str, str], query: Mapping[str, str], *, default: Mode, warned: Once) -> Mode:
    """Return the mode a request asks for: its header, else its query parameter, else the default.

    It is a mode's name, in upper or lower case; a blank one asks for nothing. An unknown one counts as the
    default, with a warning for each value, so that a client that is a version ahead is still served.
    """
    place, asked = _asked(headers, query)
    if asked in MODES:
        return asked
    if asked and asked not in _FORCED and warned.is_new((place, asked)):
        logger.warning("%s is %r, which is not a mode: %r is taken", place, asked, default)
    return default


def forced_mode(headers: Mapping[str, str], query: Mapping[str, str]) -> Mode | None:
    """Return the mode that a request forces for itself only, regardless of its session; or None.

    It is forced by `force` (discovery), `force-discovery` or `force-normal` in the place of a mode's name.
    """
    return _FORCED.get(_asked(headers, query)[1])


def _asked(headers: Mapping[str, str], query: Mapping[str, str]) -> tuple[str, str]:
    for place, given in (
        (MODE_HEADER, headers.get(MODE_HEADER)),
        (MODE_PARAMETER, query.get(MODE_PARAMETER)),
    ):
        if asked := (given or "").strip().lower():
            return place, asked[:_LONGEST]
    return MODE_HEADER, ""


async def mode_by_code(mode_for: ModeFor, context: Context, *, default: Mode) -> Mode:
    """Return the mode that the server's own code chooses for a request; the default where it fails."""
    with FailuresLogged(logger, "mode_for failed for a request: %r is taken", default):
        chosen = await awaited(mode_for(context))
        return default if chosen is None else check_mode(chosen)
    return default


def check_mode(mode: object) -> Mode:
    """Return a mode.

    Raises:
        ConfigurationError: For something else.
    """
    check_choice("mode", mode, MODES)
    return cast("Mode", mode)


def on_demand(tool: Any, *keywords: str) -> Tool:
    """Return a tool that `normal` mode does not list: it is found by search, and callable by name.

    ```python
    server = ToolServer([list_issues, on_demand(create_issue, "bug", "ticket")])
    ```

    Hiding is not access control: any client that knows the name can call it, unless the filter denies it.

    Args:
        tool: A tool, or a function.
        keywords: More words to find it by, which no client is sent.
    """
    made = to_tool(tool, origin="on_demand")
    return made.replace(keywords=(*made.keywords, *keywords), metadata={**made.metadata, _ON_DEMAND: True})


def is_on_demand(tool: Tool) -> bool:
    """Return True if `normal` mode leaves the tool out of its list."""
    return tool.metadata.get(_ON_DEMAND) is True

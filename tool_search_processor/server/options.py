"""Options that the command line's help shows: importing this module loads no server."""

from __future__ import annotations

from typing import Literal

ResultFormat = Literal["json", "markdown", "mcp"]
"""How a search's answer reads; see `ToolServer`."""

MAX_CONNECTIONS = 900
"""Below the 1,024 files that most systems let a process open."""

MAX_SESSIONS = 2_000
"""Each that has listed tools holds 57 KB, nearly all of it the SDK's."""

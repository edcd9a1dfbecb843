"""The SDK of the protocol: whether it is installed, and its import, which takes seconds on a busy machine."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util


def check_installed() -> None:
    """Refuse to go on without the SDK, which isn't imported here.

    Raises:
        ImportError: Says what to install.
    """
    if importlib.util.find_spec("mcp") is None:
        raise ImportError('MCPProvider needs the mcp SDK: pip install "tool-search-processor[mcp]"')


async def load_sdk() -> None:
    """Import the SDK outside of every event loop; at once where that has been done."""
    await asyncio.to_thread(importlib.import_module, "mcp")

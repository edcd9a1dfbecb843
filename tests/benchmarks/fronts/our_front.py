"""This package's front over a file of tools; a tool tells the process's CPU time."""

import asyncio
import json
import sys
import time
from pathlib import Path

from tool_search_processor import Tool
from tool_search_processor.server.mcp import ToolServer


def cpu_seconds() -> str:
    """Tell the CPU time of this process."""
    return str(time.process_time())


tools = [
    Tool(**given, execute=lambda **arguments: arguments)
    for given in json.loads(Path(sys.argv[1]).read_text())
]
server = ToolServer([cpu_seconds, *tools], mode="discovery")
asyncio.run(server.run_http(port=0, ready=lambda url: print(url, flush=True), requests_per_second=None))

"""FastMCP with its BM25 search transform over a file of tools; a tool tells the process's CPU time."""

import json
import socket
import sys
import time
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools import Tool


def cpu_seconds() -> str:
    """Tell the CPU time of this process."""
    return str(time.process_time())


server = FastMCP("bench")
for given in json.loads(Path(sys.argv[1]).read_text()):
    server.add_tool(Tool(**given))
server.add_tool(Tool.from_function(cpu_seconds))
server.add_transform(BM25SearchTransform(max_results=5, always_visible=["cpu_seconds"]))
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
print(f"http://127.0.0.1:{port}/mcp", flush=True)
server.run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="error")

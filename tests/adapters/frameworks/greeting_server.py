"""An MCP server on stdio with two tools, for tests of adapters."""

from mcp.server import MCPServer

server = MCPServer("greeting")


@server.tool()
def greet(name: str) -> str:
    """Greet a person."""
    return f"hello {name}"


@server.tool()
def wipe(path: str) -> str:
    """Wipe a path."""
    return f"wiped {path}"


if __name__ == "__main__":
    server.run()

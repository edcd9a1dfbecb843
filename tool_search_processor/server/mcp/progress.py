"""Progress of a server upstream, passed on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tool_search_processor.providers.mcp.settings import MCPProgress


def forward_progress(progress: MCPProgress) -> None:
    """Pass an upstream server's progress on to this server's client: `MCPProvider(on_progress=...)`.

    ```python
    git = MCPProvider.stdio("uvx", ["mcp-server-git"], on_progress=forward_progress)
    server = ToolServer([git])
    ```
    """
    report = progress.context.context.get("report_progress")
    if report is not None:
        report(progress.progress, progress.total, progress.message)

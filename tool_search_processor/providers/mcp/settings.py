"""The options of a provider of MCP tools: limits and hooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from tool_search_processor.concurrency.foreign_calls import takes_one
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.wire.checks import (
    check_callable,
    check_count,
    check_flags,
    check_positive,
    check_string,
    refuse,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MCPProgress:
    """How far a call has come, as reported by its server.

    ```python
    def show(progress: MCPProgress) -> None:
        print(progress.tool_name, progress.progress, progress.total, progress.message)

    git = MCPProvider.stdio("uvx", ["mcp-server-git"], on_progress=show)
    ```
    """

    tool_name: str
    """The server's own name for the tool."""
    progress: float
    """Grows from one report to the next; its unit is the server's."""
    total: float | None
    """What `progress` ends at; None if the server doesn't know."""
    message: str | None
    context: ToolContext
    """The call: its thread, its run, its id, and the request's own data."""


CALL_TIMEOUT_SECONDS = 60.0

Approval = bool | Callable[[Tool], bool]


class MCPOptions(TypedDict, total=False):
    """What every constructor of `MCPProvider` takes; see its `__init__`."""

    connect_timeout_seconds: float
    list_timeout_seconds: float
    call_timeout_seconds: float | None
    progress_extends_timeout: bool
    on_progress: Callable[[MCPProgress], object] | None
    max_tools: int
    max_result_characters: int | None
    requires_approval: Approval
    resources_as_tools: bool
    prompts_as_tools: bool
    sampling: Callable[..., Any] | None
    elicitation: Callable[..., Any] | None
    list_roots: Callable[..., Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of one provider, checked."""

    name: str
    connect_timeout_seconds: float = 60.0
    list_timeout_seconds: float = 30.0
    call_timeout_seconds: float | None = CALL_TIMEOUT_SECONDS
    progress_extends_timeout: bool = False
    on_progress: Callable[[MCPProgress], object] | None = None
    max_tools: int = 10_000
    max_result_characters: int | None = 100_000
    requires_approval: Approval = False
    resources_as_tools: bool = False
    prompts_as_tools: bool = False
    sampling: Callable[..., Any] | None = None
    elicitation: Callable[..., Any] | None = None
    list_roots: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what can't work.

        Raises:
            ConfigurationError: Says which option, and what was found.
        """
        check_string("name", self.name)
        check_positive("connect_timeout_seconds", self.connect_timeout_seconds)
        check_positive("list_timeout_seconds", self.list_timeout_seconds)
        check_positive("call_timeout_seconds", self.call_timeout_seconds, optional=True)
        check_count("max_tools", self.max_tools)
        check_count("max_result_characters", self.max_result_characters, optional=True)
        check_flags(
            progress_extends_timeout=self.progress_extends_timeout,
            resources_as_tools=self.resources_as_tools,
            prompts_as_tools=self.prompts_as_tools,
        )
        check_callable("on_progress", self.on_progress, "(progress)", optional=True)
        check_callable("sampling", self.sampling, "(context, params)", optional=True)
        check_callable("elicitation", self.elicitation, "(context, params)", optional=True)
        check_callable("list_roots", self.list_roots, "(context)", optional=True)
        approval = self.requires_approval
        if not isinstance(approval, bool) and not (callable(approval) and takes_one(approval)):
            refuse("requires_approval", "True, False or a function (tool) -> bool", approval)

    def needs_approval(self, tool: Tool) -> bool:
        """Return True if a person has to agree before this tool runs."""
        rule = self.requires_approval
        return bool(rule(tool)) if callable(rule) else rule


def is_destructive(tool: Tool) -> bool:
    """Return True if a tool may destroy something, according to the hints of its server.

    ```python
    is_destructive(Tool("list_files", annotations={"readOnlyHint": True}))  # -> False
    is_destructive(Tool("unknown"))  # -> True
    ```

    By the protocol's defaults, a tool without hints may: only `readOnlyHint: true` or
    `destructiveHint: false` says otherwise. Hints are the server's word: trust them as you trust the server.
    """
    hints = tool.annotations
    return hints.get("readOnlyHint") is not True and hints.get("destructiveHint") is not False

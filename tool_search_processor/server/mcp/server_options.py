"""A front's options, checked as a whole before anything is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypedDict, get_args

from tool_search_processor.catalog.experience import Experience
from tool_search_processor.catalog.policy_view import PolicyOptions
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.meta_tools import MetaToolNames
from tool_search_processor.search.strategies import IndexCache
from tool_search_processor.server.mcp.middleware import Middleware
from tool_search_processor.server.mcp.request_providers import ProvidersFor
from tool_search_processor.server.mcp.sessions import SignedIds
from tool_search_processor.server.mcp.tool_modes import Mode, ModeFor, check_mode
from tool_search_processor.server.options import ResultFormat
from tool_search_processor.transforms.transform import Transform
from tool_search_processor.wire.checks import (
    check_callable,
    check_choice,
    check_count,
    check_flags,
    check_positive,
)

MAX_LIMIT = 100
"""The most results of one answer."""


class ToolServerOptions(TypedDict, total=False):
    """The options that a `Gateway` passes on to its `ToolServer`; they are explained there."""

    mode_for: ModeFor | None
    search_tool_name: str
    call_tool_name: str
    index_cache: IndexCache | None
    top_k: int
    result_format: ResultFormat
    search_when_empty: bool
    always_visible: str | Iterable[str]
    filter_timeout_seconds: float | None
    mask_error_details: bool
    transforms: Iterable[Transform]
    middleware: Iterable[Middleware]
    providers_for: ProvidersFor | None
    keep_sessions: bool
    session_ttl_seconds: float
    max_sessions: int
    experience: Experience | None
    session_secret: str | bytes | None
    instructions: str | None
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontOptions(PolicyOptions):
    """What a front was asked to do; see `ToolServer` for each option's meaning."""

    names: MetaToolNames
    mode: Mode
    mode_for: ModeFor | None
    top_k: int
    result_format: ResultFormat
    search_when_empty: bool
    always_visible: tuple[str, ...]
    mask_error_details: bool
    keep_sessions: bool
    session_ttl_seconds: float
    max_sessions: int
    signed_ids: SignedIds | None

    @property
    def has_table(self) -> bool:
        """Whether HTTP clients get sessions that this process keeps."""
        return self.keep_sessions and self.signed_ids is None

    def __post_init__(self) -> None:
        """Refuse what can't work.

        Raises:
            ConfigurationError: Says what was found and what to do.
        """
        check_mode(self.mode)
        check_callable("mode_for", self.mode_for, "(context) -> mode", optional=True)
        check_choice("result_format", self.result_format, get_args(ResultFormat))
        check_count("top_k", self.top_k, most=MAX_LIMIT)
        check_positive("session_ttl_seconds", self.session_ttl_seconds, finite=True)
        check_count("max_sessions", self.max_sessions)
        check_flags(
            search_when_empty=self.search_when_empty,
            mask_error_details=self.mask_error_details,
            keep_sessions=self.keep_sessions,
        )
        if self.signed_ids is not None and not self.keep_sessions:
            raise ConfigurationError("session_secret signs sessions: leave keep_sessions as it is")
        PolicyOptions.__post_init__(self)

"""The filter hook: who may find, load and use which tool."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tool_search_processor.concurrency.foreign_calls import takes_one
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.wire.checks import check_callable, check_positive

Phase = Literal["search", "load", "active"]
"""`search`: may it be found; `load`: may it be made callable; `active`: may it be used right now."""

# Generators, async generators, futures of threads.
_UNFINISHED = ("send", "asend", "add_done_callback")


@dataclass(frozen=True, slots=True)
class FilterRequest:
    """What a filter hook is asked: may this tool take part in this phase of this request?

    ```python
    def for_pro(request: FilterRequest) -> bool:
        return request.phase == "search" or request.context.get("plan") == "pro"

    search = ToolSearchProcessor([create_issue], filter=for_pro)
    (await search.load("create_issue", thread_id="t-42"))["loaded"]  # -> []
    ```

    `phase` is "search" (may it be found), "load" (may it be made callable) or "active" (may it be listed
    and called right now); `context` is what `Agent.run` or the session was given.
    """

    tool_name: str
    tool: Tool
    """Read-only: its dicts and lists refuse changes."""
    context: Mapping[str, Any]
    """The request's own data, as a read-only view."""
    phase: Phase
    thread_id: str | None = None


Filter = Callable[[FilterRequest], bool | Awaitable[bool]]
"""Decides who may find, load and use a tool. Only `True` admits (numpy's, too).

If a filter denies a tool in every phase, the words, lists, suggestions and shapes of all answers are the same
as for a tool that does not exist. Three things still depend on it, so a caller who can compare many answers
may learn that *something* is hidden, and which words it has:

- Scores. How much a word says, which words are known, and so which misspelt one is corrected to which, depend
  on the whole catalog: a score, the order of two close hits, or whether a rare word finds anything at all.
- Time. Ranking looks at denied tools as well, and asks the filter about each until enough are admitted.
  Calls of one reply run at the same time, so the order of two loads may depend on it.
- Names. If two catalog tools would have one name, the earlier one keeps it, denied or not.

Where that is too much, give each group of callers a catalog of its own: tools that a function of the context
returns are ranked and named within their request.

A tool that only some phases deny shows in the others: if `load` admits it and `active` denies it, it can be
named and loaded, but is neither listed nor run. `Usage.definition_tokens_full`, which is
meant for the operator, counts every tool.
"""


def require_filter(given: object, *, timeout_seconds: object = None) -> None:
    """Raise if a filter can't be asked or a time limit is not above 0; None means no filter or no limit.

    Raises:
        ConfigurationError: If the filter is not a function of one request, or the limit not above 0.
    """
    check_positive("filter_timeout_seconds", timeout_seconds, optional=True)
    check_callable("filter", given, "(request) -> bool", optional=True)
    if callable(given) and not takes_one(given):
        raise ConfigurationError(
            f"filter is a function (request) -> bool, and {given!r:.80} does not take one argument: "
            "a request has `tool_name`, `tool`, `context`, `phase` and `thread_id`"
        )


class NoVerdictError(TypeError):
    """A filter's answer is not a verdict."""


def as_verdict(answer: object) -> bool:
    """Return an answer as a verdict.

    Raises:
        NoVerdictError: If it is not a bool. `"no"`, `(False, "why")` and `Decision.DENY` are all truthy, so
            the truth value of anything else says nothing.
    """
    if isinstance(answer, bool):
        return answer
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(answer, numpy.bool_):
        return bool(answer)
    if inspect.isawaitable(answer) or any(hasattr(answer, name) for name in _UNFINISHED):
        let_go(answer)
    hint = ": a `return` may be missing" if answer is None else ""
    kind = None if answer is None else type(answer).__name__
    raise NoVerdictError(f"it answered with {kind!r}, and only True admits{hint}")


def let_go(verdict: object) -> None:
    """Close or cancel an awaitable that nobody will await."""
    end = getattr(verdict, "close", None) or getattr(verdict, "cancel", None)
    if callable(end):
        end()

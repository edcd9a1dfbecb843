"""Spans of OpenTelemetry where its API is installed, nothing where it isn't.

A span never holds a query, arguments, a result or the text of an error: those are the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry import trace

Attributes = Mapping[str, str | int | float]

QUERIES = "tool_search.queries"
QUERY_LENGTH = "tool_search.query.length"
"""In characters; of several queries, all together."""
HITS = "tool_search.hits"
TOP_SCORE = "tool_search.top_score"
REQUESTED = "tool_search.requested"
LOADED = "tool_search.loaded"


@dataclass(frozen=True, slots=True)
class Span:
    """A span under way."""

    set: Callable[[Attributes], None] = lambda attributes: None
    """Adds attributes as they become known."""


_NOTHING = Span()


@contextmanager
def span(name: str, attributes: Attributes) -> Iterator[Span]:
    """Record a block as a child of the current span; an exception is recorded by its type only."""
    tracer = _tracer()
    if tracer is None:
        yield _NOTHING
        return
    with tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as inner:
        try:
            yield Span(inner.set_attributes)
        except BaseException as exc:
            from opentelemetry.trace import StatusCode

            inner.set_attribute("error.type", type(exc).__qualname__)
            inner.set_status(StatusCode.ERROR)
            raise


def search_attributes(queries: Sequence[str]) -> dict[str, str | int | float]:
    """Return the attributes of a search: how many queries it has, and how long they are."""
    return {QUERIES: len(queries), QUERY_LENGTH: sum(map(len, queries))}


def call_attributes(name: str) -> Attributes:
    """Return the attributes of a tool's call, by OpenTelemetry's conventions for generative AI."""
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "function"}


def _tracer() -> trace.Tracer | None:
    """Return the tracer, or None if the spans would lead nowhere: making them takes ten microseconds."""
    api = _api()
    if api is None or isinstance(api.get_tracer_provider(), api.ProxyTracerProvider):
        return None
    return _made_tracer(api)


@cache
def _api() -> ModuleType | None:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace


@cache
def _made_tracer(api: ModuleType) -> trace.Tracer:
    made: trace.Tracer = api.get_tracer("tool_search_processor")
    return made

"""Figures of the searches, in Prometheus' text format."""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from starlette.requests import Request
from starlette.responses import Response

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_HITS = (0, 1, 2, 5, 10, 20, 50, 100)
_SCORES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class ServerMetrics:
    """Counts the searches and calls of one application; it keeps no query, argument or tool's name."""

    def __init__(self) -> None:
        """Start at nothing."""
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        by_mode = partial(Histogram, labelnames=["mode"], registry=self._registry)
        self._searches = counter(
            "tool_search_searches", "Searches, by mode and outcome.", ["mode", "outcome"]
        )
        self._seconds = by_mode("tool_search_seconds", "How long searches took.", buckets=_SECONDS)
        self._hits = by_mode("tool_search_hits", "How many tools a search gave.", buckets=_HITS)
        self._top_score = by_mode(
            "tool_search_top_score", "How well the first tool fitted, 0 to 1.", buckets=_SCORES
        )
        self._calls = counter("tool_search_calls", "Calls of tools over MCP, by outcome.", ["outcome"])

    def found(self, mode: str, *, seconds: float, hits: int, top_score: float) -> None:
        """Count an answered search; a search without hits has no top score."""
        self._searches.labels(mode, "ok").inc()
        self._seconds.labels(mode).observe(seconds)
        self._hits.labels(mode).observe(hits)
        if hits:
            self._top_score.labels(mode).observe(top_score)

    def failed(self, mode: str) -> None:
        """Count a search that was not answered."""
        self._searches.labels(mode, "failed").inc()

    def called(self, *, failed: bool) -> None:
        """Count a call of a tool that was answered."""
        self._calls.labels("failed" if failed else "ok").inc()

    # Why not prometheus_client's ASGI app: it has to be mounted, and answers on every path below its own.
    async def show(self, _: Request) -> Response:
        """Show the figures."""
        return Response(generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE})

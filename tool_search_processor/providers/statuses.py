"""HTTP statuses in words."""

from __future__ import annotations

from http.client import responses as PHRASES  # noqa: N812 - a constant of another module


def status_text(code: int) -> str:
    """Return a status with its standard phrase: a server's own phrase could say anything."""
    return f"HTTP {code} {PHRASES.get(code, '')}".strip()

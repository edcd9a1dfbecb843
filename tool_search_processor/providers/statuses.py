"""Statuses of HTTP in words."""

from __future__ import annotations

from http.client import responses as PHRASES  # noqa: N812 - a constant of another module


def status_text(code: int) -> str:
    """Return a status with the phrase that the standard has for it: the server's own could say anything."""
    return f"HTTP {code} {PHRASES.get(code, '')}".strip()

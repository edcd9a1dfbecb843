"""Call ids that every provider accepts."""

from __future__ import annotations

import hashlib
import re

_FIT = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_fit(name: object) -> bool:
    """Return True for a call's id, or a tool's name, that Anthropic and OpenAI accept."""
    return isinstance(name, str) and _FIT.fullmatch(name) is not None


def fit_id(call_id: str) -> str:
    """Return a call's id as it is, or a made one if Anthropic or OpenAI would refuse it.

    Equal ids give equal ones: a call and its result still match.
    """
    if is_fit(call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode()).hexdigest()[:24]}"

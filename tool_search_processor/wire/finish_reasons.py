"""What providers' finish reasons say about the calls in an answer."""

from __future__ import annotations

_TOO_LONG = frozenset(
    {
        "compaction", "continuation", "incomplete", "length", "max_completion_tokens", "max_output_tokens",
        "max_tokens", "model_context_window_exceeded", "model_length",
    }
)  # fmt: skip
_BROKEN_OFF = frozenset(
    {
        "abort", "aborted", "cancelled", "error", "insufficient_system_resource", "network_error",
        "pause_turn",
    }
)  # fmt: skip
_FILTERED = frozenset(
    {
        "blocklist", "content_filter", "content_filtered", "guardrail_intervened", "prohibited_content",
        "recitation", "refusal", "safety", "sensitive", "spii",
    }
)  # fmt: skip


def is_too_long(reason: object) -> bool:
    """Return True if an answer was cut off at a limit of its length."""
    return _word(reason) in _TOO_LONG


def is_filtered(reason: object) -> bool:
    """Return True if an answer was stopped, or refused, for what it says."""
    return _word(reason) in _FILTERED


def is_cut(reason: object) -> bool:
    """Return True if an answer is incomplete for another reason than what it says."""
    return is_too_long(reason) or _word(reason) in _BROKEN_OFF


def _word(reason: object) -> str:
    return reason.casefold() if isinstance(reason, str) else ""

"""Translates a model's settings from chat shape to another API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.wire.plain import copied

_OF_LITELLM = frozenset(
    {
        "api_key", "api_base", "base_url", "timeout", "num_retries", "max_retries", "extra_headers",
        "headers", "drop_params", "caching", "ttl", "litellm_metadata", "user", "metadata",
        "temperature", "top_p",
    }
)  # fmt: skip
"""Settings that all of LiteLLM's functions take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireSettings:
    """The settings that an API takes, and their names there."""

    known: frozenset[str]
    """In addition to what all of LiteLLM's functions take."""
    renamed: Mapping[str, str] = field(default_factory=dict)

    def unknown(self, settings: Mapping[str, Any]) -> list[str]:
        """Return the settings that can't be sent to the API."""
        taken = {"tool_choice", *_OF_LITELLM, *self.known, *self.renamed}
        return [name for name, value in settings.items() if name not in taken and value is not None]

    def sent(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings by the API's names."""
        return {self.renamed.get(name, name): copied(value) for name, value in settings.items()}

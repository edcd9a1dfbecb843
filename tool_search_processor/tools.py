"""A tool: its definition, and what runs when it is called."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool may know of the run that calls it."""

    thread_id: str | None = None
    run_id: str = ""
    tool_call_id: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tool:
    """A tool's definition, and what runs when it is called."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    execute: Callable[..., Any] | None = None
    namespace: str | None = None
    tags: frozenset[str] = frozenset()
    keywords: tuple[str, ...] = ()
    pinned: bool = False
    requires_approval: bool = False
    tool_type: str = "custom"
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def replace(self, **changes: Any) -> Tool:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of everything but `execute`."""
        data = [self.name, self.description, self.parameters, self.namespace, sorted(self.tags), self.keywords]
        return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()

    def to_openai(self) -> dict[str, Any]:
        """Return the definition in OpenAI chat shape."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.parameters},
        }

    async def target(
        self, arguments: Mapping[str, Any], context: ToolContext | None = None
    ) -> tuple[Tool, Mapping[str, Any]]:
        """Return what a call of this tool really runs: itself, unless it is a proxy."""
        return self, arguments

    async def call(self, arguments: Mapping[str, Any], context: ToolContext | None = None) -> Any:
        """Run the tool."""
        assert self.execute is not None
        result = self.execute(**arguments)
        return await result if inspect.isawaitable(result) else result

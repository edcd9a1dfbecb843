"""The searcher of these examples: 80 tools, of which billing is kept for those who pay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tool_search_processor import FilterRequest, Tool, ToolSearchProcessor

SERVICES = ("github", "jira", "slack", "drive", "billing")
VERBS = ("create", "list", "update", "delete")
NOUNS = ("issue", "message", "file", "invoice")
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

QUESTION = "Bill three chairs"
SEARCH: dict[str, Any] = {"query": "create an invoice in billing"}
CALL: dict[str, Any] = {"name": "billing_create_invoice", "arguments": {"text": "three chairs"}}
"""What the scripted models of these examples call the search function and the call function with."""


def tools() -> Iterator[Tool]:
    """Yield a tool for each verb and noun of each service."""
    for service in SERVICES:
        for verb in VERBS:
            for noun in NOUNS:
                name, about = f"{service}_{verb}_{noun}", f"{verb.title()} a {noun} in {service}."
                yield Tool(name, about, TEXT, lambda text, name=name: f"{name}: {text}")


def policy(request: FilterRequest) -> bool:
    """Keep billing for those who pay."""
    return request.context["plan"] == "pro" or "billing" not in request.tool_name


def searcher() -> ToolSearchProcessor:
    """Return a searcher over these tools, under this policy."""
    return ToolSearchProcessor(list(tools()), filter=policy)

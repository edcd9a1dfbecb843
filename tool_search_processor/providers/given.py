"""The providers in what a user passed as tools: lists, mappings, functions, providers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TypeAlias, TypeGuard

from tool_search_processor.providers.callable import CallableProvider, ToolsFunction
from tool_search_processor.providers.functions import as_list, refuse_class
from tool_search_processor.providers.provider import Provider, ToolProvider, adapt
from tool_search_processor.providers.static import StaticProvider
from tool_search_processor.tools import Tool

ToolSource: TypeAlias = Iterable[object] | Mapping[str, object] | ToolProvider | ToolsFunction
"""What a user passes as tools: a list, a mapping, a provider, or a function `(context) -> tools`.

Items are `object`, since a type checker takes a list of tools, functions and providers for one of objects.
"""


def as_providers(source: object) -> list[Provider]:
    """Return the providers in what a user passed as the tools of a catalog.

    Args:
        source: A list of providers, tools and functions, mixed freely; a mapping of names to tools or
            functions; a single provider; or one function `(context) -> tools`.

    Raises:
        ConfigurationError: When something in it can't give tools.
    """
    if isinstance(source, Mapping):
        return [_given(source)]
    if is_provider(source):
        return [adapt(source)]
    refuse_class(source, origin="tools")
    if callable(source) and not isinstance(source, Tool):
        return [CallableProvider(source)]
    return _group(as_list(source, origin="tools", items="tools, functions and providers"))


def is_provider(value: object) -> TypeGuard[ToolProvider]:
    """Return True if a value can list tools."""
    return not isinstance(value, type | Tool) and callable(getattr(value, "list_tools", None))


def _given(tools: Iterable[object] | Mapping[str, object]) -> StaticProvider:
    provider = StaticProvider(tools, name="tools")  # type: ignore[arg-type]  # which it looks at
    provider.direct = True
    return provider


def _group(items: list[object]) -> list[Provider]:
    """Gather neighbouring tools and functions into one provider each."""
    providers: list[Provider] = []
    for are_providers, neighbours in groupby(items, key=is_provider):
        if are_providers:
            providers += [adapt(item) for item in neighbours if is_provider(item)]
        else:
            providers.append(_given(tuple(neighbours)))
    return providers

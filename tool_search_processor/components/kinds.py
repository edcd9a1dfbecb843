"""What a gateway passes on besides tools: resources, resource templates and prompts, as MCP has them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.wire.plain import clean_text, visible_text

_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
"""One expression of a URI template: its operator, and its variables (RFC 6570, section 2.2)."""

Complete = Callable[[str, str, Mapping[str, str]], Any | Awaitable[Any]]
"""Takes an argument's name, what was typed so far, and the known arguments. Returns the possible values, best
first, or MCP's `Completion`; at once or awaited."""

_SPANNING = frozenset("+#/")
"""Operators whose value may hold slashes; every other value ends at one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Text or binary content that a server offers under one URI."""

    uri: str
    name: str = ""
    """For programs and people; the URI where nothing is given."""
    title: str | None = None
    description: str = ""
    mime_type: str | None = None
    namespace: str | None = None
    """A label for the server it comes from."""
    tags: frozenset[str] = frozenset()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[], Any | Awaitable[Any]] | None = field(default=None, compare=False)
    """Returns the content, at once or awaited; None where this is a definition only."""

    def __post_init__(self) -> None:
        """Freeze the collections, and name the resource by its URI where it has no name."""
        _require_text(self, "uri")
        _show(self, "uri", "name", "title", "description")
        _default_name(self, self.uri)
        _freeze(self)

    def replace(self, **changes: Any) -> Resource:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTemplate:
    """A family of resources, one for each URI that a template matches."""

    uri_template: str
    """A URI template of RFC 6570, such as `repo://{owner}/{name}`."""
    name: str = ""
    """For programs and people; the template where nothing is given."""
    title: str | None = None
    description: str = ""
    mime_type: str | None = None
    namespace: str | None = None
    """A label for the server it comes from."""
    tags: frozenset[str] = frozenset()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[str], Any | Awaitable[Any]] | None = field(default=None, compare=False)
    """Takes the whole URI asked for and returns its content, at once or awaited."""
    complete: Complete | None = field(default=None, compare=False)
    """Helps people to fill in the template's variables."""

    def __post_init__(self) -> None:
        """Freeze the collections, and name the template by its text where it has no name."""
        _require_text(self, "uri_template")
        _show(self, "uri_template", "name", "title", "description")
        _default_name(self, self.uri_template)
        _freeze(self)

    def replace(self, **changes: Any) -> ResourceTemplate:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    def matches(self, uri: str) -> bool:
        """Return whether the template can make this URI.

        The time is at most proportional to the product of the two lengths, whatever the template: both
        come from outside, and a regular expression with many wildcards would let either stall a server.
        """
        if not uri.startswith(self.uri_template.partition("{")[0]):
            return False
        tokens = list(_template_tokens(self.uri_template))
        states = _closure({0}, tokens)
        for character in uri:
            states = _closure(set(_after(character, states, tokens)), tokens)
            if not states:
                return False
        return len(tokens) in states


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """One value that a prompt is filled with."""

    name: str
    title: str | None = None
    description: str = ""
    required: bool = False

    def __post_init__(self) -> None:
        """Remove invisible characters from the texts."""
        _show(self, "title", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A template that a server offers to people, who fill in its arguments."""

    name: str
    title: str | None = None
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()
    namespace: str | None = None
    """A label for the server it comes from."""
    tags: frozenset[str] = frozenset()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    render: Callable[[Mapping[str, str]], Any | Awaitable[Any]] | None = field(default=None, compare=False)
    """Takes the arguments and returns the prompt's messages, at once or awaited."""
    complete: Complete | None = field(default=None, compare=False)
    """Helps people to fill in the arguments."""

    def __post_init__(self) -> None:
        """Freeze the collections."""
        _require_text(self, "name")
        _show(self, "name", "title", "description")
        object.__setattr__(self, "arguments", tuple(self.arguments))
        _freeze(self)

    def replace(self, **changes: Any) -> Prompt:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


def _require_text(component: object, attribute: str) -> None:
    value = getattr(component, attribute)
    if not isinstance(value, str) or not value:
        raise ConfigurationError(
            f"{type(component).__name__}.{attribute} is a string of at least one character, found {value!r}"
        )


def _show(component: object, *attributes: str) -> None:
    """Remove what a reader doesn't see: the texts come from a server and go on to a model."""
    for attribute in attributes:
        text = getattr(component, attribute)
        if isinstance(text, str) and not (text.isascii() and text.isprintable()):
            object.__setattr__(component, attribute, visible_text(clean_text(text)))


def _default_name(component: Resource | ResourceTemplate, name: str) -> None:
    if not component.name:
        object.__setattr__(component, "name", name)


def _freeze(component: Resource | ResourceTemplate | Prompt) -> None:
    """Copy what the caller could still change."""
    tags: object = component.tags
    if isinstance(tags, str):
        raise ConfigurationError(
            f"tags are a set of strings, found the single string {tags!r}: write {{{tags!r}}}"
        )
    object.__setattr__(component, "tags", frozenset(component.tags))
    for attribute in ("annotations", "metadata"):
        object.__setattr__(component, attribute, MappingProxyType(dict(getattr(component, attribute))))


def _template_tokens(template: str) -> Iterator[tuple[str, str]]:
    """Yield what a URI is read against: ("text", one character) or a wildcard.

    "value" stands for characters up to a slash, "span" for any; ("query", "?") for an optional query
    with "rest" for what follows its first character.
    """
    position = 0
    for match in _EXPRESSION.finditer(template):
        yield from (("text", character) for character in template[position : match.start()])
        operator, variables = match.groups()
        if operator in ("?", "&"):
            yield from (("query", operator), ("rest", ""))
        else:
            yield ("span" if operator in _SPANNING or "*" in variables else "value", "")
        position = match.end()
    yield from (("text", character) for character in template[position:])


def _closure(states: set[int], tokens: list[tuple[str, str]]) -> set[int]:
    """Add the states that are reached without reading a character."""
    waiting = list(states)
    while waiting:
        state = waiting.pop()
        kind = tokens[state][0] if state < len(tokens) else "end"
        step = {"query": 2, "rest": 1}.get(kind, 0)
        if state + step not in states:
            states.add(state + step)
            waiting.append(state + step)
    return states


def _after(character: str, states: set[int], tokens: list[tuple[str, str]]) -> Iterator[int]:
    """Yield the states that reading one character leads to."""
    for state in states:
        kind, text = tokens[state] if state < len(tokens) else ("end", "")
        if kind in ("text", "query"):
            if text == character:
                yield state + 1
        elif kind == "rest":
            yield state
        elif kind == "span" or (kind == "value" and character not in "/?#"):
            yield state
            yield state + 1

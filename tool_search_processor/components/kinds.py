"""What a gateway passes on besides tools: resources, resource templates and prompts, as MCP has them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools.patterns import matches
from tool_search_processor.wire.plain import clean_text, visible_text

_TEMPLATE_PART = re.compile(r"\{([+#./;?&]?)([^{}]*)\}|.", re.DOTALL)
"""An expression of a URI template: its operator and its variables (RFC 6570, section 2.2); or a character."""

Complete = Callable[[str, str, Mapping[str, str]], Any | Awaitable[Any]]
"""Takes an argument's name, what was typed so far, and the known arguments. Returns the possible values, best
first, or MCP's `Completion`; at once or awaited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Component:
    """What all of them have; each class names the field that identifies it."""

    name: str = ""
    """For programs and people; by default, what identifies it."""
    title: str | None = None
    description: str = ""
    namespace: str | None = None
    """A label for the server it comes from."""
    tags: frozenset[str] = frozenset()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    _key: ClassVar[str] = "name"

    def __post_init__(self) -> None:
        """Freeze the collections; without a name, what identifies it becomes its name."""
        key = getattr(self, self._key)
        if not isinstance(key, str) or not key:
            raise ConfigurationError(
                f"{type(self).__name__}.{self._key} is a string of at least one character, found {key!r}"
            )
        _show(self, self._key, "name", "title", "description")
        tags: object = self.tags
        if isinstance(tags, str):
            raise ConfigurationError(
                f"tags are a set of strings, found the single string {tags!r}: write {{{tags!r}}}"
            )
        frozen = {
            "name": self.name or getattr(self, self._key),
            "tags": frozenset(self.tags),
            "annotations": MappingProxyType(dict(self.annotations)),
            "metadata": MappingProxyType(dict(self.metadata)),
        }
        for attribute, value in frozen.items():
            object.__setattr__(self, attribute, value)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource(_Component):
    """Text or binary content that a server offers under one URI."""

    uri: str
    mime_type: str | None = None
    read: Callable[[], Any | Awaitable[Any]] | None = field(default=None, compare=False)
    """Returns the content, at once or awaited; None where this is a definition only."""

    _key: ClassVar[str] = "uri"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceTemplate(_Component):
    """A family of resources, one for each URI that a template matches."""

    uri_template: str
    """A URI template of RFC 6570, such as `repo://{owner}/{name}`."""
    mime_type: str | None = None
    read: Callable[[str], Any | Awaitable[Any]] | None = field(default=None, compare=False)
    """Takes the whole URI asked for and returns its content, at once or awaited."""
    complete: Complete | None = field(default=None, compare=False)
    """Helps people to fill in the template's variables."""

    _key: ClassVar[str] = "uri_template"

    def matches(self, uri: str) -> bool:
        """Return True if the template can make this URI.

        The time is at most proportional to the product of the two lengths, whatever the template: both
        come from outside, and a backtracking expression with many wildcards would let either stall a server.
        """
        if not uri.startswith(self.uri_template.partition("{")[0]):
            return False
        pattern = _TEMPLATE_PART.sub(_pattern_of, self.uri_template)
        return bool(matches(rf"(?s)\A{pattern}\z", uri))


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
class Prompt(_Component):
    """A template that a server offers to people, who fill in its arguments."""

    name: str
    arguments: tuple[PromptArgument, ...] = ()
    render: Callable[[Mapping[str, str]], Any | Awaitable[Any]] | None = field(default=None, compare=False)
    """Takes the arguments and returns the prompt's messages, at once or awaited."""
    complete: Complete | None = field(default=None, compare=False)
    """Helps people to fill in the arguments."""

    def __post_init__(self) -> None:
        """Freeze the collections."""
        _Component.__post_init__(self)
        object.__setattr__(self, "arguments", tuple(self.arguments))


def _show(component: object, *attributes: str) -> None:
    """Remove what a reader doesn't see: the texts come from a server and go on to a model."""
    for attribute in attributes:
        text = getattr(component, attribute)
        if isinstance(text, str) and not (text.isascii() and text.isprintable()):
            object.__setattr__(component, attribute, visible_text(clean_text(text)))


def _pattern_of(part: re.Match[str]) -> str:
    """Return the regular expression of what a character or an expression of a URI template makes."""
    operator, variables = part.groups()
    if variables is None:
        return re.escape(part[0])
    if operator in ("?", "&"):
        return rf"(?:\{operator}.*)?"
    is_spanning = operator in ("+", "#", "/") or "*" in variables  # every other value ends at a slash
    return ".+" if is_spanning else "[^/?#]+"

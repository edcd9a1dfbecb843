"""Reads a `tool_choice` in the shape of any provider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.steps import InputStep
from tool_search_processor.wire.plain import field_of, items_of

_FORCING = frozenset(("required", "any"))
_MODES = ("auto", "none", "required", "any")
_OWN_KINDS = (None, "function", "tool", "custom")
_SHOWN_NAMES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChoice:
    """What a `tool_choice` says."""

    names: tuple[str, ...] = ()
    """The tools that it names, in order."""
    is_forced: bool = False
    """Whether the model has to call a tool."""
    is_none: bool = False
    """Whether the model must not call a tool."""

    def forbids(self, name: str) -> bool:
        """Return True for a tool that is not among several that are allowed.

        Not every provider can be told of several, and not every model keeps to them. A single forced name is
        left to the provider.
        """
        return (len(self.names) > 1 or not self.is_forced) and bool(self.names) and name not in self.names


def read_tool_choice(value: Any) -> ToolChoice:
    """Read a `tool_choice` of OpenAI's chat or Responses API, Anthropic, Bedrock or Gemini.

    An unknown choice, such as a tool that a provider hosts, forces none of our tools.
    """
    if value is None:
        return ToolChoice()
    if isinstance(value, str):
        return _of_mode(value)
    gemini = field_of(value, "function_calling_config") or field_of(value, "functionCallingConfig")
    if gemini is not None:
        names = field_of(gemini, "allowed_function_names") or field_of(gemini, "allowedFunctionNames")
        texts = tuple(name for name in items_of(names) if isinstance(name, str))
        return replace(_of_mode(field_of(gemini, "mode")), names=texts)
    if field_of(value, "type") == "allowed_tools":
        allowed = field_of(value, "allowed_tools") or value
        found = (name for tool in items_of(field_of(allowed, "tools")) for name in _names(tool))
        return replace(_of_mode(field_of(allowed, "mode")), names=tuple(found))
    kind = field_of(value, "type") or next((m for m in _MODES if field_of(value, m) is not None), None)
    if kind in _MODES:  # Anthropic's {"type": "any"}, Bedrock's {"any": {}}
        return _of_mode(kind)
    return ToolChoice(names=tuple(_names(value)), is_forced=True)


def check_tool_choice(step: InputStep) -> None:
    """Refuse a `tool_choice` that names a tool which the step does not list, as providers would.

    Raises:
        ConfigurationError: Names the tool and what the step lists.
    """
    listed = [tool.name for tool in step.tools]
    for name in read_tool_choice(step.tool_choice).names:
        if name not in listed:
            shown = ", ".join(listed[:_SHOWN_NAMES]) or "nothing"
            raise ConfigurationError(
                f"tool_choice names {name!r}, and there is no such tool for this request: name a tool of the "
                f"catalog that the filter admits, or a tool that is listed ({shown})"
            )


def _names(value: Any) -> Iterator[str]:
    """Yield the name in a tool choice, if it is of a kind that we can run."""
    if field_of(value, "type") not in _OWN_KINDS:
        return
    for holder in (*(field_of(value, kind) for kind in _OWN_KINDS[1:]), value):
        name = field_of(holder, "name")
        if isinstance(name, str):
            yield name
            return


def _of_mode(value: Any) -> ToolChoice:
    mode = str(value).casefold()
    # without a mode, nothing is chosen
    return ToolChoice(is_forced=mode in _FORCING, is_none=value is not None and mode == "none")

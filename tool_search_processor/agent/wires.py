"""The APIs by which an agent can call a model: how to make a request for each, and read its answer."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, Protocol, TypeAlias

from tool_search_processor.agent import anthropic_wire, responses_wire
from tool_search_processor.agent.chat_wire import chat_request, reference_request
from tool_search_processor.agent.completions import CHAT_READING, Completion, Reading, litellm_function
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.session.model_call import ModelCall
from tool_search_processor.session.native.models import NATIVES, Native, native_for
from tool_search_processor.session.native.requests import RequestParts
from tool_search_processor.steps import InputStep
from tool_search_processor.wire.checks import check_choice

NativeOption: TypeAlias = Literal["off", "auto", "definition", "reference", "responses"]
"""How an agent declares loaded tools; "auto" follows the table of models and routes."""


class _Render(Protocol):
    def __call__(self, model_call: ModelCall, *, parallel_tool_calls: bool) -> RequestParts: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One API: how a request is made, which function takes it, and how its answer is read."""

    native: Native
    completion: Completion
    render: _Render
    reading: Reading = CHAT_READING
    unsent: Callable[[Mapping[str, Any]], list[str]] = lambda _: []
    """Returns the settings that can't be sent this way."""


_CHAT = Wire(native="off", completion=litellm_function("acompletion"), render=chat_request)
_WIRES: Mapping[Native, Wire] = {
    "off": _CHAT,
    "reference": replace(_CHAT, native="reference", render=reference_request),
    "definition": Wire(
        native="definition",
        completion=anthropic_wire.litellm_messages,
        render=anthropic_wire.messages_request,
        reading=anthropic_wire.READING,
        unsent=anthropic_wire.SETTINGS.unknown,
    ),
    "responses": Wire(
        native="responses",
        completion=litellm_function("aresponses"),
        render=responses_wire.responses_request,
        reading=responses_wire.READING,
        unsent=responses_wire.SETTINGS.unknown,
    ),
}


class Wires:
    """Chooses the wire of each model call of an agent."""

    def __init__(
        self, native: NativeOption, *, completion: Completion | None, settings: Mapping[str, Any]
    ) -> None:
        """Set how an agent calls models.

        Args:
            native: How loaded tools are declared.
            completion: Takes the place of LiteLLM's function of the wire; "auto" is off then, since only its
                owner knows what it takes.
            settings: The agent's, to refuse at once what the wire can't send.

        Raises:
            ConfigurationError: `native` is not one of its values, or a setting can't be sent.
        """
        check_choice("native", native, ("off", "auto", *NATIVES[1:]))
        self._completion = completion
        self._fixed: Native | None = "off" if native == "auto" and completion is not None else None
        if native != "auto":
            self._fixed = native
            unsent = _WIRES[native].unsent(settings)
            if unsent:
                raise ConfigurationError(
                    f"model_settings holds {unsent[0]!r}, which native={native!r} can't send: remove it, or "
                    'set native="off"'
                )

    def wire_of(self, step: InputStep) -> Wire:
        """Return the wire for a step, as the agent made it or as the processors left it."""
        native = self._fixed or _automatic(step.model, step.model_settings)
        wire = _WIRES[native]
        return wire if self._completion is None else replace(wire, completion=self._completion)


def _automatic(model: str | None, settings: Mapping[str, Any]) -> Native:
    native = native_for(model, settings)
    if native == "definition" and not _can_send_definitions():
        native = "reference"
    return "off" if _WIRES[native].unsent(settings) else native


@cache
def _can_send_definitions() -> bool:
    return all(map(importlib.util.find_spec, anthropic_wire.LITELLM_NEEDS))

"""Fits an overlay of arguments to a tool: the new schema, the way back, and what did not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tool_search_processor.tools import Tool
from tool_search_processor.tools.arguments import schema_check
from tool_search_processor.tools.schema_walk import LIST_KEYWORDS, SINGLE_KEYWORDS
from tool_search_processor.transforms import schema_overlay
from tool_search_processor.transforms.argument_overlay import MISSING, ArgTransform, ArgumentMap
from tool_search_processor.transforms.schema_scope import DEPENDENCIES, REMOVED, Overlay

ArgTransforms = Mapping[str, ArgTransform]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentPlan:
    """An overlay of arguments, fitted to one tool."""

    schema: Mapping[str, Any] | None
    """The schema that the model sees; None if no call could fit it."""
    arguments: ArgumentMap
    complaints: tuple[str, ...]
    """Problems of overlays that do not fit the tool; those are not applied."""

    def applied(self) -> Tool | None:
        """Return the changed tool, or None if no call of it could succeed."""
        if self.schema is None:
            return None
        tool, overlay, values = self.arguments.tool, self.arguments.overlay, self.arguments.values
        changes: dict[str, Any] = {"parameters": self.schema}
        loosens = values or any(edit.keys() - {"description"} for edit in overlay.edits.values())
        if loosens and tool.metadata.get("strict") is True:
            # what OpenAI's strict mode allows has neither optional arguments nor defaults
            changes["metadata"] = {**tool.metadata, "strict": False}
        # otherwise the new schema differs only in its descriptions
        rewires = overlay.names or overlay.hidden or overlay.required or values
        if rewires and tool.execute is not None:
            changes["execute"] = self.arguments.call
        return tool.replace(**changes)

    def misfits(self) -> Iterator[str]:
        """Yield the problems of the fixed values; each value is checked."""
        tool = self.arguments.tool
        for name, value in self.arguments.values.items():
            schema = {key: part for key, part in tool.parameters.items() if key not in _NOT_OF_ONE}
            for problem in schema_check(schema)({name: value}).problems:
                yield f"the default of {name!r} does not fit tool {tool.name!r}: {problem.sentence()}"


_NOT_OF_ONE = {"required", *DEPENDENCIES, "minProperties", "maxProperties", *LIST_KEYWORDS, *SINGLE_KEYWORDS}
"""Keywords of the root that say something of several arguments."""


def plan_arguments(tool: Tool, transforms: ArgTransforms) -> ArgumentPlan:
    """Fit an overlay to a tool; what does not fit is left out and complained about."""
    try:
        return _plan(tool, transforms)
    except RecursionError as exc:
        complaint = f"the schema of tool {tool.name!r} is too intricate to change: {exc}"
        return ArgumentPlan(schema=None, arguments=ArgumentMap(tool=tool), complaints=(complaint,))


def _plan(tool: Tool, transforms: ArgTransforms) -> ArgumentPlan:
    declared = schema_overlay.declared_arguments(tool.parameters)
    complaints: list[str] = []
    fitting = dict(_fitting(tool, transforms, declared, complaints))
    values = dict(_values(tool, fitting))
    factories = {
        old: given.default_factory for old, given in fitting.items() if given.default_factory is not None
    }
    hidden = frozenset(old for old, given in fitting.items() if given.hide)
    names = {
        old: given.name
        for old, given in fitting.items()
        if given.name is not None and given.name != old and not given.hide
    }
    overlay = Overlay(
        names=names,
        hidden=hidden,
        filled=frozenset((*values, *factories)),
        fixed={old: value for old, value in values.items() if old in hidden},
        edits={old: edit for old, given in fitting.items() if (edit := _edit(given))},
        required=frozenset(old for old, given in fitting.items() if given.required),
    )
    schema = schema_overlay.overlay_schema(tool.parameters, overlay)
    if schema is None:
        complaints.append(
            f"no call of tool {tool.name!r} could fit its schema without {sorted(hidden - overlay.filled)}: "
            "give each hidden argument that it needs a default or a default_factory"
        )
    return ArgumentPlan(
        schema=schema,
        arguments=ArgumentMap(
            tool=tool,
            overlay=overlay,
            visible=tuple(overlay.name(old) for old in declared if old not in hidden),
            values=values,
            factories=factories,
        ),
        complaints=tuple(complaints),
    )


def _fitting(
    tool: Tool, transforms: ArgTransforms, declared: tuple[str, ...], complaints: list[str]
) -> Iterator[tuple[str, ArgTransform]]:
    """Yield what can be done to the tool as it is; complain about the rest."""
    present = {old: given for old, given in transforms.items() if old in declared}
    for old in transforms:
        if old not in declared:
            known = ", ".join(map(repr, declared)) or "none"
            complaints.append(f"tool {tool.name!r} has no argument {old!r} (it has {known})")
    clashing = _clashing(present, declared)
    for old, given in present.items():
        if old in clashing:
            complaints.append(
                f"argument {old!r} of tool {tool.name!r} cannot be called {given.name!r}: "
                "another argument has that name"
            )
        elif given.required is False and _lacks_value(tool, old, given):
            complaints.append(
                f"argument {old!r} of tool {tool.name!r} is needed by the tool: "
                "to make it optional, give it a default"
            )
        else:
            yield old, given


def _clashing(transforms: ArgTransforms, declared: tuple[str, ...]) -> set[str]:
    """Return the arguments whose new names are taken; a name that is given up is free."""
    clashing: set[str] = set()
    while True:
        names = {old: old for old in declared if not (old in transforms and transforms[old].hide)}
        for old, given in transforms.items():
            if old in names and old not in clashing:
                names[old] = given.name or old
        taken = Counter(names.values())
        found = {old for old, new in names.items() if new != old and taken[new] > 1}
        if not found:
            return clashing
        # undoing one may take the name that another was to get
        clashing |= found


def _lacks_value(tool: Tool, old: str, given: ArgTransform) -> bool:
    is_needed = not given.fills and schema_overlay.is_required(tool.parameters, old)
    return is_needed and schema_overlay.argument_default(tool.parameters, old, MISSING) is MISSING


def _values(tool: Tool, transforms: ArgTransforms) -> Iterator[tuple[str, Any]]:
    """Yield the fixed values; an argument that the tool needs falls back on its schema's own default."""
    for old, given in transforms.items():
        if given.default is not MISSING:
            yield old, given.default
        elif (
            given.default_factory is None
            and (given.hide or given.required is False)
            and schema_overlay.is_required(tool.parameters, old)
        ):
            default = schema_overlay.argument_default(tool.parameters, old, MISSING)
            if default is not MISSING:
                yield old, default


def _edit(given: ArgTransform) -> dict[str, object]:
    """Return the keywords to set on the argument's own schema."""
    edit: dict[str, object] = {}
    if given.description is not None:
        edit["description"] = given.description
    if given.examples is not None:
        edit["examples"] = list(given.examples)
    if given.default is not MISSING:
        edit["default"] = given.default
    elif given.required:
        edit["default"] = REMOVED
    return edit

"""Overlays that give a tool another name, description or arguments."""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from tool_search_processor.concurrency.once import Once
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.fields import COLLECTIONS
from tool_search_processor.tools.tool_names import is_tool_name
from tool_search_processor.tools.wording import near_name
from tool_search_processor.transforms.argument_overlay import ArgTransform
from tool_search_processor.transforms.argument_plan import ArgumentPlan, plan_arguments
from tool_search_processor.transforms.transform import GetToolNext, ToolMemo, Transform, agrees_with_list
from tool_search_processor.wire.checks import check_types

logger = logging.getLogger(__name__)

_TEXT: tuple[type, ...] = (str, type(None))
_FLAG: tuple[type, ...] = (bool, type(None))
_TYPES: Mapping[str, tuple[type, ...]] = {
    "name": _TEXT,
    "description": _TEXT,
    "enabled": (bool,),
    "pinned": _FLAG,
    "requires_approval": _FLAG,
    "arguments": (Mapping,),
}
_CHANGED = ("name", "description", *COLLECTIONS, "pinned", "requires_approval")
"""Options that replace the field of `Tool` of the same name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTransformConfig:
    """Changes to one tool; what is not given stays as it is.

    ```python
    config = ToolTransformConfig(name="file_bug", description="File a bug.", keywords=["ticket"])
    catalog = Catalog([create_issue], transforms=[ToolTransform({"create_issue": config})])
    [tool.name for tool in await catalog.list_tools()]  # -> ['file_bug']
    ```
    """

    name: str | None = None
    """The name that the model sees."""
    description: str | None = None
    tags: Collection[str] | None = None
    """All its tags from now on; an empty set takes every tag away."""
    keywords: Sequence[str] | None = None
    """All its words for search from now on."""
    example_requests: Sequence[str] | None = None
    """All its example requests from now on."""
    enabled: bool = True
    """False takes the tool out."""
    pinned: bool | None = None
    requires_approval: bool | None = None
    arguments: Mapping[str, ArgTransform | Mapping[str, Any]] = field(default_factory=dict)
    """By the names that the tool has at this place of the row."""

    def __post_init__(self) -> None:
        """Refuse what cannot work.

        Raises:
            ConfigurationError: The name is invalid, or two arguments are to get one name.
        """
        check_types("a ToolTransformConfig", {key: getattr(self, key) for key in _TYPES}, _TYPES)
        if self.name is not None and not is_tool_name(self.name):
            raise ConfigurationError(
                f"a tool's name is 1 to 64 letters, digits, '_' or '-', found {self.name!r}"
            )
        for attribute, collect in COLLECTIONS.items():
            if (given := getattr(self, attribute)) is not None:
                object.__setattr__(self, attribute, collect(self.name or "", given))
        arguments = {
            name: _read(ArgTransform, given, place=f"argument {name!r}")
            for name, given in self.arguments.items()
        }
        object.__setattr__(self, "arguments", arguments)
        _refuse_twins(
            "arguments", {old: given.name or old for old, given in arguments.items() if not given.hide}
        )

    def changes(self) -> dict[str, Any]:
        """Return the fields of `Tool` to replace, except the arguments."""
        given = {key: getattr(self, key) for key in _CHANGED}
        return {key: value for key, value in given.items() if value is not None}


class ToolTransform(Transform):
    """Renames and describes tools and their arguments, presets and hides arguments, takes tools out.

    ```python
    ToolTransform({
        "api_verbose_name": ToolTransformConfig(
            name="short",
            arguments={"tenant": ArgTransform(default="acme", hide=True)},
        ),
    })
    ```

    The rest of a tool and of its schema stays as it is. A call comes in with the names that the model
    sees, is checked against the schema that the model sees, and reaches the tool under its own names.

    If a configured tool or argument isn't there, construction raises, provided that the tools are known by
    then (`check`). In a list that changes later this is logged, once, and only what fits is applied. One kind
    of tool is not served at all: a tool that needs a hidden argument for which there is no value. Showing the
    argument instead would let the model set what was meant to be out of its reach.
    Two tools that end up with one name are both listed, for the catalog to refuse the later one.
    """

    def __init__(self, tools: Mapping[str, ToolTransformConfig | Mapping[str, Any]]) -> None:
        """Set the overlays.

        Args:
            tools: By the name that each tool has at this place of the row. A mapping of plain values, as
                a file holds it, is read as a `ToolTransformConfig`.

        Raises:
            ConfigurationError: A key is unknown, a value cannot work, or two tools are to get one name.
        """
        check_types("a ToolTransform", {"tools": tools}, {"tools": (Mapping,)})
        self._configs: dict[str, ToolTransformConfig] = {
            name: _read(ToolTransformConfig, given, place=f"tool {name!r}") for name, given in tools.items()
        }
        targets = {name: config.name or name for name, config in self._configs.items() if config.enabled}
        _refuse_twins("tools", targets)
        self._sources = {target: name for name, target in targets.items()}
        self._memo = ToolMemo()
        self._warned = Once()
        self._is_for_part = False

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"ToolTransform({self._configs!r})"

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Return the changed tools, in the same order; a missing tool is not an error here."""
        changed = self._memo.map(tools, self._changed)
        # an empty list is a provider that is down
        for complaint in self._missing(tools) if tools and not self._is_for_part else ():
            self._warn(complaint)
        return changed

    def for_part(self) -> ToolTransform:
        """Return the same overlays for a part of the tools, which lacks some of the configured ones."""
        part = copy.copy(self)
        part._memo = ToolMemo()  # noqa: SLF001 - a copy of its own class
        part._is_for_part = True  # noqa: SLF001
        return part

    @agrees_with_list
    async def get_tool(self, name: str, call_next: GetToolNext) -> Tool | None:
        """Look the tool up below by its old name, and return it changed."""
        if name not in self._sources and name in self._configs:
            return None  # it has another name now, or is taken out
        tool = await call_next(self._sources.get(name, name))
        return None if tool is None else self._changed(tool)

    def check(self, tools: Sequence[Tool]) -> None:
        """Raise for a configured tool or argument that isn't there, or a default that does not fit.

        Raises:
            ConfigurationError: Names every such fault.
        """
        complaints = [] if self._is_for_part else self._missing(tools)
        for tool in tools:
            config = self._configs.get(tool.name)
            if config is not None and config.enabled:
                plan = _plan(tool, config)
                complaints += [*plan.complaints, *plan.misfits()]
        if complaints:
            raise ConfigurationError("; ".join(complaints))

    def _changed(self, tool: Tool) -> Tool | None:
        config = self._configs.get(tool.name)
        if config is None:
            return tool
        if not config.enabled:
            return None
        if not config.arguments:
            return tool.replace(**config.changes())
        plan = _plan(tool, config)
        for complaint in plan.complaints:
            self._warn(complaint)
        applied = plan.applied()
        return None if applied is None else applied.replace(**config.changes())

    def _missing(self, tools: Sequence[Tool]) -> list[str]:
        names = [tool.name for tool in tools]
        present = frozenset(names)
        return [
            f"there is no tool {name!r} to transform{_near(name, names)}"
            for name in self._configs
            if name not in present
        ]

    def _warn(self, complaint: str) -> None:
        if self._warned.is_new(complaint):
            logger.warning("ToolTransform: %s", complaint)


ConfigT = TypeVar("ConfigT", ToolTransformConfig, ArgTransform)


def _plan(tool: Tool, config: ToolTransformConfig) -> ArgumentPlan:
    return plan_arguments(tool, config.arguments)  # type: ignore[arg-type]  # __post_init__ has read them


def _read(cls: Callable[..., ConfigT], given: object, *, place: str) -> ConfigT:
    """Return `given` as a configuration; a mapping, as a file holds it, is read.

    Raises:
        ConfigurationError: It is something else, or holds an unknown key.
    """
    kind: Any = cls
    if isinstance(given, kind):
        return given  # type: ignore[no-any-return]  # just looked
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"{place} takes {kind.__name__}(...), found {given!r:.80}")
    known = [one.name for one in fields(kind)]
    unknown = [key for key in given if key not in known]
    if unknown:
        raise ConfigurationError(f"{place} has no option {unknown[0]!r}: there are {', '.join(known)}")
    return cls(**given)


def _refuse_twins(what: str, targets: Mapping[str, str]) -> None:
    twins = [target for target, count in Counter(targets.values()).items() if count > 1]
    if twins:
        sources = sorted(name for name, target in targets.items() if target == twins[0])
        raise ConfigurationError(
            f"the {what} {', '.join(map(repr, sources))} would all be called {twins[0]!r}: "
            "give each a name of its own"
        )


def _near(name: str, names: Sequence[str]) -> str:
    near = near_name(name, names)
    return f" (did you mean {near!r}?)" if near is not None else ""

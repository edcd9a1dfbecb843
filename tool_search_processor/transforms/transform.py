"""The base class of transforms, and the kinds of components that they change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool

Component: TypeAlias = Tool | Resource | ResourceTemplate | Prompt
ComponentT = TypeVar("ComponentT", Tool, Resource, ResourceTemplate, Prompt)
Kind = Literal["tool", "resource", "resource_template", "prompt"]
"""Which of the four lists a component belongs to."""

GetNext: TypeAlias = Callable[[str], Awaitable[ComponentT | None]]
"""Looks a component up below the transform, by the name or URI that is known there."""
GetToolNext: TypeAlias = GetNext[Tool]
GetResourceNext: TypeAlias = GetNext[Resource]
GetResourceTemplateNext: TypeAlias = GetNext[ResourceTemplate]
GetPromptNext: TypeAlias = GetNext[Prompt]


class Transform:
    """Changes tools (and resources, templates, prompts) on their way from a provider to the model.

    Override what you need. A list method is a pure function of the list: it leaves what it is given as
    it is, keeps no secret between callers, and equal lists give equal results. A get method is a
    middleware over one lookup: it maps the name asked for to the name below, awaits `call_next`, and
    changes what comes back as the list method would. Most transforms need the list methods only: a
    catalog answers from the transformed list, and where an overridden get method disagrees with it, the
    tool is not given.

    ```python
    class Shout(Transform):
        async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
            return [tool.replace(description=tool.description.upper()) for tool in tools]
    ```
    """

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Return the tools to go on with."""
        return tools

    async def get_tool(self, name: str, call_next: GetToolNext) -> Tool | None:
        """Return the tool of this outer name, or None."""
        return await call_next(name)

    async def list_resources(self, resources: Sequence[Resource]) -> Sequence[Resource]:
        """Return the resources to go on with."""
        return resources

    async def get_resource(self, uri: str, call_next: GetResourceNext) -> Resource | None:
        """Return the resource of this outer URI, or None."""
        return await call_next(uri)

    async def list_resource_templates(
        self, templates: Sequence[ResourceTemplate]
    ) -> Sequence[ResourceTemplate]:
        """Return the resource templates to go on with."""
        return templates

    async def get_resource_template(
        self, uri: str, call_next: GetResourceTemplateNext
    ) -> ResourceTemplate | None:
        """Return the template that matches this outer URI (a template's own text matches too), or None."""
        return await call_next(uri)

    async def list_prompts(self, prompts: Sequence[Prompt]) -> Sequence[Prompt]:
        """Return the prompts to go on with."""
        return prompts

    async def get_prompt(self, name: str, call_next: GetPromptNext) -> Prompt | None:
        """Return the prompt of this outer name, or None."""
        return await call_next(name)

    def check(self, tools: Sequence[Tool]) -> None:
        """Raise if the transform cannot do its work on exactly these tools.

        For lists that are known at construction. `list_tools` itself never raises for it: a list that
        changes later is served as well as it can be, with a warning.

        Raises:
            ConfigurationError: Says what is missing.
        """

    def for_part(self) -> Transform:
        """Return the transform for lists that each hold a part of the tools.

        For transforms that complain about what they don't find, or that remember their last list.
        """
        return self

    def merged_with(self, later: Transform) -> Transform | None:
        """Return one transform that does the work of this one and of the next, or None.

        For transforms that mean something different together than one after the other.
        """
        return None


def as_transforms(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """Return the transforms as a tuple, innermost first.

    Raises:
        ConfigurationError: One of them is not a `Transform`, such as a class that was not called.
    """
    if isinstance(transforms, Transform) or not isinstance(transforms, Iterable):
        raise ConfigurationError(f"transforms are a list, found the single {transforms!r}: put it in a list")
    found = tuple(transforms)
    for transform in found:
        if not isinstance(transform, Transform):
            raise ConfigurationError(
                f"a transform is an instance of a subclass of Transform, found {transform!r}: "
                "create it, as in Namespace('api')"
            )
    return found


class ToolMemo:
    """Remembers what each tool of the last list became, so that one changed tool costs one change.

    Tools are told apart by identity: they are frozen, so the same object is the same tool. Nothing is
    kept of a tool that the latest list does not hold.
    """

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._known: dict[int, tuple[Tool, Tool | None]] = {}

    def map(self, tools: Iterable[Tool], change: Callable[[Tool], Tool | None]) -> list[Tool]:
        """Return the changed tools in order, without those for which `change` returns None."""
        known, latest = self._known, {}
        changed: list[Tool] = []
        for tool in tools:
            # what is kept holds its tool, so no other tool can have the same id
            entry = latest[id(tool)] = known.get(id(tool)) or (tool, change(tool))
            if entry[1] is not None:
                changed.append(entry[1])
        self._known = latest
        return changed


FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def agrees_with_list(method: FunctionT) -> FunctionT:
    """Mark a get method as giving exactly what the list holds, so that a lookup in the list is enough."""
    method.agrees_with_list = True  # type: ignore[attr-defined]  # an attribute of the function object
    return method


def keeps_all(method: FunctionT) -> FunctionT:
    """Mark a list method that hides nothing, so that nobody has to look for hidden components."""
    method.keeps_all = True  # type: ignore[attr-defined]  # an attribute of the function object
    return method


@dataclass(frozen=True, slots=True)
class ComponentKind:
    """One kind of component, and the two methods with which a transform changes it."""

    cls: type
    list_method: Callable[[type[Transform]], Callable[..., Any]]
    """Returns the function that a class of transforms lists this kind with; it takes the transform first."""
    get_method: Callable[[type[Transform]], Callable[..., Any]]
    """Returns the function that a class of transforms looks this kind up with."""

    @property
    def list_name(self) -> str:
        """The name of the list method, for messages."""
        return self.list_method(Transform).__name__

    @property
    def get_name(self) -> str:
        """The name of the get method, for messages."""
        return self.get_method(Transform).__name__


KINDS: Mapping[Kind, ComponentKind] = {
    "tool": ComponentKind(Tool, lambda cls: cls.list_tools, lambda cls: cls.get_tool),
    "resource": ComponentKind(Resource, lambda cls: cls.list_resources, lambda cls: cls.get_resource),
    "resource_template": ComponentKind(
        ResourceTemplate, lambda cls: cls.list_resource_templates, lambda cls: cls.get_resource_template
    ),
    "prompt": ComponentKind(Prompt, lambda cls: cls.list_prompts, lambda cls: cls.get_prompt),
}
_KIND_OF: Mapping[type, Kind] = {kind.cls: name for name, kind in KINDS.items()}


def kind_of(cls: type[ComponentT]) -> Kind:
    """Return the kind whose lists hold this class."""
    return _KIND_OF[cls]


def component_key(component: Component) -> str:
    """Return the key of a component for lookups: a URI, a URI template, or a name."""
    if isinstance(component, Resource):
        return component.uri
    if isinstance(component, ResourceTemplate):
        return component.uri_template
    return component.name

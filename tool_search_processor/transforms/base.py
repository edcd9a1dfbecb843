"""What every transform is, and how a row of them is applied and looked through."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool

logger = logging.getLogger(__name__)

Component: TypeAlias = Tool | Resource | ResourceTemplate | Prompt
ComponentT = TypeVar("ComponentT", Tool, Resource, ResourceTemplate, Prompt)
Kind = Literal["tool", "resource", "resource_template", "prompt"]
"""Which of the four lists; `Transform.list_<kind>s` and `Transform.get_<kind>` are its methods."""

GetToolNext: TypeAlias = Callable[[str], Awaitable[Tool | None]]
"""Looks a tool up below the transform: takes the name as it is known there."""
GetResourceNext: TypeAlias = Callable[[str], Awaitable[Resource | None]]
GetResourceTemplateNext: TypeAlias = Callable[[str], Awaitable[ResourceTemplate | None]]
GetPromptNext: TypeAlias = Callable[[str], Awaitable[Prompt | None]]

_CLASSES: Mapping[Kind, type] = {
    "tool": Tool,
    "resource": Resource,
    "resource_template": ResourceTemplate,
    "prompt": Prompt,
}
_KINDS: Mapping[type, Kind] = {cls: kind for kind, cls in _CLASSES.items()}


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
        """Raise where the transform cannot do what it was built for on exactly these tools.

        For lists that are known at construction. `list_tools` itself never raises for it: a list that
        changes later is served as well as it can be, with a warning.

        Raises:
            ConfigurationError: Says what is missing.
        """

    def for_part(self) -> Transform:
        """Return the transform for lists that hold a part of the tools, one list after the other.

        For transforms that complain of what they don't find, or that remember their last list.
        """
        return self

    def merged_with(self, later: Transform) -> Transform | None:
        """Return one transform that does the work of this one and of the next, or None.

        For transforms whose meaning in a row differs from one after the other.
        """
        return None


def as_transforms(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """Return the transforms as a tuple, innermost first.

    Raises:
        ConfigurationError: One of them is no `Transform` (a class that was not called, for one).
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


def merge_transforms(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """Return the row with neighbours merged that belong together (`Transform.merged_with`)."""
    row: list[Transform] = []
    for transform in transforms:
        merged = row[-1].merged_with(transform) if row else None
        if merged is None:
            row.append(transform)
        else:
            row[-1] = merged
    return tuple(row)


def overrides_get(transform: Transform, *, kind: Kind = "tool") -> bool:
    """Return whether the transform has a get method of its own that a lookup must ask.

    The shipped ones are not counted: their list and get methods are one function, so the list is enough.
    """
    method = getattr(type(transform), f"get_{kind}")
    return method is not getattr(Transform, f"get_{kind}") and not getattr(method, "agrees_with_list", False)


def overrides_get_tool(transform: Transform) -> bool:
    """Return whether the transform has a `get_tool` of its own that a lookup must ask.

    ```python
    overrides_get_tool(Transform())  # -> False
    ```
    """
    return overrides_get(transform)


FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def agrees_with_list(method: FunctionT) -> FunctionT:
    """Mark a get method as giving exactly what the list holds, so that a lookup in the list is enough."""
    method.agrees_with_list = True  # type: ignore[attr-defined]  # an attribute of the function object
    return method


async def apply_transforms(
    transforms: Iterable[Transform], components: Sequence[ComponentT], *, kind: Kind = "tool"
) -> tuple[ComponentT, ...]:
    """Return what the transforms make of a list, the first transform innermost.

    ```python
    tools = await apply_transforms([Namespace("github")], [tool(create_issue)])
    tools[0].name  # -> 'github_create_issue'
    ```

    Raises:
        ConfigurationError: A transform returned something else than a sequence of its kind.
    """
    return (await transform_stages(transforms, components, kind=kind))[-1]


async def transform_stages(
    transforms: Iterable[Transform], components: Sequence[ComponentT], *, kind: Kind = "tool"
) -> tuple[tuple[ComponentT, ...], ...]:
    """Return the list as it came, and after each transform of the merged row.

    Raises:
        ConfigurationError: A transform returned something else than a sequence of its kind.
    """
    stages: list[tuple[ComponentT, ...]] = [tuple(components)]
    for transform in merge_transforms(transforms):
        try:
            listed = getattr(transform, f"list_{kind}s")(stages[-1])
            if inspect.isawaitable(listed):
                listed = await listed
        except Exception as exc:
            exc.add_note(f"raised by {_label(transform)}.list_{kind}s")
            raise
        stages.append(_checked(listed, transform, kind))
    return tuple(stages)


async def check_transforms(transforms: Iterable[Transform], tools: Sequence[Tool]) -> None:
    """Ask each transform whether it can do its work on exactly these tools, as it sees them.

    Raises:
        ConfigurationError: The first complaint, innermost first.
    """
    row = merge_transforms(transforms)
    for transform, stage in zip(row, await transform_stages(row, tools), strict=False):
        transform.check(stage)


async def compose_get(
    transforms: Iterable[Transform],
    stages: Sequence[Mapping[str, ComponentT]],
    key: str,
    *,
    kind: Kind = "tool",
) -> ComponentT | None:
    """Look a component up through the get methods, outermost first; the lists answer at the bottom.

    A transform that has only a list method answers from the list it made, provided that the levels
    below still give what that entry was made from.

    Args:
        transforms: Innermost first, as they were applied.
        stages: What `transform_stages` returned, each as a mapping (`index_components`).
        key: The name, or the URI, as it is known outside.
        kind: Which of the lists.
    """
    row = merge_transforms(transforms)

    async def get(level: int, key: str) -> ComponentT | None:
        if level == 0:
            return find_component(stages[0], key)
        transform, below = row[level - 1], stages[level - 1]
        method = getattr(type(transform), f"get_{kind}")
        if method is getattr(Transform, f"get_{kind}"):
            found = find_component(stages[level], key)
            if found is None or find_component(below, key) is None:
                return found
            return found if await get(level - 1, key) is not None else None

        async def call_next(name: str, **_: object) -> ComponentT | None:
            # transforms written for FastMCP 3 and 4 also hand on a keyword `version`
            return await get(level - 1, name)

        found = method(transform, key, call_next)
        answer: ComponentT | None = await found if inspect.isawaitable(found) else found
        return answer

    return await get(len(row), key)


async def compose_get_tool(
    transforms: Iterable[Transform], stages: Sequence[Mapping[str, Tool]], name: str
) -> Tool | None:
    """Look a tool up through every `get_tool`, outermost first (see `compose_get`).

    ```python
    stages = [{"find": Tool("find")}, {"api_find": Tool("api_find")}]
    found = await compose_get_tool([Namespace("api")], stages, "api_find")
    found.name  # -> 'api_find'
    ```
    """
    return await compose_get(transforms, stages, name)


async def get_agreed(
    transforms: Iterable[Transform],
    stages: Sequence[Mapping[str, ComponentT]],
    key: str,
    *,
    kind: Kind = "tool",
) -> ComponentT | None:
    """Return what has this name or URI, where the list and the get methods give the same definition.

    Where they disagree, nobody can say which was meant: it is not given, and a warning says so. Costs one
    lookup in the list where no transform overrides the get method.
    """
    row = tuple(transforms)
    listed = find_component(stages[-1], key)
    labels = [_label(transform) for transform in row if overrides_get(transform, kind=kind)]
    if not labels:
        return listed
    what = kind.replace("_", " ")
    try:
        found = await compose_get(row, stages, key, kind=kind)
    except Exception:  # foreign code: a lookup that fails gives nothing, and the run goes on
        logger.warning("%s %r is not given: a get_%s of %s failed", what, key, kind, labels, exc_info=True)
        return None
    if found is None and listed is None:
        return None
    if found is None or listed is None or _content(found) != _content(listed):
        logger.warning(
            "%s %r is not given: the get_%s of %s disagrees with list_%ss (listed: %s, got: %s)",
            what,
            key,
            kind,
            labels,
            kind,
            "absent" if listed is None else "present",
            "absent" if found is None else "present" if listed is None else "another definition",
        )
        return None
    return found


async def get_agreed_tool(
    transforms: Iterable[Transform], stages: Sequence[Mapping[str, Tool]], name: str
) -> Tool | None:
    """Return the tool of this name where the list and the get methods agree (see `get_agreed`)."""
    return await get_agreed(transforms, stages, name)


def _content(component: Component) -> object:
    return component.fingerprint if isinstance(component, Tool) else component


def index_components(components: Iterable[ComponentT]) -> dict[str, ComponentT]:
    """Return the components by name, or by URI; the first of a name stays."""
    index: dict[str, ComponentT] = {}
    for component in components:
        index.setdefault(component_key(component), component)
    return index


def find_component(index: Mapping[str, ComponentT], key: str) -> ComponentT | None:
    """Return what has this name or URI; of templates, else the first that matches the URI."""
    found = index.get(key)
    if found is not None:
        return found
    for component in index.values():
        if not isinstance(component, ResourceTemplate):
            return None
        if component.matches(key):
            return component
    return None


def kind_of(cls: type[ComponentT]) -> Kind:
    """Return the kind whose lists hold this class."""
    return _KINDS[cls]


def component_key(component: Component) -> str:
    """Return what a component is looked up by: a URI, a URI template, or a name."""
    if isinstance(component, Resource):
        return component.uri
    if isinstance(component, ResourceTemplate):
        return component.uri_template
    return component.name


def _label(transform: Transform) -> str:
    return type(transform).__name__


def _checked(listed: object, transform: Transform, kind: Kind) -> tuple[Any, ...]:
    """Return a transform's answer as a tuple, or say what is wrong with it."""
    method = f"{_label(transform)}.list_{kind}s"
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise ConfigurationError(
            f"{method} must return a sequence, found {type(listed).__name__}: return a list"
        )
    for component in listed:
        if not isinstance(component, _CLASSES[kind]):
            raise ConfigurationError(
                f"{method} must return a sequence of {_CLASSES[kind].__name__}, found {component!r:.80} in it"
            )
    return tuple(listed)


class ToolMemo:
    """Remembers what each tool of the last list became, so that one changed tool costs one change.

    Tools are told apart by identity: they are frozen, so the same object is the same tool. Nothing is
    kept of a tool that the latest list does not hold.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Tool, Tool | None]] = {}

    def map(self, tools: Iterable[Tool], change: Callable[[Tool], Tool | None]) -> list[Tool]:
        """Return the changed tools in order, without those that `change` answers with None."""
        known, latest = self._known, {}
        changed: list[Tool] = []
        for tool in tools:
            entry = known.get(id(tool))
            if entry is None or entry[0] is not tool:
                entry = (tool, change(tool))
            latest[id(tool)] = entry
            if entry[1] is not None:
                changed.append(entry[1])
        self._known = latest
        return changed


def as_texts(what: str, texts: Collection[str]) -> frozenset[str]:
    """Return a set of texts.

    Raises:
        ConfigurationError: It is a single text, whose letters would be taken, or holds something else.
    """
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise ConfigurationError(f"{what} is a set of texts, found {texts!r}: write {{'a', 'b'}}")
    return frozenset(texts)


def require_types(what: str, values: Mapping[str, object], types: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse values of another type: a file may say `hide: "false"`, which is true.

    Raises:
        ConfigurationError: Names the first such value.
    """
    for key, allowed in types.items():
        if not isinstance(values[key], allowed):
            names = " or ".join("None" if one is type(None) else one.__name__ for one in allowed)
            raise ConfigurationError(f"{key} of {what} is {names}, found {values[key]!r:.80}")

"""A row of transforms: applied to a list, and asked for one name."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from tool_search_processor.components import Resource, ResourceTemplate
from tool_search_processor.concurrency.foreign_calls import Noted, awaited
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.transform import (
    KINDS,
    Component,
    ComponentT,
    Kind,
    Transform,
    component_key,
)

logger = logging.getLogger(__name__)


def merge_transforms(transforms: Iterable[Transform]) -> tuple[Transform, ...]:
    """Return the row with neighbours merged where they belong together (`Transform.merged_with`)."""
    row: list[Transform] = []
    for transform in transforms:
        merged = row[-1].merged_with(transform) if row else None
        if merged is None:
            row.append(transform)
        else:
            row[-1] = merged
    return tuple(row)


def overrides_get(transform: Transform, *, kind: Kind = "tool") -> bool:
    """Return True if the transform has its own get method, which a lookup must ask.

    ```python
    overrides_get(Transform())  # -> False
    ```

    Those of this package are not counted: list and get share one function there, so the list is enough.
    """
    method = KINDS[kind].get_method(type(transform))
    is_own = method is not KINDS[kind].get_method(Transform)
    return is_own and not getattr(method, "agrees_with_list", False)


async def apply_transforms(
    transforms: Iterable[Transform], components: Sequence[ComponentT], *, kind: Kind = "tool"
) -> tuple[ComponentT, ...]:
    """Apply the transforms to a list, the first one innermost.

    ```python
    tools = await apply_transforms([Namespace("github")], [tool(create_issue)])
    tools[0].name  # -> 'github_create_issue'
    ```

    Raises:
        ConfigurationError: A transform returned something other than a sequence of its kind.
    """
    return (await transform_stages(transforms, components, kind=kind))[-1]


async def transform_stages(
    transforms: Iterable[Transform], components: Sequence[ComponentT], *, kind: Kind = "tool"
) -> tuple[tuple[ComponentT, ...], ...]:
    """Return the list as it came, and after each transform of the merged row.

    Raises:
        ConfigurationError: A transform returned something other than a sequence of its kind.
    """
    stages: list[tuple[ComponentT, ...]] = [tuple(components)]
    for transform in merge_transforms(transforms):
        with Noted(f"raised by {_label(transform)}.{KINDS[kind].list_name}"):
            listed = await awaited(KINDS[kind].list_method(type(transform))(transform, stages[-1]))
        stages.append(_checked(listed, transform, kind))
    return tuple(stages)


async def check_transforms(transforms: Iterable[Transform], tools: Sequence[Tool]) -> None:
    """Check that each transform can do its work on exactly these tools, as it sees them.

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

    ```python
    stages = [{"find": Tool("find")}, {"api_find": Tool("api_find")}]
    found = await compose_get([Namespace("api")], stages, "api_find")
    found.name  # -> 'api_find'
    ```

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
        method = KINDS[kind].get_method(type(transform))
        if method is KINDS[kind].get_method(Transform):
            found = find_component(stages[level], key)
            if found is None or find_component(below, key) is None:
                return found
            return found if await get(level - 1, key) is not None else None

        async def call_next(name: str, **_: object) -> ComponentT | None:
            # transforms written for FastMCP 3 and 4 also hand on a keyword `version`
            return await get(level - 1, name)

        answer: ComponentT | None = await awaited(method(transform, key, call_next))
        return answer

    return await get(len(row), key)


async def get_agreed(
    transforms: Iterable[Transform],
    stages: Sequence[Mapping[str, ComponentT]],
    key: str,
    *,
    kind: Kind = "tool",
) -> ComponentT | None:
    """Return the component of this name or URI if the list and the get methods give the same definition.

    If they disagree, nothing is returned and a warning says so, since it isn't clear which was meant. If no
    transform overrides the get method, this costs one lookup in the list.
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
        logger.warning(
            "%s %r is not given: a %s of %s failed", what, key, KINDS[kind].get_name, labels, exc_info=True
        )
        return None
    if found is None and listed is None:
        return None
    if found is None or listed is None or _content(found) != _content(listed):
        told = "%s %r is not given: the %s of %s disagrees with %s (listed: %s, got: %s)"
        state = "absent" if listed is None else "present"
        got = "absent" if found is None else "present" if listed is None else "another definition"
        logger.warning(told, what, key, KINDS[kind].get_name, labels, KINDS[kind].list_name, state, got)
        return None
    return found


def _content(component: Component) -> object:
    return component.fingerprint if isinstance(component, Tool) else component


async def look_through(
    transforms: Iterable[Transform], uri: str, find: Callable[[str], Awaitable[Resource | None]]
) -> Resource | None:
    """Look up a resource that is in no list, through the get methods, outermost first.

    A transform that has only a list method is given the resource as a list of one: it may hide it, and
    change its description, but not its URI.

    Args:
        transforms: Innermost first.
        uri: As it is known outside.
        find: Looks it up by the URI that is known below all of them.
    """
    row = merge_transforms(transforms)

    async def get(level: int, uri: str) -> Resource | None:
        if level == 0:
            return await find(uri)
        transform = row[level - 1]
        if type(transform).get_resource is not Transform.get_resource:

            async def call_next(inner: str, **_: object) -> Resource | None:
                return await get(level - 1, inner)

            answer: Resource | None = await awaited(transform.get_resource(uri, call_next))
            return answer
        found = await get(level - 1, uri)
        if found is None:
            return None
        listed = await apply_transforms([transform], [found], kind="resource")
        return next((resource for resource in listed if resource.uri == found.uri), None)

    return await get(len(row), uri)


async def hides_resource(
    transforms: Iterable[Transform],
    uri: str,
    *,
    listed: Callable[[], Awaitable[Iterable[Resource]]],
    is_hidden: Callable[[str], Awaitable[bool]],
) -> bool:
    """Return True if a resource of this URI is listed below the transforms, but not above.

    Args:
        transforms: Innermost first.
        uri: As it is known outside.
        listed: Returns the resources below; not asked where no transform hides any.
        is_hidden: Returns True if the resource of a URI, as it is known below, is hidden already.
    """
    row = merge_transforms(transforms)
    is_there = False

    async def find(inner: str) -> Resource | None:
        nonlocal is_there
        is_there = await is_hidden(inner)
        if is_there or not any(map(_hides_resources, row)):
            return None
        # Some servers, such as file servers on Windows, ignore case.
        found = [resource for resource in await listed() if resource.uri.casefold() == inner.casefold()]
        is_there = bool(found)
        return index_components(found).get(inner, found[0]) if found else None

    return await look_through(row, uri, find) is None and is_there


def _hides_resources(transform: Transform) -> bool:
    method = type(transform).list_resources
    lists = method is not Transform.list_resources and not getattr(method, "keeps_all", False)
    return lists or overrides_get(transform, kind="resource")


def index_components(components: Iterable[ComponentT]) -> dict[str, ComponentT]:
    """Return the components by name or URI; the first of each name is kept."""
    index: dict[str, ComponentT] = {}
    for component in components:
        index.setdefault(component_key(component), component)
    return index


def find_component(index: Mapping[str, ComponentT], key: str) -> ComponentT | None:
    """Return the component of this name or URI, or the first template that matches the URI."""
    found = index.get(key)
    if found is not None:
        return found
    for component in index.values():
        if not isinstance(component, ResourceTemplate):
            return None
        if component.matches(key):
            return component
    return None


def _label(transform: Transform) -> str:
    return type(transform).__name__


def _checked(listed: object, transform: Transform, kind: Kind) -> tuple[Any, ...]:
    """Return a transform's answer as a tuple, or say what is wrong with it."""
    method, cls = f"{_label(transform)}.{KINDS[kind].list_name}", KINDS[kind].cls
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise ConfigurationError(
            f"{method} must return a sequence, found {type(listed).__name__}: return a list"
        )
    for component in listed:
        if not isinstance(component, cls):
            raise ConfigurationError(
                f"{method} must return a sequence of {cls.__name__}, found {component!r:.80} in it"
            )
    return tuple(listed)

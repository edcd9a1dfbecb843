"""Shows and hides by rules; the last matching rule wins."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.transform import (
    KINDS,
    Component,
    ComponentT,
    GetNext,
    Kind,
    Transform,
    agrees_with_list,
    component_key,
)
from tool_search_processor.wire.checks import as_strings, check_flags

_KINDS = tuple(KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibilityRule:
    """One decision, and what it applies to: criteria of different kinds must all be met."""

    enabled: bool
    names: frozenset[str] | None
    tags: frozenset[str] | None
    namespaces: frozenset[str] | None
    only: bool
    components: frozenset[str]

    def decide(self, component: Component, *, kind: Kind, visible: bool) -> bool:
        """Return True if the component is visible after this rule."""
        if kind not in self.components:
            return visible
        applies = (
            (self.names is None or _named(component, self.names))
            and (self.tags is None or component.tags & self.tags)
            and (self.namespaces is None or component.namespace in self.namespaces)
        )
        return self.enabled if applies else visible and not self.only


class Visibility(Transform):
    """Hides or shows what the criteria match; of several rules, the last matching one wins.

    ```python
    Visibility(False, tags={"admin"})                        # hide
    Visibility(True, names={"create_*"}, only=True)          # show these, hide the rest
    [Visibility(False, tags={"admin"}), Visibility(True, names={"admin_status"})]   # all but one
    ```

    Everything is visible until a rule hides it. Rules that stand next to each other in one list of
    transforms are taken together, so a later one can show again what an earlier one hid. What is hidden
    at the end of such a row is gone for whatever follows: no transform after it, and no catalog around a
    provider, can bring it back, and no template makes a resource that is hidden.
    """

    def __init__(
        self,
        enabled: bool,  # noqa: FBT001 - Visibility(False, ...) is the form that is known from servers
        *,
        names: Collection[str] | None = None,
        tags: Collection[str] | None = None,
        namespaces: Collection[str] | None = None,
        only: bool = False,
        components: Collection[Kind] = _KINDS,
    ) -> None:
        """Set one rule.

        Args:
            enabled: True shows what matches, False hides it.
            names: Names that match, as they are at this place of the row; `*`, `?` and `[...]` are
                wildcards, upper and lower case differ. For resources the URI is tried too.
            tags: Whatever has any of these matches.
            namespaces: Whatever is in any of these matches.
            only: Everything of these components that does not match is hidden, whatever earlier rules say.
            components: Which kinds the rule is about.

        A criterion that is None asks for nothing; nothing meets an empty one. Without criteria, everything
        matches.

        Raises:
            ConfigurationError: A criterion is a single string, a kind is unknown, or `only` stands without
                a criterion or with `enabled=False`.
        """
        check_flags(enabled=enabled, only=only)
        kinds = as_strings("components", components)
        if unknown := kinds - set(_KINDS):
            raise ConfigurationError(f"components are of {_KINDS}, found {sorted(unknown)}")
        if only and (not enabled or (names is None and tags is None and namespaces is None)):
            raise ConfigurationError(
                "only=True shows what matches and hides the rest: "
                "it needs enabled=True, and names, tags or namespaces"
            )
        rule = VisibilityRule(
            enabled=enabled,
            names=None if names is None else as_strings("names", names),
            tags=None if tags is None else as_strings("tags", tags),
            namespaces=None if namespaces is None else as_strings("namespaces", namespaces),
            only=only,
            components=kinds,
        )
        self.rules: tuple[VisibilityRule, ...] = (rule,)

    def __repr__(self) -> str:
        """Return the rules."""
        return f"<Visibility {list(self.rules)!r}>"

    def merged_with(self, later: Transform) -> Transform | None:
        """Return one transform with the rules of both, where the next one is a Visibility too."""
        if type(later) is not Visibility or type(self) is not Visibility:
            return None  # a subclass may mean something else by its list method
        merged = copy.copy(later)
        merged.rules = (*self.rules, *later.rules)
        return merged

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Return the visible tools, in the same order."""
        return self._visible(tools, kind="tool")

    @agrees_with_list
    async def get_tool(self, name: str, call_next: GetNext[Tool]) -> Tool | None:
        """Return the tool as it is below, if it is visible."""
        return self._if_visible(await call_next(name), kind="tool")

    async def list_resources(self, resources: Sequence[Resource]) -> Sequence[Resource]:
        """Return the visible resources, in the same order."""
        return self._visible(resources, kind="resource")

    @agrees_with_list
    async def get_resource(self, uri: str, call_next: GetNext[Resource]) -> Resource | None:
        """Return the resource as it is below, if it is visible."""
        return self._if_visible(await call_next(uri), kind="resource")

    async def list_resource_templates(
        self, templates: Sequence[ResourceTemplate]
    ) -> Sequence[ResourceTemplate]:
        """Return the visible templates, in the same order."""
        return self._visible(templates, kind="resource_template")

    @agrees_with_list
    async def get_resource_template(
        self, uri: str, call_next: GetNext[ResourceTemplate]
    ) -> ResourceTemplate | None:
        """Return the template as it is below, if it is visible."""
        return self._if_visible(await call_next(uri), kind="resource_template")

    async def list_prompts(self, prompts: Sequence[Prompt]) -> Sequence[Prompt]:
        """Return the visible prompts, in the same order."""
        return self._visible(prompts, kind="prompt")

    @agrees_with_list
    async def get_prompt(self, name: str, call_next: GetNext[Prompt]) -> Prompt | None:
        """Return the prompt as it is below, if it is visible."""
        return self._if_visible(await call_next(name), kind="prompt")

    def _visible(self, components: Iterable[ComponentT], *, kind: Kind) -> list[ComponentT]:
        return [component for component in components if self._shows(component, kind=kind)]

    def _if_visible(self, component: ComponentT | None, *, kind: Kind) -> ComponentT | None:
        return component if component is not None and self._shows(component, kind=kind) else None

    def _shows(self, component: Component, *, kind: Kind) -> bool:
        visible = True
        for rule in self.rules:
            visible = rule.decide(component, kind=kind, visible=visible)
        return visible


def _named(component: Component, patterns: frozenset[str]) -> bool:
    names = {component.name, component_key(component)}
    return not names.isdisjoint(patterns) or any(
        fnmatchcase(name, pattern) for pattern in sorted(patterns) for name in names
    )

"""Tools switched off and on for one session, from inside a tool or a hook."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Literal

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.transforms.base import Component, Kind
from tool_search_processor.transforms.visibility import Visibility, VisibilityRule

HoldsFor = Literal["session", "request"]
"""How long rules hold: for the session, or, where there is none, for the request that set them."""

_KINDS: tuple[Kind, ...] = ("tool", "resource", "resource_template", "prompt")


class SessionRules:
    """What is switched off for one session and no other; the last rule that matches wins.

    ```python
    def focus_on(topic: str, run: ToolContext) -> str:
        rules: SessionRules = run.context["session_rules"]
        rules.enable(tags={topic}, only=True)
        return f"Only {topic} is left, for this session."

    server = ToolServer([create_issue, focus_on])
    ```

    Rules hold at once, in lists, searches and calls, and stand above the filter: what they switch off is
    answered as if it were not there. Safe to change from any thread.

    They are no access control: a client can begin another session, or ask without one. Whom a tool must be
    kept from is for the filter to say.
    """

    def __init__(self, *, holds_for: HoldsFor, changed: Callable[[], object] | None = None) -> None:
        """Begin without rules.

        Args:
            holds_for: How long the rules will hold.
            changed: Called after each change.
        """
        self.holds_for: HoldsFor = holds_for
        self.changed = changed
        self._rules: tuple[VisibilityRule, ...] = ()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rules)

    def disable(
        self,
        *,
        names: Collection[str] | None = None,
        tags: Collection[str] | None = None,
        namespaces: Collection[str] | None = None,
        components: Collection[Kind] = _KINDS,
    ) -> HoldsFor:
        """Switch off what matches; see `Visibility` for the criteria. Returns how long that holds.

        Raises:
            ConfigurationError: Without a criterion, or for a single text in place of a collection.
        """
        return self._add(enabled=False, names=names, tags=tags, namespaces=namespaces, components=components)

    def enable(
        self,
        *,
        names: Collection[str] | None = None,
        tags: Collection[str] | None = None,
        namespaces: Collection[str] | None = None,
        components: Collection[Kind] = _KINDS,
        only: bool = False,
    ) -> HoldsFor:
        """Switch what matches on again; see `Visibility` for the criteria. Returns how long that holds.

        Args:
            names: Names that match, with wildcards.
            tags: Something matches with any of these.
            namespaces: Something matches that is in any of these.
            components: Which kinds the rule is about.
            only: Everything else is switched off.

        Raises:
            ConfigurationError: Without a criterion, or for a single text in place of a collection.
        """
        return self._add(
            enabled=True, names=names, tags=tags, namespaces=namespaces, components=components, only=only
        )

    def reset(self) -> HoldsFor:
        """Forget every rule. Returns how long that holds."""
        with self._lock:
            self._rules = ()
        return self._told()

    def admits(self, component: Component, *, kind: Kind = "tool") -> bool:
        """Tell whether something is switched on."""
        visible = True
        for rule in self._rules:
            visible = rule.decide(component, kind=kind, visible=visible)
        return visible

    def _add(
        self,
        *,
        enabled: bool,
        names: Collection[str] | None,
        tags: Collection[str] | None,
        namespaces: Collection[str] | None,
        components: Collection[Kind],
        only: bool = False,
    ) -> HoldsFor:
        if names is None and tags is None and namespaces is None:
            raise ConfigurationError("a session rule needs names, tags or namespaces: say what it is about")
        made = Visibility(
            enabled, names=names, tags=tags, namespaces=namespaces, only=only, components=components
        )
        with self._lock:
            # A rule that is given again moves to the end, so that a tool that sets one at each call
            # doesn't make a longer list of them each time.
            kept = tuple(rule for rule in self._rules if rule not in made.rules)
            self._rules = (*kept, *made.rules)
        return self._told()

    def _told(self) -> HoldsFor:
        if self.changed is not None:
            self.changed()
        return self.holds_for

"""Tools switched off and on for one session or one user, from inside a tool or a hook."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable
from functools import partial
from typing import Literal, TypedDict, Unpack

from cachetools import TTLCache

from tool_search_processor.errors import ConfigurationError, ToolCallError
from tool_search_processor.transforms.transform import Component, Kind
from tool_search_processor.transforms.visibility import Visibility, VisibilityRule

HoldsFor = Literal["session", "user"]
"""What rules hold for: the session, or the user's next requests if there is no session."""

_NOBODYS = (
    "tools can't be switched for this client, which has neither a session nor a user: let it begin a session "
    "(protocol 2025-11-25 or earlier, and a server that keeps sessions), or give ToolServer an "
    "authenticate=..., by which it knows its users"
)
_MOST_USERS = 10_000
_Rules = tuple[VisibilityRule, ...]


class Criteria(TypedDict, total=False):
    """What a session rule is about: what meets every criterion that is given; see `Visibility`."""

    names: Collection[str] | None
    """Names that match, with wildcards."""
    tags: Collection[str] | None
    """Matches what has any of these."""
    namespaces: Collection[str] | None
    """Matches what is in any of these."""
    components: Collection[Kind]
    """The kinds that the rule applies to; all of them by default."""


class SessionRules:
    """What is switched off for a single session; the last rule that matches wins.

    ```python
    def focus_on(topic: str, run: ToolContext) -> str:
        rules: SessionRules = run.context["session_rules"]
        rules.enable(tags={topic}, only=True)
        return f"Only {topic} is left, for this session."

    server = ToolServer([create_issue, focus_on])
    ```

    Rules take effect at once in lists, searches and calls, and come before the filter: what they switch off
    is answered as if it did not exist. They can be changed from any thread.

    Without a session (protocol 2026-07-28), they hold for the authenticated user, in this process, for as
    long as an idle session would be kept. Without a session and a user, setting one raises `ToolCallError`.

    They are not access control: a client can begin another session. Use the filter to keep a tool from
    somebody.
    """

    def __init__(self, *, holds_for: HoldsFor | None, changed: Callable[[], object] | None = None) -> None:
        """Begin without rules.

        Args:
            holds_for: What the rules will hold for; None if there is neither a session nor a user.
            changed: Called after each change.
        """
        self.holds_for = holds_for
        self.changed = changed
        self._rules: _Rules = ()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rules)

    def disable(self, **about: Unpack[Criteria]) -> HoldsFor:
        """Switch off what matches, and return what the rule holds for; see `Criteria`.

        Raises:
            ConfigurationError: Without a criterion, or for a single string in place of a collection.
            ToolCallError: There is neither a session nor a user that it could hold for.
        """
        return self._add(Visibility(False, **about))  # noqa: FBT003 - as `Visibility` has it

    def enable(self, *, only: bool = False, **about: Unpack[Criteria]) -> HoldsFor:
        """Switch on what matches, and return what the rule holds for; see `Criteria`.

        Args:
            only: Whether to switch everything else off.
            about: What matches.

        Raises:
            ConfigurationError: Without a criterion, or for a single string in place of a collection.
            ToolCallError: There is neither a session nor a user that it could hold for.
        """
        return self._add(Visibility(True, only=only, **about))  # noqa: FBT003 - as `Visibility` has it

    def reset(self) -> HoldsFor:
        """Forget every rule, and return what that holds for.

        Raises:
            ToolCallError: There is neither a session nor a user that it could hold for.
        """
        return self._change(lambda _: ())

    def admits(self, component: Component, *, kind: Kind = "tool") -> bool:
        """Return True if a component is switched on."""
        visible = True
        for rule in self._rules:
            visible = rule.decide(component, kind=kind, visible=visible)
        return visible

    def _add(self, made: Visibility) -> HoldsFor:
        if any((rule.names, rule.tags, rule.namespaces) == (None, None, None) for rule in made.rules):
            raise ConfigurationError("a session rule needs names, tags or namespaces: say what it is about")
        # A rule that is given again moves to the end, so that the list doesn't grow when a tool sets the same
        # rule at each call.
        return self._change(lambda rules: (*(rule for rule in rules if rule not in made.rules), *made.rules))

    def _change(self, changed: Callable[[_Rules], _Rules]) -> HoldsFor:
        if self.holds_for is None:
            raise ToolCallError(_NOBODYS)
        with self._lock:
            self._rules = changed(self._rules)
        if self.changed is not None:
            self.changed()
        return self.holds_for


class UserRules:
    """The rules of each user whose requests have no session, until the user has been idle for too long."""

    def __init__(
        self, ttl_seconds: float, *, changed: Callable[[], object], clock: Callable[[], float]
    ) -> None:
        """Begin without rules.

        Args:
            ttl_seconds: How long a user may be idle.
            changed: Called after each change of a rule.
            clock: Returns the time in seconds.
        """
        self._changed = changed
        self._kept: TTLCache[Hashable, tuple[object, SessionRules]] = TTLCache(
            _MOST_USERS, ttl_seconds, timer=clock
        )
        self._lock = threading.Lock()

    def of(self, user: object) -> SessionRules:
        """Return the rules of a user; equal users have the same."""
        with self._lock:
            owner, rules = self._kept.get(_key(user), (None, None))
        if rules is None or owner != user:
            rules = SessionRules(holds_for="user")
            rules.changed = partial(self._change, user, rules)
        self._keep(user, rules)
        return rules

    def _change(self, user: object, rules: SessionRules) -> None:
        # A rule that a long call sets at its end holds, however long the user was idle before.
        self._keep(user, rules)
        self._changed()

    def _keep(self, user: object, rules: SessionRules) -> None:
        """Keep a user's rules for the whole time from now on."""
        with self._lock:
            self._kept[_key(user)] = user, rules


def _key(user: object) -> Hashable:
    """Return the key of a user, who may not be hashable: a token's claims, for example."""
    try:
        hash(user)
    except TypeError:
        return repr(user)
    return user

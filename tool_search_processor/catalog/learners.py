"""Who a search learns from: the scope and the user of a request, as functions of the program's name them."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.concurrency.rare_warnings import RareWarnings
from tool_search_processor.search.experience.entries import hashed

ContextFunction = Callable[[Mapping[str, Any]], object | Awaitable[object]]

_SCOPE_CHARACTERS = 200
_IDS = (str, int, UUID)


class _Unusable(Exception):  # noqa: N818 - never leaves this module
    """Raised for a function that failed, or returned something that is not an id."""


@dataclass(frozen=True, slots=True)
class Learner:
    """Whose request it is."""

    scope: str
    user: str
    """A hash of the user; empty if unknown."""


class Learners:
    """Finds the learner of a request by the program's functions, which may be async."""

    def __init__(
        self, scope: ContextFunction | None, user: ContextFunction | None, *, warnings: RareWarnings
    ) -> None:
        """Take the functions; None for the default."""
        self._scope_of = scope
        self._user_of = user or _user
        self._warnings = warnings

    async def scope(self, context: Mapping[str, Any]) -> str | None:
        """Return the scope of a request; None if it takes no part."""
        if self._scope_of is None:
            return ""
        try:
            scope = await self._asked("scope", self._scope_of, context)
        except _Unusable:
            return None
        return None if scope is None else stored_scope(scope)

    async def learner(self, context: Mapping[str, Any]) -> Learner | None:
        """Return whose request it is; None if nothing may be learned from it."""
        scope = await self.scope(context)
        if scope is None:
            return None
        try:
            return Learner(scope, hashed(await self._asked("user", self._user_of, context)))
        except _Unusable:  # what nobody could forget by its user is not learned
            return None

    async def _asked(self, name: str, function: ContextFunction, context: Mapping[str, Any]) -> str | None:
        """Return the id that a function gives.

        Raises:
            _Unusable: After a warning, if it gives none.
        """
        try:
            found = await awaited(function(context))
        except Exception as exc:  # foreign code: nothing is learned, and the request goes on
            self._warnings.warn(f"a function of Experience failed: {name}=", exc_info=True)
            raise _Unusable from exc
        if found is None:
            return None
        if not _is_id(found):
            self._warnings.warn(
                f"{name}= of Experience must return a string, a whole number, a UUID, a tuple of these, or "
                f"None; its value of type {type(found).__name__} is not used, and nothing is learned"
            )
            raise _Unusable
        return str(found)


def _is_id(value: object) -> bool:
    """Return True unless the text of the value may be that of another, such as the address of an object."""
    if isinstance(value, tuple):
        return all(map(_is_id, value))
    return isinstance(value, _IDS) and not isinstance(value, bool)


def stored_scope(scope: str) -> str:
    """Return a scope as stores can keep it: one that is long, or that no encoding has, as a hash."""
    content = scope.encode("utf-8", "surrogatepass")
    is_plain = len(scope) <= _SCOPE_CHARACTERS and content == scope.encode("utf-8", "replace")
    return scope if is_plain else f"sha256:{hashlib.sha256(content).hexdigest()}"


def _user(context: Mapping[str, Any]) -> object:
    """Return the context's user, or its id; None for what has none."""
    user = context.get("user")
    if isinstance(user, Mapping):
        user = user.get("sub", user.get("id"))
    elif not _is_id(user):
        user = getattr(user, "id", None)
    return user if _is_id(user) else None

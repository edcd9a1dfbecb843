"""Looking tools up by name under policy, and what a wrong name may mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from tool_search_processor.catalog.finding import SPARE, Wanted, guess
from tool_search_processor.catalog.request_view import CatalogView
from tool_search_processor.catalog.toolsets import SUGGESTION_CUTOFF
from tool_search_processor.policy.admission import Admission
from tool_search_processor.search.text import name_parts
from tool_search_processor.tools import Tool
from tool_search_processor.tools.near_names import meant_name, spoken_names

_MAX_SUGGESTIONS = 3
_MAX_SEARCHED = 10
"""The most wrong names of a call for which suggestions are searched."""
_NAME_CHARACTERS = 200
_SLIP = 0.75
"""From this OSA similarity on, a name counts as a misspelling of the other."""
_SUGGESTED_SCORE = 0.1


async def find_by_name(
    view: CatalogView, name: str, *, admission: Admission, without: Collection[str] = ()
) -> Tool | None:
    """Return the tool that a model means by a name, if phase `load` admits it.

    The exact name comes first, then the only admitted tool whose name differs in nothing but case, separators
    and namespace; among several, the only one with this original name. Then the same without what call
    formats put around a name (`spoken_names`). Denied tools, and those in `without`, are passed over as if
    they did not exist.
    """
    for spoken in spoken_names(name):
        exact = await view.fetch(spoken)
        if exact is not None and exact.name not in without and await admission.admits(exact, "load"):
            return exact
        passed = {spoken, *without}
        near = await admission.admit((tool for tool in view.near(spoken) if tool.name not in passed), "load")
        meant = [tool for tool in near if tool.metadata.get("original_name") == spoken] or near
        if near:
            return await view.fetch(meant[0].name) if len(meant) == 1 else None
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTools:
    """What a model means by the names that it gave; each group in the names' order, nothing twice."""

    wanted: tuple[str, ...]
    """Tools to load, unless they are loaded already."""
    listed: tuple[str, ...]
    missing: Mapping[str, list[str]]
    """Unknown and denied names as they were written, each with its suggestions."""


async def find_named(
    view: CatalogView,
    names: Iterable[str],
    *,
    admission: Admission,
    listed: Collection[str],
    without: Collection[str],
) -> NamedTools:
    """Return what each name means; see `find_by_name`.

    Args:
        view: Where to look.
        names: What a model wrote.
        admission: Asks the filter.
        listed: Names that the step lists anyway.
        without: Names to pass over.
    """
    wanted: dict[str, None] = {}
    there: dict[str, None] = {}
    missing: dict[str, list[str]] = {}
    names = list(names)
    # Asked in one batch, so that a slow policy costs one time limit for all tools together.
    exact = (name for name in names if name not in listed and name not in without)
    await admission.admit(await view.fetch_all(exact), "load")
    for name in names:
        tool = None
        if name not in listed:
            tool = await find_by_name(view, name, admission=admission, without=without)
        meant = meant_name(name, listed) if tool is None else tool.name
        if meant is not None:
            (there if meant in listed else wanted)[meant] = None
        else:
            missing[name] = await suggest(
                view, name, admission=admission, without=without, is_searched=len(missing) < _MAX_SEARCHED
            )
    return NamedTools(wanted=tuple(wanted), listed=tuple(there), missing=missing)


async def suggest(
    view: CatalogView,
    name: str,
    *,
    admission: Admission,
    without: Collection[str] = (),
    is_searched: bool = True,
) -> list[str]:
    """Return up to three names of tools that a wrong name may mean, the likeliest first.

    Nearly equal spellings come first, then what a search for the name's words finds. Loosely similar
    spellings come only if there is neither: made-up names share words with the right tool, not letters.

    Args:
        view: Where to look.
        name: What a model wrote.
        admission: Asks the filter: phase `load` of each name, and `search` of what a search finds.
        without: Names to pass over.
        is_searched: Whether to search by the name's words as well.
    """
    passed = frozenset((name, *without))

    async def spelled(at_least: float) -> list[Tool]:
        alike = (tool for tool in view.alike(name, at_least=at_least) if tool.name not in passed)
        return await admission.admit(alike, "load", limit=_MAX_SUGGESTIONS)

    found = await spelled(_SLIP)
    if is_searched and len(found) < _MAX_SUGGESTIONS:
        found += await _found_by_words(view, name, admission=admission, without=passed)
    found = found or await spelled(SUGGESTION_CUTOFF)
    return list(dict.fromkeys(tool.name for tool in found))[:_MAX_SUGGESTIONS]


async def _found_by_words(
    view: CatalogView, name: str, *, admission: Admission, without: frozenset[str]
) -> list[Tool]:
    words = " ".join(name_parts(name[:_NAME_CHARACTERS]))
    if not words:
        return []
    wanted = Wanted(limit=_MAX_SUGGESTIONS * SPARE, min_score=_SUGGESTED_SCORE, without=without)
    found = await guess(view, words, wanted=wanted, admission=admission, purpose="suggest")
    return await admission.admit(found, "search", limit=_MAX_SUGGESTIONS)

"""Every sentence that the model reads."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from typing import Literal

from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames
from tool_search_processor.meta_tools.reading import MAX_NAMES
from tool_search_processor.tools import Tool
from tool_search_processor.wire.plain import counted, visible_text

DESCRIPTION_CHARACTERS = 150
_LOOKED_AT = 8
_ECHO_CHARACTERS = 80
_MAX_NAMESPACES = 20
_MAX_TOLD = 3
_LAST_WORD = re.compile(r"\s+\S*\Z")

EMPTY_QUERY = "The query is empty. Say in a few words what you need to do, such as 'create github issue'."
OUTAGE = "Some tools can't be reached now."
NO_NAMES = "No tool was named. Give tool_names: a list of names as the search gave them."


def instruction_text(names: MetaToolNames) -> str:
    """Return the fixed instruction, which names the meta-tools that are present."""
    use = {
        "load": f"load what fits with {names.load}, and call it in your next step",
        "auto_load": "and call what fits in your next step: what the search returns is loaded for you",
        "call": f"and run what fits with {names.call}",
    }[names.mode]
    unload = f" Free what you no longer need with {names.unload}." if names.allow_unload else ""
    return (
        f"More tools are available than are listed. When no listed tool fits, search with {names.search}, "
        f"{use}. Don't say that something can't be done before you have searched.{unload}"
    )


def catalog_text(lines: Sequence[str], names: MetaToolNames, *, is_all: bool) -> str:
    """Return the list of tools for the instruction.

    Args:
        lines: The line of each tool.
        names: The meta-tools that are present.
        is_all: Whether no other tool can be found.
    """
    use = {
        "load": f"Load them by name with {names.load}, without a search",
        "auto_load": f"Search for a name with {names.search} to load it",
        "call": f"Search for a name with {names.search} to see its parameters",
    }[names.mode]
    which, more = ("All", "") if is_all else ("Some of the", f"; find more with {names.search}")
    return f"{which} tools that can be found. {use}{more}:\n" + "\n".join(lines)


def catalog_line(tool: Tool) -> str:
    """Return a tool's line in the list."""
    # A description may be a megabyte, but only one line is shown.
    description = cut(one_line(tool.shown_description[: _LOOKED_AT * DESCRIPTION_CHARACTERS]))
    return f"- {tool.name}: {description}" if description else f"- {tool.name}"


def inventory_text(count: int, namespaces: Mapping[str, int]) -> str:
    """Return the sentence on how many tools there are, and in which namespaces."""
    if not namespaces:
        return f"There are {count} of them."
    first = islice(namespaces.items(), _MAX_NAMESPACES)
    shown = [f"{clip(one_line(visible_text(name)))} ({size})" for name, size in first]
    more = len(namespaces) - len(shown)
    tail = f" and {more} more namespaces" if more else ""
    return f"There are {count} of them, including those for: {', '.join(shown)}{tail}."


def found_text(
    names: MetaToolNames,
    *,
    found: int,
    newly_loaded: Sequence[str],
    loaded: int,
    before: Sequence[str] = (),
    full: Sequence[str] = (),
    limit: int = 0,
    unavailable: bool = False,
) -> str:
    """Return the sentence that goes with results.

    Args:
        names: What the meta-tools are called.
        found: How many results there are.
        newly_loaded: The results that this search loaded.
        loaded: How many of the results are loaded now.
        before: The results that were loaded once and are not any more.
        full: The results that were not loaded because the most tools are loaded.
        limit: The most tools that may be loaded.
        unavailable: Whether loading was tried and failed.
    """
    tools = counted(found, "tool")
    if names.mode == "call":
        return f"Found {tools}. Run one with {names.call}."
    no_place = f" {_full_text(full, limit=limit, names=names)}" if full else ""
    if newly_loaded:
        return f"Found {tools}. Loaded: {', '.join(newly_loaded)}; callable from your next step.{no_place}"
    if loaded == found:
        call = "It is loaded already: call it." if found == 1 else "They are loaded already: call them."
        return f"Found {tools}. {call}"
    if names.mode == "load":
        use = f"Load what you need with {names.load}; call it in your next step."
        again = f" Loaded before; load again before you call it: {', '.join(before)}." if before else ""
        return f"Found {tools}. {use}{again}"
    if loaded:
        return f"Found {tools}. Those marked as loaded can be called now.{no_place}"
    if full:
        return f"Found {tools}.{no_place}"
    now = " right now" if unavailable else ""
    none = "which can't" if found == 1 else "none of which can"
    return f"Found {tools}, {none} be loaded{now}."


def unknown_tags_text(tags: Collection[str]) -> str:
    """Return the sentence on tags that a search left out; empty if there are none."""
    return f"Left out tags that no tool has: {_listed(tags)}. " if tags else ""


def literal_text(query: str, *, is_pattern: bool) -> str:
    """Return the sentence that precedes the results of a query that was read as plain text."""
    why = "matches nothing as a pattern" if is_pattern else "is not a valid pattern"
    return f"{clip(query)!r} {why}, so it was searched for as plain text. "


def nothing_found_text(
    queries: Sequence[str], *, tags: Collection[str], listed: Sequence[str] = (), has_outage: bool = False
) -> str:
    """Return the sentence for a search without results.

    Args:
        queries: What was looked for.
        tags: What the search was narrowed to.
        listed: Tools that fit but were left out, since they are listed anyway.
        has_outage: Whether some tools can't be reached now.
    """
    asked = " or ".join(repr(clip(query)) for query in queries[:_MAX_TOLD])
    if listed:
        fits = " or ".join(listed[:_MAX_TOLD])
        return f"No other tool matches {asked}, but a listed tool does: call {fits}."
    if tags:
        unreached = f" {OUTAGE}" if has_outage else ""
        return f"No tool matches {asked} with a tag of {_listed(tags)}.{unreached} Search again without tags."
    if has_outage:
        return (
            f"No tool that can be reached matches {asked}. {OUTAGE} The right one may be among them: try "
            "other words once, and if that finds nothing, say that it can't be done now."
        )
    return (
        f"No tool matches {asked}. Try other words once, for the action and the thing it acts on; "
        "if that finds nothing, no tool fits: stop searching and say so."
    )


def _listed(words: Collection[str]) -> str:
    told = ", ".join(map(clip, nsmallest(_MAX_TOLD, words)))
    more = len(words) - _MAX_TOLD
    return f"{told} and {more} more" if more > 0 else told


def guard_text(
    kind: Literal["repeated", "fruitless"],
    *,
    found: Sequence[str],
    loaded: Sequence[str],
    names: MetaToolNames,
    tags: Collection[str] = (),
) -> str:
    """Return the sentence that asks a model to stop searching, and says which call to make next.

    Args:
        kind: Whether the same query was repeated, or many searches found nothing new.
        found: What this search found, best first.
        loaded: The tools that it can call.
        names: What the meta-tools are called.
        tags: What the search was narrowed to.
    """
    told = {
        "repeated": "You have searched for this before, and the results are the same.",
        "fruitless": "Your last searches have found nothing new.",
    }[kind]
    have = f" Loaded and callable: {', '.join(loaded)}." if loaded else ""
    if not found and tags:
        return f"{told}{have} Your next call: {names.search} without tags."
    if not found and kind == "repeated" and not loaded:
        return (
            f"{told} Your next call: {names.search} with other words, for the action and the thing it acts "
            "on; or say that no tool fits."
        )
    if not found:
        use = ": call one of them, or" if loaded else ", and"
        return f"{told}{have} Stop searching{use} say that no tool fits."
    best = found[0]
    next_call = best if best in loaded else _use(best, names)
    return f"{told}{have} Stop searching. Your next call: {next_call}. If no result fits, say so."


def _use(name: str, names: MetaToolNames) -> str:
    """Return the call by which a model can use a tool that is not listed."""
    if names.mode == "load":
        return f"{names.load} with {json.dumps({'tool_names': [name]})}"
    if names.mode == "call":
        return f"{names.call} with {json.dumps({'name': name})} and its arguments"
    return name


def loaded_text(
    names: MetaToolNames,
    *,
    loaded: Sequence[str],
    already: Sequence[str],
    missing: Mapping[str, Sequence[str]],
    full: Sequence[str],
    limit: int,
    repeated: bool = False,
    evicted: Sequence[str] = (),
    unavailable: Sequence[str] = (),
) -> str:
    """Return the sentence that goes with a load.

    Args:
        names: What the meta-tools are called.
        loaded: The tools that are loaded now and were not before.
        already: The tools that were loaded or listed before.
        missing: Unknown and denied names, each with the names that it may mean.
        full: The tools that were not loaded because the most tools are loaded.
        limit: The most tools that may be loaded.
        repeated: Whether the same names were asked for before, again without effect.
        evicted: The tools that were unloaded to make room.
        unavailable: The tools that were not loaded because the store could not be reached.
    """
    parts = []
    if loaded:
        parts.append(f"Loaded {', '.join(loaded)}: callable from your next step.")
    if evicted:
        parts.append(f"No longer loaded, to make room: {', '.join(evicted)}.")
    if already:
        parts.append(f"Already loaded: {', '.join(already)}. Call {'it' if len(already) == 1 else 'them'}.")
    if missing:
        told = ", ".join(f"{clip(name)}{_meant(alike)}" for name, alike in missing.items())
        parts.append(f"Not found: {told}. Search for tools by what they do, with {names.search}.")
    if repeated:
        parts.append(f"You have asked for this before. {_instead(names, already=already, missing=missing)}")
    if full:
        parts.append(_full_text(full, limit=limit, names=names))
    if unavailable:
        parts.append(
            f"Loading does not work right now, so these were not loaded: {', '.join(unavailable)}. Try again "
            "later in this conversation."
        )
    return " ".join(parts)


def _meant(alike: Sequence[str]) -> str:
    return f" (did you mean {' or '.join(alike)}?)" if alike else ""


def _instead(names: MetaToolNames, *, already: Sequence[str], missing: Mapping[str, Sequence[str]]) -> str:
    """Return the sentence on what to call next, for a model that asks again for the same names."""
    suggested = [name for alike in missing.values() for name in alike]
    if already:
        return f"Your next call: {already[0]}."
    if suggested:
        return f"Your next call: {_use(suggested[0], names)}, or {names.search}."
    return f"Your next call: {names.search}, with what you need to do in a few words."


def _full_text(full: Sequence[str], *, limit: int, names: MetaToolNames) -> str:
    tools = counted(limit, "tool")
    room = f" Make room with {names.unload}." if names.allow_unload else ""
    return f"Not loaded, since at most {tools} can be loaded and all are in use: {', '.join(full)}.{room}"


def unloaded_text(*, unloaded: Sequence[str], missing: Sequence[str]) -> str:
    """Return the sentence that goes with an unload."""
    parts = []
    if unloaded:
        parts.append(f"Unloaded {', '.join(unloaded)}.")
    if missing:
        parts.append(f"Not loaded: {', '.join(map(clip, missing))}.")
    return " ".join(parts)


def left_text(count: int) -> str:
    """Return the sentence on names beyond the most of one call; empty if there are none."""
    return f" {count} more names were left out: give at most {MAX_NAMES} at a time." if count > 0 else ""


def missing_tool_text(
    name: str, *, suggestions: Sequence[str], names: MetaToolNames | None, repeated: bool = False
) -> str:
    """Return the sentence for a call of a tool that is unknown or denied, the same for both.

    Args:
        name: What was called.
        suggestions: Names that it may mean.
        names: What the meta-tools are called; None if they are not listed.
        repeated: Whether it was called before.
    """
    told = f"There is no tool {clip(name)!r} to call."
    if not name and names is not None and names.mode == "call":
        told += " The call needs the tool's name as `name`, and the tool's arguments as `arguments`."
    told += f" Did you mean {' or '.join(suggestions)}?" if suggestions else ""
    if names is None:
        return told
    if repeated:
        return f"{told} You have tried it before. {_instead(names, already=(), missing={name: suggestions})}"
    return f"{told} Find tools with {names.search}."


def unlisted_text(*, names: MetaToolNames) -> str:
    """Return the sentence for a call that could not run since its tool was not listed."""
    instead = f" Call it through {names.call}." if names.mode == "call" else ""
    return f"The tool was not listed when you called it.{instead}"


def changed_tool_text(name: str, *, names: MetaToolNames) -> str:
    """Return the sentence for a call of a loaded tool that is gone, and whose name another tool has."""
    return (
        f"The tool {name} that you loaded is gone, and another tool has its name. Search with {names.search} "
        "to see what it does before you use it."
    )


def meta_tool_refused_text(name: str, *, names: MetaToolNames) -> str:
    """Return the sentence for a call of a meta-tool through the call tool."""
    return f"{name} can't be run through {names.call}: call it directly."


def one_line(text: str) -> str:
    """Return a string with each run of white space as one blank."""
    return " ".join(text.split())


@lru_cache(maxsize=4_096)  # the same tools are found again and again
def cut(text: str, limit: int = DESCRIPTION_CHARACTERS) -> str:
    """Return the visible text of a string, at most `limit` characters, cut between words if possible."""
    text = visible_text(text[: _LOOKED_AT * limit])
    if len(text) <= limit:
        return text
    words = _LAST_WORD.sub("", text[:limit])
    return f"{words if limit // 2 <= len(words) < limit else text[: limit - 1].rstrip()}…"


def clip(text: str) -> str:
    """Return a model's text, shortened for quoting it back to the model."""
    return text if len(text) <= _ECHO_CHARACTERS else f"{text[: _ECHO_CHARACTERS - 1]}…"

"""Which tools a query names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from tool_search_processor.search.text import QUERY_CHARACTERS, name_key, name_parts

EXACT, MENTIONED, SUFFIX = 1.0, 0.98, 0.96
"""Scores of names; steps of 0.02 leave room to rank the tools within one step."""

_LONGEST = 400  # characters of a query that may be a list of names
_MOST = 32
_SELECT = re.compile(r"^\s*select\s*:\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"[,;\n]|\band\b", re.IGNORECASE)
# Every identifier and quotation holds one of these: a hump, a sign inside a word, a quotation mark before
# parts of a name. The pattern begins with a set of characters because that makes the search ten times faster.
_MARKED = re.compile(
    r"[A-Z_.:`\"'](?:(?<=[a-z0-9][A-Z])|(?<=`)|(?<=[\"'])[A-Za-z0-9]+[_.:/-]|(?<=[_.:])[A-Za-z0-9_.:])"
)
# Not a word of a language: it has an underscore, a dot or a colon inside, or a hump.
_IDENTIFIER = re.compile(r"[A-Za-z0-9]+(?:[_.:]+[A-Za-z0-9]+)+|[a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+")
_IN_QUOTES = re.compile(r"`([\w.:/-]{2,80})`|[\"']([A-Za-z0-9]+(?:[_.:/-]+[A-Za-z0-9]+)+)[\"']")


def named(
    query: str, *, exact: Callable[[str], Sequence[int]], suffix: Callable[[str], Sequence[int]]
) -> dict[int, float]:
    """Return the numbers of the tools that a query names, each with its score.

    The whole query as a name, or a list of names and nothing else (`select:a,b` or `a, b`), gives 1.0;
    a name within a sentence 0.98; the end of a name (`browser_open` of `mcp__browser__browser_open`) 0.96.

    Args:
        query: The query.
        exact: Returns the tools whose name has a key (see `name_key`).
        suffix: Returns the tools whose name ends with a key, at the edge of a part.
    """
    if len(query) <= _LONGEST:
        listed = _SELECT.sub("", query) if ":" in query else query
        if numbers := _as_a_whole(listed, exact, suffix):
            return numbers
    if not _MARKED.search(query):
        return {}
    mentioned = _mentioned(query[:QUERY_CHARACTERS])
    return dict.fromkeys((number for key in mentioned for number in exact(key)), MENTIONED)


def _as_a_whole(
    query: str, exact: Callable[[str], Sequence[int]], suffix: Callable[[str], Sequence[int]]
) -> dict[int, float]:
    whole = name_key(query)
    if not whole:
        return {}
    if numbers := exact(whole):
        return dict.fromkeys(numbers, EXACT)
    if numbers := suffix(whole):
        return dict.fromkeys(numbers, SUFFIX) if len(name_parts(query)) > 1 else {}
    end = _BETWEEN.search(query)
    if end is None or ((first := name_key(query[: end.start()])) and not exact(first)):
        return {}
    lists = [exact(key) for piece in _BETWEEN.split(query)[:_MOST] if (key := name_key(piece))]
    return {number: EXACT for numbers in lists for number in numbers} if all(lists) else {}


def _mentioned(query: str) -> Iterator[str]:
    pieces = [
        match.group() for run in query.split() if _MARKED.search(run) for match in _IDENTIFIER.finditer(run)
    ]
    pieces += [ticked or quoted for ticked, quoted in _IN_QUOTES.findall(query)]
    yield from map(name_key, dict.fromkeys(pieces[:_MOST]))

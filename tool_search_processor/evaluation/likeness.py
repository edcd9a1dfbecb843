"""Finds tools of a catalog that read so much alike that a model or a search confuses them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.protocol import Document
from tool_search_processor.search.text import is_stop_word, name_parts, stem, terms_of, words
from tool_search_processor.tools import Tool

SIMILARITY = 0.8
"""The default likeness from which two tools are confusable.

On catalogs of real servers, pairs above it are such as "add a sub-issue to an issue" twice; below it, pairs
such as "create a gist" and "list gists" begin.
"""
_CANDIDATES = 8
_QUERY_WORDS = 60

# A model confuses "fetch" with "get", but not "delete" with "create", however alike the rest is.
_ACTIONS = (
    "create add insert new make register",
    "get read fetch retrieve show view describe list search find query lookup inspect",
    "update edit modify change set patch replace rename",
    "delete remove drop clear purge destroy",
    "start open enable begin resume",
    "stop close disable end pause cancel",
    "upload import send push",
    "download export receive pull",
    "encode",
    "decode",
    "encrypt",
    "decrypt",
    "lock",
    "unlock",
    "subscribe follow",
    "unsubscribe unfollow",
)
_ACTION_OF = {stem(word): f"action {place}" for place, row in enumerate(_ACTIONS) for word in row.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two tools that read alike; the first stands earlier in the catalog."""

    first: Tool
    second: Tool
    likeness: float
    """0 to 1; 1.0: the same words."""


def confusable(
    tools: Sequence[Tool], *, similarity: float = SIMILARITY, progress: Callable[[int], None] | None = None
) -> list[Pair]:
    """Return the pairs of tools that read alike, the most alike first.

    Each tool's name and description are a query to a BM25 index of names and descriptions. Each other tool
    found is compared: likeness is the cosine of the words of both (stemmed, synonymous actions merged, name
    words counted twice, stop words left out), each word weighted by its rarity in the catalog (tf-idf;
    Salton, Buckley: Term-weighting approaches in automatic text retrieval, 1988,
    https://doi.org/10.1016/0306-4573(88)90021-0). So words that all tools share do not count. Two tools with
    different actions in their names (create, delete) are a pair only if their descriptions are equal.

    Args:
        tools: The catalog; names may repeat.
        similarity: The least likeness of a pair, above 0 to 1.
        progress: Called after each tool, with 1.
    """
    vectors = _vectors(tools)
    # By place, not by name: a faulty catalog may hold a name twice.
    index = BM25Index()
    index.update(
        [
            Document(name=f"{place}", description=f"{tool.original_name} {tool.description}")
            for place, tool in enumerate(tools)
        ]
    )
    pairs: dict[tuple[int, int], float] = {}
    for place, tool in enumerate(tools):
        for other in _candidates(index, tool):
            key = (min(place, other), max(place, other))
            if other != place and key not in pairs and not _are_told_apart(tool, tools[other]):
                pairs[key] = _cosine(vectors[place], vectors[other])
        if progress is not None:
            progress(1)
    found = sorted((-likeness, *key) for key, likeness in pairs.items() if likeness >= similarity)
    return [Pair(first=tools[a], second=tools[b], likeness=-negative) for negative, a, b in found]


def look_alikes(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the names of pairs in groups, the largest first: both names of a pair are in the same group."""
    group_of: dict[str, list[str]] = {}
    for first, second in pairs:
        group = group_of.setdefault(first, [first])
        other = group_of.setdefault(second, [second])
        if other is not group:
            group += other
            group_of |= dict.fromkeys(other, group)
    groups = {id(group): group for group in group_of.values()}
    return sorted(groups.values(), key=len, reverse=True)


def _candidates(index: BM25Index, tool: Tool) -> Iterator[int]:
    asked = " ".join((words(tool.original_name) + words(tool.description))[:_QUERY_WORDS])
    return (int(hit.name) for hit in index.search(asked, limit=_CANDIDATES))


def _are_told_apart(tool: Tool, other: Tool) -> bool:
    """Return True if the names say different actions, or are equal, which is another finding."""
    if tool.original_name == other.original_name:
        return True
    if words(tool.description) == words(other.description):
        return False
    actions, others = _actions(tool.original_name), _actions(other.original_name)
    return bool(actions and others) and actions.isdisjoint(others)


def _actions(name: str) -> set[str]:
    return {_ACTION_OF[term] for term in map(stem, name_parts(name)) if term in _ACTION_OF}


def _vectors(tools: Sequence[Tool]) -> list[Mapping[str, float]]:
    """Return the weights of each tool's words, as vectors of length 1."""
    counts = [_counts(tool) for tool in tools]
    spread = Counter(term for terms in counts for term in terms)
    rarity = {term: math.log(1 + len(tools) / count) for term, count in spread.items()}
    vectors: list[Mapping[str, float]] = []
    for terms in counts:
        weights = {term: (1 + math.log(count)) * rarity[term] for term, count in terms.items()}
        length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        vectors.append({term: weight / length for term, weight in weights.items()})
    return vectors


def _counts(tool: Tool) -> Counter[str]:
    name = words(tool.original_name)
    said = [word for word in words(tool.description) if not is_stop_word(word)]
    # The action that synonyms such as "get" and "fetch" stand for.
    return Counter(_ACTION_OF.get(term, term) for word in (*name, *name, *said) for term in terms_of(word))


def _cosine(some: Mapping[str, float], others: Mapping[str, float]) -> float:
    if len(some) > len(others):
        some, others = others, some
    return min(1.0, sum(weight * others.get(term, 0.0) for term, weight in some.items()))

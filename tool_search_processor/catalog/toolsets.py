"""An immutable, ordered set of tools with unique names, and what is computed from it once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

from tool_search_processor.tools import Tool
from tool_search_processor.tools.near_names import plain_form

if TYPE_CHECKING:
    from tool_search_processor.search.protocol import Document

_GENERATIONS = count(1)
_MAX_SELECTIONS = 64
_SHORTEST_TAIL = 4
_MARK = 8
"""Hexadecimal digits: 32 bits, for tools of one name."""

SUGGESTION_CUTOFF = 0.6
"""How similar a name must be to be suggested: its least OSA similarity, from 0 to 1."""


class ToolSet:
    """An ordered set of tools with unique names; later sets have a greater `generation`."""

    _is_whole = True

    def __init__(self, tools: Iterable[Tool] = (), *, places: Mapping[str, str] | None = None) -> None:
        """Hold tools whose names are unique; `places` says where each is from, by name."""
        self.tools: tuple[Tool, ...] = tuple(tools)
        self.places = places or {}
        self._marks: dict[str, str] = {}
        self.by_name: Mapping[str, Tool] = {tool.name: tool for tool in self.tools}
        self.generation = next(_GENERATIONS)
        self._selections: dict[tuple[frozenset[str], frozenset[str]], frozenset[str] | None] = {}

    def __len__(self) -> int:
        return len(self.tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def mark(self, name: str) -> str:
        """Return a mark that distinguishes a tool from others of its name, now or later, in every process.

        Empty for a tool that was given directly.
        """
        mark = self._marks.get(name)
        if mark is None:
            mark = self._marks[name] = mark_of(self.by_name[name], self.places.get(name, ""))
        return mark

    @cached_property
    def fingerprint(self) -> str:
        """A hash of every tool's content, in order."""
        return hashlib.sha256("".join(tool.fingerprint for tool in self.tools).encode()).hexdigest()

    @cached_property
    def documents(self) -> Sequence[Document]:
        """The searchable text of each tool, in order."""
        from tool_search_processor.search.documents import document_of

        return tuple(document_of(tool) for tool in self.tools)

    @cached_property
    def document_by_name(self) -> Mapping[str, Document]:
        """The searchable text of each tool, by its name."""
        return {document.name: document for document in self.documents}

    @cached_property
    def namespaces(self) -> Mapping[str, int]:
        """How many tools each namespace holds, in order of appearance; those without one are left out."""
        counts: Counter[str] = Counter()
        for (namespace, _), number in self._groups.items():
            if namespace:
                counts[namespace] += number
        return counts

    @cached_property
    def labels(self) -> Mapping[str, int]:
        """How many tools each tag or namespace holds, in order of appearance; see `labels_of`."""
        counts: Counter[str] = Counter()
        for (namespace, tags), number in self._groups.items():
            for label in _labels(namespace, tags):
                counts[label] += number
        return counts

    @cached_property
    def _groups(self) -> Mapping[tuple[str | None, frozenset[str]], int]:
        """How many tools have each pair of namespace and tags, in order of appearance."""
        return Counter((tool.namespace, tool.tags) for tool in self.tools)

    @cached_property
    def pinned(self) -> Sequence[Tool]:
        """The tools that are always listed, in order."""
        return tuple(tool for tool in self.tools if tool.pinned)

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Names of tools by their aliases, without those that are also a name or that several tools have."""
        found: dict[str, set[str]] = {}
        for tool in self.tools:
            for alias in tool.aliases:
                found.setdefault(alias, set()).add(tool.name)
        return {
            alias: name
            for alias, (name, *others) in found.items()
            if not others and alias not in self.by_name
        }

    @cached_property
    def near_names(self) -> Mapping[str, tuple[str, ...]]:
        """Names by their normalized forms: without case and separators, with and without namespace."""
        forms: dict[str, dict[str, None]] = {}
        for tool in self.tools:
            for form in _forms(tool):
                forms.setdefault(form, {})[tool.name] = None
        return {form: tuple(names) for form, names in forms.items()}

    def near(self, name: str) -> list[Tool]:
        """Return the tools whose name is the same but for case, separators and namespace."""
        return [self.by_name[found] for found in self.near_names.get(plain_form(name), ())]

    def alike(self, name: str, *, at_least: float = SUGGESTION_CUTOFF) -> Iterator[Tool]:
        """Yield tools with a similar name, the most similar first.

        Args:
            name: The name.
            at_least: The least OSA similarity from 0 to 1; of a name that ends with the other it is 0.9.
        """
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        wanted = plain_form(name)
        if not wanted:
            return
        forms = self._normalized_names
        scorer = OSA.normalized_similarity
        found = process.extract(wanted, forms, scorer=scorer, score_cutoff=at_least, limit=None)
        scores = {self.tools[place].name: score for _, score, place in found}
        for tool, form in zip(self.tools, forms, strict=True):
            if min(len(wanted), len(form)) >= _SHORTEST_TAIL and (
                form.endswith(wanted) or wanted.endswith(form)
            ):
                scores[tool.name] = max(scores.get(tool.name, 0.0), 0.9)
        yield from (self.by_name[n] for n in sorted(scores, key=lambda n: -scores[n]))

    def labels_like(self, label: str) -> frozenset[str]:
        """Return this label, if a tool has it, and those that differ only in case and separators."""
        exact = frozenset((label,)) & self.labels.keys()
        return exact | self._label_spellings.get(plain_form(label), frozenset())

    def select(self, *, tags: frozenset[str], without: frozenset[str]) -> frozenset[str] | None:
        """Return the names of tools with any of `tags`, or of all if it is empty, without those in `without`.

        None means all names.

        Equal arguments give the same object, which lets an index keep its mask.
        """
        key = (tags, without)
        # Other threads may clear the dict at any moment, so each step asks it once only.
        with suppress(KeyError):
            return self._selections[key]
        if len(self._selections) >= _MAX_SELECTIONS:
            self._selections.clear()
        is_all = self._is_whole and not tags and self.by_name.keys().isdisjoint(without)
        names = (tool.name for tool in self.tools if tool.name not in without and has_any_label(tool, tags))
        return self._selections.setdefault(key, None if is_all else frozenset(names))

    @cached_property
    def _label_spellings(self) -> Mapping[str, frozenset[str]]:
        spellings: dict[str, set[str]] = {}
        for label in self.labels:
            if form := plain_form(label):
                spellings.setdefault(form, set()).add(label)
        return {form: frozenset(labels) for form, labels in spellings.items()}

    @cached_property
    def _normalized_names(self) -> Sequence[str]:
        return [plain_form(tool.name) for tool in self.tools]


class Part(ToolSet):
    """Some of the tools of a set, ranked within the index of the whole set.

    Callers who may see different tools share one index, and none of them makes it again for the others.
    """

    _is_whole = False

    def __init__(self, tools: Iterable[Tool], *, whole: ToolSet) -> None:
        """Hold some tools of the whole set."""
        super().__init__(tools)
        self.generation = whole.generation
        self._whole = whole

    @cached_property
    def documents(self) -> Sequence[Document]:
        """The searchable text of each tool of the whole set: an index that holds it holds the part too."""
        return self._whole.documents


NO_TOOLS = ToolSet()


def labels_of(tool: Tool) -> Sequence[str]:
    """Return the labels by which a search can be narrowed to a tool: its namespace, then its sorted tags."""
    return _labels(tool.namespace, tool.tags)


def _labels(namespace: str | None, tags: frozenset[str]) -> Sequence[str]:
    # Sorted, since a set's order differs from process to process and would change what models are sent.
    ordered = sorted(tags)
    return [namespace, *ordered] if namespace and namespace not in tags else ordered


def has_any_label(tool: Tool, tags: frozenset[str]) -> bool:
    """Return True if a tool has any of the tags, or one of them is its namespace; no tags ask nothing."""
    return not tags or not tool.tags.isdisjoint(tags) or tool.namespace in tags


def of_other_types(tools: Iterable[Tool], types: frozenset[str]) -> frozenset[str]:
    """Return the names of the tools that are of none of the types; no types ask nothing."""
    return frozenset(tool.name for tool in tools if tool.tool_type not in types) if types else frozenset()


def mark_of(tool: Tool, place: str) -> str:
    """Return a hash of a tool's place and original name; empty if there is nothing to hash."""
    if not place and tool.original_name == tool.name:
        return ""
    return hashlib.sha256(f"{place}\n{tool.original_name}".encode(errors="surrogatepass")).hexdigest()[:_MARK]


def _forms(tool: Tool) -> Iterator[str]:
    """Yield the normalized forms a model may ask for a tool by."""
    name = plain_form(tool.name)
    yield name
    original = tool.metadata.get("original_name")
    if isinstance(original, str):
        yield plain_form(original)
    yield from map(plain_form, tool.aliases)
    if tool.namespace:
        prefix = plain_form(tool.namespace)
        yield prefix + name
        if name.startswith(prefix) and name != prefix:
            yield name.removeprefix(prefix)

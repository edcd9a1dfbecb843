"""Turns learned requests into documents for one request's searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tool_search_processor.catalog.toolsets import ToolSet, has_any_label
from tool_search_processor.search.protocol import Document


class LearnedRequests:
    """What was learned for the tools of one scope, kept apart from the index.

    A tool's document with its learned requests takes the place of the stored one in a search (`extra` of
    `SearchIndex.search`), so one index serves every scope.
    """

    def __init__(self, requests: Mapping[str, tuple[str, ...]]) -> None:
        """Keep the requests that were learned, by tool name."""
        self._requests = requests
        self._made: tuple[int, tuple[Document, ...]] = (0, ())

    def added_to(self, document: Document) -> Document:
        """Return a document with what was learned for it."""
        learned = self._requests.get(document.name)
        if not learned:
            return document
        return replace(document, example_requests=(*document.example_requests, *learned))

    def documents(
        self, tools: ToolSet, *, tags: frozenset[str], without: frozenset[str]
    ) -> tuple[Document, ...]:
        """Return the documents of the tools that have learned requests, with those requests."""
        generation, made = self._made
        if generation != tools.generation:
            known = tools.document_by_name
            made = tuple(self.added_to(known[name]) for name in self._requests if name in known)
            self._made = tools.generation, made
        if not tags and self._requests.keys().isdisjoint(without):
            return made
        return tuple(
            document
            for document in made
            if document.name not in without and has_any_label(tools.by_name[document.name], tags)
        )

"""Reads past requests and their tools, to use as example requests of the tools that are measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tool_search_processor.evaluation.files import names_in, read_records
from tool_search_processor.search.documents import document_of
from tool_search_processor.search.protocol import Document
from tool_search_processor.tools import Tool

_TOOL_KEYS = ("tools", "tool", "relevant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A request, and the tools that it was for.

    ```python
    past = Past(text="file a bug", tools=("create_issue",))
    ```
    """

    text: str
    tools: tuple[str, ...]
    """Names or original names; names that a catalog doesn't have are ignored."""


def load_history(path: str | Path) -> list[Past]:
    """Read past requests from a JSON Lines file (or a JSON list): `query`, and `tool`, `tools` or `relevant`.

    ```python
    load_history("my_set/queries.jsonl")[0].tools  # -> ('create_issue',)
    ```

    The files of `tool-search learn` and of `Experience.export` have this form.

    Raises:
        DataError: If the file can't be read, or a record has no query or no tools.
    """
    found = []
    for place, record in read_records(path, "record", key="tool"):
        given = next((record[key] for key in _TOOL_KEYS if record.get(key) is not None), None)
        tools = names_in(given, place, wanted="'tool' must be a name, or 'tools' a list of names")
        found.append(Past(text=record["query"], tools=tools))
    return found


def documents_with(tools: Iterable[Tool], history: Iterable[Past]) -> list[Document]:
    """Return the tools' documents, with the requests of a history added to their own."""
    tools = list(tools)
    names = {tool.original_name: tool.name for tool in tools} | {tool.name: tool.name for tool in tools}
    asked: dict[str, dict[str, None]] = {}
    for past in history:
        for name in past.tools:
            if name in names:
                asked.setdefault(names[name], {})[" ".join(past.text.split())] = None
    documents = map(document_of, tools)
    return [
        replace(document, example_requests=(*document.example_requests, *asked[document.name]))
        if document.name in asked
        else document
        for document in documents
    ]


def asked_again(queries: Iterable[str], history: Sequence[Past]) -> int:
    """Return how many queries are in a history word for word; they say nothing about new requests."""
    known = {past.text.strip() for past in history}
    return sum(query.strip() in known for query in queries)

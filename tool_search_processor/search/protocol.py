"""What all search strategies share: the document, the hit, and the protocols."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

WORDS_ALONE = "the embedder failed, so words answer alone"
"""The log message for it."""


@dataclass(frozen=True, slots=True)
class Document:
    """The searchable text of one tool, field by field.

    ```python
    index = BM25Index()
    index.update([Document("create_issue", description="Opens an issue.", keywords=("bug",))])
    [hit.name for hit in index.search("report a bug")]  # -> ['create_issue']
    ```
    """

    name: str
    namespace: str | None = None
    description: str = ""
    tags: tuple[str, ...] = ()
    """Sorted, so that equal tools make equal documents."""
    keywords: tuple[str, ...] = ()
    """Words for search only: never sent to a model."""
    parameter_names: tuple[str, ...] = ()
    parameter_texts: tuple[str, ...] = ()
    """Descriptions, titles and enum values of the parameters, nested and `$ref` ones included."""
    example_requests: tuple[str, ...] = ()
    """What people ask when they want this tool; what one asked in several ways is one request of lines."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked tool.

    ```python
    hits = await search.search("create_issue")
    hits[0].name, hits[0].score  # -> ('create_issue', 1.0)
    ```
    """

    name: str
    score: float
    """0 < score <= 1; 1.0 is an exact name. Means the same at every query of one index."""
    text_rank: int | None = None
    """1-based place in the lexical list, if the index has one."""
    vector_rank: int | None = None
    """1-based place in the vector list, if the index has one."""
    matched: tuple[str, ...] = ()
    """The words of the query that match this tool, in the query's order; for people, not for ranking."""


@runtime_checkable
class SearchIndex(Protocol):
    """A search strategy over one set of documents, in this process.

    ```python
    class StartsWith(SearchIndex):
        def update(self, documents):
            self.names = [document.name for document in documents]

        def search(self, query, *, limit=None, within=None, extra=()):
            names = self.names if within is None else [name for name in self.names if name in within]
            return [Hit(name, 1.0) for name in names if name.startswith(query)][:limit]

    await Catalog([create_issue, list_issues], search=StartsWith()).search("list")
    ```

    An index may be searched from several threads at once, and updated while it is searched: a search
    sees the old documents or the new ones, never a mixture.

    It may also have any of these:

    - `blocking = True`: a search may take more than a few milliseconds, and is run in a thread.
    - `takes_pattern = True`: queries are regular expressions, and the model is told so.
    - `count(query, *, min_score, within, extra)`: how many hits `search` would give without a limit.
    - `ready` and `wait(timeout_seconds)`: whether what is built in the background is there.
    """

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content, in this order.

        Names identify documents; a document that has not changed costs next to nothing.
        """
        ...

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        within: Collection[str] | None = None,
        extra: Sequence[Document] = (),
    ) -> list[Hit]:
        """Rank the documents for a query.

        Args:
            query: What is looked for; any string, of any length.
            limit: The most hits to return; None returns every match, 0 or less none. A higher limit only
                makes the list longer: its beginning stays the same.
            within: Names to rank; None ranks all. An index may cache the mask of a frozenset, so pass the
                same one again.
            extra: Documents of this request alone, such as all tools of a provider without a
                `version`: scored with the shared statistics, never stored. An extra document hides the
                stored document of the same name; in a tie, stored documents come first. `within` does not
                apply to extra documents. An index that ignores them finds none of that provider's tools.

        Returns:
            Hits, best first; ties keep the documents' order. The same arguments give the same list.
        """
        ...


@runtime_checkable
class AsyncSearchIndex(Protocol):
    """A `SearchIndex` whose methods are asynchronous, for an engine outside this process."""

    async def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content, in this order."""
        ...

    async def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        within: Collection[str] | None = None,
        extra: Sequence[Document] = (),
    ) -> list[Hit]:
        """Rank the documents for a query; see `SearchIndex.search`."""
        ...


AnyIndex = SearchIndex | AsyncSearchIndex


def distinct(documents: Iterable[Document]) -> tuple[Document, ...]:
    """Return the documents in order; of two with one name the later one, in the place of the first."""
    return tuple({document.name: document for document in documents}.values())

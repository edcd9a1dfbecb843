"""Everything that the package may ask of an index, with a default for all but updating and searching."""

from __future__ import annotations

import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.protocol import AnyIndex, Document, Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

logger = logging.getLogger(__name__)

SearchMode = Literal["fts", "vector", "hybrid"]
"""By words, by meaning, or by both."""
ListName = Literal["fts", "vector"]


Names = Collection[str] | None
"""What a request may see; None for everything."""
Documents = tuple[Document, ...]
"""The request's own."""


class Index(ABC):
    """Base class of the package's own indexes; any other index is brought to it once, by `adapted`."""

    takes_pattern = False
    """Whether queries are regular expressions."""
    blocking = False
    """Whether a search may take more than a few milliseconds, and so belongs in a thread."""
    is_outside = False
    """Whether `update` has to be awaited: an engine outside this process."""
    has_words_instead = False
    """Whether a catalog ranks by words while this index fails, as one whose embedder is down."""

    @abstractmethod
    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content, in this order."""

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        within: Collection[str] | None = None,
        extra: Sequence[Document] = (),
    ) -> list[Hit]:
        """Rank the documents for a query; see `SearchIndex.search`."""
        return self._search(query, limit, within, tuple(extra))

    @abstractmethod
    def _search(self, query: str, limit: int | None, within: Names, extra: Documents) -> list[Hit]:
        """Rank the documents; nothing is left to a default."""

    def count(
        self,
        query: str,
        *,
        min_score: float = 0.0,
        within: Collection[str] | None = None,
        extra: Sequence[Document] = (),
    ) -> int:
        """Return how many hits `search` with no limit would give with `score >= min_score`."""
        return self._count(query, min_score, within, tuple(extra))

    def _count(self, query: str, min_score: float, within: Names, extra: Documents) -> int:
        return _at_least(min_score, self._search(query, None, within, extra))

    def log_odds(self, query: str, *, extra: Sequence[Document] = ()) -> Floats | None:
        """Return the log odds that each document fits, those of `extra` last; None if hits say it all.

        Hybrid search adds them to those of the meaning. Names don't count here.
        """
        return None

    def lists(self) -> Mapping[ListName, Index]:
        """Return the lists that can be searched alone: by words, by meaning, or both."""
        return {"fts": self}

    @property
    def ready(self) -> bool:
        """Whether a search sees what the last update brought."""
        return True

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until building in the background has ended; return whether the index is ready."""
        return self.ready

    @property
    def building(self) -> tuple[int, int] | None:
        """How many vectors, of how many, are made in the background; None if nothing is."""
        return None

    def warn(self, message: str, *, exc_info: bool = True) -> None:
        """Log a failure of this index as a warning."""
        logger.warning(message, exc_info=exc_info)


class AdaptedIndex(Index):
    """An index that somebody else wrote: the two methods, and whatever else it offers.

    The answers of an asynchronous one are passed on as awaitables.
    """

    def __init__(self, index: AnyIndex) -> None:
        """Look once at what the index offers."""
        given: Any = index
        self._index = given
        self.takes_pattern = bool(getattr(given, "takes_pattern", False))
        self.blocking = bool(getattr(given, "blocking", False))
        self.is_outside = inspect.iscoroutinefunction(given.update)
        self._counts: Callable[..., Any] | None = getattr(given, "count", None)
        self._wait: Callable[..., Any] | None = getattr(given, "wait", None)
        self._log_odds: Callable[..., Floats] | None = getattr(given, "log_odds", None)

    def update(self, documents: Sequence[Document]) -> Any:
        """Pass the documents on."""
        return self._index.update(documents)

    def _search(self, query: str, limit: int | None, within: Names, extra: Documents) -> Any:
        """Pass the query on, and check that hits come back.

        Raises:
            ConfigurationError: If something else does.
        """
        found = self._index.search(query, limit=limit, within=within, extra=extra)
        return _then(found, self._checked)

    def _count(self, query: str, min_score: float, within: Names, extra: Documents) -> Any:
        """Let the index count if it can; or else count what it finds."""
        if self._counts is not None:
            return _then(self._counts(query, min_score=min_score, within=within, extra=extra), int)
        found = self._search(query, None, within, extra)
        return _then(found, lambda hits: _at_least(min_score, [hit for hit in hits if hit.score > 0]))

    def log_odds(self, query: str, *, extra: Sequence[Document] = ()) -> Floats | None:
        """Return the index's own, if it has any."""
        return None if self._log_odds is None else self._log_odds(query, extra=extra)

    def lists(self) -> Mapping[ListName, Index]:
        """Return both lists of an index that has a `lexical` and a `vector` one, as `HybridIndex` does."""
        given = self._index
        if hasattr(given, "lexical") and hasattr(given, "vector"):
            return {"fts": OneList(self, given.lexical), "vector": OneList(self, given.vector)}
        return {"vector" if hasattr(given, "embedder") else "fts": self}

    @property
    def ready(self) -> bool:
        """What the index says, True if it says nothing."""
        return bool(getattr(self._index, "ready", True))

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait, if the index knows how to."""
        return self.ready if self._wait is None else bool(self._wait(timeout_seconds))

    @property
    def building(self) -> tuple[int, int] | None:
        """What the index says, None if it says nothing."""
        building: tuple[int, int] | None = getattr(self._index, "building", None)
        return building

    def _checked(self, hits: Any) -> list[Hit]:
        if not isinstance(hits, list | tuple) or not all(isinstance(hit, Hit) for hit in hits[:1]):
            raise ConfigurationError(
                f"{type(self._index).__name__}.search must return a list of Hit, found {hits!r:.80}"
            )
        return list(hits)


class OneList(Index):
    """One list of an index of two, searched alone; an update reaches the whole."""

    def __init__(self, whole: Index, part: AnyIndex) -> None:
        """Take the whole and the part."""
        self._whole = whole
        self._part = adapted(part)
        self.blocking = self._part.blocking

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content; nothing happens if the whole holds them already."""
        self._whole.update(documents)

    def _search(self, query: str, limit: int | None, within: Names, extra: Documents) -> list[Hit]:
        return self._part.search(query, limit=limit, within=within, extra=extra)


def adapted(index: AnyIndex | Index) -> Index:
    """Return an index that has every method that the package calls."""
    return index if isinstance(index, Index) else AdaptedIndex(index)


def _at_least(min_score: float, hits: Sequence[Hit]) -> int:
    return sum(hit.score >= min_score for hit in hits)


def _then(answer: Any, finish: Callable[[Any], Any]) -> Any:
    """Apply a function to an answer, after awaiting it if it is awaitable."""
    if not inspect.isawaitable(answer):
        return finish(answer)

    async def finished() -> Any:
        return finish(await answer)

    return finished()

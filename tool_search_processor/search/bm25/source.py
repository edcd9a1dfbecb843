"""A set of documents in which the words of a query are looked up, key by key."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.bm25.postings import Posting, Weighed
from tool_search_processor.search.bm25.spelling import Alternative


class DocumentSource(ABC):
    """Documents in numbered slots, and which of them hold a key."""

    total: int
    """The number of documents."""
    size: int
    """The number of slots, including those of removed documents."""
    hidden: NDArray[np.int64]
    """The slots of removed documents."""

    @abstractmethod
    def frequency(self, term: str) -> int:
        """Return how many documents hold a key."""

    @abstractmethod
    def find(self, term: str) -> list[Posting]:
        """Return the postings of a key, including those of removed documents."""

    @abstractmethod
    def weighed(self, terms: Sequence[str]) -> list[Weighed]:
        """Return the postings of several keys; removed documents are among them, but not in the sums."""

    @abstractmethod
    def alternatives(self, word: str) -> Sequence[Alternative]:
        """Return what to look up instead of a word that no document holds."""

"""The vectors of tools and queries for the engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tool_search_processor.search.embedders import CachedEmbedder, DescribedEmbedder, Floats, LocalEmbedder
from tool_search_processor.search.protocol import Document
from tool_search_processor.search.vector.index import QUERY_CHARACTERS, AnyEmbedder
from tool_search_processor.search.vector.texts import document_text

_MOST = 0.99  # 1.0 is an exact name


class Meaning:
    """An embedder for tools and queries, and the scale of its cosines."""

    def __init__(self, embedder: AnyEmbedder) -> None:
        """Take an embedder, a function, or a local model's name."""
        described = DescribedEmbedder.of(LocalEmbedder(embedder) if isinstance(embedder, str) else embedder)
        self._embedder = CachedEmbedder(described)
        self.model = described.model_id
        self._low, self._high = described.cosine_range

    @cached_property
    def dimensions(self) -> int:
        """The length of a vector; asks the embedder once."""
        return int(self._embedder.documents_in_time(["tool"]).shape[1])

    def documents(self, documents: Sequence[Document]) -> Floats:
        """Return unit vectors, shape (n, dimensions)."""
        return self._embedder.documents([document_text(document) for document in documents])

    def query(self, query: str) -> Floats | None:
        """Return the unit vector of a query; None if it is blank or unknown to the embedder."""
        asked = query[:QUERY_CHARACTERS].strip()
        vector = self._embedder.query(asked) if asked else None
        return vector if vector is not None and vector.any() else None

    def score(self, cosine: float) -> float:
        """Return a cosine as a score, 0 to 0.99."""
        return min(max((cosine - self._low) / (self._high - self._low), 0.0), _MOST)

    def nearness(self, documents: Sequence[Document], vector: Floats) -> list[tuple[str, float]]:
        """Return the name of each document, with the cosine between its vector and the given one."""
        if not documents:
            return []
        texts = [document_text(document) for document in documents]
        cosines = (self._embedder.documents_in_time(texts) @ vector).tolist()
        return [
            (document.name, round(cosine, 6)) for document, cosine in zip(documents, cosines, strict=True)
        ]

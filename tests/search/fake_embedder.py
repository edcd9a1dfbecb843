"""A deterministic embedder: a bag of hashed words, so that texts that share words are near."""

from __future__ import annotations

import functools
import hashlib
import re
import threading
from collections.abc import Sequence
from typing import Literal

import numpy as np

DIMENSIONS = 64


def vector_of(text: str, dimensions: int = DIMENSIONS) -> np.ndarray:
    """Return the sum of one random direction a word."""
    total = np.zeros(dimensions, np.float32)
    for word in re.findall(r"\w+", text.lower()):
        total += _direction(word, dimensions)
    return total


@functools.cache
def _direction(word: str, dimensions: int) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)


class FakeEmbedder:
    """Counts what it embeds."""

    def __init__(
        self,
        *,
        model_id: str | None = "fake-1",
        dimensions: int = DIMENSIONS,
        blocking: bool = False,
        covered: float = 1.0,
    ) -> None:
        self.model_id = model_id
        self.blocking = blocking
        self.cosine_range = (0.0, 1.0)
        self.texts: list[str] = []
        self.queries: list[str] = []
        self._dimensions = dimensions
        self._covered = covered

    def coverage(self, text: str) -> float:
        return self._covered

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += texts
        return np.stack([vector_of(text, self._dimensions) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        self.queries.append(text)
        return vector_of(text, self._dimensions)


class HeldEmbedder(FakeEmbedder):
    """Waits with tools, or with queries, until it is let go; then it may still fail."""

    def __init__(self, held: Literal["tools", "queries"] = "tools") -> None:
        super().__init__(blocking=True)
        self.asked = threading.Event()
        self.go = threading.Event()
        self.failure: BaseException | None = None
        self._held = held

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self._wait("tools")
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> np.ndarray:
        self._wait("queries")
        return super().embed_query(text)

    def _wait(self, what: str) -> None:
        if what == self._held:
            self.asked.set()
            assert self.go.wait(60)
            if self.failure:
                raise self.failure

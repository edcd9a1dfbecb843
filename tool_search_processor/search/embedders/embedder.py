"""The protocol of an embedder, and the optional attributes that an index reads."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.errors import ConfigurationError

Floats = NDArray[np.float32]

NAME_END = ": "
"""What stands between a tool's name and its description in the texts that indexes give to embedders."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of any length; indexes normalize them.

    ```python
    class Lengths(Embedder):
        def embed_documents(self, texts):
            return np.array([[len(text), 1] for text in texts], np.float32)

        def embed_query(self, text):
            return self.embed_documents([text])[0]

    index = VectorIndex(Lengths())
    ```

    It may also have any of these attributes:

    - `model_id` (str): names the model and everything that shapes its vectors; needed for a file of vectors.
    - `cosine_range` (two floats): the cosines of a tool that surely does not fit and of one that surely does.
    - `blocking` (bool, True by default): whether a call waits for a network or computes for long.
    - `coverage(text) -> float`: the share of a string, 0 to 1, that is in a language the model knows.
    - `embed_queries(texts)`: the vectors of a query and its clauses, shape (n, dimensions), in one call;
      without it, `embed_query` is called for each.
    """

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of tools' texts, shape (n, dimensions), in order."""
        ...

    def embed_query(self, text: str) -> Floats:
        """Return the vector of one query, shape (dimensions,)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallableEmbedder:
    """Turns a function from texts to vectors into an embedder.

    ```python
    def lengths(texts: Sequence[str]) -> list[list[int]]:
        return [[len(text), 1] for text in texts]

    embedder = CallableEmbedder(function=lengths, model_id="lengths")
    embedder.embed_query("abc").tolist()  # -> [3.0, 1.0]
    ```
    """

    function: Callable[[Sequence[str]], Any]
    """From a list of texts to as many vectors: an array, or lists of numbers."""
    model_id: str | None = None

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, shape (n, dimensions)."""
        return _numbers(self.function(list(texts)), of="the function")

    def embed_query(self, text: str) -> Floats:
        """Return the vector of one string, shape (dimensions,)."""
        vector: Floats = self.embed_documents([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, shape (n, dimensions)."""
        return self.embed_documents(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedEmbedder:
    """An embedder with every optional attribute filled in.

    ```python
    described = DescribedEmbedder.of(lambda texts: [[3, 4] for _ in texts])
    described.cosine_range, described.blocking  # -> ((0.0, 1.0), True)
    ```
    """

    embedder: Embedder
    model_id: str | None
    cosine_range: tuple[float, float]
    blocking: bool
    coverage: Callable[[str], float]

    @classmethod
    def of(cls, embedder: object) -> DescribedEmbedder:
        """Describe an embedder, or a function from texts to vectors.

        Raises:
            ConfigurationError: If it is neither.
        """
        if isinstance(embedder, type) or not (isinstance(embedder, Embedder) or callable(embedder)):
            raise ConfigurationError(
                'embedder must be "minilm+static", "static", "minilm" or "multilingual", an object with '
                "embed_documents() and embed_query(), or a function from texts to vectors; found "
                f"{embedder!r:.80}"
            )
        if not isinstance(embedder, Embedder):
            embedder = CallableEmbedder(function=embedder)
        coverage = getattr(embedder, "coverage", lambda _text: 1.0)
        if not callable(coverage):
            raise ConfigurationError(
                "coverage must be a method that returns the share of a string that the model knows; found "
                f"{coverage!r:.80}"
            )
        return cls(
            embedder=embedder,
            model_id=getattr(embedder, "model_id", None),
            cosine_range=_range(getattr(embedder, "cosine_range", (0.0, 1.0))),
            blocking=bool(getattr(embedder, "blocking", True)),
            coverage=partial(_share, coverage),
        )

    def documents(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors of texts, checked to be as many as the texts, shape (n, dimensions)."""
        return _rows(self.embedder.embed_documents(texts), len(texts), of="embed_documents")

    def queries(self, texts: Sequence[str]) -> Floats:
        """Return the unit vectors of a query and its clauses, shape (n, dimensions)."""
        embed = getattr(self.embedder, "embed_queries", None)
        if embed is None or len(texts) == 1:
            return np.stack([self.query(text) for text in texts])
        return _rows(embed(texts), len(texts), of="embed_queries")

    def query(self, text: str) -> Floats:
        """Return the unit vector of a query, shape (dimensions,)."""
        vector = _numbers(self.embedder.embed_query(text), of="embed_query")
        if vector.ndim != 1:
            raise ConfigurationError(
                f"embed_query returned an array of shape {vector.shape}; it must be (dimensions,)"
            )
        unit: Floats = unit_rows(vector[np.newaxis])[0]
        return unit


def unit_rows(vectors: Floats) -> Floats:
    """Return the rows scaled to length 1; a row of zeros or with a value that is not finite becomes zeros."""
    clean = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0.0)
    greatest = np.abs(clean).max(axis=1, keepdims=True, initial=0.0)
    clean = clean / np.where(greatest > 0, greatest, 1.0)  # squares of large numbers overflow
    lengths = np.linalg.norm(clean, axis=1, keepdims=True)
    return np.asarray(clean / np.where(lengths > 0, lengths, 1.0), np.float32)


def _rows(answer: Any, size: int, *, of: str) -> Floats:
    vectors = _numbers(answer, of=of)
    if vectors.ndim != 2 or len(vectors) != size:
        raise ConfigurationError(
            f"the embedder answered {size} texts with an array of shape {vectors.shape}; "
            f"{of} must return shape (texts, dimensions)"
        )
    return unit_rows(vectors)


def _numbers(answer: Any, *, of: str) -> NDArray[np.floating[Any]]:
    """Return an embedder's answer as an array of numbers.

    Raises:
        ConfigurationError: If it holds something else, or lists of different lengths.
    """
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise ConfigurationError(f"{of} is a plain `def`, found {answer!r:.80}: embedders run in a thread")
    try:
        given = np.asarray(answer)
        if given.dtype.kind not in "biufO":
            raise TypeError(given.dtype)
        # Numbers too large for single precision are scaled down first; see `unit_rows`.
        return given if given.dtype == np.float32 else given.astype(np.float64)
    except (TypeError, ValueError) as exc:
        raise ConfigurationError(f"{of} must return an array of numbers; found {answer!r:.80}") from exc


def _range(given: Any) -> tuple[float, float]:
    try:
        low, high = map(float, given)
    except (TypeError, ValueError) as exc:
        raise ConfigurationError(f"cosine_range is two numbers; found {given!r:.80}") from exc
    if not (low < high and math.isfinite(high - low)):
        raise ConfigurationError(f"cosine_range must rise, and be finite; found {(low, high)!r}")
    return low, high


def _share(coverage: Callable[[str], float], text: str) -> float:
    """Return an embedder's coverage, clipped to 0 to 1; 0 for NaN, such as a share of no words."""
    share = float(coverage(text))
    return 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0)

"""An embedder that makes no vector twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np
from cachetools import LRUCache

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.embedders.disk import VectorCache, content_key
from tool_search_processor.search.embedders.embedder import DescribedEmbedder, Floats
from tool_search_processor.search.embedders.workers import EmbeddingStopped, TimedCalls
from tool_search_processor.wire.checks import check_positive

QUERY_SECONDS = 10.0
"""The default time limit of a call; loading a local model takes a few seconds."""
_BATCH = 256
_KEPT_QUERIES = 256
_KEPT_TEXTS = 4096
_NO_TURN = nullcontext()


class CachedEmbedder:
    """Returns unit vectors of texts from memory, from disk, or else from an embedder.

    ```python
    described = DescribedEmbedder.of(LocalEmbedder("static"))
    embedder = CachedEmbedder(described, path="vectors.db")
    ```

    It may be used from several threads at once. Vectors are written to disk batch by batch, so an interrupted
    build continues where it stopped.
    """

    def __init__(
        self,
        embedder: DescribedEmbedder,
        *,
        path: str | PathLike[str] | None = None,
        timeout_seconds: float | None = QUERY_SECONDS,
    ) -> None:
        """Wrap an embedder.

        Args:
            embedder: What makes vectors.
            timeout_seconds: How long a `blocking` embedder may take for a query or a batch of 256 texts;
                None waits as long as it takes.
            path: A file to keep vectors of texts in; None keeps the latest 4,096 in memory only.

        Raises:
            ConfigurationError: If there is a path but no `model_id`, or the time is not a number above 0.
        """
        check_positive("timeout_seconds", timeout_seconds, optional=True, finite=True)
        self._calls = TimedCalls(timeout_seconds if embedder.blocking else None)
        self.embedder = embedder
        self._disk = None
        if path is not None:
            if not embedder.model_id:
                raise ConfigurationError(
                    f"cache_path={str(path)!r} needs an embedder with a model_id, so that vectors of two "
                    f"models never mix; {embedder.embedder!r:.80} has none"
                )
            self._disk = VectorCache(Path(path), model_id=embedder.model_id)
        self._texts: LRUCache[bytes, Floats] = LRUCache(_KEPT_TEXTS)
        self._queries: LRUCache[str, Floats] = LRUCache(_KEPT_QUERIES)
        self._lock = threading.Lock()

    def documents(
        self,
        texts: Sequence[str],
        *,
        stop: threading.Event | None = None,
        on_made: Callable[[int, int], object] | None = None,
    ) -> Floats:
        """Return the unit vectors of texts, shape (n, dimensions); (0, 0) for none.

        Args:
            texts: What to embed, unless its vector is stored.
            stop: Once set, ends the work after the current batch.
            on_made: Called before each batch with how many texts have vectors, of how many.

        Raises:
            EmbeddingStopped: If `stop` was set before all texts had vectors.
            TimeoutError: When the embedder takes too long for a batch. Its late answer is still stored.
        """
        made_now = 0

        def made(batch: Mapping[bytes, str]) -> dict[bytes, Floats]:
            nonlocal made_now
            if on_made is not None:
                on_made(made_now, len(texts))
            made_now += len(batch)
            if stop is not None and stop.is_set():
                raise EmbeddingStopped
            return self._calls.call(lambda: self._embedded(batch))

        return self._documents(texts, made)

    def documents_in_time(
        self,
        texts: Sequence[str],
        *,
        turn: AbstractContextManager[object] = _NO_TURN,
        in_memory: bool = False,
    ) -> Floats:
        """Return the unit vectors of a few texts that a query waits for, within the time limit of one batch.

        Args:
            texts: What to embed, unless its vector is stored.
            turn: A lock: of several callers that want the same texts, one makes the vectors for all.
            in_memory: Write nothing to the disk, which forgets nothing.

        Raises:
            TimeoutError: When the embedder takes too long.
        """

        def made() -> Floats:
            with turn:
                return self._documents(texts, partial(self._embedded, on_disk=not in_memory))

        return self._calls.call(made) if texts else self._documents((), self._embedded)

    def _documents(
        self, texts: Sequence[str], embed: Callable[[Mapping[bytes, str]], dict[bytes, Floats]]
    ) -> Floats:
        if not texts:
            return np.zeros((0, 0), np.float32)
        keys = [content_key(text) for text in texts]
        whole = None if self._disk is None else self._disk.get_list(keys)
        if whole is not None:
            return whole
        found = self._kept(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        self._keep(found)
        todo = list(missing)
        for start in range(0, len(todo), _BATCH):
            found.update(embed({key: missing[key] for key in todo[start : start + _BATCH]}))
        stacked = self._stacked([found[key] for key in keys])
        if self._disk is not None:
            self._disk.put_list(keys, stacked)
        return stacked

    def _embedded(self, texts: Mapping[bytes, str], *, on_disk: bool = True) -> dict[bytes, Floats]:
        """Return new vectors, and store those that are not all zeros."""
        made = self.embedder.documents(list(texts.values()))
        fresh = dict(zip(texts, made, strict=True))
        # Zeros stand for an unusable answer: the embedder is asked again next time.
        known = {key: vector for key, vector in fresh.items() if vector.any()}
        if self._disk is not None and on_disk:
            self._disk.put(known)
        self._keep(known)
        return fresh

    def query(self, text: str) -> Floats:
        """Return the unit vector of a query, shape (dimensions,).

        Raises:
            TimeoutError: When the embedder takes too long.
        """
        vector: Floats = self.queries([text])[0]
        return vector

    def queries(self, texts: Sequence[str]) -> Floats:
        """Return the unit vectors of a query and its clauses, shape (n, dimensions), made in one call.

        Raises:
            TimeoutError: When the embedder takes too long.
        """
        with self._lock:
            found = {text: self._queries[text] for text in texts if text in self._queries}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found |= self._calls.call(lambda: self._made(missing))
        return self._stacked([found[text] for text in texts])

    def _made(self, texts: Sequence[str]) -> dict[str, Floats]:
        made = dict(zip(texts, self.embedder.queries(texts), strict=True))
        with self._lock:
            self._queries.update({text: vector for text, vector in made.items() if vector.any()})
        return made

    def _kept(self, keys: Sequence[bytes]) -> dict[bytes, Floats]:
        with self._lock:
            found = {key: self._texts[key] for key in keys if key in self._texts}
        if self._disk is not None and len(found) < len(keys):
            found |= self._disk.get([key for key in keys if key not in found])
        return found

    def _keep(self, vectors: Mapping[bytes, Floats]) -> None:
        with self._lock:
            for key in list(vectors)[-_KEPT_TEXTS:]:
                self._texts[key] = vectors[key]

    def _stacked(self, vectors: Sequence[Floats]) -> Floats:
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1:
            raise ConfigurationError(
                f"the embedder {self.embedder.model_id!r} made vectors of {sorted(lengths)} dimensions: "
                "give another model another model_id"
            )
        return np.stack(vectors)

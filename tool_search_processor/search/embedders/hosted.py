"""Embedding models behind LiteLLM: any provider, in batches that providers take, with retries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tool_search_processor.errors import ToolSearchError
from tool_search_processor.search.embedders.embedder import Floats
from tool_search_processor.wire.checks import check_count
from tool_search_processor.wire.litellm_package import import_litellm

MAX_BATCH = 2048
"""The most inputs that OpenAI takes in one call; others take fewer."""

_CHARACTERS_PER_TOKEN = 3  # on the safe side: English has 4 to 5
_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 20.0
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class LiteLLMEmbedder:
    """Embeds with any model that LiteLLM reaches, such as `openai/text-embedding-3-small`.

    ```python
    embedder = LiteLLMEmbedder("openai/text-embedding-3-small", dimensions=512)
    search = ToolSearchProcessor([create_issue], search=VectorIndex(embedder))
    ```
    """

    blocking = True

    def __init__(
        self,
        model: str,
        *,
        batch_size: int = 256,
        max_batch_tokens: int = 100_000,
        max_text_tokens: int = 2000,
        max_retries: int = 3,
        cosine_range: tuple[float, float] = (0.1, 0.7),
        sleep: Callable[[float], None] = time.sleep,
        **settings: Any,
    ) -> None:
        """Choose a model; nothing is called yet.

        Args:
            model: LiteLLM's name of the model.
            batch_size: The most texts of one call, 1 to 2,048.
            max_batch_tokens: The most tokens of one call, estimated from characters.
            max_text_tokens: A longer text is cut, estimated from characters.
            max_retries: How often a call is tried again after a temporary failure (rate limit, timeout,
                server error), in addition to the retries of the provider's own client; waits start at half
                a second and double.
            cosine_range: The cosines of a tool that certainly does not fit and of one that does; see
                `Embedder`. The default suits OpenAI's models.
            sleep: Waits between tries.
            **settings: Passed to `litellm.embedding` (`api_key`, `api_base`, `dimensions`, `timeout` …).

        Raises:
            ConfigurationError: For a number out of range.
        """
        check_count("batch_size", batch_size, most=MAX_BATCH)
        check_count("max_batch_tokens", max_batch_tokens)
        check_count("max_text_tokens", max_text_tokens)
        check_count("max_retries", max_retries, least=0)
        self.model = model
        dimensions = settings.get("dimensions")
        self.model_id = f"litellm:{model}" + (f":{dimensions}" if dimensions else "")
        self.cosine_range = cosine_range
        self._batch_size = batch_size
        self._max_batch_characters = max_batch_tokens * _CHARACTERS_PER_TOKEN
        self._max_text_characters = max_text_tokens * _CHARACTERS_PER_TOKEN
        self._max_retries = max_retries
        self._sleep = sleep
        self._settings = settings

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, shape (n, dimensions), in order.

        Raises:
            ToolSearchError: If an answer has the wrong number of vectors.
        """
        parts = [self._embed(batch) for batch in self._batches(texts)]
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

    def embed_query(self, text: str) -> Floats:
        """Return the vector of a query, shape (dimensions,)."""
        vector: Floats = self.embed_documents([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of a query and its clauses, shape (n, dimensions), by one call."""
        return self.embed_documents(texts)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        characters = 0
        for text in texts:
            # Providers refuse an empty input.
            cut = text[: self._max_text_characters] or " "
            full = len(batch) >= self._batch_size or characters + len(cut) > self._max_batch_characters
            if batch and full:
                yield batch
                batch, characters = [], 0
            batch.append(cut)
            characters += len(cut)
        if batch:
            yield batch

    def _embed(self, batch: list[str]) -> Floats:
        response = self._call(batch)
        rows = sorted(response.data, key=lambda row: int(row["index"]))
        if [int(row["index"]) for row in rows] != list(range(len(batch))):
            raise ToolSearchError(
                f"{self.model!r} answered {len(batch)} texts with {len(rows)} vectors; "
                "a smaller batch_size may help"
            )
        return np.asarray([row["embedding"] for row in rows], np.float32)

    def _call(self, batch: list[str]) -> Any:
        try:
            litellm = import_litellm()
        except ImportError as error:
            raise ImportError(
                'LiteLLMEmbedder needs litellm: pip install "tool-search-processor[agent]"'
            ) from error

        settings = {"num_retries": 0, **self._settings}
        for attempt in range(self._max_retries + 1):
            try:
                return litellm.embedding(model=self.model, input=batch, **settings)
            except Exception as error:  # providers have their own errors; permanent ones are raised
                if attempt == self._max_retries or not _may_pass(error):
                    raise
                self._sleep(min(_WAIT_SECONDS * 2**attempt, _LONGEST_WAIT_SECONDS))
        raise AssertionError  # pragma: no cover - the last attempt returns or raises


def _may_pass(error: Exception) -> bool:
    return getattr(error, "status_code", None) in _TRANSIENT or isinstance(
        error, ConnectionError | TimeoutError
    )

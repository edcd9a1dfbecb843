"""From a strategy's name to its index; each module is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal, cast

from tool_search_processor.concurrency.foreign_calls import takes_none
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.protocol import AnyIndex
from tool_search_processor.wire.checks import refuse

StrategyName = Literal["bm25", "regex", "fuzzy", "vector", "hybrid"]
Strategy = StrategyName | AnyIndex | Callable[[], AnyIndex]
"""A name, an index, or a factory of indexes (a class is one)."""
IndexCache = str | PathLike[str]
"""A folder for what indexes are made of."""

_VECTORS_FILE = "vectors.db"
"""The file of vectors in such a folder."""

_INDEXES = {
    "bm25": "BM25Index",
    "regex": "RegexIndex",
    "fuzzy": "FuzzyIndex",
    "vector": "VectorIndex",
    "hybrid": "HybridIndex",
}
"""The class of each strategy, in the module of the strategy's name."""


def index_factory(strategy: Strategy, *, index_cache: IndexCache | None = None) -> Callable[[], AnyIndex]:
    """Return a function that makes indexes of a strategy; for an instance, it always returns that.

    Args:
        strategy: What to make.
        index_cache: Where to keep what an index is made of; "regex" and "fuzzy" keep nothing.

    Raises:
        ConfigurationError: For an unknown name, something that can't search, or a folder for an index that is
            not made here.
    """
    if index_cache is not None and not (isinstance(index_cache, str | PathLike) and str(index_cache)):
        refuse("index_cache", "the path of a folder", index_cache, optional=True)
    if isinstance(strategy, str):
        return _named(strategy, index_cache)
    if index_cache is not None:
        raise ConfigurationError(
            f"index_cache works with a strategy's name, such as 'bm25' or 'hybrid'; found {strategy!r:.80}. "
            "Leave it out, and give the index its own path: BM25Index(cache_path=FOLDER), "
            "VectorIndex(cache_path=FILE)"
        )
    if not isinstance(strategy, type) and is_index(strategy):
        return lambda: cast("AnyIndex", strategy)
    if callable(strategy):
        return _checked(strategy)
    raise ConfigurationError(
        f"search must be one of {', '.join(map(repr, _INDEXES))}, an index with update() and search(), "
        f"or a function that makes one; found {strategy!r:.80}"
    )


def needs_an_extra(strategy: Strategy) -> bool:
    """Return True if a strategy's index raises an ImportError while an extra is not installed."""
    return isinstance(strategy, str) and strategy in ("vector", "hybrid")


def is_index(value: object) -> bool:
    """Return True if a value is an index rather than a name or a factory."""
    return callable(getattr(value, "search", None)) and callable(getattr(value, "update", None))


def _checked(factory: Callable[[], AnyIndex]) -> Callable[[], AnyIndex]:
    if not takes_none(factory):
        raise ConfigurationError(
            f"a function that makes an index takes no argument, and {factory!r:.80} needs one: "
            "a function that embeds texts goes into VectorIndex(...)"
        )

    def make() -> AnyIndex:
        index = factory()
        if not is_index(index):
            raise ConfigurationError(
                f"{factory!r:.80} must make an index with update() and search(), found {index!r:.80}"
            )
        return index

    return make


def _named(name: str, index_cache: IndexCache | None) -> Callable[[], AnyIndex]:
    if name not in _INDEXES:
        raise ConfigurationError(
            f"there is no search strategy {name!r}: choose one of {', '.join(map(repr, _INDEXES))}, "
            "or an index of your own"
        )
    return partial(made_index, name, index_cache)


def made_index(name: str, folder: IndexCache | None = None, **of_vectors: Any) -> AnyIndex:
    """Return a new index of a strategy.

    Args:
        name: The strategy's name.
        folder: Where to keep what the index is made of; None keeps nothing.
        of_vectors: Options of `VectorIndex`, for "vector" and "hybrid".
    """
    make = getattr(import_module(f"tool_search_processor.search.{name}"), _INDEXES[name])
    if name == "bm25":
        return cast("AnyIndex", make(cache_path=folder))
    if name == "vector":
        vectors = None if folder is None else Path(folder) / _VECTORS_FILE
        return cast("AnyIndex", make(**{"cache_path": vectors, **of_vectors}))
    if name == "hybrid":
        # words answer alone until the vectors are there
        vector = made_index("vector", folder, **{"background": True, **of_vectors})
        return cast("AnyIndex", make(lexical=made_index("bm25", folder), vector=vector))
    return cast("AnyIndex", make())

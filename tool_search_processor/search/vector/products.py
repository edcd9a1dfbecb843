"""Products of many vectors with a few."""

from __future__ import annotations

import numpy as np

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.embedders import Floats

_DECIMALS = 6  # the last bits of a cosine depend on its place in the array


def cosines_of(rows: Floats, vectors: Floats) -> Floats:
    """Return the cosine of each row with each vector, all of length 1; shape (rows, vectors).

    The rows are multiplied one by one. As one product they would be shared among all cores, whose threads
    wait for each other by spinning: on a busy machine that takes 7 ms of CPU for 4,000 tools rather than 0.5.
    """
    products: Floats = np.matmul(rows[:, np.newaxis], vectors.T)[:, 0]
    return np.round(products, _DECIMALS)


def nearest_cosines(rows: Floats, vectors: Floats, size: int) -> Floats:
    """Return the greatest cosine of each row with any vector, shape (size,); zeros where there is none.

    Raises:
        ConfigurationError: The vectors have other dimensions than the rows.
    """
    if not size or not vectors.shape[1] or not rows.shape[1]:
        return np.zeros(size, np.float32)
    if vectors.shape[1] != rows.shape[1]:
        raise ConfigurationError(
            f"the embedder makes vectors of {rows.shape[1]} dimensions for tools "
            f"and of {vectors.shape[1]} for queries: kept vectors of another model need another model_id"
        )
    nearest: Floats = cosines_of(rows, vectors).max(axis=1)
    return nearest

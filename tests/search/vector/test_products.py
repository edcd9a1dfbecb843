"""Cosines of many rows with a few vectors."""

import numpy as np
import pytest

from tool_search_processor.search.vector.products import cosines_of


@pytest.mark.parametrize(("rows", "vectors"), [(0, 1), (1, 1), (700, 1), (700, 9)])
def test_each_row_is_multiplied_with_each_vector(rows, vectors):
    rng = np.random.default_rng(5)
    one = rng.normal(size=(rows, 64)).astype(np.float32)
    other = rng.normal(size=(vectors, 64)).astype(np.float32)
    found = cosines_of(one, other)
    assert found.dtype == np.float32
    assert found == pytest.approx(one.astype(float) @ other.T.astype(float), abs=1e-4)


def test_the_last_bits_do_not_count():
    row = np.array([[1 / 3, 1e-8]], np.float32)
    assert cosines_of(row, np.array([[1, 1]], np.float32)).tolist() == [[np.float32(0.333333)]]

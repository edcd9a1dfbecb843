"""Which stored documents a request may see, as masks that are made once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

_KEPT = 64


class Masks:
    """Makes masks of names, and keeps those of the latest frozensets."""

    def __init__(self, size: int) -> None:
        """Set how many slots a mask has."""
        self._size = size
        self._kept: dict[frozenset[str], Mask] = {}

    def of(self, within: Collection[str], slot_of: Callable[[str], int | None]) -> Mask:
        """Return which slots hold a document of these names; to be left unchanged."""
        kept = self._kept.get(within) if isinstance(within, frozenset) else None
        if kept is not None:
            return kept
        mask = np.zeros(self._size, np.bool_)
        mask[[slot for name in within if (slot := slot_of(name)) is not None]] = True
        if isinstance(within, frozenset):
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[within] = mask
        return mask


class Views:
    """The names in one state of an index, and the masks of what requests may see of them."""

    def __init__(self, names: Sequence[str]) -> None:
        """Take the names of the documents, in their order."""
        self.slots: Mapping[str, int] = {name: slot for slot, name in enumerate(names)}
        self._masks = Masks(len(self.slots))

    def mask(self, within: Collection[str] | None, hidden: Iterable[str] = ()) -> Mask | None:
        """Return a mask of the visible documents, or None if all are visible.

        Args:
            within: The names that may be seen; None for all. The mask of a frozenset is cached.
            hidden: Names that are hidden by documents of the request.
        """
        unseen = [self.slots[name] for name in hidden if name in self.slots]
        if within is None and not unseen:
            return None
        mask = np.ones(len(self.slots), bool) if within is None else self._masks.of(within, self.slots.get)
        if unseen:
            mask = mask.copy()
            mask[unseen] = False
        return mask


def best_places(scores: NDArray[np.float32], limit: int | None) -> list[int]:
    """Return the places of the best values above 0, best first; ties keep their order."""
    found = np.flatnonzero(scores > 0)
    if limit is not None and limit <= 0:
        return []
    if limit is not None and limit < len(found):
        values = scores[found]
        least = np.partition(values, len(values) - limit)[len(values) - limit]
        found = found[values >= least]
    order: list[int] = found[np.argsort(-scores[found], kind="stable")][:limit].tolist()
    return order

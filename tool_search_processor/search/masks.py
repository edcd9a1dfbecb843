"""Which stored documents a request may see, as masks that are made once."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

_KEPT_MASKS = 16


class Views:
    """The names in one state of an index, and a cache of the masks of requests."""

    def __init__(self, names: Sequence[str]) -> None:
        """Take the names of the documents, in their order."""
        self.slots: Mapping[str, int] = {name: slot for slot, name in enumerate(names)}
        self._masks: LRUCache[frozenset[str], Mask] = LRUCache(_KEPT_MASKS)
        self._lock = threading.Lock()

    def mask(self, within: Collection[str] | None, hidden: Iterable[str] = ()) -> Mask | None:
        """Return a mask of the visible documents, or None if all are visible.

        Args:
            within: The names that may be seen; None for all. The mask of a frozenset is cached.
            hidden: Names that are hidden by documents of the request.
        """
        unseen = [self.slots[name] for name in hidden if name in self.slots]
        if within is None and not unseen:
            return None
        mask = np.ones(len(self.slots), bool) if within is None else self._of(within)
        if unseen:
            mask = mask.copy()
            mask[unseen] = False
        return mask

    def _of(self, within: Collection[str]) -> Mask:
        if not isinstance(within, frozenset):
            return self._made(within)
        with self._lock:
            mask = self._masks.get(within)
        if mask is None:
            mask = self._made(within)
            with self._lock:
                self._masks[within] = mask
        return mask

    def _made(self, within: Collection[str]) -> Mask:
        mask = np.zeros(len(self.slots), bool)
        mask[[self.slots[name] for name in within if name in self.slots]] = True
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

"""Finds tools by name or by the end of a name, ignoring case and separators."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tool_search_processor.search.text import name_key, name_parts

_SUFFIX_PARTS = 4
_SHORTEST_SUFFIX = 3


class NameTable:
    """The names of one set of documents, by number.

    Keys are stored as sorted 64-bit hashes (12 bytes each, where a dict of strings takes 150) and checked
    against the name itself when found; a bitmap rejects most unknown keys at once.
    """

    __slots__ = ("_hashes", "_longest", "_marks", "_names", "_numbers")

    def __init__(self, names: Sequence[str]) -> None:
        """Take the names, numbered in their order."""
        hashes, numbers = array("q"), array("i")
        self._longest = 0
        for number, name in enumerate(names):
            keys = name_keys(name)
            hashes.extend(map(hash, keys))
            self._longest = max(self._longest, len(keys[0]))
            numbers.extend([number] * len(keys))
        unsorted = np.array(hashes, np.int64)
        order = np.argsort(unsorted, kind="stable")
        self._names = names
        # A Python array: one look-up takes a third of the time of a numpy array.
        self._hashes = array("q", unsorted[order].tobytes())
        self._numbers: NDArray[np.int32] = np.array(numbers, np.int32)[order]
        marks = np.zeros(1 << (2 * len(hashes)).bit_length(), np.bool_)
        marks[unsorted & (len(marks) - 1)] = True
        self._marks = marks.tobytes()

    def exact(self, key: str) -> list[int]:
        """Return the numbers of the names with this key, ascending."""
        return [number for number in self._candidates(key) if name_key(self._names[number]) == key]

    def suffix(self, key: str) -> list[int]:
        """Return the numbers of the longer names whose last parts have this key."""
        return [
            number
            for number in self._candidates(key)
            if key in (keys := name_keys(self._names[number])) and keys[0] != key
        ]

    def _candidates(self, key: str) -> list[int]:
        code = hash(key)
        if len(key) > self._longest or not self._marks[code & (len(self._marks) - 1)]:
            return []
        start = bisect_left(self._hashes, code)
        end = start
        while end < len(self._hashes) and self._hashes[end] == code:
            end += 1
        return list(dict.fromkeys(self._numbers[start:end].tolist()))


def name_keys(name: str) -> list[str]:
    """Return the key of a name, followed by the keys of its last parts, the shortest first."""
    parts = name_parts(name)
    keys = ["".join(parts)]
    key = ""
    for part in parts[: -_SUFFIX_PARTS - 1 : -1]:
        key = part + key
        if len(key) >= _SHORTEST_SUFFIX and len(key) < len(keys[0]):
            keys.append(key)
    return keys

"""Sorting, grouping and slicing of lists, by `heapq`, `bisect`, `itertools`, `operator` and `graphlib`."""

from __future__ import annotations

import bisect
import heapq
import itertools
import operator
from collections import Counter, defaultdict
from graphlib import TopologicalSorter
from typing import Annotated, Literal

from pydantic import Field, JsonValue

Limit = Annotated[int, Field(ge=1, le=1000)]
Record = dict[str, JsonValue]


def largest_numbers(values: list[float], count: Limit) -> list[float]:
    """Pick the largest numbers of a list, largest first.

    Args:
        values: The numbers.
        count: How many to pick.
    """
    return heapq.nlargest(count, values)


def smallest_numbers(values: list[float], count: Limit) -> list[float]:
    """Pick the smallest numbers of a list, smallest first.

    Args:
        values: The numbers.
        count: How many to pick.
    """
    return heapq.nsmallest(count, values)


def sort_numbers(values: list[float], order: Literal["ascending", "descending"] = "ascending") -> list[float]:
    """Sort a list of numbers.

    Args:
        values: The numbers.
        order: The direction.
    """
    return sorted(values, reverse=order == "descending")


def sort_words(words: list[str], *, ignore_case: bool = True) -> list[str]:
    """Sort words or lines alphabetically.

    Args:
        words: The words.
        ignore_case: Whether upper and lower case are equal.
    """
    return sorted(words, key=str.casefold if ignore_case else None)


def sort_records(records: list[Record], field: str) -> list[Record]:
    """Sort records (objects) by one of their fields.

    Args:
        records: Objects that all have the field, with comparable values.
        field: The field's name.
    """
    return sorted(records, key=operator.itemgetter(field))


def merge_sorted_lists(lists: list[list[float]]) -> list[float]:
    """Merge sorted lists of numbers into one sorted list.

    Args:
        lists: Lists that are each sorted already.
    """
    return list(heapq.merge(*lists))


def position_in_sorted_list(values: list[float], value: float) -> int:
    """Find by binary search where a number belongs in a sorted list, counted from 0.

    Args:
        values: The sorted numbers.
        value: The number to place; it goes before equal ones.
    """
    return bisect.bisect_left(values, value)


def grade_for_score(score: float, limits: list[float], *, grades: list[str]) -> str:
    """Find the grade or class that a score falls into.

    Args:
        score: The score.
        limits: The ascending lower limits of all classes but the lowest.
        grades: The classes' names, lowest first; one more than limits.
    """
    return grades[bisect.bisect_right(limits, score)]


def remove_duplicates(items: list[str]) -> list[str]:
    """Remove duplicates from a list and keep the order of first occurrence.

    Args:
        items: The list.
    """
    return list(dict.fromkeys(items))


def count_items(items: list[str]) -> dict[str, int]:
    """Count how often each item occurs in a list (tally), most frequent first.

    Args:
        items: The list.
    """
    return dict(Counter(items).most_common())


def group_records(records: list[Record], field: str) -> dict[str, list[Record]]:
    """Group records (objects) by the value of a field.

    Args:
        records: Objects that all have the field.
        field: The field's name.
    """
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[str(record[field])].append(record)
    return dict(groups)


def chunk_list(items: list[JsonValue], size: Limit) -> list[list[JsonValue]]:
    """Split a list into chunks (batches) of a size; the last may be shorter.

    Args:
        items: The list.
        size: How long a chunk is.
    """
    return [items[start : start + size] for start in range(0, len(items), size)]


def flatten_lists(lists: list[list[JsonValue]]) -> list[JsonValue]:
    """Flatten a list of lists into one list.

    Args:
        lists: The lists.
    """
    return list(itertools.chain.from_iterable(lists))


def running_total(values: list[float]) -> list[float]:
    """Compute the running total (cumulative sum) of numbers.

    Args:
        values: The numbers.
    """
    return list(itertools.accumulate(values))


def running_maximum(values: list[float]) -> list[float]:
    """Compute the largest number so far at each place of a list.

    Args:
        values: The numbers.
    """
    return list(itertools.accumulate(values, max))


def moving_average(values: list[float], window: Limit) -> list[float]:
    """Smooth numbers by the average of a sliding window.

    Args:
        values: The numbers.
        window: How many neighbours are averaged.
    """
    return [sum(values[n : n + window]) / window for n in range(len(values) - window + 1)]


def differences_of_neighbours(values: list[float]) -> list[float]:
    """Compute the difference of each number to the one before it.

    Args:
        values: The numbers.
    """
    return [after - before for before, after in itertools.pairwise(values)]


def zip_to_records(keys: list[str], values: list[JsonValue]) -> Record:
    """Pair a list of keys with a list of values.

    Args:
        keys: The keys.
        values: Their values, equally many.
    """
    return dict(zip(keys, values, strict=True))


def compare_lists(first: list[str], second: list[str]) -> dict[str, list[str]]:
    """Compare two lists as sets: what both have, and what only one has (intersection, difference).

    Args:
        first: One list.
        second: The other list.
    """
    a, b = set(first), set(second)
    return {"both": sorted(a & b), "only_first": sorted(a - b), "only_second": sorted(b - a)}


def run_lengths(text: str) -> list[list[str | int]]:
    """Run-length encode a text: each character with how often it repeats in a row.

    Args:
        text: The text.
    """
    return [[character, len(list(group))] for character, group in itertools.groupby(text)]


def order_by_dependencies(dependencies: dict[str, list[str]]) -> list[str]:
    """Sort tasks so that each comes after what it depends on (topological sort).

    Args:
        dependencies: For each task, the tasks that must come before it.
    """
    return list(TopologicalSorter(dependencies).static_order())

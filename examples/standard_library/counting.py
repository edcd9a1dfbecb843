"""Combinations and permutations, by `math` and `itertools`; lists are cut at 1,000 entries."""

from __future__ import annotations

import itertools
import math
from typing import Annotated

from pydantic import Field

Natural = Annotated[int, Field(ge=0, le=1000)]
Items = Annotated[list[str], Field(max_length=50)]


def count_combinations(n: Natural, k: Natural) -> int:
    """Count the ways to choose k of n things when order does not matter (binomial coefficient).

    Args:
        n: How many things there are.
        k: How many are chosen.
    """
    return math.comb(n, k)


def count_permutations(n: Natural, k: Natural) -> int:
    """Count the ways to arrange k of n things when order matters.

    Args:
        n: How many things there are.
        k: How many are arranged.
    """
    return math.perm(n, k)


def list_combinations(items: Items, k: Annotated[int, Field(ge=0, le=50)]) -> list[list[str]]:
    """List all ways to choose k items when order does not matter.

    Args:
        items: The items.
        k: How many are chosen.
    """
    return [list(chosen) for chosen in itertools.islice(itertools.combinations(items, k), 1000)]


def list_permutations(items: Items) -> list[list[str]]:
    """List all orders (permutations) of items.

    Args:
        items: The items.
    """
    return [list(order) for order in itertools.islice(itertools.permutations(items), 1000)]


def cartesian_product(lists: Annotated[list[Items], Field(max_length=10)]) -> list[list[str]]:
    """List all ways to take one item from each list.

    Args:
        lists: The lists.
    """
    return [list(row) for row in itertools.islice(itertools.product(*lists), 1000)]


def count_arrangements_of_word(word: Annotated[str, Field(max_length=200)]) -> int:
    """Count the different anagrams (letter arrangements) of a word, repeated letters considered.

    Args:
        word: The word.
    """
    return math.factorial(len(word)) // math.prod(math.factorial(word.count(letter)) for letter in set(word))


def binomial_probability(trials: Natural, successes: Natural, *, chance: float) -> float:
    """Compute the probability of a number of successes in independent trials, such as coin tosses.

    Args:
        trials: How many trials.
        successes: How many succeed.
        chance: The chance of one success, from 0 to 1.
    """
    return math.comb(trials, successes) * chance**successes * (1 - chance) ** (trials - successes)

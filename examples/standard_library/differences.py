"""Comparing texts, by `difflib`."""

from __future__ import annotations

import difflib
from typing import Annotated

from pydantic import Field

Text = Annotated[str, Field(max_length=20_000)]


def diff_texts(old: Text, new: Text) -> str:
    """Show the differences of two texts line by line, as a unified diff (patch).

    Args:
        old: The text before.
        new: The text after.
    """
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "old", "new", lineterm="")
    return "\n".join(lines)


def text_similarity(first: Text, second: Text) -> float:
    """Measure how similar two texts are, from 0 (nothing alike) to 1 (equal).

    Args:
        first: One text.
        second: The other text.
    """
    return difflib.SequenceMatcher(None, first, second).ratio()


def closest_matches(
    word: str, choices: list[str], *, limit: Annotated[int, Field(ge=1, le=50)] = 3
) -> list[str]:
    """Find the entries of a list that are spelled most like a word (did you mean).

    Args:
        word: The word, perhaps misspelled.
        choices: The possible entries.
        limit: How many to tell at most.
    """
    return difflib.get_close_matches(word, choices, limit)


def longest_common_part(first: Text, second: Text) -> str:
    """Find the longest piece (substring) that two texts have in common.

    Args:
        first: One text.
        second: The other text.
    """
    match = difflib.SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return first[match.a : match.a + match.size]


def edit_steps(old: Text, new: Text) -> list[dict[str, str]]:
    """List the edits that turn one text into another: replace, delete and insert.

    Args:
        old: The text before.
        new: The text after.
    """
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [{"edit": tag, "old": old[a:b], "new": new[c:d]} for tag, a, b, c, d in codes if tag != "equal"]


def side_by_side_html_diff(old: Text, new: Text) -> str:
    """Make an HTML table that shows two texts side by side with their differences.

    Args:
        old: The text before.
        new: The text after.
    """
    return difflib.HtmlDiff().make_table(old.splitlines(), new.splitlines(), context=True)

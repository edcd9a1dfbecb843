"""Case, width, lines and words, by `str`, `textwrap`, `string` and `collections`."""

from __future__ import annotations

import string
import textwrap
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

Width = Annotated[int, Field(ge=1, le=1000)]


def wrap_text(text: str, width: Width = 70) -> str:
    """Break a long paragraph into lines of at most a width.

    Args:
        text: The paragraph.
        width: The longest line, in characters.
    """
    return textwrap.fill(text, width)


def shorten_text(text: str, width: Width, *, placeholder: str = " […]") -> str:
    """Cut a text to a length at a word boundary, with an ellipsis.

    Args:
        text: The text.
        width: The longest answer, in characters.
        placeholder: What marks the cut.
    """
    return textwrap.shorten(text, width, placeholder=placeholder)


def indent_text(text: str, prefix: str = "    ") -> str:
    """Put a prefix such as spaces or "> " before each line of a text.

    Args:
        text: The lines.
        prefix: What stands before each line that is not blank.
    """
    return textwrap.indent(text, prefix)


def dedent_text(text: str) -> str:
    """Remove the indentation that all lines of a text have in common.

    Args:
        text: The lines.
    """
    return textwrap.dedent(text)


def change_case(text: str, case: Literal["upper", "lower", "title", "capitalize", "swap", "words"]) -> str:
    """Convert text to upper case, lower case, title case or another letter case.

    Args:
        text: The text.
        case: The case; "words" capitalizes each word and keeps apostrophes right.
    """
    changes: dict[str, Callable[[str], str]] = {
        "upper": str.upper,
        "lower": str.lower,
        "title": str.title,
        "capitalize": str.capitalize,
        "swap": str.swapcase,
        "words": string.capwords,
    }
    return changes[case](text)


def reverse_text(text: str) -> str:
    """Write a text backwards.

    Args:
        text: The text.
    """
    return text[::-1]


def count_words(text: str) -> dict[str, int]:
    """Count the characters, words and lines of a text.

    Args:
        text: The text.
    """
    return {"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}


def word_frequencies(text: str, limit: Annotated[int, Field(ge=1, le=1000)] = 10) -> dict[str, int]:
    """Count how often each word occurs in a text, most frequent first.

    Args:
        text: The text.
        limit: How many words to tell.
    """
    words = text.lower().translate(str.maketrans("", "", string.punctuation)).split()
    return dict(Counter(words).most_common(limit))


def letter_frequencies(text: str) -> dict[str, int]:
    """Count how often each letter occurs in a text, in alphabetical order.

    Args:
        text: The text.
    """
    return dict(sorted(Counter(letter for letter in text.lower() if letter.isalpha()).items()))


def count_occurrences(text: str, part: Annotated[str, Field(min_length=1)]) -> int:
    """Count how often a word or substring occurs in a text, without overlaps.

    Args:
        text: The text to look in.
        part: What to count.
    """
    return text.count(part)


def replace_text(text: str, old: Annotated[str, Field(min_length=1)], *, new: str) -> str:
    """Replace every occurrence of a substring by another.

    Args:
        text: The text.
        old: What to replace.
        new: What stands there instead.
    """
    return text.replace(old, new)


def split_text(text: str, separator: Annotated[str, Field(min_length=1)]) -> list[str]:
    """Split a text at a separator into parts.

    Args:
        text: The text.
        separator: What stands between the parts, such as ", ".
    """
    return text.split(separator)


def join_texts(parts: list[str], separator: str = ", ") -> str:
    """Join several texts into one, with a separator between them.

    Args:
        parts: The texts.
        separator: What stands between them.
    """
    return separator.join(parts)


def pad_text(
    text: str, width: Width, *, side: Literal["left", "right", "both"] = "right", fill: str = " "
) -> str:
    """Fill a text up to a width: left, right or both sides (center).

    Args:
        text: The text.
        width: The length to reach.
        side: Where the filling goes.
        fill: The one character to fill with.
    """
    return {"left": str.rjust, "right": str.ljust, "both": str.center}[side](text, width, fill)


def pad_with_zeros(number: str, width: Width) -> str:
    """Write a number with leading zeros, keeping its sign.

    Args:
        number: The number as text, such as "-42".
        width: The length to reach.
    """
    return number.zfill(width)


def expand_tabs(text: str, size: Annotated[int, Field(ge=0, le=64)] = 8) -> str:
    """Replace tabs by spaces up to the next tab stop.

    Args:
        text: The text.
        size: The columns between tab stops.
    """
    return text.expandtabs(size)


def fill_template(template: str, values: dict[str, str]) -> str:
    """Fill the placeholders of a template: $name or ${name}; unknown ones stay.

    Args:
        template: Such as "Dear $name,".
        values: What stands for each placeholder.
    """
    return string.Template(template).safe_substitute(values)


def strip_characters(text: str, characters: str = string.whitespace) -> str:
    """Remove characters, by default white space, from both ends of a text.

    Args:
        text: The text.
        characters: Which characters to remove.
    """
    return text.strip(characters)


def is_palindrome(text: str) -> bool:
    """Check whether a text reads the same backwards; case, spaces and punctuation don't count.

    Args:
        text: The text.
    """
    letters = [letter for letter in text.casefold() if letter.isalnum()]
    return letters == letters[::-1]


def caesar_cipher(text: str, shift: int) -> str:
    """Encrypt with the Caesar cipher: move each Latin letter along the alphabet (13 is ROT13).

    Args:
        text: The text.
        shift: How many letters to move; negative decrypts.
    """
    lower, upper, n = string.ascii_lowercase, string.ascii_uppercase, shift % 26
    moved = lower[n:] + lower[:n] + upper[n:] + upper[:n]
    return text.translate(str.maketrans(lower + upper, moved))

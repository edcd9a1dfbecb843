"""Unicode characters, by `unicodedata`."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Literal

from pydantic import Field

Character = Annotated[str, Field(min_length=1, max_length=1)]


def unicode_name(character: Character) -> str:
    """Tell the official Unicode name of a character, emoji or symbol.

    Args:
        character: One character.
    """
    return unicodedata.name(character)


def character_by_name(name: str) -> str:
    """Find the character that has a Unicode name.

    Args:
        name: The official name, such as "GREEK SMALL LETTER ALPHA".
    """
    return unicodedata.lookup(name)


def code_points(text: Annotated[str, Field(max_length=1000)]) -> list[str]:
    """List the Unicode code points of a text, such as U+20AC.

    Args:
        text: The text.
    """
    return [f"U+{ord(character):04X}" for character in text]


def character_from_code_point(code_point: Annotated[str, Field(pattern=r"^(U\+)?[0-9A-Fa-f]{1,6}$")]) -> str:
    """Make the character of a Unicode code point.

    Args:
        code_point: In hexadecimal, such as "U+20AC".
    """
    return chr(int(code_point.removeprefix("U+"), 16))


def normalize_unicode(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFC") -> str:
    """Bring a text into a Unicode normal form (composed or decomposed accents).

    Args:
        text: The text.
        form: The normal form.
    """
    return unicodedata.normalize(form, text)


def remove_accents(text: str) -> str:
    """Remove accents and diacritics from letters: é becomes e.

    Args:
        text: The text.
    """
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def character_category(character: Character) -> dict[str, str]:
    """Tell the Unicode category, width and writing direction of a character.

    Args:
        character: One character.
    """
    return {
        "category": unicodedata.category(character),
        "east_asian_width": unicodedata.east_asian_width(character),
        "bidirectional": unicodedata.bidirectional(character),
    }


def numeric_value(character: Character) -> float:
    """Tell the number that a character stands for, such as ½ or Ⅷ.

    Args:
        character: One character.
    """
    return unicodedata.numeric(character)


def casefold_text(text: str) -> str:
    """Fold a text for comparison without case, in any language: ß becomes ss.

    Args:
        text: The text.
    """
    return text.casefold()

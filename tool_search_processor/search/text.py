"""Text as every search strategy sees it: normalized, split into words, stemmed.

A *word* is what a person wrote between separators (`createPullRequest`); its *terms* are what the index
holds (`create`, `pull`, `request`, `createpullrequest`). The same functions
make the terms of documents and of queries, so that they match.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from tool_search_processor.search import stop_words
from tool_search_processor.search.scripts import script_terms, script_words

if TYPE_CHECKING:
    import Stemmer  # type: ignore[import-not-found]  # it brings no types

QUERY_CHARACTERS = 20_000
"""Only this much of a query is read: the rest of a pasted file says nothing about the tool wanted."""
QUERY_WORDS = 128
"""The most distinct words of a query that are searched for."""
WORD_CHARACTERS = 64
"""A longer run is data (base64, a hash), not a word: the rest of it is dropped."""

_CACHED_WORDS = 20_000

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0730-\u074a"
    "\u0900-\u0963\u0966-\u0dff\u0e30-\u0e3a\u0e40-\u0e4e\u0eb0-\u0ecd\u0f71-\u0f84\u102b-\u109d\u17b4-\u17d3"
    "\u3099\u309a"
)
_EMOJI = "\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2934\u2935\u2b00-\u2bff\U0001f000-\U0001faff"
_MODIFIERS = "\U0001f3fb-\U0001f3ff"  # skin tones: a thumb is a thumb
_RUN = re.compile(rf"(?:[^\W_]|[{_MARKS}])+|[{_EMOJI}]")
_SPACED = bytes(code if chr(code).isalnum() else 32 for code in range(128)).ljust(256)
"""For `bytes.translate`: what is neither letter nor digit of ASCII becomes a space."""
_LOWERED = bytes(range(128)).lower().ljust(256)
_SEPARATORS = bytes(code for code in range(128) if not chr(code).isalnum())
# Soft hyphen, zero-width, bidirectional controls, variation selectors, byte-order mark, skin tones.
_INVISIBLE = re.compile(
    rf"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff{_MODIFIERS}]"
)
_PARTS = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LETTER_RUN = re.compile("[a-z]{2,}")
# Written without spaces: Han, kana, Hangul, Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SCRIPT = re.compile(rf"([{_UNSPACED}]+)")
_STEMMED = (
    ("russian", re.compile("[\u0400-\u04ff]+")),
    ("arabic", re.compile("[\u0620-\u06ff]+")),
)
"""The stemmer of each script that one language stands for."""
_EDGE = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_LETTERS = {
    "\u0131": "i", "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d",
    "Đ": "D", "ł": "l", "Ł": "L", "þ": "th", "Þ": "Th", "ð": "d", "Ð": "D", "ħ": "h", "Ħ": "H",
    "\u0451": "\u0435", "\u0401": "\u0415",
}  # fmt: skip
_KEPT = frozenset("йЙ")  # a letter of its own, not an accented one
_DROPPED = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]+")


class _Folding(dict[int, str]):
    """A table for `str.translate` that folds each character at its first occurrence."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _KEPT:
        return character
    plain = _DROPPED.sub("", unicodedata.normalize("NFKD", character))
    # Composed again, so that Hangul syllables and voiced kana stay what they were.
    return _LETTERS.get(character) or unicodedata.normalize("NFC", plain)


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Return `text` in its plain form: NFKC, without accents and invisible characters; case is kept.

    Vowel signs of Indic scripts and Thai stay, Arabic and Hebrew vowel points go, Turkish dotless and
    dotted i become i.
    """
    if text.isascii():
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_FOLDING)


STOP_WORDS = frozenset(fold(stop_words.ALL).casefold().split())
"""The words, folded, that say nothing about the tool wanted."""


def words(text: str) -> list[str]:
    """Return the words of a string, folded but with their case: runs of letters and digits, and emoji.

    Where no spaces are written, a word is what stands between particles, endings and polite phrases.
    """
    if text.isascii():
        # A third of the time of a regular expression.
        spaced = text.encode().translate(_SPACED).decode()
        found = spaced.split()
        if len(text) > WORD_CHARACTERS and _may_hold_data(spaced):
            found = [run[:WORD_CHARACTERS] for run in found]
        return found
    return [word for run in _RUN.findall(fold(text)) for word in _words_in(run)]


def _words_in(run: str) -> Iterator[str]:
    """Yield the words of a run of letters, which has several if it is written without spaces."""
    for piece in _SCRIPT.split(run):
        if not _SCRIPT.match(piece):
            yield from (piece[:WORD_CHARACTERS],) if piece else ()
            continue
        for word in script_words(piece):
            # What has no spaces may be long and no data.
            yield from (word[at : at + WORD_CHARACTERS] for at in range(0, len(word), WORD_CHARACTERS))


def _may_hold_data(spaced: str) -> bool:
    """Return True if a run may be longer than a word: it would fill a block of half that length."""
    block = WORD_CHARACTERS // 2
    for start in range(0, len(spaced) - block, block):  # noqa: SIM110 - half the time of any()
        if spaced.find(" ", start, start + block) < 0:
            return True
    return False


@lru_cache(_CACHED_WORDS)
def terms_of(word: str) -> tuple[str, ...]:
    """Return the terms of one word, as `words` yields it: its parts, and the whole if it has several.

    `createPullRequest` gives create, pull, request and createpullrequest; `OAuth2` auth, 2, oauth and
    oauth2; `k8s` only itself (single letters say nothing); Chinese, Japanese and Korean give overlapping
    pairs of characters, Thai, Lao, Khmer and Burmese of syllables.
    """
    return tuple(dict.fromkeys(_split(word)))


def terms(text: str) -> list[str]:
    """Return all terms of a string, in order, with repeats."""
    return [term for word in words(text) for term in terms_of(word)]


def is_stop_word(word: str) -> bool:
    """Return True if a word, as `words` yields it, says nothing about the tool wanted."""
    return word.lower() in STOP_WORDS


@lru_cache(_CACHED_WORDS)
def content_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one word, as `words` yields it, or none if it is a stop word."""
    return () if is_stop_word(word) else terms_of(word)


def name_parts(name: str) -> list[str]:
    """Return the parts of a name in lower case, unstemmed: `browserOpen_tab` gives browser, open, tab."""
    if name.isascii():
        return [part.lower() for part in _PARTS.findall(name)]
    found: list[str] = []
    for word in words(name):
        parts = _PARTS.findall(word) if word.isascii() else _EDGE.sub(" ", _humps(word)).split()
        found.extend(part.casefold() for part in parts)
    return found


def name_key(name: str) -> str:
    """Return a name without case, accents and separators; names with equal keys count as one."""
    if name.isascii() and (len(name) <= WORD_CHARACTERS or not _may_hold_data(name)):
        return name.encode().translate(_LOWERED, _SEPARATORS).decode()
    return "".join(words(name)).casefold()


def _split(word: str) -> Iterator[str]:
    if word.isascii():
        yield from _split_ascii(word)
        return
    for piece in _SCRIPT.split(word):
        if not piece:
            continue
        if _SCRIPT.match(piece):
            yield from script_terms(piece)
        elif piece.isascii():
            yield from _split_ascii(piece)
        else:
            yield from map(stem, _EDGE.sub(" ", _humps(piece)).casefold().split())


def _split_ascii(word: str) -> Iterator[str]:
    lower = word.lower()
    if word.isalpha() and (word == lower or word[1:] == lower[1:] or word.isupper()):
        yield stem(lower)
        return
    parts = _PARTS.findall(word)
    if len(parts) == 1:
        yield stem(lower)
        return
    for part in parts:
        if len(part) > 1 or part.isdigit():
            yield stem(part.lower())
    yield from map(stem, _LETTER_RUN.findall(lower))
    yield stem(lower)


def _humps(word: str) -> str:
    """Put a space before each camel-case hump of a word in any script."""
    return "".join(
        f" {b}" if b.isupper() and a.islower() else b for a, b in zip(" " + word, word, strict=False)
    )


_stemming = threading.Lock()


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    import Stemmer

    stemmer = Stemmer.Stemmer(language)
    stemmer.maxCacheSize = 0  # words are cached here, and its own cache is not thread-safe
    return stemmer


_HINDI = re.compile("[\u0900-\u0963\u0970-\u097f]+")
_HINDI_ENDING = re.compile("(?<=..)(?:ियों|ियाँ|ियां|ाओं|ाएँ|ाएं|ों|ें|ाँ|े|ा)$")
"""Endings of number and case: खाता, खाते, खातों. The stemmer of Snowball leaves one letter of such words."""


def stem(word: str) -> str:
    """Return the stem of a lower-case word, English, Russian, Arabic or Hindi; others are unchanged."""
    if len(word) < 3:
        return word
    if word.isascii():
        language = "english" if word.isalpha() else None
    elif _HINDI.fullmatch(word):
        return _HINDI_ENDING.sub("", word)
    else:
        language = next((name for name, script in _STEMMED if script.fullmatch(word)), None)
    if language is None:
        return word
    with _stemming:
        return str(_stemmer(language).stemWord(word))
